// Conditions: the kernels that give the loops and branches of a graph their values, and whether the driver takes them.
//
// They call `cudaGraphSetConditional`, which no header declares here and NVRTC does not link. A driver links it itself
// when it is given PTX, as it does `printf`: so these kernels are the only ones that go to it as PTX. The other way, to
// link NVIDIA's libcudadevrt by nvJitLink, would need two more files of a toolkit. That the driver takes all this is
// tried once for each GPU, with a loop that is made and never run; where it does not, loops and branches stay the
// host's, and --explain says why.
#ifndef RICCI_CUDA_CONDITIONS_H_
#define RICCI_CUDA_CONDITIONS_H_
#include <mutex>
#include <string>

#include "work.h"

namespace ricci::cuda {

class Conditions {
 public:
  explicit Conditions(const Gpu& device) : device_(device) {}
  Conditions(const Conditions&) = delete;

  // The device's context is current in both. Prepare tries what was said, once; `why_not` is empty if the kernels are
  // there. Thread-safe. A failure that says nothing of conditions, such as too little memory, is returned, and the next
  // one tries again.
  ricci_status* Prepare(std::string& why_not);
  void Clear();

  // Arguments: the address of a bool, the condition.
  const Function& loop() const { return loop_; }
  // Arguments: the address of an i32; the number of a branch, and how many branches there are; of that branch and the
  // next ones the conditions, PlanNode::kDecided in all, before which a word says by bits which of them are there.
  const Function& branches() const { return branches_; }

 private:
  CuResult Load(const std::string& ptx, const char*& call);
  CuResult Try(const char*& call) const;

  const Gpu& device_;
  std::mutex mutex_;
  CuModule module_ = nullptr;
  Function loop_{nullptr, {1, 1, 1}, {1, 1, 1}}, branches_ = loop_;
  std::string why_not_;  // not empty: they cannot be had
};

// The kernels; every function of the text is an entry.
extern const char* const kConditionText;

}  // namespace ricci::cuda
#endif
