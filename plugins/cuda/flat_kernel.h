// The table of a kernel that is printed: with flat reductions (codegen/flat_reductions.h) where teams share them.
//
// Sums of products that blocks compute by tiles are left as they are written, and so is what a thread computes alone.
#ifndef RICCI_CUDA_FLAT_KERNEL_H_
#define RICCI_CUDA_FLAT_KERNEL_H_
#include <string>
#include <vector>

#include "codegen/flat_reductions.h"
#include "text_target.h"

namespace ricci::cuda {

class FlatKernel {
 public:
  // `k` must live as long.
  FlatKernel(const ricci_kernel_table& k, const TextTarget& target);
  const ricci_kernel_table& table() const { return is_flat_ ? flat_.table() : k_; }
  const std::vector<std::string>& reasons() const { return is_flat_ ? flat_.reasons() : none_; }

 private:
  bool IsShared(const TextTarget& target) const;

  const ricci_kernel_table& k_;
  const codegen::FlatReductions flat_;
  const std::vector<std::string> none_;
  const bool is_flat_;
};

}  // namespace ricci::cuda
#endif
