#include "graph.h"

#include <algorithm>

namespace ricci::cuda {

ricci_status* Graph::Launch(const PlanGraph& plan, const Places& places, const WorkOfNode& work, CuStream stream) {
  if (!IsBoundTo(places)) {
    if (ricci_status* failed = MakeOrRebind(plan, places, work)) return failed;
    places_ = places;
  }
  return device_.Check("cuGraphLaunch", device_.driver().cuGraphLaunch(exec_, stream));
}

// A driver may refuse to change a node: that of a copy keeps to memory of one context, or of none. Then all is made
// again, which says what else is wrong.
ricci_status* Graph::MakeOrRebind(const PlanGraph& plan, const Places& places, const WorkOfNode& work) {
  if (exec_ == nullptr) return Make(plan, work);
  ricci_status* const refused = Rebind(plan, places, work);
  if (refused == nullptr) return nullptr;
  ricci_status_free(refused);
  return Make(plan, work);
}

ricci_status* Graph::Make(const PlanGraph& plan, const WorkOfNode& work) {
  const Driver& d = device_.driver();
  Clear();
  if (ricci_status* failed = device_.Check("cuGraphCreate", d.cuGraphCreate(&graph_, 0))) return failed;
  graphs_.assign(plan.n_graphs, nullptr);
  graphs_[0] = graph_;
  conditions_.assign(plan.n_graphs, 0);
  has_condition_.assign(plan.n_graphs, false);
  for (uint32_t node = 0; node < plan.size(); ++node) {
    if (ricci_status* failed = AddOne(plan, node, work)) return failed;
  }
  return device_.Check("cuGraphInstantiateWithFlags", d.cuGraphInstantiateWithFlags(&exec_, graph_, 0));
}

ricci_status* Graph::AddOne(const PlanGraph& plan, uint32_t node, const WorkOfNode& work) {
  const PlanNode& n = plan.nodes[node];
  const CuGraph graph = graphs_[n.graph];
  std::vector<CuGraphNode> waits;
  for (uint32_t earlier : plan.waits[node]) waits.push_back(nodes_[earlier]);
  CuGraphNode &made = nodes_.emplace_back(), &before = before_.emplace_back();
  if (n.kind == PlanNode::kLoop || n.kind == PlanNode::kBranch) return AddBody(n, waits, made);
  if (ricci_status* failed = MakeConditions(n)) return failed;
  const Work w = WholeWork(plan, node, work);
  if (w.before != nullptr) {
    if (ricci_status* failed = AddNode(device_, Before(w), graph, waits, before)) return failed;
    waits = {before};
  }
  return AddNode(device_, w, graph, waits, made);
}

// Those of a node that decides. The first one that decides is in the graph that the body's node will be in.
ricci_status* Graph::MakeConditions(const PlanNode& n) {
  for (const uint32_t body : n.bodies) {
    if (body == 0 || has_condition_[body]) continue;
    const CuResult result =
        device_.driver().cuGraphConditionalHandleCreate(&conditions_[body], graphs_[n.graph], device_.context(), 0, 0);
    if (ricci_status* failed = device_.Check("cuGraphConditionalHandleCreate", result)) return failed;
    has_condition_[body] = true;
  }
  return nullptr;
}

// A node with a graph in it, which is empty yet.
ricci_status* Graph::AddBody(const PlanNode& n, const std::vector<CuGraphNode>& waits, CuGraphNode& made) {
  CuNode node{};
  node.type = kCuNodeConditional;
  node.conditional = {conditions_[n.body], n.kind == PlanNode::kLoop ? kCuConditionWhile : kCuConditionIf, 1, nullptr,
                      device_.context()};
  const CuResult result =
      device_.driver().cuGraphAddNode(&made, graphs_[n.graph], waits.data(), /*edges=*/nullptr, waits.size(), &node);
  if (ricci_status* failed = device_.Check("cuGraphAddNode", result)) return failed;
  graphs_[n.body] = node.conditional.bodies[0];
  return nullptr;
}

Work Graph::WholeWork(const PlanGraph& plan, uint32_t node, const WorkOfNode& work) const {
  Work w = work(node);
  for (const uint32_t body : plan.nodes[node].bodies) w.arguments.push_back(conditions_[body]);
  return w;
}

// After a failure some nodes are changed and others are not, so the next run changes all.
ricci_status* Graph::Rebind(const PlanGraph& plan, const Places& places, const WorkOfNode& work) {
  std::vector<uint32_t> changed;
  for (size_t i = 0; i < places.size(); ++i) {
    if (!places_.empty() && places_[i] == places[i]) continue;
    changed.insert(changed.end(), plan.users[i].begin(), plan.users[i].end());
  }
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  places_.clear();
  for (uint32_t node : changed) {
    const Work w = WholeWork(plan, node, work);
    if (w.before != nullptr) {
      if (ricci_status* failed = ChangeNode(device_, Before(w), exec_, before_[node])) return failed;
    }
    if (ricci_status* failed = ChangeNode(device_, w, exec_, nodes_[node])) return failed;
  }
  return nullptr;
}

void Graph::Clear() {
  if (exec_ != nullptr) device_.Note(device_.driver().cuGraphExecDestroy(exec_));
  if (graph_ != nullptr) device_.Note(device_.driver().cuGraphDestroy(graph_));
  exec_ = nullptr;
  graph_ = nullptr;
  nodes_.clear();
  before_.clear();
  graphs_.clear();
  conditions_.clear();
  has_condition_.clear();
  places_.clear();
}

}  // namespace ricci::cuda
