// BoundCall: an executable with the host's pointers bound once, for many runs.
//
// Where memory is the host's, a run allocates nothing, takes no lock and counts no reference. Slots are the arguments,
// then the results.
//
// In a stream that the host captures, a run is given to the backend (`capture`), which makes it part of the host's
// graph. Its event is complete from the start, shares the call's frame, and reads the word of failed checks each time
// it is asked. Then no run is in flight that the context could wait for: the host keeps the call or the event as long
// as its graph.
#ifndef RICCI_RUNTIME_BOUND_CALL_H_
#define RICCI_RUNTIME_BOUND_CALL_H_
#include <memory>

#include "runtime/run/executable.h"

namespace ricci { inline namespace v0 { namespace runtime {

class BoundCall {
 public:
  static absl::StatusOr<std::unique_ptr<BoundCall>> Create(base::Ref<const Executable> executable);
  BoundCall(const BoundCall&) = delete;

  const CompiledCode& code() const { return code_; }
  absl::Status Bind(uint32_t slot, void* p, uint64_t bytes);
  // Each slot to its pointer, of the size of its type, or to that pointer plus `offset` bytes.
  absl::Status BindAll(std::span<void* const> pointers, int64_t offset);
  ricci_status* Run() {
    if (ready_) return code_.Run(*frame_);
    return RunChecked();
  }
  // Returns the event of the end of the run, or that of a run that has become part of a graph of the host.
  absl::StatusOr<EventRef> Enqueue(const RunOptions& options);

 private:
  BoundCall(base::Ref<const Executable> executable, std::shared_ptr<RunFrame> frame);
  const types::ArrayType& type(uint32_t slot) const;
  std::string SlotName(uint32_t slot) const;
  absl::Status SetSlot(uint32_t slot, void* p);
  void SetReady();
  absl::Status CheckSlots() const;
  absl::Status CheckOverlap(uint32_t slot) const;
  absl::Status Overlap(uint32_t a, uint32_t b) const;
  bool MayShare(uint32_t a, uint32_t b) const;
  ricci_status* RunChecked();
  absl::StatusOr<EventRef> Capture(const Stream& stream);

  const base::Ref<const Executable> executable_;
  const CompiledCode& code_;
  const uint32_t n_in_, n_slots_;
  // Of this call and the events of its captured runs. Inputs and outputs are adjacent: one pointer per slot.
  const std::shared_ptr<RunFrame> frame_;
  bool ready_ = false;  // host memory, all slots are bound and nothing must be checked at each run
};

}}}  // namespace ricci::v0::runtime
#endif
