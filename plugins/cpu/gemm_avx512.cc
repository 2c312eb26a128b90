// GemmTile and FactorRows for avx512; CMakeLists.txt has this file's instruction set.
#include "factor_kernel.h"
#include "gemm_kernel.h"

namespace ricci::cpu {

void GemmTileAvx512(const GemmTile& tile, const GemmScratch& scratch) { GemmKernel<64>::Run(tile, scratch); }
bool FactorRowsAvx512(const FactorRows& f) { return FactorKernel<64>::Run(f); }

}  // namespace ricci::cpu
