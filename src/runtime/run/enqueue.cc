// Runs of an Executable that are enqueued, on devices with memory and time of their own.
//
// The call that enqueues an operation also gives the event of its end; the event is not recorded after it. So no
// failure in between can leave a run or copy that has no event to wait for.
#include "runtime/run/executable.h"
#include "runtime/run/frame_guard.h"

namespace ricci { inline namespace v0 { namespace runtime {

absl::StatusOr<StreamRef> RunOptions::StreamOn(Device& device) const {
  if (stream == nullptr) return device.DefaultStream();
  RICCI_TRY(stream->CheckUsable());
  return StreamRef(stream);
}

// Makes `stream` wait for all that writes the arguments, and for all that uses those whose memory the run takes over.
// Returns the events that the run depends on; an argument whose run has failed is an error.
absl::StatusOr<std::vector<EventRef>> Executable::Order(Arguments in, const Stream& stream) const {
  std::vector<EventRef> after;
  for (uint32_t i = 0; i < in.size(); ++i) {
    const Array& a = *FromAbi(in[i]);
    if (EventRef writer = a.written()) {
      if (writer->failed()) return writer->Wait();
      after.push_back(std::move(writer));
    }
    RICCI_TRY(a.Order(stream, /*for_writing=*/code_->donates(i)));
  }
  return after;
}

// Nothing has been enqueued: donated arguments get their memory back.
void Executable::TakeBack(Arguments in, RunFrame& frame) const {
  for (uint32_t i = 0; i < code_->program().n_results(); ++i) {
    const int32_t from = code_->alias(i);
    if (from < 0 || frame.results[i] == nullptr || FromAbi(in[from])->data() != nullptr) continue;
    frame.results[i]->MoveDataTo(*FromAbi(in[from]));
  }
}

// Records the run in the arrays that it reads and writes. Donated arguments have no data from now on, and report the
// run's failure.
void Executable::RecordUses(Arguments in, RunFrame& frame, const EventRef& run) const {
  for (uint32_t i = 0; i < code_->program().n_results(); ++i) frame.results[i]->SetWritten(run);
  for (uint32_t i = 0; i < in.size(); ++i) {
    Array& a = *FromAbi(in[i]);
    if (a.data() != nullptr) a.AddRead(run);
    if (!code_->donates(i) || !MayTake(in, i)) continue;
    a.DropData();
    a.SetWritten(run);
  }
}

absl::StatusOr<EventRef> Executable::EnqueueInFrame(Arguments in, RunFrame& frame, const StreamRef& stream) const {
  RICCI_ASSIGN(std::vector<EventRef> after, Order(in, *stream));
  RICCI_TRY(AllocateResults(in, frame, stream.get()));
  const absl::Status moved = MoveDonated(in, frame);
  auto run = moved.ok() ? code_->Enqueue(frame, stream, std::move(after)) : absl::StatusOr<EventRef>(moved);
  run.ok() ? RecordUses(in, frame, *run) : TakeBack(in, frame);
  return run;
}

absl::Status Executable::Enqueue(Arguments in, std::span<ricci_array*> out, const RunOptions& options) const {
  Device& device = *code_->device();
  if (device.host_memory) return Run(in, out, options);
  return EnqueueOn(in, out, options).status();
}

absl::StatusOr<EventRef> Executable::EnqueueOn(Arguments in, std::span<ricci_array*> out,
                                               const RunOptions& options) const {
  RICCI_ASSIGN(const StreamRef stream, options.StreamOn(*code_->device()));
  RICCI_ASSIGN(const FrameGuard guard, FrameGuard::Take(*code_, stream.get()));
  Moved moved;
  options.Set(guard.frame());
  RICCI_TRY(CheckArguments(in, guard.frame(), moved));
  RICCI_ASSIGN(EventRef run, EnqueueInFrame(in, guard.frame(), stream));
  guard.GiveResults(out);
  return run;
}

absl::Status Executable::EnqueueAndWait(Arguments in, std::span<ricci_array*> out, const RunOptions& options) const {
  std::vector<ricci_array*> results(out.size());
  RICCI_ASSIGN(const EventRef run, EnqueueOn(in, results, options));
  absl::Status status = run->Wait();
  if (status.ok()) std::copy(results.begin(), results.end(), out.begin());
  for (ricci_array* a : results) {
    if (!status.ok()) FromAbi(a)->Release();
  }
  return status;
}

}}}  // namespace ricci::v0::runtime
