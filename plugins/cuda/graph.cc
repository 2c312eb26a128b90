#include "graph.h"

#include <algorithm>

namespace ricci::cuda {

ricci_status* Graph::Launch(const PlanGraph& plan, const Places& places, const WorkOfNode& work, CuStream stream) {
  if (!IsBoundTo(places)) {
    if (ricci_status* failed = exec_ == nullptr ? Make(plan, work) : Rebind(plan, places, work)) return failed;
    places_ = places;
  }
  return device_.Check("cuGraphLaunch", device_.driver().cuGraphLaunch(exec_, stream));
}

ricci_status* Graph::Make(const PlanGraph& plan, const WorkOfNode& work) {
  const Driver& d = device_.driver();
  Clear();
  if (ricci_status* failed = device_.Check("cuGraphCreate", d.cuGraphCreate(&graph_, 0))) return failed;
  std::vector<CuGraphNode> waits;
  for (uint32_t node = 0; node < plan.size(); ++node) {
    waits.clear();
    for (uint32_t earlier : plan.waits[node]) waits.push_back(nodes_[earlier]);
    CuGraphNode made = nullptr, before = nullptr;
    const Work w = work(node);
    if (w.before != nullptr) {
      if (ricci_status* failed = AddNode(device_, Before(w), graph_, waits, before)) return failed;
      waits = {before};
    }
    if (ricci_status* failed = AddNode(device_, w, graph_, waits, made)) return failed;
    nodes_.push_back(made);
    before_.push_back(before);
  }
  return device_.Check("cuGraphInstantiateWithFlags", d.cuGraphInstantiateWithFlags(&exec_, graph_, 0));
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
    const Work w = work(node);
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
  places_.clear();
}

}  // namespace ricci::cuda
