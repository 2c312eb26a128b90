// The table of a kernel that is printed: with flat reductions (codegen/flat_reductions.h) where teams share them.
//
// Sums of products that blocks compute by tiles are left as they are written, and so is what a thread computes alone.
//
// Elements that follow each other in memory are one loop. Rows of 512 elements or more are two loops: warps share the
// rows, lanes the elements of a row, and the block combines the sums of its threads once. What is left is one loop that
// finds its indices by division, with five integer operations for each index. Loops are exchanged and reversed for
// that, so a total of a transposed or reversed array reads it in order. Rows are cut where all parts have fewer rows
// than a block has warps.
#ifndef RICCI_CUDA_FLAT_KERNEL_H_
#define RICCI_CUDA_FLAT_KERNEL_H_
#include <string>
#include <vector>

#include "codegen/flat_reductions.h"
#include "cuda/driver/text_target.h"

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
