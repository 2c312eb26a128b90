// GemmTile, PlaneTile and the functions of factor_tile.h for sse2; CMakeLists.txt has this file's instruction set.
#include "cpu/tiles/factor_kernel.h"
#include "cpu/tiles/gemm_kernel.h"
#include "cpu/tiles/lu_kernel.h"
#include "cpu/tiles/plane_kernel.h"
#include "cpu/tiles/solve_kernel.h"

namespace ricci::cpu {

void GemmTileSse2(const GemmTile& tile, const GemmScratch& scratch) { GemmKernel<16>::Run(tile, scratch); }
void PlaneTileSse2(const PlaneTile& tile, const PlaneScratch& scratch) { PlaneKernel<16>::Run(tile, scratch); }
bool FactorRowsSse2(const FactorRows& f) { return FactorKernel<16>::Run(f); }
void SolveBlockSse2(const SolveBlock& s) { SolveKernel<16>::Run(s); }
void LuPanelSse2(const LuPanel& p) { LuKernel<16>::Run(p); }

}  // namespace ricci::cpu
