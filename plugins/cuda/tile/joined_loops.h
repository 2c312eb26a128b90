// JoinedLoops: reductions beside each other that run as one loop, so that what several of them read is read once (the
// sum of x and that of its squares).
//
// A reduction joins an earlier one if it has the same trips, spread over threads alike, needs nothing of what comes
// between the two, and reads an element that the earlier one reads. Each keeps its own sum and its order of terms, so
// bits are those of loops of their own. Equal values in equal trips are found as for kept rows (kept_rows.h), which go
// first: there the loops are written out.
//
// The core puts such reductions into one kernel (row_choice.cc).
//
// Not there yet: elements of 8 bits, reductions with loops of their own within that are not rows, and reductions of all
// dimensions, which the core leaves in kernels of their own.
#ifndef RICCI_CUDA_JOINED_LOOPS_H_
#define RICCI_CUDA_JOINED_LOOPS_H_
#include <cstdint>
#include <vector>

#include "cuda/schedule/phases.h"
#include "cuda/tile/vector.h"

namespace ricci::cuda {

// Per instruction: is it a product that nothing but a sum reads, which multiplies and adds at once?
std::vector<uint8_t> ProductsTakenIn(const ricci_kernel_table& k);

struct JoinedLoops {
  std::vector<uint32_t> leader;  // by instruction: of a REDUCE, the one in whose loop it runs; else 0
  std::vector<uint32_t> same;    // by instruction of such a REDUCE: what has its value already; 0: nothing

  bool IsUsed() const { return !leader.empty(); }
  bool Has(uint32_t reduce) const { return IsUsed() && leader[reduce] != 0; }
  uint32_t LeaderOf(uint32_t reduce) const { return Has(reduce) ? leader[reduce] : reduce; }
  uint32_t Name(uint32_t i) const { return IsUsed() && same[i] != 0 ? same[i] : i; }  // whose name the value has
  std::vector<uint32_t> Following(uint32_t loop) const;                               // that run in that loop, in order
  std::vector<uint32_t> All(uint32_t loop) const;                                     // it and those
};
// `taken_in`: by instruction, values without a name of their own.
JoinedLoops JoinedLoopsOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const Shares& shares,
                          const Phases& phases, const std::vector<uint8_t>& taken_in);

}  // namespace ricci::cuda
#endif
