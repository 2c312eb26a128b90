// IndexRanges: which values of a kernel are indices that 32 bits hold: arithmetic on them takes half the instructions.
#ifndef RICCI_CUDA_INDEX_RANGES_H_
#define RICCI_CUDA_INDEX_RANGES_H_
#include <optional>
#include <vector>

#include "ricci/backend.h"

namespace ricci::cuda {

struct IndexRange {  // lo <= x <= hi
  int64_t lo, hi;
};

class IndexRanges {
 public:
  explicit IndexRanges(const ricci_kernel_table& k);
  // Nothing if the value is not an i64, or may be anything.
  const std::optional<IndexRange>& Of(uint32_t v) const { return ranges_[v]; }
  // Below 2^30, so that sums and steps of loops stay within 32 bits too.
  bool IsShort(uint32_t v) const { return ranges_[v] && ranges_[v]->lo > -kShort && ranges_[v]->hi < kShort; }

  static constexpr int64_t kShort = int64_t{1} << 30;

 private:
  std::optional<IndexRange> Find(uint32_t v) const;
  std::optional<IndexRange> Arithmetic(const ricci_inst& q) const;

  const ricci_kernel_table& k_;
  std::vector<std::optional<IndexRange>> ranges_;
};

}  // namespace ricci::cuda
#endif
