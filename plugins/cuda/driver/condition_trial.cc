#include "cuda/driver/condition_trial.h"

namespace ricci::cuda {

template <typename F>
void ConditionTrial::Then(const char* call, const F& f) {
  if (result_ != kCuSuccess) return;
  call_ = call;
  result_ = f(device_.driver());
}

ConditionTrial::ConditionTrial(const Gpu& device, const Function& decides) : device_(device), decides_(decides) {
  Then("cuGraphCreate", [&](const Driver& d) { return d.cuGraphCreate(&whole_, 0); });
  graph_ = whole_;
}

ConditionTrial::~ConditionTrial() {
  if (exec_ != nullptr) device_.Note(device_.driver().cuGraphExecDestroy(exec_));
  if (whole_ != nullptr) device_.Note(device_.driver().cuGraphDestroy(whole_));
}

CuCondition ConditionTrial::AddCondition() {
  CuCondition condition = 0;
  Then("cuGraphConditionalHandleCreate",
       [&](const Driver& d) { return d.cuGraphConditionalHandleCreate(&condition, graph_, device_.context(), 0, 0); });
  return condition;
}

CuGraphNode ConditionTrial::AddKernel(CuCondition condition) {
  CuPointer nowhere = 0;
  void* arguments[] = {&nowhere, &condition};
  const CuKernelNode node{decides_.f, {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr, nullptr, nullptr};
  CuGraphNode made = nullptr;
  Then("cuGraphAddKernelNode",
       [&](const Driver& d) { return d.cuGraphAddKernelNode(&made, graph_, nullptr, 0, &node); });
  return made;
}

// After a kernel that decides.
CuNode ConditionTrial::AddConditional(CuCondition condition, int type, unsigned n_bodies) {
  const CuGraphNode before = AddKernel(condition);
  CuNode node{};
  node.type = kCuNodeConditional;
  node.conditional = {condition, type, n_bodies, nullptr, device_.context()};
  CuGraphNode made = nullptr;
  Then("cuGraphAddNode", [&](const Driver& d) { return d.cuGraphAddNode(&made, graph_, &before, nullptr, 1, &node); });
  return node;
}

void ConditionTrial::AddLoop() {
  const CuCondition condition = AddCondition();
  const CuNode loop = AddConditional(condition, kCuConditionWhile, 1);
  if (result_ != kCuSuccess) return;
  graph_ = loop.conditional.bodies[0];
  AddKernel(condition);
}

void ConditionTrial::AddChoice(int type, unsigned n_bodies) {
  const CuNode choice = AddConditional(AddCondition(), type, n_bodies);
  for (unsigned i = 0; i < n_bodies && result_ == kCuSuccess; ++i) {
    CuGraphNode made = nullptr;
    Then("cuGraphAddEmptyNode",
         [&](const Driver& d) { return d.cuGraphAddEmptyNode(&made, choice.conditional.bodies[i], nullptr, 0); });
  }
}

void ConditionTrial::Instantiate() {
  Then("cuGraphInstantiateWithFlags",
       [&](const Driver& d) { return d.cuGraphInstantiateWithFlags(&exec_, whole_, 0); });
}

}  // namespace ricci::cuda
