#include "support/late_queues.h"

#include <algorithm>

#include "base/status.h"

namespace ricci::testing {
namespace {

void* Handle(uint64_t id) { return reinterpret_cast<void*>(id); }
uint64_t Id(const void* handle) { return reinterpret_cast<uint64_t>(handle); }

void Report(const LateEvent& event) {
  if (event.report == nullptr) return;
  const std::lock_guard lock(event.report->mutex);
  if (event.report->call) std::exchange(event.report->call, nullptr)();
}

bool Conflict(const LateOperation& a, const LateOperation& b) {
  for (const LateAccess& x : a.accesses) {
    for (const LateAccess& y : b.accesses) {
      if (Conflict(x, y)) return true;
    }
  }
  return false;
}

}  // namespace

bool Conflict(const LateAccess& a, const LateAccess& b) {
  const auto a_begin = reinterpret_cast<uintptr_t>(a.begin), b_begin = reinterpret_cast<uintptr_t>(b.begin);
  if ((!a.writes && !b.writes) || a.bytes == 0 || b.bytes == 0) return false;
  return a_begin < b_begin + b.bytes && b_begin < a_begin + a.bytes;
}

// ---- handles ----
absl::StatusOr<LateQueues::Stream*> LateQueues::FindStream(uint32_t device, void* stream) {
  const auto it = streams_.find(Id(stream));
  if (it == streams_.end()) return base::InvalidArgument("late: no such stream");
  if (it->second.device == device) return &it->second;
  return base::InvalidArgument("late: a stream of device ", it->second.device, " is used on device ", device);
}

absl::StatusOr<std::shared_ptr<LateEvent>> LateQueues::FindEvent(void* event) const {
  const auto it = events_.find(Id(event));
  if (it == events_.end()) return base::InvalidArgument("late: no such event");
  return it->second;
}

absl::StatusOr<std::shared_ptr<LateEvent>> LateQueues::FindEvent(uint32_t device, void* event) const {
  RICCI_ASSIGN(std::shared_ptr<LateEvent> found, FindEvent(event));
  if (found->device == device) return found;
  return base::InvalidArgument("late: an event of device ", found->device, " is used on device ", device);
}

void* LateQueues::CreateStream(uint32_t device) {
  Lock lock(mutex_);
  streams_.emplace(next_, Stream{device});
  return Handle(next_++);
}

absl::Status LateQueues::DropStream(uint32_t device, void* stream) {
  RICCI_TRY(PushAndWait(device, stream, {.what = "stream_drop"}));
  Lock lock(mutex_);
  RICCI_ASSIGN(const Stream* s, FindStream(device, stream));
  if (!s->operations.empty()) return absl::InternalError("late: a stream is used while it is dropped");
  streams_.erase(Id(stream));
  return absl::OkStatus();
}

absl::Status LateQueues::DropEvent(uint32_t device, void* event) {
  Lock lock(mutex_);
  RICCI_TRY(FindEvent(device, event).status());
  events_.erase(Id(event));
  return absl::OkStatus();
}

// ---- what is enqueued ----
absl::StatusOr<std::shared_ptr<LateEvent>> LateQueues::PushLocked(uint32_t device, void* stream,
                                                                  LateOperation operation) {
  RICCI_ASSIGN(Stream * s, FindStream(device, stream));
  RICCI_TRY(CheckOrder(operation, NeededFor(Id(stream), s->n_ended + s->operations.size())));
  operation.end =
      std::make_shared<LateEvent>(LateEvent{device, Id(stream), s->n_ended + s->operations.size(), operation.report});
  s->operations.push_back(std::move(operation));
  return s->operations.back().end;
}

absl::Status LateQueues::Push(uint32_t device, void* stream, LateOperation operation, void** event) {
  Lock lock(mutex_);
  RICCI_ASSIGN(std::shared_ptr<LateEvent> end, PushLocked(device, stream, std::move(operation)));
  if (event == nullptr) return absl::OkStatus();
  events_.emplace(next_, std::move(end));
  *event = Handle(next_++);
  return absl::OkStatus();
}

absl::Status LateQueues::PushAndWait(uint32_t device, void* stream, LateOperation operation) {
  Lock lock(mutex_);
  RICCI_ASSIGN(const Stream* s, FindStream(device, stream));
  const std::string call = operation.what;
  RICCI_TRY(CheckNotWithin(NeededFor(Id(stream), s->n_ended + s->operations.size()), call));
  RICCI_ASSIGN(const std::shared_ptr<LateEvent> end, PushLocked(device, stream, std::move(operation)));
  return WaitLocked(lock, end, call);
}

absl::Status LateQueues::WaitInStream(uint32_t device, void* stream, void* event) {
  Lock lock(mutex_);
  RICCI_ASSIGN(std::shared_ptr<LateEvent> found, FindEvent(event));
  LateOperation wait{.what = "stream_wait"};
  wait.waits = std::move(found);
  return PushLocked(device, stream, std::move(wait)).status();
}

absl::Status LateQueues::CheckNow(const LateOperation& operation) const {
  Lock lock(mutex_);
  return CheckOrder(operation, {});
}

// An operation after those in `before`, against all others that have not ended.
absl::Status LateQueues::CheckOrder(const LateOperation& operation, const Needed& before) const {
  for (const auto& [id, s] : streams_) {
    const auto it = before.find(id);
    const uint64_t known = std::max(it == before.end() ? 0 : it->second, s.n_ended + (s.ended ? 1 : 0));
    for (uint64_t i = known - s.n_ended; i < s.operations.size(); ++i) {
      if (!Conflict(operation, s.operations[i])) continue;
      return absl::InternalError(base::Cat("late: ", operation.what, " touches memory of ", s.operations[i].what,
                                           " in another stream, and does not wait for it"));
    }
  }
  return absl::OkStatus();
}

// ---- what must run first ----
LateQueues::Needed LateQueues::NeededFor(uint64_t stream, uint64_t n_operations) const {
  Needed needed;
  std::vector<std::pair<uint64_t, uint64_t>> open{{stream, n_operations}};
  const auto add = [&](const std::shared_ptr<LateEvent>& e) {
    if (e != nullptr && !e->come) open.push_back({e->stream, e->position + 1});
  };
  while (!open.empty()) {
    const auto [id, n] = open.back();
    open.pop_back();
    const auto it = streams_.find(id);
    uint64_t& known = needed[id];
    if (it == streams_.end() || n <= known) continue;
    const Stream& s = it->second;
    for (uint64_t i = std::max(known, s.n_ended); i < n; ++i) add(s.operations[i - s.n_ended].waits);
    if (s.busy && n > s.n_ended) add(RunningOf(id)->blocked);
    known = n;
  }
  return needed;
}

const LateQueues::Running* LateQueues::RunningOf(uint64_t stream) const {
  const auto it = std::find_if(running_.begin(), running_.end(), [&](const Running& r) { return r.stream == stream; });
  return it == running_.end() ? nullptr : &*it;
}

// Whether this thread runs one of them.
absl::Status LateQueues::CheckNotWithin(const Needed& needed, std::string_view call) const {
  for (const auto& [id, n] : needed) {
    const auto it = streams_.find(id);
    if (it == streams_.end() || !it->second.busy || n <= it->second.n_ended) continue;
    if (RunningOf(id)->thread != std::this_thread::get_id()) continue;
    return absl::FailedPreconditionError(base::Cat("late: ", call, " within a callback of work that it waits for"));
  }
  return absl::OkStatus();
}

// ---- waiting is what makes operations run ----
absl::Status LateQueues::Wait(uint32_t device, void* event) {
  Lock lock(mutex_);
  RICCI_ASSIGN(const std::shared_ptr<LateEvent> found, FindEvent(device, event));
  RICCI_TRY(WaitLocked(lock, found, "event_wait"));
  lock.unlock();
  Report(*found);
  return absl::OkStatus();
}

absl::StatusOr<bool> LateQueues::Query(uint32_t device, void* event) {
  Lock lock(mutex_);
  RICCI_ASSIGN(const std::shared_ptr<LateEvent> found, FindEvent(device, event));
  for (uint64_t n = 1 + random_() % 2; n > 0 && !found->come; --n) RunOne(lock, nullptr);
  const bool come = found->come;
  lock.unlock();
  if (come) Report(*found);
  return come;
}

absl::Status LateQueues::WaitLocked(Lock& lock, const std::shared_ptr<LateEvent>& event, std::string_view call) {
  if (event->come) return absl::OkStatus();
  RICCI_TRY(CheckNotWithin(NeededFor(*event), call));
  const auto self = std::find_if(running_.rbegin(), running_.rend(),
                                 [](const Running& r) { return r.thread == std::this_thread::get_id(); });
  Running* const within = self == running_.rend() ? nullptr : &*self;
  if (within != nullptr) within->blocked = event;
  const bool only_needed = random_() % 2 == 0;
  while (!event->come) {
    if (!RunOne(lock, only_needed ? event.get() : nullptr)) ended_.wait(lock);
  }
  if (within != nullptr) within->blocked = nullptr;
  return absl::OkStatus();
}

// Runs one operation that may begin, if any.
bool LateQueues::RunOne(Lock& lock, const LateEvent* only_for) {
  const Needed needed = only_for == nullptr ? Needed{} : NeededFor(*only_for);
  std::vector<uint64_t> ready;
  for (const auto& [id, s] : streams_) {
    if (s.busy || s.operations.empty()) continue;
    const std::shared_ptr<LateEvent>& waits = s.operations.front().waits;
    if (waits != nullptr && !waits->come) continue;
    if (only_for == nullptr || needed.count(id) != 0) ready.push_back(id);
  }
  if (ready.empty()) return false;
  RunFirst(lock, ready[random_() % ready.size()]);
  return true;
}

void LateQueues::RunFirst(Lock& lock, uint64_t stream) {
  Stream& s = streams_.at(stream);
  const LateOperation& operation = s.operations.front();
  running_.push_back({std::this_thread::get_id(), stream});
  Running& running = running_.back();
  s.busy = true;
  lock.unlock();
  if (operation.run) operation.run();
  lock.lock();
  s.ended = running.announcing = true;
  lock.unlock();
  if (operation.announce) operation.announce();
  lock.lock();
  operation.end->come = true;
  s.busy = s.ended = false;
  s.operations.pop_front();
  ++s.n_ended;
  ++executed_;
  running_.remove_if([&](const Running& r) { return &r == &running; });
  ended_.notify_all();
}

// ---- what is known of them ----
bool LateQueues::Announcing() const {
  Lock lock(mutex_);
  return std::any_of(running_.begin(), running_.end(),
                     [](const Running& r) { return r.announcing && r.thread == std::this_thread::get_id(); });
}

uint64_t LateQueues::Draw() {
  Lock lock(mutex_);
  return random_();
}

uint64_t LateQueues::executed() const {
  Lock lock(mutex_);
  return executed_;
}

std::vector<std::string> LateQueues::Leaks(uint32_t device) const {
  Lock lock(mutex_);
  std::vector<std::string> leaks;
  for (const auto& [id, s] : streams_) {
    if (s.device != device) continue;
    leaks.push_back("a stream");
    for (const LateOperation& o : s.operations) leaks.push_back(base::Cat(o.what, ", never executed"));
  }
  for (const auto& [id, e] : events_) {
    if (e->device == device) leaks.push_back("an event");
  }
  return leaks;
}

}  // namespace ricci::testing
