#include "cuda/profile/recorder.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>

#include "cuda/driver/timer.h"
#include "cuda/profile/cupti_records.h"

namespace ricci::cuda {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20, kBufferAlignment = 8;  // records are aligned so
constexpr size_t kMostEarly = size_t{1} << 16;
constexpr uint32_t kForced = 1;  // CUPTI_ACTIVITY_FLAG_FLUSH_FORCED
// In the order in which they are enabled: calls that are recorded before numbers are would have none.
constexpr uint32_t kKinds[] = {kCuptiExternalCorrelation, kCuptiDriver, kCuptiRuntime,
                               kCuptiConcurrentKernel,    kCuptiMemcpy, kCuptiMemset};

// Never destroyed: CUPTI may call back at the end of the process.
struct OfProcess {
  std::mutex mutex;
  std::weak_ptr<Recorder> recorder;
};
OfProcess& TheOne() {
  static OfProcess& one = *new OfProcess;
  return one;
}

// Over all that a step has enqueued.
void Join(Recorder::Times& to, const Recorder::Times& more) {
  to.begin = to.records == 0 ? more.begin : std::min(to.begin, more.begin);
  to.end = std::max(to.end, more.end);
  to.records += more.records;
}

}  // namespace

std::shared_ptr<Recorder> Recorder::Open(const std::string& path, std::string& error) {
  std::unique_ptr<const Cupti> cupti = OpenCupti(path, error);
  if (cupti == nullptr) return nullptr;
  OfProcess& one = TheOne();
  const std::lock_guard lock(one.mutex);
  std::shared_ptr<Recorder> recorder = one.recorder.lock();
  if (recorder == nullptr) {
    recorder = std::make_shared<Recorder>(std::move(cupti));
    one.recorder = recorder;
  } else if (recorder->cupti_->library != cupti->library) {
    error = "option cuda.cupti: another context of this process records by " + recorder->cupti_->path + ", and this " +
            "one names " + path + ": CUPTI is one for each process; name the same file, or release that context before";
    return nullptr;
  }
  return recorder;
}

// ---- what CUPTI calls, on any thread ----
void Recorder::Requested(uint8_t** buffer, size_t* bytes, size_t* records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *records = 0;
}

void Recorder::Completed(CuContext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  std::shared_ptr<Recorder> recorder;
  {
    OfProcess& one = TheOne();
    const std::lock_guard lock(one.mutex);
    recorder = one.recorder.lock();
  }
  if (recorder != nullptr && buffer != nullptr) recorder->Read(buffer, valid);
  std::free(buffer);
}

// What no memory is left for is missing, as if CUPTI had dropped it.
void Recorder::Read(uint8_t* buffer, size_t valid) {
  const std::lock_guard lock(mutex_);
  void* record = nullptr;
  try {
    while (cupti_->cuptiActivityGetNextRecord(buffer, valid, &record) == kCuptiSuccess) {
      const auto* const at = static_cast<const uint8_t*>(record);
      ReadRecord(at, valid - static_cast<size_t>(at - buffer));
    }
  } catch (const std::bad_alloc&) {
  }
}

void Recorder::ReadRecord(const uint8_t* record, size_t left) {
  const auto kind = CuptiField<uint32_t>(record, 0);
  if (kind == kCuptiExternalCorrelation) {
    if (left < kCuptiExternal.bytes) return;
    if (CuptiField<uint32_t>(record, kCuptiExternal.kind) != kCuptiCustom0) return;
    AddCall(CuptiField<uint64_t>(record, kCuptiExternal.id), CuptiField<uint32_t>(record, kCuptiExternal.correlation));
    return;
  }
  for (const CuptiActivity& a : kCuptiActivities) {
    if (kind != a.kind || left < a.bytes) continue;
    const Times times{CuptiField<uint64_t>(record, a.start), CuptiField<uint64_t>(record, a.end), 1};
    if (times.begin == 0 || times.end < times.begin) return;
    AddActivity(CuptiField<uint32_t>(record, a.correlation), times);
  }
}

// With the mutex held.
void Recorder::AddCall(uint64_t number, uint32_t call) {
  const auto step = steps_.find(number);
  if (step == steps_.end()) return;  // it was taken, or is of somebody else
  step->second.calls.push_back(call);
  calls_[call] = number;
  const auto early = early_.find(call);
  if (early == early_.end()) return;
  Join(step->second.times, early->second);
  early_.erase(early);
}

// With the mutex held. Of others' work as much is kept as may come before its call, of which the oldest goes first.
void Recorder::AddActivity(uint32_t call, Times times) {
  const auto step = calls_.find(call);
  if (step != calls_.end()) return Join(steps_[step->second].times, times);
  Join(early_[call], times);
  if (early_.size() > kMostEarly) early_.erase(early_.begin());
}

// ---- runs ----
ricci_status* Recorder::Enable() const {
  ricci_status* failed =
      cupti_->Check("cuptiActivityRegisterCallbacks", cupti_->cuptiActivityRegisterCallbacks(Requested, Completed));
  for (size_t i = 0; i < std::size(kKinds) && failed == nullptr; ++i) {
    failed = cupti_->Check("cuptiActivityEnable", cupti_->cuptiActivityEnable(kKinds[i]));
    for (size_t k = i; failed != nullptr && k > 0; --k) cupti_->cuptiActivityDisable(kKinds[k - 1]);
  }
  return failed;
}

// Callbacks are registered again for each first run, since another tool may have registered its own meanwhile.
ricci_status* Recorder::Begin() {
  const std::lock_guard lock(run_mutex_);
  if (runs_ == 0) {
    if (ricci_status* failed = Enable()) return failed;
  }
  ++runs_;
  return nullptr;
}

void Recorder::End() {
  const std::lock_guard run_lock(run_mutex_);
  if (--runs_ != 0) return;
  for (size_t i = std::size(kKinds); i > 0; --i) cupti_->cuptiActivityDisable(kKinds[i - 1]);
  const std::lock_guard lock(mutex_);
  steps_.clear();
  calls_.clear();
  early_.clear();
}

ricci_status* Recorder::Push(uint64_t& number) {
  number = next_number_.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(mutex_);
    steps_.try_emplace(number);
  }
  const CuptiResult result = cupti_->cuptiActivityPushExternalCorrelationId(kCuptiCustom0, number);
  if (result != kCuptiSuccess) Take(number);
  return cupti_->Check("cuptiActivityPushExternalCorrelationId", result);
}

ricci_status* Recorder::Pop() {
  uint64_t number = 0;
  return cupti_->Check("cuptiActivityPopExternalCorrelationId",
                       cupti_->cuptiActivityPopExternalCorrelationId(kCuptiCustom0, &number));
}

ricci_status* Recorder::Flush(bool force) {
  return cupti_->Check("cuptiActivityFlushAll", cupti_->cuptiActivityFlushAll(force ? kForced : 0));
}

uint32_t Recorder::Records(uint64_t number) const {
  const std::lock_guard lock(mutex_);
  const auto step = steps_.find(number);
  return step == steps_.end() ? 0 : step->second.times.records;
}

Recorder::Times Recorder::Take(uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto step = steps_.find(number);
  if (step == steps_.end()) return {};
  for (const uint32_t call : step->second.calls) calls_.erase(call);
  const Times times = step->second.times;
  steps_.erase(step);
  return times;
}

// By the shortest of a few questions: the host may be interrupted in any of them.
ricci_status* Recorder::Offset(uint64_t& out) const {
  constexpr int kQuestions = 5;
  uint64_t shortest = ~uint64_t{0};
  for (int i = 0; i < kQuestions; ++i) {
    uint64_t theirs = 0;
    const uint64_t before = MonotonicNow();
    const CuptiResult result = cupti_->cuptiGetTimestamp(&theirs);
    const uint64_t taken = MonotonicNow() - before;
    if (ricci_status* failed = cupti_->Check("cuptiGetTimestamp", result)) return failed;
    if (taken >= shortest) continue;
    shortest = taken;
    out = before + taken / 2 - theirs;
  }
  return nullptr;
}

size_t Recorder::Dropped() const {
  size_t number = 0;
  return cupti_->cuptiActivityGetNumDroppedRecords(nullptr, 0, &number) == kCuptiSuccess ? number : 0;
}

}  // namespace ricci::cuda
