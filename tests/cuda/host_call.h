// HostCall: a bound call whose slots are memory of the GPU that the test owns, as a host has it that captures runs.
#ifndef RICCI_TESTS_CUDA_HOST_CALL_H_
#define RICCI_TESTS_CUDA_HOST_CALL_H_
#include <cstring>
#include <string_view>
#include <vector>

#include "cuda/bare_driver.h"
#include "cuda/gpu_program.h"

namespace ricci::testing {

// Writes and reads go through one stream of the host.
class HostCall {
 public:
  HostCall(ricci_ctx* ctx, ricci_device* gpu, const BareDriver& driver, cuda::CuStream stream, std::string_view text,
           bool profiled = false)
      : driver_(driver), stream_(stream), f_(gpu, profiled) {
    const ricci_type *params = nullptr, *results = nullptr;
    uint32_t n_out = 0;
    EXPECT_TRUE(Ok(f_.Compile(ctx, text)));
    ricci_executable_signature(f_.executable(), &n_in_, &params, &n_out, &results);
    EXPECT_TRUE(Ok(ricci_call_create(f_.executable(), &call_)));
    for (uint32_t i = 0; i < n_in_ + n_out; ++i) Bind(ctx, i < n_in_ ? params[i] : results[i - n_in_]);
    driver_->cuStreamSynchronize(stream_);
  }
  ~HostCall() {
    ricci_call_release(call_);
    ricci_event_release(event_);
    for (const Slot& s : slots_) driver_->cuMemFreeAsync(s.at, stream_);
    driver_->cuStreamSynchronize(stream_);
  }
  HostCall(const HostCall&) = delete;

  ricci_status* Enqueue(ricci_stream* s, const uint32_t* cancel = nullptr, uint64_t deadline_ns = 0,
                        const ricci_profile* profile = nullptr) {
    ricci_run_opts o = ricci_run_opts_default();
    o.stream = s;
    o.cancel = cancel;
    o.deadline_ns = deadline_ns;
    o.profile = profile;
    ricci_event_release(std::exchange(event_, nullptr));
    return ricci_call_enqueue(call_, &o, &event_);
  }
  // That of the last run.
  ricci_event* event() const { return event_; }
  void ReleaseCall() { ricci_call_release(std::exchange(call_, nullptr)); }
  void ReleaseEvent() { ricci_event_release(std::exchange(event_, nullptr)); }
  void ReleaseExecutable() { f_.Release(); }
  // A slot in the memory of one of another call.
  void Share(uint32_t slot, const HostCall& other, uint32_t from) {
    EXPECT_TRUE(Ok(ricci_call_bind(call_, slot, Address(other.slots_[from].at), slots_[slot].words * 4)));
  }
  cuda::CuPointer At(uint32_t slot) const { return slots_[slot].at; }

  // The arguments, and something else in the results.
  void Write(const std::vector<Floats>& values) {
    for (uint32_t i = 0; i < slots_.size(); ++i) {
      Slot& s = slots_[i];
      if (i >= n_in_) {
        driver_->cuMemsetD32Async(s.at, 0x7fc12345, s.words, stream_);
        continue;
      }
      s.host = values[i];
      if (s.is_whole) s.host[0] = Bits(static_cast<int32_t>(values[i][0]));
      driver_->cuMemcpyHtoDAsync(s.at, s.host.data(), s.words * 4, stream_);
    }
  }
  // Waits for the stream.
  std::vector<Floats> Read() {
    std::vector<Floats> out;
    for (uint32_t i = n_in_; i < slots_.size(); ++i) {
      slots_[i].host.resize(slots_[i].words);
      driver_->cuMemcpyDtoHAsync(slots_[i].host.data(), slots_[i].at, slots_[i].words * 4, stream_);
    }
    driver_->cuStreamSynchronize(stream_);
    for (uint32_t i = n_in_; i < slots_.size(); ++i) {
      out.push_back(slots_[i].host);
      int32_t whole = 0;
      std::memcpy(&whole, out.back().data(), 4);
      if (slots_[i].is_whole) out.back()[0] = static_cast<float>(whole);
    }
    return out;
  }

 private:
  struct Slot {
    cuda::CuPointer at;
    size_t words;
    bool is_whole;  // of one i32
    Floats host = {};
  };

  static void* Address(cuda::CuPointer p) { return reinterpret_cast<void*>(static_cast<uintptr_t>(p)); }
  static float Bits(int32_t v) {
    float out = 0;
    std::memcpy(&out, &v, sizeof out);
    return out;
  }
  void Bind(ricci_ctx* ctx, ricci_type t) {
    ricci_type_desc d = ricci_type_desc_default();
    EXPECT_TRUE(Ok(ricci_type_get(ctx, t, &d)));
    size_t words = 1;
    for (uint32_t i = 0; i < d.rank; ++i) words *= static_cast<size_t>(d.dims[i]);
    const cuda::CuPointer at = driver_.Allocate(words * 4, stream_);
    EXPECT_TRUE(Ok(ricci_call_bind(call_, static_cast<uint32_t>(slots_.size()), Address(at), words * 4)));
    slots_.push_back({at, words, d.dtype == RICCI_I32});
  }

  const BareDriver& driver_;
  const cuda::CuStream stream_;
  GpuProgram f_;
  ricci_call* call_ = nullptr;
  ricci_event* event_ = nullptr;
  uint32_t n_in_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace ricci::testing
#endif
