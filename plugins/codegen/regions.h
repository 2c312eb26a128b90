// Kernels too large for one function: a code generator's time grows faster than the length of a function, so they are
// cut into regions, each a function of its own. What one region computes and another reads lies in a frame in memory.
#ifndef RICCI_CODEGEN_REGIONS_H_
#define RICCI_CODEGEN_REGIONS_H_
#include "codegen/analysis.h"

namespace ricci::codegen {

// Instructions [first, last): adjacent whole instructions and blocks of one block.
struct Region {
  uint32_t first, last;
};

inline constexpr int64_t kRegionCode = 4096;  // instructions of the code of one region

// The regions in order; none if the kernel is no longer than one region. What lies between regions (the heads of large
// loops and branches, a few instructions next to them) stays in the function that calls them.
std::vector<Region> CutRegions(const ricci_kernel_table& k, const Blocks& blocks, int64_t most);

// For each value the last instruction that may read it; if that is in a loop in which the value was not computed, the
// end of that loop.
std::vector<uint32_t> LastReads(const ricci_kernel_table& k, const Blocks& blocks);

}  // namespace ricci::codegen
#endif
