// Streams and events of libcuda.
#include <tuple>

#include "standin.h"

namespace ricci::cuda::standin {

namespace {

// It has the number of one that was destroyed, so that clocks stay small.
Stream& NewStream(Machine& m, Context& context, bool is_blocking) {
  Stream& s = m.all_streams.emplace_back();
  s.device = context.device;
  s.context = &context;
  s.is_blocking = is_blocking;
  if (m.free_numbers.empty()) {
    s.number = ++m.numbers;
  } else {
    std::tie(s.number, s.steps) = m.free_numbers.back();
    m.free_numbers.pop_back();
  }
  return s;
}

bool IsCaptured(Machine& m, const char* call, CuStream stream) {
  const std::shared_ptr<Capture>& capture = m.Find(stream)->capture;
  if (capture == nullptr) return false;
  Invalidate(m, *capture, std::string(call) + " of a stream that the host captures", kCaptureUnsupported);
  return true;
}

}  // namespace

Stream* Machine::Find(CuStream handle) {
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (number > 2) return &As<Stream>(handle);
  Context* const context = CurrentContext();
  if (number == 0 || context == nullptr) return nullptr;
  Stream*& found = default_streams[{context, number}];
  if (found == nullptr) found = &NewStream(*this, *context, /*is_blocking=*/false);
  return found;
}

bool IsLive(Machine& m, const char* call, CuStream stream) {
  const Stream* const s = m.Find(stream);
  if (s != nullptr && !s->is_destroyed) return true;
  m.Complain(std::string(call) + ": no such stream");
  return false;
}

namespace {

bool IsLive(Machine& m, const char* call, CuEvent event) {
  if (m.all_events.count(&As<Event>(event)) != 0) return true;
  m.Complain(std::string(call) + ": no such event");
  return false;
}

// What happens once all before it in the stream is done.
void NoteTime(Machine& m, Stream& s, const std::shared_ptr<EventTime>& time) {
  const auto note = [time, &s](const StepRef&) {
    Machine& machine = Machine::Get();
    const std::lock_guard lock(machine.mutex);
    *time = {true, s.time, machine.time};
  };
  m.Push(s, "cuEventRecord", note, /*gives_back=*/false, /*takes_time=*/false);
}

// It never comes: it is a place in a graph.
CuResult AskedOfCapture(Machine& m, const char* call, const Event& e) {
  return Invalidate(m, *e.capture, std::string(call) + " of an event in a capture", kCapturedEvent);
}

}  // namespace

CuResult cuStreamCreate(CuStream* out, unsigned flags) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (CurrentDevice(m, "cuStreamCreate") < 0) return kInvalidContext;
  ++m.streams;
  Stream& made = NewStream(m, *CurrentContext(), (flags & kCuStreamNonBlocking) == 0);
  made.is_counted = true;
  *out = Handle<CuStream>(&made);
  return kCuSuccess;
}
CuResult cuStreamSynchronize(CuStream stream) {
  Machine& m = Machine::Get();
  std::unique_lock lock(m.mutex);
  if (!IsLive(m, "cuStreamSynchronize", stream)) return kInvalidHandle;
  if (IsCaptured(m, "cuStreamSynchronize", stream)) return kCaptureUnsupported;
  Stream& s = *m.Find(stream);
  const Clock done = s.clock;
  m.Drain(lock, s, s.pushed);
  m.steps.HostKnows(done);
  HostHasWaited(m, s.device);
  return kCuSuccess;
}
// Its work goes on, and the host does not know when it is done.
CuResult cuStreamDestroy(CuStream stream) {
  Machine& m = Machine::Get();
  std::unique_lock lock(m.mutex);
  if (!IsLive(m, "cuStreamDestroy", stream)) return kInvalidHandle;
  Stream& s = *m.Find(stream);
  if (s.capture != nullptr) m.Complain("cuStreamDestroy of a stream that is captured");
  s.is_destroyed = true;
  m.Drain(lock, s, s.pushed);
  s.clock.clear();
  if (!m.steps.HasOpen(s.number)) m.free_numbers.push_back({s.number, s.steps});
  --m.streams;
  return kCuSuccess;
}
CuResult cuStreamWaitEvent(CuStream stream, CuEvent event, unsigned) {
  Machine& m = Machine::Get();
  Event e;
  {
    const std::lock_guard lock(m.mutex);
    if (!IsLive(m, "cuStreamWaitEvent", event) || !IsLive(m, "cuStreamWaitEvent", stream)) return kInvalidHandle;
    e = As<Event>(event);
    Stream& s = *m.Find(stream);
    if (e.capture != nullptr || (e.stream != nullptr && s.capture != nullptr)) return WaitInCapture(m, s, e);
    if (e.stream == nullptr) return kCuSuccess;  // never recorded
    Join(m.Find(stream)->clock, e.clock);
  }
  return Push("cuStreamWaitEvent", stream, [e](const StepRef&) {
    Machine& machine = Machine::Get();
    std::unique_lock lock(machine.mutex);
    machine.Drain(lock, *e.stream, e.at);
  });
}
CuResult cuEventCreate(CuEvent* out, unsigned flags) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const int device = CurrentDevice(m, "cuEventCreate");
  if (device < 0) return kInvalidContext;
  auto* const event = new Event{};
  event->device = device;
  event->is_timed = (flags & kCuEventDisableTiming) == 0;
  m.all_events.insert(event);
  *out = Handle<CuEvent>(event);
  return kCuSuccess;
}
CuResult cuEventRecord(CuEvent event, CuStream stream) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!IsLive(m, "cuEventRecord", event) || !IsLive(m, "cuEventRecord", stream)) return kInvalidHandle;
  Stream& s = *m.Find(stream);
  Event& e = As<Event>(event);
  if (s.capture != nullptr) {
    e = {&s, 0, {}, s.capture, s.last, s.device, e.is_timed};
    return s.capture->is_invalid ? kCaptureInvalidated : CuResult{kCuSuccess};
  }
  const std::shared_ptr<EventTime> time = e.is_timed ? std::make_shared<EventTime>() : nullptr;
  if (time != nullptr) NoteTime(m, s, time);
  Clock clock = s.clock;
  Join(clock, m.steps.host());
  e = {&s, s.pushed, std::move(clock), nullptr, {}, s.device, e.is_timed, time};
  return kCuSuccess;
}
// Of events that note times, on one device, that were recorded and have come.
CuResult cuEventElapsedTime(float* milliseconds, CuEvent begin, CuEvent end) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  for (const CuEvent event : {begin, end}) {
    if (!IsLive(m, "cuEventElapsedTime", event)) return kInvalidHandle;
    const Event& e = As<Event>(event);
    if (e.is_timed && e.capture == nullptr && e.time != nullptr && e.device == As<Event>(begin).device) continue;
    m.Complain("cuEventElapsedTime of an event without a time, or of two devices");
    return kInvalidHandle;
  }
  const EventTime &from = *As<Event>(begin).time, &to = *As<Event>(end).time;
  if (!from.has_come || !to.has_come) return kCuNotReady;
  const bool is_one = As<Event>(begin).stream == As<Event>(end).stream;
  const uint64_t us = is_one ? to.in_stream - from.in_stream : to.of_all - from.of_all;
  *milliseconds = 1e-3f * static_cast<float>(static_cast<int64_t>(us));
  return kCuSuccess;
}
CuResult cuEventQuery(CuEvent event) {
  Machine& m = Machine::Get();
  std::unique_lock lock(m.mutex);
  if (!IsLive(m, "cuEventQuery", event)) return kInvalidHandle;
  const Event e = As<Event>(event);
  if (e.capture != nullptr) return AskedOfCapture(m, "cuEventQuery", e);
  const auto is_done = [&] { return e.stream == nullptr || e.stream->done >= e.at; };
  const bool waits = !is_done() && m.asking_takes_time;
  if (waits && !e.stream->running) m.Drain(lock, *e.stream, e.stream->done + 1);
  if (!is_done()) return kCuNotReady;
  m.steps.HostKnows(e.clock);
  return kCuSuccess;
}
CuResult cuEventSynchronize(CuEvent event) {
  Machine& m = Machine::Get();
  std::unique_lock lock(m.mutex);
  if (!IsLive(m, "cuEventSynchronize", event)) return kInvalidHandle;
  const Event e = As<Event>(event);
  if (e.capture != nullptr) return AskedOfCapture(m, "cuEventSynchronize", e);
  if (e.stream != nullptr) m.Drain(lock, *e.stream, e.at);
  m.steps.HostKnows(e.clock);
  return kCuSuccess;
}
CuResult cuEventDestroy(CuEvent event) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!IsLive(m, "cuEventDestroy", event)) return kInvalidHandle;
  m.all_events.erase(&As<Event>(event));
  delete &As<Event>(event);
  return kCuSuccess;
}

// What it tells others of the host, they know.
CuResult cuLaunchHostFunc(CuStream stream, CuHostFunction f, void* argument) {
  return Push("cuLaunchHostFunc", stream, [f, argument](const StepRef& step) {
    Machine& m = Machine::Get();
    {
      const std::lock_guard lock(m.mutex);
      Clock done = step->before;
      done[step->stream] = step->number;
      m.steps.HostKnows(done);
    }
    f(argument);
  });
}

}  // namespace ricci::cuda::standin
