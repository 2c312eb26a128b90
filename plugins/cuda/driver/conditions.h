// Conditions: the kernels that give the loops and branches of a graph their values, and whether the driver takes them.
//
// They call `cudaGraphSetConditional`, which no header declares here and NVRTC does not link. A driver links it itself
// when it is given PTX, as it does `printf`: so these kernels are the only ones that go to it as PTX. The other way, to
// link NVIDIA's libcudadevrt by nvJitLink, would need two more files of a toolkit. That the driver takes all this is
// tried once for each GPU, with loops in each other, as deep as a plan needs, that are made and never run; where it
// does not, loops and branches stay the host's, and --explain says why. The same goes for nodes with several bodies,
// which came with CUDA 12.8: where there are none, each branch is a node.
//
// XLA gives such kernels to the driver as PTX too. NVRTC writes the version of its own language into PTX. It is lowered
// to that of CUDA 12.0, so that a driver older than NVRTC takes it. A trial is about ten calls of the driver, once for
// each GPU and depth. A failure that says nothing of conditions (too little memory) is returned.
#ifndef RICCI_CUDA_CONDITIONS_H_
#define RICCI_CUDA_CONDITIONS_H_
#include <mutex>
#include <string>

#include "cuda/driver/work.h"

namespace ricci::cuda {

class Conditions {
 public:
  explicit Conditions(const Gpu& device) : device_(device) {}
  Conditions(const Conditions&) = delete;

  // The device's context is current in all of these; `current` is what makes it so. Prepare tries what was said for so
  // many loops and branches in each other, unless it has tried as many; `why_not` is empty if they can be had.
  // Thread-safe; the host's cache is asked without a lock, so it may call back. A failure that says nothing of
  // conditions, such as too little memory, is returned, and the next one tries again.
  ricci_status* Prepare(uint32_t depth, Current& current, std::string& why_not);
  // The same for nodes with several bodies (an IF with two, a SWITCH), once Prepare has found that there are any.
  ricci_status* PrepareChoices(std::string& why_not);
  void Clear();

  // Arguments: the address of a bool, the condition.
  const Function& loop() const { return loop_; }
  // Arguments: the address of an i32; the number of a branch, and how many branches there are; of that branch and the
  // next ones the conditions, PlanNode::kDecided in all, before which a word says by bits which of them are there.
  const Function& branches() const { return branches_; }
  // Arguments: the address of an i32, the number of a branch; how many branches there are; the condition.
  const Function& choice() const { return choice_; }

 private:
  bool IsKnown() const { return module_ != nullptr || !why_not_.empty(); }
  ricci_status* LoadKernels(Current& current, std::unique_lock<std::mutex>& lock);
  CuResult Load(const std::string& ptx, const char*& call);
  ricci_status* TryChoices();
  ricci_status* Refusal(const char* what, const char* call, CuResult result, std::string& why_not) const;

  const Gpu& device_;
  std::mutex mutex_;
  CuModule module_ = nullptr;
  Function loop_{nullptr, {1, 1, 1}, {1, 1, 1}}, branches_ = loop_, choice_ = loop_;
  std::string why_not_;                 // not empty: they cannot be had
  uint32_t taken_ = 0, refused_ = ~0u;  // depths: the largest one that was taken, the smallest one that was not
  std::string why_refused_;
  bool has_tried_choices_ = false;
  std::string why_no_choices_;
};

// The kernels; every function of the text is an entry.
extern const char* const kConditionText;

}  // namespace ricci::cuda
#endif
