// LibraryCalls: the library calls of a plan: functions of the host, for which a run waits, and functions of the device,
// which enqueue work of their own.
//
// A function of the host (RICCI_CALL_ON_HOST: callbacks, prints, lowerings for every target) gets its operands in
// pinned memory, and its results are copied from there. The run waits in between, on the thread that enqueues it: once
// for the operands, and once for the results, after which the memory is free for the next call. A function that the
// stream calls (cuLaunchHostFunc) would cost no wait, but it may not call the driver, so a callback could not use the
// GPU, and would hang or fail depending on what it does.
//
// Functions are called in the order of the program, without our context. Enqueue returns once all functions of the run
// have been called. What has failed is the end of the run: later steps do not happen, and results and donated arguments
// report it. A LIBRARY lowering for `cuda` enqueues to the stream, with our context, and the run does not wait for it.
// If it promises to do nothing else, it enqueues to a stream that is captured when a graph is made (stream_captures.h),
// and the graph repeats that.
//
// Not there yet: several tasks of a function of the host at once.
#ifndef RICCI_CUDA_LIBRARY_CALLS_H_
#define RICCI_CUDA_LIBRARY_CALLS_H_
#include <vector>

#include "cuda/driver/gpu.h"
#include "cuda/driver/reused.h"
#include "cuda/run/plan_graph.h"

namespace ricci::cuda {

// Pinned memory for the calls of runs: a block for each thread that makes one now, kept for later runs.
class LibraryCalls {
 public:
  LibraryCalls(const Gpu& device, const ricci_plan& plan);
  LibraryCalls(const LibraryCalls&) = delete;
  // The device's context is current, and no run will make a call any more.
  void Clear();

  const Gpu& device() const { return device_; }
  const ricci_plan& plan() const { return plan_; }
  // A block in which every call of the plan has room. The device's context is current.
  ricci_status* Take(char*& out);
  void Return(char* block) { blocks_.Return(block); }

 private:
  const Gpu& device_;
  const ricci_plan& plan_;
  uint64_t block_bytes_ = 0;
  Reused<char*> blocks_;
};

// The calls of one run, which one thread makes.
class LibraryRun {
 public:
  LibraryRun(LibraryCalls& calls, const ricci_run_args& args, CuStream stream, Current& current)
      : calls_(calls), args_(args), stream_(stream), current_(current) {}
  ~LibraryRun() {
    if (block_ != nullptr) calls_.Return(block_);
  }
  LibraryRun(const LibraryRun&) = delete;

  // After all that was issued to the stream. A function of the host has ended when this returns, and its results are
  // copied; it is called without the device's context. A failure ends the run.
  ricci_status* Call(const ricci_plan_step& step, const Addresses& addresses);
  // Of a function of the device: the call into this stream.
  ricci_status* CallInto(CuStream stream, const ricci_plan_step& step, const Addresses& addresses);
  // Was the failure that of a function, rather than of the driver?
  bool has_failed() const { return has_failed_; }

 private:
  struct Arguments;
  Arguments ArgumentsOf(const ricci_plan_step& step, const Addresses& addresses) const;
  ricci_status* OnHost(const ricci_plan_library& call, const Arguments& arguments);
  ricci_status* OnDevice(const ricci_plan_library& call, const Arguments& arguments, CuStream stream);
  ricci_status* Launch(const ricci_plan_library& call, ricci_launch& launch);

  LibraryCalls& calls_;
  const ricci_run_args& args_;
  const CuStream stream_;
  Current& current_;
  char* block_ = nullptr;
  bool has_failed_ = false;
};

}  // namespace ricci::cuda
#endif
