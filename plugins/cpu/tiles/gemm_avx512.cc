// GemmTile, PlaneTile and the functions of factor_tile.h for avx512; CMakeLists.txt has this file's instruction set.
#include "cpu/tiles/factor_kernel.h"
#include "cpu/tiles/gemm_kernel.h"
#include "cpu/tiles/lu_kernel.h"
#include "cpu/tiles/plane_kernel.h"
#include "cpu/tiles/solve_kernel.h"

namespace ricci::cpu {

void GemmTileAvx512(const GemmTile& tile, const GemmScratch& scratch) { GemmKernel<64>::Run(tile, scratch); }
void PlaneTileAvx512(const PlaneTile& tile, const PlaneScratch& scratch) { PlaneKernel<64>::Run(tile, scratch); }
bool FactorRowsAvx512(const FactorRows& f) { return FactorKernel<64>::Run(f); }
void SolveBlockAvx512(const SolveBlock& s) { SolveKernel<64>::Run(s); }
void LuPanelAvx512(const LuPanel& p) { LuKernel<64>::Run(p); }

}  // namespace ricci::cpu
