// PlanNodes: what the nodes of a plan are in a graph of the driver, whether that is one of our own, which runs launch,
// or one that the host captures.
//
// What a library enqueues is a child graph: one node, which a capture of its own gives. cuStreamBeginCaptureToGraph
// (CUDA 12.3) would put its nodes beside ours. But then other addresses would need a new graph: of a loop no driver
// changes the whole, and which of its nodes are which is not known.
#ifndef RICCI_CUDA_PLAN_NODES_H_
#define RICCI_CUDA_PLAN_NODES_H_
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "cuda/driver/work.h"
#include "cuda/run/plan_graph.h"

namespace ricci::cuda {

// The work of a node, with the addresses of a run in it, by which its function may differ; of the same node always the
// same kind and sizes.
// That of a node that decides lacks its last arguments, the conditions, which are the graph's. Not asked of loops,
// branches and choices.
using WorkOfNode = std::function<Work(uint32_t node)>;

// The device's context is current in all calls, and `plan` is the same in all.
class PlanNodes {
 public:
  explicit PlanNodes(const Gpu& device) : device_(device) {}
  PlanNodes(const PlanNodes&) = delete;

  // Adds the first `count` nodes of the plan to `graph`, all after `after`, its nodes. After a failure the first size()
  // nodes are there, and of the next one perhaps a part.
  ricci_status* Add(const PlanGraph& plan, uint32_t count, CuGraph graph, std::span<const CuGraphNode> after,
                    const WorkOfNode& work);
  // The same node with other addresses in what was made from the graph. Fails where these want another function
  // (pair_launch.h), which not every driver lets a node have: the graph is to be made again.
  ricci_status* Change(const PlanGraph& plan, uint32_t node, CuGraphExec exec, const WorkOfNode& work) const;
  void Forget();

  size_t size() const { return nodes_.size(); }
  // Has the graph anything of the plan, be it a value of conditions or a kernel before another one?
  bool HasAdded() const;
  CuGraphNode operator[](uint32_t node) const { return nodes_[node]; }

 private:
  // Of the kernel of a node and of the one before it.
  using Functions = std::pair<const Function*, const Function*>;

  ricci_status* AddOne(const PlanGraph& plan, uint32_t node, const std::vector<CuGraphNode>& waits,
                       const WorkOfNode& work, CuGraphNode& made);
  ricci_status* MakeConditions(const PlanNode& node);
  ricci_status* AddBodies(const PlanNode& node, const std::vector<CuGraphNode>& waits, CuGraphNode& made);
  Work WholeWork(const PlanGraph& plan, uint32_t node, const WorkOfNode& work) const;

  const Gpu& device_;
  std::vector<CuGraph> graphs_;              // by number: the whole one, then bodies, which are the driver's
  std::vector<CuCondition> conditions_;      // by number of a body that names a value
  std::vector<bool> has_condition_;          // by number of a body
  std::vector<CuGraphNode> nodes_, before_;  // before_: of the kernel before a node's work, or null
  std::vector<Functions> functions_;         // by node
};

}  // namespace ricci::cuda
#endif
