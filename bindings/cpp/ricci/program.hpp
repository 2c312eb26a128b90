// ricci/program.hpp: a traced program and what it compiles to, as shared handles.
//
// What jit, grad and vmap work with, for hosts that want to look at it, print it or keep it.
#ifndef RICCI_PROGRAM_HPP_
#define RICCI_PROGRAM_HPP_
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ricci/array.hpp"

namespace ricci::inline v0 {

// A shared reference to an object of the C ABI.
template <typename T, T* (*kRetain)(T*), void (*kRelease)(T*)>
class Shared {
 public:
  Shared() = default;
  // Takes the reference that `handle` is.
  explicit Shared(T* handle) : handle_(handle) {}
  Shared(const Shared& o) : handle_(o.handle_ == nullptr ? nullptr : kRetain(o.handle_)) {}
  Shared(Shared&& o) noexcept : handle_(std::exchange(o.handle_, nullptr)) {}
  Shared& operator=(Shared o) noexcept {
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~Shared() {
    if (handle_ != nullptr) kRelease(handle_);
  }
  T* handle() const { return handle_; }

 private:
  T* handle_ = nullptr;
};

inline void AppendSink(void* sink, const char* p, size_t n) { static_cast<std::string*>(sink)->append(p, n); }

class Program : public Shared<ricci_program, ricci_program_retain, ricci_program_release> {
 public:
  using Shared::Shared;
  std::span<const ricci_type> params() const { return Signature().first; }
  std::span<const ricci_type> results() const { return Signature().second; }
  uint32_t equation_count() const { return ricci_program_equation_count(handle()); }
  uint64_t hash() const { return ricci_program_hash(handle()); }
  // The text form.
  std::string text() const {
    std::string out;
    Check(ricci_program_print(handle(), &out, AppendSink));
    return out;
  }
  static Program parse(const Context& ctx, std::string_view text) {
    ricci_program* p = nullptr;
    Check(ricci_program_parse(ctx.handle(), text.data(), text.size(), "", 0, &p));
    return Program(p);
  }

 private:
  std::pair<std::span<const ricci_type>, std::span<const ricci_type>> Signature() const {
    uint32_t n_params = 0, n_results = 0;
    const ricci_type *params = nullptr, *results = nullptr;
    ricci_program_signature(handle(), &n_params, &params, &n_results, &results);
    return {{params, n_params}, {results, n_results}};
  }
};

// Throws if `call(&program)` fails; its program otherwise.
template <typename Call>
Program MakeProgram(Call&& call) {
  ricci_program* p = nullptr;
  Check(call(&p));
  return Program(p);
}

class Executable : public Shared<ricci_executable, ricci_executable_retain, ricci_executable_release> {
 public:
  using Shared::Shared;
  // `donate`: one byte per parameter, or empty.
  static Executable compile(const Program& program, Device device = {}, std::span<const uint8_t> donate = {}) {
    ricci_compile_opts o{};
    o.hdr.size = sizeof o;
    o.device = device.handle();
    o.donate = donate.data();
    o.n_donate = static_cast<uint32_t>(donate.size());
    ricci_executable* x = nullptr;
    Check(ricci_compile(program.handle(), &o, &x));
    return Executable(x);
  }
  size_t result_count() const {
    uint32_t n = 0;
    ricci_executable_signature(handle(), nullptr, nullptr, &n, nullptr);
    return n;
  }
  // Runs with one handle per parameter; writes one new handle per result.
  void run(std::span<ricci_array* const> in, std::span<ricci_array*> out) const {
    Check(ricci_executable_run(handle(), in.data(), static_cast<uint32_t>(in.size()), out.data(),
                               static_cast<uint32_t>(out.size())));
  }
  ricci_executable_stats stats() const {
    ricci_executable_stats s{};
    s.hdr.size = sizeof s;
    ricci_executable_info(handle(), &s);
    return s;
  }
  // Text of a stage: `program`, `optimized`, `kernels`, `plan`, `native`.
  std::string dump(std::string_view stage) const {
    std::string out;
    Check(ricci_executable_dump(handle(), stage.data(), stage.size(), &out, AppendSink));
    return out;
  }
};

}  // namespace ricci::inline v0
#endif
