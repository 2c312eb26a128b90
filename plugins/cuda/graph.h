// Graph: a plan as a graph of the driver, which one call launches. It keeps the addresses of its last launch, so that a
// run with the same ones changes nothing, and one with others only the nodes that use them.
//
// One run at a time uses it: neither a graph of the driver nor what is made from it may be used by two threads at once.
#ifndef RICCI_CUDA_GRAPH_H_
#define RICCI_CUDA_GRAPH_H_
#include <functional>

#include "plan_graph.h"
#include "work.h"

namespace ricci::cuda {

// The work of a node, with the addresses of a run in it; of the same node always the same kind, function and sizes.
// That of a node that decides lacks its last argument, the condition, which is the graph's. Not asked of loops and
// branches.
using WorkOfNode = std::function<Work(uint32_t node)>;

class Graph {
 public:
  explicit Graph(const Gpu& device) : device_(device) {}
  ~Graph() { Clear(); }
  Graph(const Graph&) = delete;

  // Would a launch with these places change nothing?
  bool IsBoundTo(const Places& places) const { return places_ == places; }
  // The device's context is current. `plan` is the same in every launch. After a failure nothing has been launched.
  ricci_status* Launch(const PlanGraph& plan, const Places& places, const WorkOfNode& work, CuStream stream);

 private:
  ricci_status* MakeOrRebind(const PlanGraph& plan, const Places& places, const WorkOfNode& work);
  ricci_status* Make(const PlanGraph& plan, const WorkOfNode& work);
  ricci_status* AddOne(const PlanGraph& plan, uint32_t node, const WorkOfNode& work);
  ricci_status* MakeConditions(const PlanNode& node);
  ricci_status* AddBody(const PlanNode& node, const std::vector<CuGraphNode>& waits, CuGraphNode& made);
  Work WholeWork(const PlanGraph& plan, uint32_t node, const WorkOfNode& work) const;
  ricci_status* Rebind(const PlanGraph& plan, const Places& places, const WorkOfNode& work);
  void Clear();

  const Gpu& device_;
  CuGraph graph_ = nullptr;
  CuGraphExec exec_ = nullptr;
  std::vector<CuGraph> graphs_;              // by number: the whole one, then bodies, which are the driver's
  std::vector<CuCondition> conditions_;      // by number of a body: whether it runs
  std::vector<bool> has_condition_;          // by number of a body
  std::vector<CuGraphNode> nodes_, before_;  // before_: of the kernel before a node's work, or null
  Places places_;                            // empty: unknown
};

}  // namespace ricci::cuda
#endif
