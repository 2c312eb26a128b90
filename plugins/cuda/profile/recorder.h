// Recorder: what CUPTI records of profiled runs: when the GPU began and ended what a step of a run has enqueued.
//
// There is one for each process, the only state of this plugin that is not a context's: CUPTI itself is one for each
// process, and the callbacks by which it asks for buffers and gives them back carry no pointer of the code that
// registered them, so they must find the recorder by themselves. Contexts that name the same library share it, and it
// goes with the last of them; CUPTI may give a buffer back even after that, which is then only freed.
//
// Each step of a run has a number, which the thread pushes before it enqueues the step and pops afterwards. A record of
// kind EXTERNAL_CORRELATION says which call was made under which number, and the record of a kernel, copy or memset
// which call asked for it; either of them may come first. CUPTI writes the former for calls that it records too, hence
// the kinds DRIVER and RUNTIME, whose own records are not used.
//
// While a profiled run is under way, CUPTI records all work of the process. What is not of our steps is let go.
//
// That slows launches; otherwise nothing is recorded. Only one tool of a process can use CUPTI. If another one does
// (PyTorch's profiler, Nsight Systems from outside), CUPTI refuses, which is a status that names the option. Or one of
// the two gets no records.
#ifndef RICCI_CUDA_RECORDER_H_
#define RICCI_CUDA_RECORDER_H_
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/profile/cupti.h"

namespace ricci::cuda {

// Any thread may call these, several at once. A status is that of CUPTI.
class Recorder {
 public:
  struct Times {
    uint64_t begin = 0, end = 0;  // ns of CUPTI's clock
    uint32_t records = 0;         // so many kernels, copies and memsets; 0: without times
  };

  // That of the process, by the library at `path`. Null, with `error`, if it cannot be used, or if the process has one
  // by another library.
  static std::shared_ptr<Recorder> Open(const std::string& path, std::string& error);
  explicit Recorder(std::unique_ptr<const Cupti> cupti) : cupti_(std::move(cupti)) {}
  Recorder(const Recorder&) = delete;

  // Around a profiled run: CUPTI records from the first one that begins to the last one that ends. End only after Begin
  // was OK.
  ricci_status* Begin();
  void End();
  // Around what the thread enqueues for a step, whose number is new. Pop only after Push was OK.
  ricci_status* Push(uint64_t& number);
  ricci_status* Pop();
  // All records that are complete come; with `force` also those that are not, for which their owners will wait in vain.
  ricci_status* Flush(bool force);
  // How many records of the step have come.
  uint32_t Records(uint64_t number) const;
  // From the first beginning to the last end of what it has enqueued. Once for each number, which means nothing then.
  Times Take(uint64_t number);
  // What to add, modulo 2^64, to a time of CUPTI's clock for one of CLOCK_MONOTONIC.
  ricci_status* Offset(uint64_t& out) const;
  // How many records CUPTI had no room for since the last call.
  size_t Dropped() const;

 private:
  struct Step {
    Times times;
    std::vector<uint32_t> calls;
  };

  static void Requested(uint8_t** buffer, size_t* bytes, size_t* records);
  static void Completed(CuContext context, uint32_t stream, uint8_t* buffer, size_t bytes, size_t valid);
  ricci_status* Enable() const;
  void Read(uint8_t* buffer, size_t valid);
  void ReadRecord(const uint8_t* record, size_t left);
  void AddCall(uint64_t number, uint32_t call);
  void AddActivity(uint32_t call, Times times);

  const std::unique_ptr<const Cupti> cupti_;
  std::atomic<uint64_t> next_number_{1};
  std::mutex run_mutex_;  // while kinds are enabled and disabled; never taken by a callback
  int runs_ = 0;
  // No function of CUPTI is called with it held, but the one that only reads a buffer.
  mutable std::mutex mutex_;
  std::map<uint64_t, Step> steps_;      // by number: those that were pushed and not taken
  std::map<uint32_t, uint64_t> calls_;  // the step of a call
  std::map<uint32_t, Times> early_;     // of calls whose step is not known, of ours or of others
};

}  // namespace ricci::cuda
#endif
