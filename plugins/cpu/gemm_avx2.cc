// GemmTile and FactorRows for avx2; CMakeLists.txt has this file's instruction set.
#include "factor_kernel.h"
#include "gemm_kernel.h"

namespace ricci::cpu {

void GemmTileAvx2(const GemmTile& tile, const GemmScratch& scratch) { GemmKernel<32>::Run(tile, scratch); }
bool FactorRowsAvx2(const FactorRows& f) { return FactorKernel<32>::Run(f); }

}  // namespace ricci::cpu
