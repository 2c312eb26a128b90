// GpuProgram: a program on one device, with arguments and results as floats (f32 or i32), by calls whose statuses the
// test judges.
#ifndef RICCI_TESTS_CUDA_GPU_PROGRAM_H_
#define RICCI_TESTS_CUDA_GPU_PROGRAM_H_
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/simulated_gpu.h"
#include "ricci/ricci.h"

namespace ricci::testing {

using Floats = std::vector<float>;

// The device `cuda` of that ordinal, or NULL.
inline ricci_device* GpuOf(ricci_ctx* ctx, uint32_t ordinal = 0) {
  for (uint32_t i = 0; i < ricci_device_count(ctx); ++i) {
    ricci_device_desc d{};
    d.hdr.size = sizeof d;
    ricci_device_info(ricci_device_get(ctx, i), &d);
    if (std::string_view(d.kind.ptr, d.kind.len) == "cuda" && ordinal-- == 0) return ricci_device_get(ctx, i);
  }
  return nullptr;
}

class GpuProgram {
 public:
  // `profiled`: its runs report their steps, which the test ignores.
  explicit GpuProgram(ricci_device* device, bool profiled = false) : device_(device), profiled_(profiled) {
    profile_.hdr.size = sizeof profile_;
    profile_.span = [](void*, const ricci_span*) {};
  }
  ~GpuProgram() {
    Forget(in_);
    Forget(out_);
    ricci_executable_release(x_);
  }
  GpuProgram(const GpuProgram&) = delete;

  ricci_status* Compile(ricci_ctx* ctx, std::string_view text) {
    ctx_ = ctx;
    ricci_program* f = nullptr;
    if (ricci_status* s = ricci_program_parse(ctx, text.data(), text.size(), "test", 4, &f)) return s;
    ricci_compile_opts o = ricci_compile_opts_default();
    o.devices = &device_;
    o.n_devices = 1;
    if (profiled_) o.hdr.flags = RICCI_COMPILE_PROFILED;
    ricci_status* const s = ricci_compile(f, &o, &x_);
    ricci_program_release(f);
    if (s == nullptr) ricci_executable_signature(x_, &n_in_, &params_, &n_out_, nullptr);
    return s;
  }
  // New arrays as arguments.
  ricci_status* Give(const std::vector<Floats>& values) {
    Forget(in_);
    for (uint32_t i = 0; i < n_in_; ++i) {
      ricci_array* a = nullptr;
      if (ricci_status* s = NewArray(params_[i], values[i], &a)) return s;
      in_.push_back(a);
    }
    return nullptr;
  }
  ricci_status* Enqueue(ricci_stream* stream = nullptr) {
    Forget(out_);
    ricci_run_opts o = ricci_run_opts_default();
    o.stream = stream;
    if (profiled_) o.profile = &profile_;
    std::vector<ricci_array*> out(n_out_);
    if (ricci_status* s = ricci_executable_enqueue(x_, in_.data(), n_in_, out.data(), n_out_, &o)) return s;
    out_ = out;
    return nullptr;
  }
  // Waits for the results.
  ricci_status* Read(std::vector<Floats>& out) const {
    out.clear();
    for (const ricci_array* a : out_) {
      Floats one(ricci_array_bytes(a) / sizeof(float));
      if (ricci_status* s = ricci_array_copy_to_host(a, one.data(), ricci_array_bytes(a))) return s;
      if (IsWhole(ricci_array_type(a))) {
        for (float& v : one) v = static_cast<float>(Bits<int32_t>(v));
      }
      out.push_back(std::move(one));
    }
    return nullptr;
  }
  ricci_status* NewArray(ricci_type t, Floats values, ricci_array** out) const {
    if (IsWhole(t)) {
      for (float& v : values) v = Bits<float>(static_cast<int32_t>(v));
    }
    return ricci_array_from_host(device_, t, values.data(), nullptr, out);
  }

  const ricci_executable* executable() const { return x_; }
  void Release() { ricci_executable_release(std::exchange(x_, nullptr)); }
  ricci_type param(uint32_t i) const { return params_[i]; }
  const std::vector<ricci_array*>& in() const { return in_; }
  const std::vector<ricci_array*>& out() const { return out_; }
  // The results are the caller's from now on.
  std::vector<ricci_array*> TakeOut() { return std::exchange(out_, {}); }

 private:
  template <typename To, typename From>
  static To Bits(From from) {
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
  }
  bool IsWhole(ricci_type t) const {
    ricci_type_desc d = ricci_type_desc_default();
    return ricci_type_get(ctx_, t, &d) == nullptr && d.dtype == RICCI_I32;
  }
  static void Forget(std::vector<ricci_array*>& arrays) {
    for (ricci_array* a : arrays) ricci_array_release(a);
    arrays.clear();
  }

  ricci_device* const device_;
  const bool profiled_;
  ricci_profile profile_{};
  ricci_ctx* ctx_ = nullptr;
  ricci_executable* x_ = nullptr;
  uint32_t n_in_ = 0, n_out_ = 0;
  const ricci_type* params_ = nullptr;
  std::vector<ricci_array*> in_, out_;
};

}  // namespace ricci::testing
#endif
