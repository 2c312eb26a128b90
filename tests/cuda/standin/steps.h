// StepLog: which steps touch which memory, and whether two of which one writes are in order.
//
// A step is an operation of a stream, a node of a graph or an access by the host. Nodes of one launch are in order as
// their edges say, trips of a body in sequence. The clock of a step holds, of each stream, up
// to which step that one is in order before it: what came before in its stream, what the events that its stream waits
// for came after, and what the host knew to be done when it enqueued the step. All host threads have one clock, since
// what they tell each other is not seen here. Steps are compared as they run, so those that are never waited for are
// not.
//
// Reports have the names of both steps. They are about accesses that nothing orders, and memory that is used before its
// allocation or after it was freed. They are also about memory of the host that host and device use at the same time.
// Accesses of a kernel are those that it really made, byte by byte. The value of a conditional node is memory too,
// which kernels write and the node reads before each trip. A function of the host that a stream calls makes its end
// known.
#ifndef RICCI_TESTS_CUDA_STEPS_H_
#define RICCI_TESTS_CUDA_STEPS_H_
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ricci::cuda::standin {

// By the number of a stream, that of the last step known to be before; 0 is the host.
using Clock = std::map<uint64_t, uint64_t>;
void Join(Clock& into, const Clock& other);

// Of the nodes of a graph, which are in order before which.
using Reached = std::vector<std::vector<bool>>;
// A node of a graph, or of a body in it in one of its trips. `body`: which of the bodies of the node around it.
struct InGraph {
  std::shared_ptr<const Reached> graph;
  size_t node;
  uint64_t trip;
  size_t body = 0;
};

struct Step {
  std::string name;
  uint64_t stream = 0, number = 0;
  Clock before;
  std::vector<InGraph> path = {};  // of a node: the whole graph first; empty: an operation of the stream

  std::string Text() const;
  bool IsBefore(const Step& later) const;
};
using StepRef = std::shared_ptr<const Step>;

class StepLog {
 public:
  // ---- the host ----
  void HostKnows(const Clock& done) { Join(host_, done); }
  StepRef HostStep(const std::string& name);
  const Clock& host() const { return host_; }

  // The memory is new, as of this step; no step may have touched it.
  void NewMemory(uintptr_t begin, uint64_t bytes, const StepRef& step);
  // What is not in order is a line; empty if all is.
  std::string Note(uintptr_t begin, uint64_t bytes, bool writes, const StepRef& step);
  void FreeMemory(uintptr_t begin, uint64_t bytes, const StepRef& step);
  // Nothing runs any more, and the host knows it.
  void ForgetSteps() {
    host_.clear();
    pieces_.clear();
  }
  // Whether memory remembers a step of the stream that the host does not know to be done.
  bool HasOpen(uint64_t stream) const;
  // Others may have this memory now.
  void ForgetFreed(uintptr_t begin) { freed_.erase(begin); }
  // The step that has freed this memory; null if none has.
  StepRef FreedBy(uintptr_t p) const;

 private:
  struct Piece {
    uintptr_t end;
    StepRef write;
    std::vector<StepRef> reads;  // since then
  };
  using Pieces = std::map<uintptr_t, Piece>;

  Pieces::iterator Cut(uintptr_t at);
  void Forget(uintptr_t begin, uintptr_t end);
  static const Step* Conflict(const Piece& p, bool writes, const Step& step);

  Clock host_;
  Pieces pieces_;
  std::map<uintptr_t, std::pair<uintptr_t, StepRef>> freed_;
};

}  // namespace ricci::cuda::standin
#endif
