// Graph: a plan or a part of it as a graph of the driver, which one call launches. It keeps the addresses of its last
// launch, so that a run with the same ones changes nothing, and one with others only the nodes that use them.
//
// One run at a time uses it: neither a graph of the driver nor what is made from it may be used by two threads at once.
//
// It is built from the plan, not captured: nodes are known by their steps. It is made in the first run, since the
// driver checks addresses.
#ifndef RICCI_CUDA_GRAPH_H_
#define RICCI_CUDA_GRAPH_H_
#include "cuda/run/plan_nodes.h"

namespace ricci::cuda {

class Graph {
 public:
  explicit Graph(const Gpu& device) : device_(device), nodes_(device) {}
  ~Graph() { Clear(); }
  Graph(const Graph&) = delete;

  // Would a launch with these addresses change nothing?
  bool IsBoundTo(const Addresses& addresses) const { return addresses_ == addresses; }
  // The device's context is current. `plan` is the same in every launch. After a failure nothing has been launched.
  ricci_status* Launch(const PlanGraph& plan, const Addresses& addresses, const WorkOfNode& work, CuStream stream);

 private:
  ricci_status* MakeOrRebind(const PlanGraph& plan, const Addresses& addresses, const WorkOfNode& work);
  ricci_status* Make(const PlanGraph& plan, const WorkOfNode& work);
  ricci_status* Rebind(const PlanGraph& plan, const Addresses& addresses, const WorkOfNode& work);
  void Clear();

  const Gpu& device_;
  CuGraph graph_ = nullptr;
  CuGraphExec exec_ = nullptr;
  PlanNodes nodes_;
  Addresses addresses_;  // empty: unknown
};

}  // namespace ricci::cuda
#endif
