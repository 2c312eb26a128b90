// Deadlines on the clock of the core, and a log of steps that any thread may add to.
#include "ricci/run_control.hpp"

#include <algorithm>
#include <ctime>
#include <mutex>

#include "ricci/text.hpp"

namespace ricci { inline namespace v0 {

namespace {

uint64_t Now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

struct StepLog final : Counted {
  StepLog() {
    hooks.hdr.size = sizeof hooks;
    hooks.self = this;
    hooks.span = [](void* self, const ricci_span* s) { static_cast<StepLog*>(self)->Add(*s); };
  }
  // A step that does not fit into memory is left out: nothing may be thrown into a run.
  void Add(const ricci_span& s) noexcept {
    try {
      const std::lock_guard lock(mutex);
      steps.push_back({std::string(View(s.name)), std::string(View(s.file)), s.line, s.kind, s.step, s.thread,
                       s.begin_ns, s.end_ns});
    } catch (const std::bad_alloc&) {
    }
  }

  ricci_profile hooks{};
  std::mutex mutex;
  std::vector<ProfiledStep> steps;
};
StepLog& LogOf(const Ref<Counted>& log) { return static_cast<StepLog&>(*log); }

}  // namespace

void Stop::set_deadline(double seconds) const {
  constexpr double kLongest = 1e9;  // of which a deadline never comes; NaN is none either
  const double ns = seconds > 0 ? std::min(seconds, kLongest) * 1e9 : seconds <= 0 ? 0 : kLongest * 1e9;
  __atomic_store_n(&words_->deadline_ns, Now() + static_cast<uint64_t>(ns), __ATOMIC_RELEASE);
}
void Stop::clear() const {
  __atomic_store_n(&words_->cancel, 0u, __ATOMIC_RELEASE);
  __atomic_store_n(&words_->deadline_ns, uint64_t{0}, __ATOMIC_RELEASE);
}
void Stop::AddTo(ricci_run_opts& o) const {
  o.cancel = &words_->cancel;
  o.deadline_ns = __atomic_load_n(&words_->deadline_ns, __ATOMIC_ACQUIRE);
}

Profile::Profile() : log_(new StepLog()) {}
std::vector<ProfiledStep> Profile::steps() const {
  const std::lock_guard lock(LogOf(log_).mutex);
  return LogOf(log_).steps;
}
void Profile::clear() const {
  const std::lock_guard lock(LogOf(log_).mutex);
  LogOf(log_).steps.clear();
}
void Profile::AddTo(ricci_run_opts& o) const { o.profile = &LogOf(log_).hooks; }

ricci_run_opts RunOptions::ToAbi() const {
  ricci_run_opts o = ricci_run_opts_default();
  if (stop) stop->AddTo(o);
  if (profile) profile->AddTo(o);
  return o;
}

}}  // namespace ricci::v0
