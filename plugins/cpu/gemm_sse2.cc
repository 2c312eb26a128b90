// GemmTile and FactorRows for sse2; CMakeLists.txt has this file's instruction set.
#include "factor_kernel.h"
#include "gemm_kernel.h"

namespace ricci::cpu {

void GemmTileSse2(const GemmTile& tile, const GemmScratch& scratch) { GemmKernel<16>::Run(tile, scratch); }
bool FactorRowsSse2(const FactorRows& f) { return FactorKernel<16>::Run(f); }

}  // namespace ricci::cpu
