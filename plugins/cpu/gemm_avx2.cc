// GemmTile for avx2; CMakeLists.txt has this file's instruction set.
#include "gemm_kernel.h"

namespace ricci::cpu {

void GemmTileAvx2(const GemmTile& tile, const GemmScratch& scratch) { GemmKernel<32>::Run(tile, scratch); }

}  // namespace ricci::cpu
