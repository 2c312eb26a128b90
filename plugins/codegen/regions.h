// Kernels too large for one function: a code generator's time grows faster than a function's length, so they are cut
// into regions, each a function of its own. What one region computes and another reads lies in a frame in memory.
#ifndef RICCI_CODEGEN_REGIONS_H_
#define RICCI_CODEGEN_REGIONS_H_
#include "codegen/analysis.h"

namespace ricci::codegen {

// Instructions [first, last): whole instructions and blocks that stand beside each other in one block.
struct Region {
  uint32_t first, last;
};

inline constexpr int64_t kRegionCode = 4096;  // instructions that code is made for, of one region

// In order; none if the kernel is no longer than one. What lies between regions (the heads of large loops and branches,
// a few instructions beside them) stays in the function that calls them.
std::vector<Region> CutRegions(const ricci_kernel_table& k, const Blocks& blocks, int64_t most);

// For each value the last instruction that may read it; with a loop around that instruction, in which the value was not
// computed, the end of that loop.
std::vector<uint32_t> LastReads(const ricci_kernel_table& k, const Blocks& blocks);

}  // namespace ricci::codegen
#endif
