// Neighbours: how values differ between the points or trips of a group (vector.h).
#ifndef RICCI_CUDA_NEIGHBOURS_H_
#define RICCI_CUDA_NEIGHBOURS_H_
#include <optional>
#include <vector>

#include "cuda/schedule/index_forms.h"
#include "cuda/schedule/index_ranges.h"

namespace ricci::cuda {

class Neighbours {
 public:
  // Groups of `size`, a power of two, of trips of `loop`, or (loop 0) of points, none across an end of the loop or of
  // the domain's last dimension unless `flat`. All of a group are in the same trip of any other loop.
  Neighbours(const ricci_kernel_table& k, const IndexRanges& ranges, uint32_t loop, int64_t size, bool flat);
  // Of points that differ in that dimension of the domain only.
  Neighbours(const ricci_kernel_table& k, const IndexRanges& ranges, uint32_t dimension, int64_t size);

  // One value for all of a group.
  bool IsSame(uint32_t v) const { return steps_[v] && steps_[v]->step == 0; }
  // An index that grows by one and begins at a multiple of the group's size.
  bool IsInOrder(uint32_t v) const { return steps_[v] && steps_[v]->step == 1 && steps_[v]->divisor >= size_; }

 private:
  void FindAll();
  // For number e of a group: first + e * step; `divisor`, a power of two, divides the first.
  struct Step {
    int64_t step, divisor;
  };
  std::optional<Step> Find(uint32_t v) const;
  std::optional<Step> Arithmetic(const ricci_inst& q) const;
  std::optional<Step> Product(const ricci_inst& q) const;
  std::optional<Step> Quotient(const ricci_inst& q) const;
  bool IsCut(const ricci_inst& q) const;
  // A constant, as the factor that a shift or mask stands for.
  std::optional<int64_t> DivisorOf(const ricci_inst& q) const;

  bool IsPointNumber(const IndexForm& form) const;

  const ricci_kernel_table& k_;
  const IndexRanges& ranges_;
  const uint32_t loop_, dimension_;
  const int64_t size_;
  const bool flat_;
  const std::optional<IndexForms> forms_;  // if flat
  std::vector<std::optional<Step>> steps_;
};

}  // namespace ricci::cuda
#endif
