#include "cuda/run/graph.h"

#include <algorithm>

namespace ricci::cuda {

ricci_status* Graph::Launch(const PlanGraph& plan, const Addresses& addresses, const WorkOfNode& work,
                            CuStream stream) {
  if (!IsBoundTo(addresses)) {
    if (ricci_status* failed = MakeOrRebind(plan, addresses, work)) return failed;
    addresses_ = addresses;
  }
  return device_.Check("cuGraphLaunch", device_.driver().cuGraphLaunch(exec_, stream));
}

// A driver may refuse to change a node: that of a copy keeps to memory of one context, or of none; and a kernel may
// want another function. Then all is made again, which says what else is wrong.
ricci_status* Graph::MakeOrRebind(const PlanGraph& plan, const Addresses& addresses, const WorkOfNode& work) {
  if (exec_ == nullptr) return Make(plan, work);
  ricci_status* const refused = Rebind(plan, addresses, work);
  if (refused == nullptr) return nullptr;
  ricci_status_free(refused);
  return Make(plan, work);
}

ricci_status* Graph::Make(const PlanGraph& plan, const WorkOfNode& work) {
  const Driver& d = device_.driver();
  Clear();
  if (ricci_status* failed = device_.Check("cuGraphCreate", d.cuGraphCreate(&graph_, 0))) return failed;
  if (ricci_status* failed = nodes_.Add(plan, plan.size(), graph_, /*after=*/{}, work)) return failed;
  return device_.Check("cuGraphInstantiateWithFlags", d.cuGraphInstantiateWithFlags(&exec_, graph_, 0));
}

// After a failure some nodes are changed and others are not, so the next run changes all.
ricci_status* Graph::Rebind(const PlanGraph& plan, const Addresses& addresses, const WorkOfNode& work) {
  std::vector<uint32_t> changed;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (!addresses_.empty() && addresses_[i] == addresses[i]) continue;
    changed.insert(changed.end(), plan.users[i].begin(), plan.users[i].end());
  }
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  addresses_.clear();
  for (uint32_t node : changed) {
    if (ricci_status* failed = nodes_.Change(plan, node, exec_, work)) return failed;
  }
  return nullptr;
}

void Graph::Clear() {
  if (exec_ != nullptr) device_.Note(device_.driver().cuGraphExecDestroy(exec_));
  if (graph_ != nullptr) device_.Note(device_.driver().cuGraphDestroy(graph_));
  exec_ = nullptr;
  graph_ = nullptr;
  nodes_.Forget();
  addresses_.clear();
}

}  // namespace ricci::cuda
