// GemmTile for processors with vdpbf16ps, which multiplies and adds pairs of bf16; CMakeLists.txt has this file's
// instruction set.
#include <immintrin.h>

#include "cpu/tiles/gemm_kernel.h"

namespace ricci::cpu {
namespace {

struct PairSteps {
  using Floats = VectorKernel<64, PairSteps>::Vector<float>;
  using Pairs = VectorKernel<64, PairSteps>::Vector<Pair>;
  static Floats Add(Floats sum, Pairs left, Pairs right) {
    return _mm512_dpbf16_ps(sum, (__m512bh)left, (__m512bh)right);  // NOLINT: the same bits
  }
};

}  // namespace

void GemmTileAvx512Bf16(const GemmTile& tile, const GemmScratch& scratch) {
  if (!GemmKernel<64, PairSteps>::RunPairs(tile, scratch)) GemmTileAvx512(tile, scratch);
}

}  // namespace ricci::cpu
