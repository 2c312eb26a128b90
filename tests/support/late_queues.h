// LateQueues: the time of late devices: streams of operations that run only when a thread waits, in any legal order.
//
// A thread that waits runs operations itself, one at a time and without a lock; the seed draws the next one of those
// that may begin. Half of the waits run only what they wait for, so that work without a wait stays undone; the others
// run whatever is drawn, so that streams overtake each other. Streams and events are numbers that are never reused, so
// a dropped one is recognised.
//
// Memory is checked too: an operation that touches the same bytes as an unfinished one of another stream, when one of
// them writes, is refused unless it waits for that one, whatever order the seed would have given them.
#ifndef RICCI_TESTS_SUPPORT_LATE_QUEUES_H_
#define RICCI_TESTS_SUPPORT_LATE_QUEUES_H_
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"

namespace ricci::testing {

// What is called once, by the thread that first learns that an event has completed, before others learn it.
struct LateReport {
  std::mutex mutex;
  std::function<void()> call;
};

struct LateEvent {
  uint32_t device;
  uint64_t stream, position;  // of the operation whose end it marks, counted from the first one of its stream
  std::shared_ptr<LateReport> report = nullptr;
  bool come = false;
};

struct LateAccess {
  const void* begin;
  uint64_t bytes;
  bool writes;
};
// Whether they share bytes and one of them writes.
bool Conflict(const LateAccess& a, const LateAccess& b);

struct LateOperation {
  std::string what;                // for messages
  std::function<void()> run;       // may be empty; throws nothing
  std::function<void()> announce;  // runs after `run` and before the end; must not call the device
  std::vector<LateAccess> accesses;
  std::shared_ptr<LateReport> report = nullptr;  // of its end; NULL: none
  std::shared_ptr<LateEvent> waits = nullptr;    // what it waits for before it begins
  std::shared_ptr<LateEvent> end = nullptr;      // set by LateQueues
};

class LateQueues {
 public:
  explicit LateQueues(uint64_t seed) : random_(seed) {}

  // ---- streams ----
  void* CreateStream(uint32_t device);
  // Runs its remaining operations.
  absl::Status DropStream(uint32_t device, void* stream);
  // *event, unless `event` is NULL, marks its end.
  absl::Status Push(uint32_t device, void* stream, LateOperation operation, void** event = nullptr);
  // Returns when it has run.
  absl::Status PushAndWait(uint32_t device, void* stream, LateOperation operation);
  // Whether its memory may be used now, outside of streams.
  absl::Status CheckNow(const LateOperation& operation) const;

  // ---- events ----
  absl::Status WaitInStream(uint32_t device, void* stream, void* event);
  absl::Status DropEvent(uint32_t device, void* event);
  // Runs one or two operations first.
  absl::StatusOr<bool> Query(uint32_t device, void* event);
  absl::Status Wait(uint32_t device, void* event);

  // Whether this thread is inside `announce`.
  bool Announcing() const;
  uint64_t Draw();
  uint64_t executed() const;
  // Streams and events that were not dropped, and operations that never ran.
  std::vector<std::string> Leaks(uint32_t device) const;

 private:
  struct Stream {
    uint32_t device;
    bool busy = false;     // a thread runs the first operation
    bool ended = false;    // which has ended, and is being announced
    uint64_t n_ended = 0;  // operations before the first one
    std::deque<LateOperation> operations = {};
  };
  struct Running {  // on a thread, innermost last
    std::thread::id thread;
    uint64_t stream;
    bool announcing = false;
    std::shared_ptr<LateEvent> blocked = nullptr;  // what a callback of it waits for
  };
  using Lock = std::unique_lock<std::mutex>;
  // How many operations of each stream are needed.
  using Needed = std::map<uint64_t, uint64_t>;

  absl::StatusOr<Stream*> FindStream(uint32_t device, void* stream);
  absl::StatusOr<std::shared_ptr<LateEvent>> FindEvent(void* event) const;
  absl::StatusOr<std::shared_ptr<LateEvent>> FindEvent(uint32_t device, void* event) const;
  absl::StatusOr<std::shared_ptr<LateEvent>> PushLocked(uint32_t device, void* stream, LateOperation operation);
  absl::Status CheckOrder(const LateOperation& operation, const Needed& before) const;
  Needed NeededFor(uint64_t stream, uint64_t n_operations) const;
  Needed NeededFor(const LateEvent& event) const { return NeededFor(event.stream, event.position + 1); }
  absl::Status CheckNotWithin(const Needed& needed, std::string_view call) const;
  const Running* RunningOf(uint64_t stream) const;
  absl::Status WaitLocked(Lock& lock, const std::shared_ptr<LateEvent>& event, std::string_view call);
  bool RunOne(Lock& lock, const LateEvent* only_for);
  void RunFirst(Lock& lock, uint64_t stream);

  mutable std::mutex mutex_;
  std::condition_variable ended_;
  std::mt19937_64 random_;
  uint64_t next_ = 1, executed_ = 0;
  std::map<uint64_t, Stream> streams_;
  std::map<uint64_t, std::shared_ptr<LateEvent>> events_;
  std::list<Running> running_;
};

}  // namespace ricci::testing
#endif
