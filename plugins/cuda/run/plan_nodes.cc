#include "cuda/run/plan_nodes.h"

#include <algorithm>
#include <utility>

namespace ricci::cuda {
namespace {

bool HasBodies(const PlanNode& n) {
  return n.kind == PlanNode::kLoop || n.kind == PlanNode::kBranch || n.kind == PlanNode::kChoice;
}

// Its bodies in the order in which the driver lists them. The second one of an IF is for the value 0.
std::vector<uint32_t> BodiesOf(const PlanNode& n) {
  if (n.kind != PlanNode::kChoice) return {n.body};
  return n.bodies.size() == 2 ? std::vector<uint32_t>{n.bodies[1], n.bodies[0]} : n.bodies;
}

int TypeOf(const PlanNode& n) {
  if (n.kind == PlanNode::kLoop) return kCuConditionWhile;
  return n.kind == PlanNode::kBranch || n.bodies.size() == 2 ? kCuConditionIf : kCuConditionSwitch;
}

}  // namespace

ricci_status* PlanNodes::Add(const PlanGraph& plan, uint32_t count, CuGraph graph, std::span<const CuGraphNode> after,
                             const WorkOfNode& work) {
  Forget();
  graphs_.assign(plan.n_graphs, nullptr);
  graphs_[0] = graph;
  conditions_.assign(plan.n_graphs, 0);
  has_condition_.assign(plan.n_graphs, false);
  before_.assign(count, nullptr);
  functions_.assign(count, {});
  nodes_.reserve(count);
  for (uint32_t node = 0; node < count; ++node) {
    std::vector<CuGraphNode> waits;
    for (const uint32_t earlier : plan.waits[node]) waits.push_back(nodes_[earlier]);
    if (waits.empty() && plan.nodes[node].graph == 0) waits.assign(after.begin(), after.end());
    CuGraphNode made = nullptr;
    if (ricci_status* failed = AddOne(plan, node, waits, work, made)) return failed;
    nodes_.push_back(made);
  }
  return nullptr;
}

ricci_status* PlanNodes::AddOne(const PlanGraph& plan, uint32_t node, const std::vector<CuGraphNode>& waits,
                                const WorkOfNode& work, CuGraphNode& made) {
  const PlanNode& n = plan.nodes[node];
  const CuGraph graph = graphs_[n.graph];
  if (HasBodies(n)) return AddBodies(n, waits, made);
  if (ricci_status* failed = MakeConditions(n)) return failed;
  const Work w = WholeWork(plan, node, work);
  functions_[node] = {w.function, w.before};
  if (w.before == nullptr) return AddNode(device_, w, graph, waits, made);
  if (ricci_status* failed = AddNode(device_, Before(w), graph, waits, before_[node])) return failed;
  return AddNode(device_, w, graph, {&before_[node], 1}, made);
}

// Those of a node that decides. The first one that decides is in the graph that the body's node will be in.
ricci_status* PlanNodes::MakeConditions(const PlanNode& n) {
  for (const uint32_t body : n.bodies) {
    if (body == 0 || has_condition_[body]) continue;
    const CuResult result =
        device_.driver().cuGraphConditionalHandleCreate(&conditions_[body], graphs_[n.graph], device_.context(), 0, 0);
    if (ricci_status* failed = device_.Check("cuGraphConditionalHandleCreate", result)) return failed;
    has_condition_[body] = true;
  }
  return nullptr;
}

// A node with graphs in it, which are empty yet.
ricci_status* PlanNodes::AddBodies(const PlanNode& n, const std::vector<CuGraphNode>& waits, CuGraphNode& made) {
  const std::vector<uint32_t> bodies = BodiesOf(n);
  const uint32_t names_value = n.kind == PlanNode::kChoice ? n.bodies[0] : n.body;
  CuNode node{};
  node.type = kCuNodeConditional;
  node.conditional = {conditions_[names_value], TypeOf(n), static_cast<unsigned>(bodies.size()), nullptr,
                      device_.context()};
  const CuResult result =
      device_.driver().cuGraphAddNode(&made, graphs_[n.graph], waits.data(), /*edges=*/nullptr, waits.size(), &node);
  if (ricci_status* failed = device_.Check("cuGraphAddNode", result)) return failed;
  for (size_t i = 0; i < bodies.size(); ++i) graphs_[bodies[i]] = node.conditional.bodies[i];
  return nullptr;
}

Work PlanNodes::WholeWork(const PlanGraph& plan, uint32_t node, const WorkOfNode& work) const {
  Work w = work(node);
  for (const uint32_t body : plan.nodes[node].bodies) w.arguments.push_back(conditions_[body]);
  return w;
}

ricci_status* PlanNodes::Change(const PlanGraph& plan, uint32_t node, CuGraphExec exec, const WorkOfNode& work) const {
  const Work w = WholeWork(plan, node, work);
  if (Functions(w.function, w.before) != functions_[node]) {
    return Fail(RICCI_INTERNAL, "its kernel has another function now");
  }
  if (w.before != nullptr) {
    if (ricci_status* failed = ChangeNode(device_, Before(w), exec, before_[node])) return failed;
  }
  return ChangeNode(device_, w, exec, nodes_[node]);
}

bool PlanNodes::HasAdded() const {
  const auto is_there = [](CuGraphNode node) { return node != nullptr; };
  return !nodes_.empty() || std::any_of(before_.begin(), before_.end(), is_there) ||
         std::find(has_condition_.begin(), has_condition_.end(), true) != has_condition_.end();
}

void PlanNodes::Forget() {
  nodes_.clear();
  before_.clear();
  functions_.clear();
  graphs_.clear();
  conditions_.clear();
  has_condition_.clear();
}

}  // namespace ricci::cuda
