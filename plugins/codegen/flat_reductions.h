// Flat reductions: a kernel whose nests of reductions are written as the loops that threads can share.
//
// A nest whose elements follow each other in memory becomes one loop over all of them. Where they do not, but rows of
// them do that are long enough for many threads, it becomes a loop over rows and one along the row. What is left (short
// rows, elements far from each other) becomes one loop too, which finds its indices by division. Positions in memory
// are sums of what a trip adds to the position of the first one, so a loop over a whole array needs no other index.
//
// Sums get other bits by that, as by any other order of their terms, so this is for backends whose bits depend on how
// threads share them anyway. Those whose threads have vectors of their own, and gain nothing, leave nests as they are.
#ifndef RICCI_CODEGEN_FLAT_REDUCTIONS_H_
#define RICCI_CODEGEN_FLAT_REDUCTIONS_H_
#include <string>
#include <vector>

#include "codegen/reduction_nests.h"

namespace ricci::codegen {

// Numbers of the device, in elements.
struct FlatLimits {
  int64_t least_trips;   // of a loop that threads share
  int64_t least_row;     // that is worth a loop of its own
  int64_t rows_at_once;  // of a part
  int64_t least_part;    // of a reduction that is cut into parts
  int64_t most_parts;    // of all points together
};

class FlatReductions {
 public:
  FlatReductions(const ricci_kernel_table& k, const FlatLimits& limits);
  FlatReductions(const FlatReductions&) = delete;  // the table is of its memory

  bool IsChanged() const { return !reasons_.empty(); }
  const ricci_kernel_table& table() const { return table_; }
  // What was done and why, for people.
  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  class Writer;
  ricci_kernel_table table_;
  std::vector<ricci_inst> insts_;
  std::vector<uint64_t> locations_;
  std::vector<std::string> reasons_;
};

}  // namespace ricci::codegen
#endif
