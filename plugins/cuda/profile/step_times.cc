#include "cuda/profile/step_times.h"

#include <algorithm>

#include "cuda/driver/timer.h"

namespace ricci::cuda {

StepTimes::~StepTimes() {
  for (const Step& s : steps_) recorder_.Take(s.number);
  for (const CuEvent event : events_) device_.Note(device_.driver().cuEventDestroy(event));
  if (has_begun_) recorder_.End();
}

ricci_status* StepTimes::Begin() {
  steps_.reserve(kMostSteps);
  events_.reserve(2 * kMostSteps);
  ricci_status* const failed = recorder_.Begin();
  has_begun_ = failed == nullptr;
  return failed;
}

// ---- around a step ----
ricci_status* StepTimes::Record(size_t event) {
  const Driver& driver = device_.driver();
  if (event == events_.size()) {
    CuEvent made = nullptr;
    if (ricci_status* failed = device_.Check("cuEventCreate", driver.cuEventCreate(&made, 0))) return failed;
    events_.push_back(made);
  }
  return device_.Check("cuEventRecord", device_.driver().cuEventRecord(events_[event], stream_));
}

// Calls for the events are not the step's.
ricci_status* StepTimes::BeginStep(uint32_t step, uint32_t records) {
  if (ricci_status* failed = Record(2 * steps_.size())) return failed;
  uint64_t number = 0;
  if (records != 0) {
    if (ricci_status* failed = recorder_.Push(number)) return failed;
  }
  steps_.push_back({step, records, number});
  return nullptr;
}

// A step that was not enqueued as a whole has no times.
ricci_status* StepTimes::EndStep(bool is_enqueued) {
  const Step s = steps_.back();
  ricci_status* failed = s.number != 0 ? recorder_.Pop() : nullptr;
  if (is_enqueued && failed == nullptr) failed = Record(2 * steps_.size() - 1);
  if (is_enqueued && failed == nullptr) return nullptr;
  recorder_.Take(s.number);
  steps_.pop_back();
  return failed;
}

ricci_status* StepTimes::Time(uint32_t step, uint32_t records, const std::function<ricci_status*()>& enqueue) {
  if (ricci_status* failed = BeginStep(step, records)) return failed;
  ricci_status* const failed = Guard([&] { return enqueue(); });
  ricci_status* const unended = EndStep(failed == nullptr);
  if (failed == nullptr) return unended;
  ricci_status_free(unended);
  return failed;
}

// ---- what they took ----
bool StepTimes::HasAll(const Step& s, uint32_t records) const {
  return s.records != 0 && records != 0 && (s.records == kAnyNumber || records >= s.records);
}

// A flush by force ends the records of what runs now, also of other threads. So it comes only if the other one, which
// gives what is complete, does not give all: all of ours is, but it may be in one buffer with what is not.
ricci_status* StepTimes::ReadRecords() {
  if (ricci_status* failed = recorder_.Flush(/*force=*/false)) return failed;
  const bool has_all = std::all_of(steps_.begin(), steps_.end(), [&](const Step& s) {
    return s.records == 0 || HasAll(s, recorder_.Records(s.number));
  });
  return has_all ? nullptr : recorder_.Flush(/*force=*/true);
}

// The last step of all ended when the host saw it.
ricci_status* StepTimes::ByEvents(size_t i, uint64_t last_end_ns, StepSpan& out) const {
  float taken_ms = 0, after_ms = 0;
  const auto elapsed = [&](float& ms, CuEvent from, CuEvent to) {
    return device_.Check("cuEventElapsedTime", device_.driver().cuEventElapsedTime(&ms, from, to));
  };
  const CuEvent begin = events_[2 * i], end = events_[2 * i + 1], last = events_[2 * steps_.size() - 1];
  if (ricci_status* failed = elapsed(taken_ms, begin, end)) return failed;
  if (end != last) {
    if (ricci_status* failed = elapsed(after_ms, end, last)) return failed;
  }
  const auto earlier = [](uint64_t ns, float ms) {
    return ns - std::min(ns, static_cast<uint64_t>(static_cast<double>(std::max(ms, 0.0f)) * 1e6));
  };
  out.step = steps_[i].step;
  out.end_ns = earlier(last_end_ns, after_ms);
  out.begin_ns = earlier(out.end_ns, taken_ms);
  return nullptr;
}

ricci_status* StepTimes::Collect(std::vector<StepSpan>& out, std::string& note) {
  out.clear();
  if (steps_.empty()) return nullptr;
  if (ricci_status* failed = device_.Wait(stream_)) return failed;
  const uint64_t end_ns = MonotonicNow();
  if (ricci_status* failed = ReadRecords()) return failed;
  uint64_t offset = 0;
  if (ricci_status* failed = recorder_.Offset(offset)) return failed;
  size_t missing = 0;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Recorder::Times times = recorder_.Take(steps_[i].number);
    StepSpan span{steps_[i].step, times.begin + offset, times.end + offset};
    if (!HasAll(steps_[i], times.records)) {
      missing += steps_[i].records != 0 && steps_[i].records != kAnyNumber;
      if (ricci_status* failed = ByEvents(i, end_ns, span)) return failed;
    }
    out.push_back(span);
  }
  steps_.clear();
  if (missing == 0) return nullptr;
  note = "cuda: option cuda.cupti: of " + std::to_string(out.size()) + " steps of a profiled run, " +
         std::to_string(missing) + " have not all their records (CUPTI has dropped " +
         std::to_string(recorder_.Dropped()) + "): their times are those of events";
  return nullptr;
}

}  // namespace ricci::cuda
