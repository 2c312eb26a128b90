// StoppableRun: a compiled program with its own memory, run with options: a word of the host's, a deadline, a profile.
#ifndef RICCI_TESTS_CPU_STOPPABLE_RUN_H_
#define RICCI_TESTS_CPU_STOPPABLE_RUN_H_
#include <time.h>

#include <deque>

#include "support/program_runner.h"

namespace ricci::testing {

inline uint64_t MonotonicNanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

class StoppableRun {
 public:
  // Arguments are zeros until they are set. `flags`: RICCI_COMPILE_*.
  StoppableRun(ricci_ctx* ctx, const Program& f, std::string_view device, uint32_t flags = 0) {
    ricci_compile_opts o = ricci_compile_opts_default();
    o.hdr.flags = flags;
    ricci_device* const on = ricci_device_find(ctx, device.data(), device.size());
    o.devices = &on;
    o.n_devices = 1;
    if (!Ok(ricci_compile(f.get(), &o, &x_)) || !Ok(ricci_call_create(x_, &call_))) return;
    uint32_t n_params, n_results;
    const ricci_type *params, *results;
    ricci_executable_signature(x_, &n_params, &params, &n_results, &results);
    for (uint32_t i = 0; i < n_params; ++i) Bind(ctx, in_, i, params[i]);
    for (uint32_t i = 0; i < n_results; ++i) Bind(ctx, out_, n_params + i, results[i]);
  }
  ~StoppableRun() {
    ricci_call_release(call_);
    ricci_executable_release(x_);
  }
  StoppableRun(const StoppableRun&) = delete;

  double* argument(size_t i) { return in_[i].data(); }
  const double* result(size_t i) const { return out_[i].data(); }

  ricci_call* call() const { return call_; }

  // The code of the status with which the run ends.
  uint32_t Run(const uint32_t* cancel = nullptr, uint64_t deadline_ns = 0) {
    ricci_run_opts o = ricci_run_opts_default();
    o.cancel = cancel;
    o.deadline_ns = deadline_ns;
    return Run(o);
  }
  uint32_t Run(const ricci_run_opts& o) {
    ricci_status* s = ricci_call_enqueue(call_, &o, nullptr);
    const uint32_t status = s == nullptr ? static_cast<uint32_t>(RICCI_OK) : ricci_status_code(s);
    message_ = s == nullptr ? "" : Message(s);
    return status;
  }
  const std::string& message() const { return message_; }  // of the last run

 private:
  void Bind(ricci_ctx* ctx, std::deque<std::vector<double>>& side, uint32_t slot, ricci_type t) {
    ricci_type_desc d = ricci_type_desc_default();
    Ok(ricci_type_get(ctx, t, &d));
    uint64_t bytes = ricci_dtype_size(d.dtype);
    for (uint32_t i = 0; i < d.rank; ++i) bytes *= static_cast<uint64_t>(d.dims[i]);
    std::vector<double>& memory = side.emplace_back((bytes + sizeof(double) - 1) / sizeof(double));
    Ok(ricci_call_bind(call_, slot, memory.data(), bytes));
  }

  ricci_executable* x_ = nullptr;
  ricci_call* call_ = nullptr;
  std::deque<std::vector<double>> in_, out_;
  std::string message_;
};

}  // namespace ricci::testing
#endif
