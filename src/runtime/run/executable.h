// Executable: a compiled program that runs on arrays.
//
// One run checks its arguments, allocates its results and nothing else. A donated argument to which the caller holds
// the only reference gives its memory to the result that the plan computes in its place; in any other case the result
// has memory of its own, which only costs time.
//
// Where runs are complete when they return (host memory), there is only `Run`; on other devices a run is enqueued
// (enqueue.cc), and `Run` waits for it.
//
// A donated argument has no data after the run, unless it is shared or passed twice.
#ifndef RICCI_RUNTIME_EXECUTABLE_H_
#define RICCI_RUNTIME_EXECUTABLE_H_
#include "runtime/context/compiled_code.h"

namespace ricci { inline namespace v0 { namespace runtime {

struct RunOptions {
  Stream* stream = nullptr;  // of the device; NULL: its default
  const uint32_t* cancel = nullptr;
  uint64_t deadline_ns = 0;
  const ricci_profile* profile = nullptr;  // only for code that was compiled for it

  void Set(RunFrame& frame) const {
    frame.args.cancel = cancel;
    frame.args.deadline_ns = deadline_ns;
    frame.args.span = profile == nullptr ? nullptr : CompiledCode::ReportSpan;
    frame.args.span_self = &frame;
    frame.profile = profile;
  }
  absl::StatusOr<StreamRef> StreamOn(Device& device) const;
};

class Executable final : public base::Shared {
 public:
  using Arguments = std::span<ricci_array* const>;

  // `checked`: overlap of bound pointers is an error. `committed`: results are always committed.
  static base::Ref<Executable> Create(base::Ref<CompiledCode> code, bool cache_hit, bool checked, bool committed);

  const CompiledCode& code() const { return *code_; }
  bool checked() const { return checked_; }
  ricci_executable_stats stats() const;

  // Writes n_out new references to `out` on success. Thread-safe.
  absl::Status Run(Arguments in, std::span<ricci_array*> out, const RunOptions& options) const;
  absl::Status Enqueue(Arguments in, std::span<ricci_array*> out, const RunOptions& options) const;

 private:
  Executable(base::Ref<CompiledCode> code, bool cache_hit, bool checked, bool committed);
  ~Executable() override;

  // Copies on this device of arguments that are not committed; lives as long as the run needs them.
  struct Moved {
    std::vector<base::Ref<Array>> arrays;
    std::vector<ricci_array*> in;
  };
  absl::StatusOr<Moved> MoveUncommitted(Arguments in) const;
  bool FindArguments(Arguments in, RunFrame& frame) const;
  absl::Status CheckArguments(Arguments& in, RunFrame& frame, Moved& moved) const;
  absl::Status Explain(Arguments in) const;
  absl::Status WrongArgument(Arguments in, uint32_t i) const;
  bool MayTake(Arguments in, uint32_t param) const;
  absl::Status AllocateResults(Arguments in, RunFrame& frame, Stream* stream) const;
  absl::Status MoveDonated(Arguments in, RunFrame& frame) const;
  absl::Status RunInFrame(Arguments in, RunFrame& frame) const;
  bool ResultsAreCommitted(Arguments in) const;

  // enqueue.cc
  absl::Status EnqueueAndWait(Arguments in, std::span<ricci_array*> out, const RunOptions& options) const;
  absl::StatusOr<EventRef> EnqueueOn(Arguments in, std::span<ricci_array*> out, const RunOptions& options) const;
  absl::StatusOr<EventRef> EnqueueInFrame(Arguments in, RunFrame& frame, const StreamRef& stream) const;
  absl::StatusOr<std::vector<EventRef>> Order(Arguments in, const Stream& stream) const;
  void TakeBack(Arguments in, RunFrame& frame) const;
  void RecordUses(Arguments in, RunFrame& frame, const EventRef& run) const;

  base::Ref<Context> context_;  // declared first: the others are destroyed before it
  base::Ref<CompiledCode> code_;
  const bool cache_hit_, checked_, committed_;
};

// The C handle of an executable is its address.
inline ricci_executable* Abi(const Executable* x) {
  return reinterpret_cast<ricci_executable*>(const_cast<Executable*>(x));
}
inline Executable* FromAbi(const ricci_executable* x) {
  return reinterpret_cast<Executable*>(const_cast<ricci_executable*>(x));
}

}}}  // namespace ricci::v0::runtime
#endif
