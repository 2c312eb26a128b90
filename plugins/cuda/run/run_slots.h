// RunSlots: what each run of a code that is in flight needs for itself, kept for later runs: words of the host that the
// device can write, and a graph for each part of its plan.
//
// A run takes a slot. The thread that first sees that the run's event has completed (event.h) gives the slot back, and
// reports the end. A run whose event goes before that, since the context has failed, keeps its slot until the code
// goes.
//
// A graph is bound to one set of addresses, so runs in flight cannot share one. A code keeps graphs for up to 16 runs,
// for fewer if they are more than 256 graphs. A run prefers those that are bound to its addresses. When all are in
// flight, it issues its steps individually. A run that could not be enqueued reports nothing.
#ifndef RICCI_CUDA_RUN_SLOTS_H_
#define RICCI_CUDA_RUN_SLOTS_H_
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/run/graph.h"

namespace ricci::cuda {

class RunSlots;

struct RunSlot {
  struct Host {  // pinned
    uint32_t failed_check, value;
  };

  RunSlot(RunSlots& home, const Gpu& device, size_t n_graphs) : home(home) {
    for (size_t i = 0; i < n_graphs; ++i) graphs.emplace_back(device);
  }
  ~RunSlot() { ricci_status_free(status); }
  bool has_graphs() const { return !graphs.empty(); }
  // Did the last run of its graphs have these addresses?
  bool IsBoundTo(const Addresses& addresses) const;

  RunSlots& home;
  Host* host = nullptr;
  std::deque<Graph> graphs;  // by part; empty: steps are issued individually
  ricci_done_fn done = nullptr;
  void* arg = nullptr;
  ricci_status* status = nullptr;  // why the run ended early, which is reported
};

class RunSlots {
 public:
  explicit RunSlots(Gpu& device) : device_(device) {}
  // The device's context is current, and no run will be enqueued any more.
  void Clear();
  RunSlots(const RunSlots&) = delete;

  // So many slots have graphs, the first ones, each so many; 0 unless this is called.
  void SetGraphs(size_t most_slots, size_t of_slot) { most_with_graphs_ = most_slots, n_graphs_ = of_slot; }
  // A slot that no run uses; if there is one, with graphs that are bound to `addresses`, else with any graphs. Its word
  // says that no check has failed, which is so unless the run reads another one.
  ricci_status* Take(const Addresses& addresses, ricci_done_fn done, void* arg, RunSlot*& out);
  // The run was not enqueued: nothing is reported.
  void Drop(RunSlot& slot);
  // Reports the end of the run. `slot`: a RunSlot.
  static void Finish(void* slot);

 private:
  ricci_status* Make(std::unique_lock<std::mutex>& lock);
  void Return(RunSlot& slot);

  Gpu& device_;
  size_t most_with_graphs_ = 0, n_graphs_ = 0;
  size_t n_made_ = 0;  // with those that are being made
  std::mutex mutex_;
  std::vector<std::unique_ptr<RunSlot>> all_;
  std::vector<RunSlot*> free_with_graphs_, free_;  // with room for all
};

}  // namespace ricci::cuda
#endif
