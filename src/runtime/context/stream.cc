#include "runtime/context/stream.h"

#include "kernel/stop_request.h"
#include "runtime/context/backend_call.h"
#include "runtime/context/compiled_code.h"

namespace ricci { inline namespace v0 { namespace runtime {

// ---- streams ----
Stream::Stream(Device* device, void* native, bool owned, bool keeps_context)
    : context_(keeps_context ? device->context : nullptr), device_(device), native_(native), owned_(owned) {}

Stream::~Stream() {
  if (owned_) base::CallQuietly([&] { device_->backend.stream_drop(device_->backend.self, native_); });
}

namespace {

absl::StatusOr<void*> NewNative(const ricci_backend& b) {
  void* native = nullptr;
  RICCI_TRY(CallBackend(b, "stream_create", b.stream_create, b.self, &native));
  RICCI_TRY(CheckMade(b, "stream_create", native));
  return native;
}

}  // namespace

absl::StatusOr<StreamRef> Stream::Create(Device* device) {
  if (device->host_memory) return Wrap(device, nullptr);
  RICCI_ASSIGN(void* const native, NewNative(device->backend));
  return StreamRef::Adopt(new Stream(device, native, /*owned=*/true, /*keeps_context=*/true));
}

absl::StatusOr<StreamRef> Stream::CreateDefault(Device* device) {
  RICCI_ASSIGN(void* const native, NewNative(device->backend));
  return StreamRef::Adopt(new Stream(device, native, /*owned=*/true, /*keeps_context=*/false));
}

absl::StatusOr<StreamRef> Stream::Wrap(Device* device, void* native) {
  const ricci_backend& backend = device->backend;
  if (!device->host_memory && backend.stream_wrap != nullptr) {
    void* wrapped = nullptr;
    RICCI_TRY(CallBackend(backend, "stream_wrap", backend.stream_wrap, backend.self, native, &wrapped));
    RICCI_TRY(CheckMade(backend, "stream_wrap", wrapped));
    native = wrapped;
  }
  return StreamRef::Adopt(new Stream(device, native, /*owned=*/false, /*keeps_context=*/true));
}

absl::Status Stream::CheckUsable() const {
  const ricci_backend& backend = device_->backend;
  if (owned_ || device_->host_memory || backend.stream_check == nullptr) return absl::OkStatus();
  return CallBackend(backend, "stream_check", backend.stream_check, backend.self, native_);
}

absl::StatusOr<EventRef> Stream::RecordBy(std::string_view name, RecordFn record, bool timed) {
  RICCI_TRY(CheckUsable());
  EventRef event = Event::AtPoint(StreamRef(this), timed);
  void* native = nullptr;
  const ricci_backend& backend = device_->backend;
  RICCI_TRY(CallBackend(backend, name, record, backend.self, native_, &native));
  RICCI_TRY(CheckMade(backend, name, native));
  event->Started(native);
  return event;
}

absl::StatusOr<EventRef> Stream::Record() {
  if (device_->host_memory) return Event::Completed(device_->context);
  return RecordBy("event_record", device_->backend.event_record, /*timed=*/false);
}

absl::StatusOr<EventRef> Stream::RecordTimed() {
  if (device_->host_memory) return Event::TimedOnHost(StreamRef(this));
  if (device_->backend.event_record_timed == nullptr) {
    return absl::UnimplementedError(
        base::Cat("device ", device_->Name(), ": its backend notes no times of events; measure on the host"));
  }
  return RecordBy("event_record_timed", device_->backend.event_record_timed, /*timed=*/true);
}

absl::Status Stream::Wait(Event* e) const {
  if (e == nullptr || e->settled() || e->stream() == this) return absl::OkStatus();
  if (device_->host_memory || e->stream()->device()->kind != device_->kind) return e->Await();
  RICCI_TRY(CheckUsable());
  // The other device may be lost: this one is not asked about its events then.
  if (e->stream()->device() != device_) RICCI_TRY(e->Query().status());
  if (e->settled()) return absl::OkStatus();
  const ricci_backend& backend = device_->backend;
  RICCI_TRY(CheckMade(backend, "enqueue", e->native()));
  return CallBackend(backend, "stream_wait", backend.stream_wait, backend.self, native_, e->native());
}

// ---- events ----
Event::Event(Context* context, StreamRef stream, base::Ref<const CompiledCode> code, std::vector<EventRef> after)
    : context_(context), stream_(std::move(stream)), is_run_(code), code_(std::move(code)), after_(std::move(after)) {}

Event::~Event() {
  if (reported_ != nullptr) ricci_status_free(reported_);
  if (native_ == nullptr) return;
  const ricci_backend& backend = stream_->device()->backend;
  base::CallQuietly([&] { backend.event_drop(backend.self, native_); });
}

EventRef Event::OfRun(StreamRef stream, base::Ref<const CompiledCode> code, std::vector<EventRef> after) {
  Context* context = stream->device()->context;
  return EventRef::Adopt(new Event(context, std::move(stream), std::move(code), std::move(after)));
}

EventRef Event::AtPoint(StreamRef stream, bool timed) {
  Context* context = stream->device()->context;
  auto event = EventRef::Adopt(new Event(context, std::move(stream), {}, {}));
  event->timed_ = timed;
  return event;
}

EventRef Event::TimedOnHost(StreamRef stream) {
  EventRef event = AtPoint(std::move(stream), /*timed=*/true);
  event->host_ns_ = kernel::MonotonicNow();
  event->ended_ = event->settled_ = true;
  return event;
}

EventRef Event::Completed(Context* context) {
  auto event = EventRef::Adopt(new Event(context, {}, {}, {}));
  event->ended_ = event->settled_ = true;
  return event;
}

EventRef Event::OfCapture(Context* context, std::shared_ptr<const RunFrame> frame) {
  EventRef event = Completed(context);
  event->captured_ = std::move(frame);
  return event;
}

void Event::Done(void* arg, ricci_status* status, uint32_t failed_check) {
  auto* event = static_cast<Event*>(arg);
  event->reported_ = status;
  event->failed_check_ = failed_check;
  event->ended_.store(true, std::memory_order_release);  // from here on another thread may free the event
}

absl::Status Event::AwaitNative() {
  const ricci_backend& backend = stream_->device()->backend;
  RICCI_TRY(CheckMade(backend, "enqueue", native_));
  return CallBackend(backend, "event_wait", backend.event_wait, backend.self, native_);
}

absl::Status Event::Await() {
  if (settled()) return absl::OkStatus();
  RICCI_TRY(AwaitNative());
  return Settle();
}

absl::Status Event::Wait() {
  if (captured_ != nullptr) return captured_->code->LastCheck(*captured_);
  RICCI_TRY(Await());
  return status_;
}

absl::StatusOr<bool> Event::Query() {
  if (settled()) return true;
  const ricci_backend& backend = stream_->device()->backend;
  uint32_t come = 0;
  RICCI_TRY(CheckMade(backend, "enqueue", native_));
  RICCI_TRY(CallBackend(backend, "event_query", backend.event_query, backend.self, native_, &come));
  if (come != 0) RICCI_TRY(Settle());
  return come != 0;
}

absl::StatusOr<double> Event::SecondsSince(Event& begin) {
  const Device& device = *stream_->device();
  if (device.host_memory) return 1e-9 * static_cast<double>(static_cast<int64_t>(host_ns_ - begin.host_ns_));
  RICCI_TRY(begin.Await());
  RICCI_TRY(Await());
  double seconds = 0;
  const ricci_backend& backend = device.backend;
  RICCI_TRY(
      CallBackend(backend, "event_elapsed", backend.event_elapsed, backend.self, begin.native_, native_, &seconds));
  return seconds;
}

// Earlier events are settled first, with an explicit list instead of recursion: a chain of runs may be very long. Those
// have completed, but their ends may be unreported.
absl::Status Event::Settle() {
  std::vector<EventRef> chain{EventRef(this)};
  while (!chain.empty()) {
    Event& last = *chain.back();
    EventRef before = last.FirstUnsettled();
    if (before) {
      chain.push_back(std::move(before));
      continue;
    }
    if (&last != this && last.is_run_ && !last.ended()) RICCI_TRY(last.AwaitNative());
    last.Finish();
    chain.pop_back();
  }
  return absl::OkStatus();
}

EventRef Event::FirstUnsettled() {
  std::lock_guard lock(mutex_);
  for (const EventRef& e : after_) {
    if (!e->settled()) return e;
  }
  return {};
}

void Event::Finish() {
  base::Ref<const CompiledCode> code;  // goes without the lock
  std::vector<EventRef> after;
  std::lock_guard lock(mutex_);
  if (settled()) return;
  status_ = Outcome();
  code = std::move(code_);
  after = std::move(after_);
  settled_.store(true, std::memory_order_release);
}

absl::Status Event::Outcome() {
  if (!code_) return absl::OkStatus();
  if (!ended()) {
    return absl::InternalError(base::Cat("device ", stream_->device()->Name(),
                                         ": the event of a run has completed, but its end was never reported"));
  }
  if (reported_ != nullptr) {
    return base::WithMessage(base::FromAbi(std::exchange(reported_, nullptr)), code_->FunctionName("enqueue"));
  }
  RICCI_TRY(code_->CheckStatus(failed_check_));
  for (const EventRef& e : after_) RICCI_TRY(e->status_);
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::runtime
