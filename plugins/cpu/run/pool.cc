#include "cpu/run/pool.h"

#include <pthread.h>

#include <algorithm>
#include <exception>

namespace ricci::cpu {
namespace {

constexpr int kSpins = 4000;  // polls before a worker sleeps, some tens of microseconds

std::atomic<uint32_t> g_forks{0};  // that lead to this process, since a pool was first started

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Pool::Pool(const ricci_hooks* hooks, const std::optional<cpu_set_t>& processors)
    : hooks_(hooks), processors_(processors), workers_(Processors()) {
  if (hooks_ != nullptr && hooks_->parallel_for != nullptr) {
    workers_ = std::clamp(hooks_->exec_workers, 1u, kMaxWorkers);
  }
}

Pool::~Pool() { Stop(); }

uint32_t Pool::Processors() const {
  const unsigned there =
      processors_ ? static_cast<unsigned>(CPU_COUNT(&*processors_)) : std::thread::hardware_concurrency();
  return std::clamp(there, 1u, kMaxWorkers);
}

// A processor that has gone since leaves the thread where it is.
void Pool::StayOnProcessors() {
  if (processors_) pthread_setaffinity_np(pthread_self(), sizeof *processors_, &*processors_);
}

void Pool::SetThreads(uint32_t threads) {
  workers_ = threads == 0 ? Processors() : std::min(threads, kMaxWorkers);
  if (!Take()) return;  // the next job will see it
  Stop();
  Leave();
}

// If the system gives fewer threads, the job has fewer: its caller takes all remaining tasks.
void Pool::Start(uint32_t workers) {
  started_ = workers;
  stop_ = false;
  [[maybe_unused]] static const int counting = pthread_atfork(nullptr, nullptr, [] { ++g_forks; });
  forks_ = g_forks;
  const uint64_t now = state_.load() / kNumber;
  try {
    threads_.reserve(workers - 1);
    for (uint32_t w = 1; w < workers; ++w) threads_.emplace_back([this, w, now] { StayOnProcessors(), Work(w, now); });
  } catch (const std::exception&) {
  }
}

void Pool::Stop() {
  started_ = 1;
  stop_ = true;
  state_.fetch_add(kNumber);
  Publish();
  if (!threads_.empty() && IsForked()) return Forget();
  for (std::thread& t : threads_) t.join();
  threads_.clear();
}

// Whether the threads are those of a parent process, which fork does not copy.
bool Pool::IsForked() const { return forks_ != g_forks.load(std::memory_order_relaxed); }

// In the child of a fork: neither the threads nor the condition on which they sleep will ever end, and what the
// threads' handles name may be threads of the child by now. They are left alone.
void Pool::Forget() {
  (void)new std::vector<std::thread>(std::move(threads_));
  threads_.clear();
  (void)beds_.release();
  beds_ = std::make_unique<Beds>();
  sleeping_ = 0;
}

// Wakes sleeping workers. The lock keeps one that is about to sleep from missing the new state.
void Pool::Publish() {
  if (sleeping_.load() == 0 || IsForked()) return;
  { std::lock_guard lock(beds_->mutex); }
  beds_->wake.notify_all();
}

void Pool::RunTasks(const Job& job, uint32_t worker) {
  for (int64_t task; (task = next_.fetch_add(1, std::memory_order_relaxed)) < job.n;) job.fn(job.arg, task, worker);
}

uint64_t Pool::WaitForJobAfter(uint64_t seen) {
  for (int i = 0; i < kSpins; ++i, Pause()) {
    if (const uint64_t now = state_.load(std::memory_order_acquire) / kNumber; now != seen) return now;
  }
  std::unique_lock lock(beds_->mutex);
  sleeping_.fetch_add(1);
  beds_->wake.wait(lock, [&] { return state_.load() / kNumber != seen; });
  sleeping_.fetch_sub(1);
  return state_.load() / kNumber;
}

bool Pool::Enter(uint64_t number) {
  uint64_t s = state_.load(std::memory_order_acquire);
  while (s / kNumber == number && (s & kOpen) != 0) {
    if (state_.compare_exchange_weak(s, s + 1, std::memory_order_acq_rel)) return true;
  }
  return false;
}

void Pool::Work(uint32_t worker, uint64_t seen) {
  while (true) {
    seen = WaitForJobAfter(seen);
    if (stop_.load()) return;
    if (!Enter(seen)) continue;
    if (worker < job_.limit) RunTasks(job_, worker);
    state_.fetch_sub(1, std::memory_order_acq_rel);
  }
}

void Pool::RunOnHost(const Job& job) {
  // As many host tasks as workers, each of which takes tasks until none is left.
  struct Shared {
    const Job& job;
    std::atomic<int64_t> next{0};
  } shared{job};
  hooks_->parallel_for(
      hooks_->exec_self, std::min<int64_t>({workers(), job.limit, job.n}),
      [](void* arg, int64_t worker) {
        auto& s = *static_cast<Shared*>(arg);
        for (int64_t task; (task = s.next.fetch_add(1, std::memory_order_relaxed)) < s.job.n;) {
          s.job.fn(s.job.arg, task, static_cast<uint32_t>(worker));
        }
      },
      &shared);
}

void Pool::Run(int64_t n, void (*fn)(void*, int64_t, uint32_t), void* arg, uint32_t limit) {
  const Job job{fn, arg, n, limit};
  if (hooks_ != nullptr && hooks_->parallel_for != nullptr && n > 1) return RunOnHost(job);
  const uint32_t workers = this->workers();
  if (n <= 1 || workers == 1 || !Take()) {
    for (int64_t i = 0; i < n; ++i) fn(arg, i, 0);
    return;
  }
  if (started_ != workers) {
    Stop();
    Start(workers);
  }
  job_ = job;
  next_.store(0, std::memory_order_relaxed);
  state_.store((state_.load() / kNumber + 1) * kNumber + kOpen);
  Publish();
  RunTasks(job, 0);
  state_.fetch_sub(kOpen, std::memory_order_acq_rel);
  for (int i = 0; state_.load(std::memory_order_acquire) % kNumber != 0; ++i) {
    if (i < kSpins) {
      Pause();
    } else {
      std::this_thread::yield();  // to a worker that shares this processor
    }
  }
  Leave();
}

}  // namespace ricci::cpu
