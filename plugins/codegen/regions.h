// Kernels too large for one function: a code generator's time grows faster than the length of a function, so they are
// cut into regions, each a function of its own. Values that one region computes and another reads are kept in a frame
// in memory. Parts that do the same work on other values share a function too.
#ifndef RICCI_CODEGEN_REGIONS_H_
#define RICCI_CODEGEN_REGIONS_H_
#include "codegen/alike.h"

namespace ricci::codegen {

// Instructions [first, last): adjacent whole instructions and blocks of one block.
struct Region {
  uint32_t first, last;
};

inline constexpr int64_t kRegionCode = 4096;  // instructions of the code of one region
inline constexpr int64_t kSharedCode = 128;   // and of one that equal parts of the kernel share, at least

struct Regions {
  std::vector<Region> functions;  // in order; none if the kernel is no longer than one region
  std::vector<Part> calls;        // parts that are calls of functions that they share, within those or between them
};

// Instructions between regions (the heads of large loops and branches, a few instructions next to them) stays in the
// function that calls them.
Regions CutRegions(const ricci_kernel_table& k, const Blocks& blocks, const PartBounds& bounds);

// For each value the last instruction that may read it; if that is in a loop in which the value was not computed, the
// end of that loop.
std::vector<uint32_t> LastReads(const ricci_kernel_table& k, const Blocks& blocks);

}  // namespace ricci::codegen
#endif
