// Profiled runs of a plan: each step is issued by itself, and the host gets its times. By events, the run waits for
// each step; by the records of CUPTI (option cuda.cupti), for many steps at once, whose spans are reported together.
#include <algorithm>

#include "cuda/driver/timer.h"
#include "cuda/profile/step_times.h"
#include "cuda/run/code.h"

namespace ricci::cuda {

// The host waits for the step. Its end is when that is over, and it took as long as the device says.
ricci_status* Code::IssueByEvents(Run& run, uint32_t i) {
  Timer timer(device_);
  uint64_t taken_ns = 0;
  const uint64_t issued_ns = MonotonicNow();
  if (ricci_status* failed = timer.Begin(run.stream)) return failed;
  if (ricci_status* failed = IssueStep(run, given_.plan->steps[i])) return failed;
  if (ricci_status* failed = timer.End(run.stream, taken_ns)) return failed;
  const uint64_t end_ns = MonotonicNow(), begin_ns = std::max(issued_ns, end_ns - std::min(end_ns, taken_ns));
  return run.current.Outside([&] { return run.args.span(run.args.span_self, i, 0, begin_ns, end_ns), nullptr; });
}

// How many kernels, copies and memsets the step is, as StepTimes wants it.
uint32_t Code::RecordsOf(const Run& run, const ricci_plan_step& step) const {
  if (step.kind == RICCI_STEP_LIBRARY) {
    return (given_.plan->libraries[step.index].flags & RICCI_CALL_ON_HOST) != 0 ? 0 : StepTimes::kAnyNumber;
  }
  const Work work = WorkOf(run, step);
  return (work.kind != Work::kNothing ? 1u : 0u) + (work.before != nullptr ? 1u : 0u);
}

ricci_status* Code::IssueTimed(Run& run, uint32_t i) {
  if (run.times == nullptr) return IssueByEvents(run, i);
  if (run.times->is_full()) {
    if (ricci_status* failed = ReportSteps(run)) return failed;
  }
  const ricci_plan_step& step = given_.plan->steps[i];
  return run.times->Time(i, RecordsOf(run, step), [&] { return IssueStep(run, step); });
}

ricci_status* Code::ReportSteps(Run& run) {
  std::vector<StepSpan> spans;
  std::string note;
  if (ricci_status* failed = run.times->Collect(spans, note)) return failed;
  return run.current.Outside([&]() -> ricci_status* {
    if (!note.empty()) ricci_context_log(device_.compiler().ctx(), RICCI_LOG_WARNING, note.data(), note.size());
    for (const StepSpan& s : spans) run.args.span(run.args.span_self, s.step, 0, s.begin_ns, s.end_ns);
    return nullptr;
  });
}

// What came before a failure is reported too.
ricci_status* Code::StartRecorded(Run& run) {
  StepTimes times(device_, run.stream);
  if (ricci_status* failed = times.Begin()) return failed;
  run.times = &times;
  ricci_status* const failed = Guard([&] { return StartSteps(run); });
  ricci_status* const unread = run.current.is_current() ? Guard([&] { return ReportSteps(run); }) : nullptr;
  run.times = nullptr;
  if (failed == nullptr) return unread;
  ricci_status_free(unread);
  return failed;
}

}  // namespace ricci::cuda
