// GemmTile, PlaneTile and the functions of factor_tile.h for avx2; CMakeLists.txt has this file's instruction set.
#include "cpu/tiles/factor_kernel.h"
#include "cpu/tiles/gemm_kernel.h"
#include "cpu/tiles/lu_kernel.h"
#include "cpu/tiles/plane_kernel.h"
#include "cpu/tiles/solve_kernel.h"

namespace ricci::cpu {

void GemmTileAvx2(const GemmTile& tile, const GemmScratch& scratch) { GemmKernel<32>::Run(tile, scratch); }
void PlaneTileAvx2(const PlaneTile& tile, const PlaneScratch& scratch) { PlaneKernel<32>::Run(tile, scratch); }
bool FactorRowsAvx2(const FactorRows& f) { return FactorKernel<32>::Run(f); }
void SolveBlockAvx2(const SolveBlock& s) { SolveKernel<32>::Run(s); }
void LuPanelAvx2(const LuPanel& p) { LuKernel<32>::Run(p); }

}  // namespace ricci::cpu
