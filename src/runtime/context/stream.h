// Stream and Event: order in time on a device whose work is enqueued (Device). Where runs are complete when they
// return, a stream is a handle without content, and a NULL event means one that has completed.
//
// A run is in flight from enqueue until its event is settled: the event keeps its code, the device keeps the event.
// Backends report the end of a run on threads of their own, where they must not be called, or when they are asked for
// its event. So `Done` only writes down the outcome, and threads of the host settle what has ended when they wait and
// when they enqueue.
//
// The status of a run is in its event, not in the arrays. Waiting for a result asks the event of the run that writes
// it, and an event fails with the first failure of what it depended on. So a failure reaches all results made from it
// and nothing else, in any order of waiting. When the last handle of a context is released, the context waits for the
// runs in flight; an executable released later waits itself.
#ifndef RICCI_RUNTIME_STREAM_H_
#define RICCI_RUNTIME_STREAM_H_
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "ricci/array.h"
#include "ricci/stream.h"
#include "runtime/context/context.h"

namespace ricci { inline namespace v0 { namespace runtime {

class CompiledCode;
struct RunFrame;

class Stream final : public base::Shared {
 public:
  static absl::StatusOr<StreamRef> Create(Device* device);
  // The stream of the device itself. The device holds it, so it does not keep the context alive.
  static absl::StatusOr<StreamRef> CreateDefault(Device* device);
  // A native stream that belongs to the host; NULL where memory is the host's.
  static absl::StatusOr<StreamRef> Wrap(Device* device, void* native);

  Device* device() const { return device_; }
  void* native() const { return native_; }
  // Not the host's, which may destroy it once no work uses it.
  bool owned() const { return owned_; }

  // Whether work may be enqueued now: not while the host captures a stream of its own.
  absl::Status CheckUsable() const;
  // The end of all that was enqueued.
  absl::StatusOr<EventRef> Record();
  // The same, with the time when it comes.
  absl::StatusOr<EventRef> RecordTimed();
  // What is enqueued from now on begins after `e`, which may be NULL.
  absl::Status Wait(Event* e) const;

 private:
  Stream(Device* device, void* native, bool owned, bool keeps_context);
  ~Stream() override;
  using RecordFn = ricci_status* (*)(void* self, void* stream, void** event);
  absl::StatusOr<EventRef> RecordBy(std::string_view name, RecordFn record, bool timed);

  const base::Ref<Context> context_;
  Device* const device_;
  void* const native_;
  const bool owned_;
};

class Event final : public base::Shared {
 public:
  // The end of a run of `code`, which uses what `after` wrote, once Started says that it has been enqueued.
  static EventRef OfRun(StreamRef stream, base::Ref<const CompiledCode> code, std::vector<EventRef> after);
  // A point in `stream`, once Started has given its native event.
  static EventRef AtPoint(StreamRef stream, bool timed = false);
  // One that completes now, in memory of the host.
  static EventRef TimedOnHost(StreamRef stream);
  // An event that has already completed.
  static EventRef Completed(Context* context);
  // The same for a run that is part of a graph of the host; it reports what the last launch left in the frame.
  static EventRef OfCapture(Context* context, std::shared_ptr<const RunFrame> frame);

  void Started(void* native) { native_ = native; }  // takes over `native`
  // ricci_done_fn; `arg` is the event.
  static void Done(void* arg, ricci_status* status, uint32_t failed_check);

  Context* context() const { return context_.get(); }
  Stream* stream() const { return stream_.get(); }
  void* native() const { return native_; }
  // Is the time known when it completes?
  bool timed() const { return timed_; }

  // Waits until it has completed.
  absl::Status Await();
  // Waits; returns the status of the run, or of an earlier one whose results it used. Of a captured run that of the
  // last launch, which has ended.
  absl::Status Wait();
  absl::StatusOr<bool> Query();
  // Waits for both, which are timed and of one device.
  absl::StatusOr<double> SecondsSince(Event& begin);
  // Has the end of the run been reported, so that Settle may be called?
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  // Sets the final status and releases all that the run needed; of runs whose results it used too. A failure is that of
  // asking for their ends, after which it is not settled.
  absl::Status Settle();
  bool settled() const { return settled_.load(std::memory_order_acquire); }
  bool failed() const { return settled() && !status_.ok(); }

 private:
  Event(Context* context, StreamRef stream, base::Ref<const CompiledCode> code, std::vector<EventRef> after);
  ~Event() override;
  EventRef FirstUnsettled();
  absl::Status AwaitNative();
  void Finish();
  absl::Status Outcome();

  const base::Ref<Context> context_;
  const StreamRef stream_;
  const bool is_run_;
  bool timed_ = false;
  uint64_t host_ns_ = 0;  // when it completed, in memory of the host
  void* native_ = nullptr;
  std::mutex mutex_;  // guards what settling takes
  base::Ref<const CompiledCode> code_;
  std::vector<EventRef> after_;
  ricci_status* reported_ = nullptr;  // by the backend
  uint32_t failed_check_ = RICCI_NO_CHECK;
  std::atomic<bool> ended_{false}, settled_{false};
  absl::Status status_;  // once it is settled
  std::shared_ptr<const RunFrame> captured_;
};

// The C handles are their addresses.
inline ricci_stream* Abi(const Stream* s) { return reinterpret_cast<ricci_stream*>(const_cast<Stream*>(s)); }
inline Stream* FromAbi(const ricci_stream* s) { return reinterpret_cast<Stream*>(const_cast<ricci_stream*>(s)); }
inline ricci_event* Abi(const Event* e) { return reinterpret_cast<ricci_event*>(const_cast<Event*>(e)); }
inline Event* FromAbi(const ricci_event* e) { return reinterpret_cast<Event*>(const_cast<ricci_event*>(e)); }

}}}  // namespace ricci::v0::runtime
#endif
