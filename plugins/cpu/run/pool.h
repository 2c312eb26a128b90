// Pool: a fork-join thread pool without stealing, or the host's executor hook in its place.
//
// Tasks are numbered and fixed by shape; which thread runs which does not affect results. A second caller that finds
// the pool busy runs its tasks itself, and so does a task that starts a job. No lock is held while tasks run: they may
// call the host, and the host the pool. Workers start at the first parallel run, spin briefly for the next one and then
// sleep. A job is open while tasks may be left: its caller closes it and waits only for the workers inside it, so a
// worker that is slow to wake, or has no processor to run on, delays no other thread. The child of a fork has no
// workers: its calls run on their own thread.
#ifndef RICCI_CPU_POOL_H_
#define RICCI_CPU_POOL_H_
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "ricci/context.h"

namespace ricci::cpu {

class Pool {
 public:
  // Its threads run on `processors`, if given; the executor of a host, where it wants.
  explicit Pool(const ricci_hooks* hooks, const std::optional<cpu_set_t>& processors = {});
  ~Pool();
  // `threads` as in the context's option; 0 = all processors. Takes effect at the next run; any thread, tasks too.
  void SetThreads(uint32_t threads);
  uint32_t workers() const { return workers_.load(std::memory_order_relaxed); }
  static constexpr uint32_t kMaxWorkers = 64;

  // fn(arg, task, worker) for each task in [0, n); worker < min(workers(), limit) and no two tasks of one worker at
  // once.
  void Run(int64_t n, void (*fn)(void* arg, int64_t task, uint32_t worker), void* arg, uint32_t limit = kMaxWorkers);

 private:
  struct Job {
    void (*fn)(void*, int64_t, uint32_t);
    void* arg;
    int64_t n;
    uint32_t limit;  // of workers
  };
  // Runs the jobs after number `seen`.
  void Work(uint32_t worker, uint64_t seen);
  uint64_t WaitForJobAfter(uint64_t seen);
  bool Enter(uint64_t number);
  void Publish();
  void RunTasks(const Job& job, uint32_t worker);
  // Tries to take the pool for this caller, until it leaves: to run a job, or to change the threads.
  bool Take() { return !busy_.exchange(true, std::memory_order_acquire); }
  void Leave() { busy_.store(false, std::memory_order_release); }
  void Start(uint32_t workers);
  void Stop();
  void RunOnHost(const Job& job);
  bool IsForked() const;
  void Forget();

  uint32_t Processors() const;
  void StayOnProcessors();

  const ricci_hooks* hooks_;
  const std::optional<cpu_set_t> processors_;
  std::atomic<uint32_t> workers_;
  std::atomic<bool> busy_{false};
  // Of the caller who took the pool:
  std::vector<std::thread> threads_;
  uint32_t started_ = 1;  // workers that threads_ was made for
  uint32_t forks_ = 0;    // of the process that started them
  // Where workers sleep. Apart, because a condition on which the threads of a parent process wait cannot be destroyed.
  struct Beds {
    std::mutex mutex;
    std::condition_variable wake;
  };
  std::unique_ptr<Beds> beds_ = std::make_unique<Beds>();
  std::atomic<uint32_t> sleeping_{0};
  // The job's number, whether it is open, and how many workers are inside: bits from kNumber, kOpen, below it.
  static constexpr uint64_t kOpen = 1u << 16, kNumber = 1u << 17;
  std::atomic<uint64_t> state_{0};
  std::atomic<int64_t> next_{0};
  std::atomic<bool> stop_{false};
  Job job_{};  // read by those inside
};

}  // namespace ricci::cpu
#endif
