// ConditionTrial: a graph with conditional nodes that is made and thrown away, to see whether the driver takes it.
// After the first call that fails no other is made.
#ifndef RICCI_CUDA_CONDITION_TRIAL_H_
#define RICCI_CUDA_CONDITION_TRIAL_H_
#include "cuda/driver/work.h"

namespace ricci::cuda {

// The device's context is current in all calls.
class ConditionTrial {
 public:
  // `decides`: a kernel that takes an address and a condition. It is never run.
  ConditionTrial(const Gpu& device, const Function& decides);
  ~ConditionTrial();
  ConditionTrial(const ConditionTrial&) = delete;

  // A loop, with a kernel that decides before it and in its body. What comes next is in that body.
  void AddLoop();
  // Another conditional node, with a kernel that decides before it, and a node in each of its bodies.
  void AddChoice(int type, unsigned n_bodies);
  void Instantiate();

  // What the last call has given, and its name.
  CuResult result() const { return result_; }
  const char* call() const { return call_; }

 private:
  template <typename F>
  void Then(const char* call, const F& f);
  CuCondition AddCondition();
  CuGraphNode AddKernel(CuCondition condition);
  CuNode AddConditional(CuCondition condition, int type, unsigned n_bodies);

  const Gpu& device_;
  const Function& decides_;
  CuGraph whole_ = nullptr, graph_ = nullptr;
  CuGraphExec exec_ = nullptr;
  CuResult result_ = kCuSuccess;
  const char* call_ = "";
};

}  // namespace ricci::cuda
#endif
