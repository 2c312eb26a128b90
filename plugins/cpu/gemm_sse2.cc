// GemmTile for sse2; CMakeLists.txt has this file's instruction set.
#include "gemm_kernel.h"

namespace ricci::cpu {

void GemmTileSse2(const GemmTile& tile, const GemmScratch& scratch) { GemmKernel<16>::Run(tile, scratch); }

}  // namespace ricci::cpu
