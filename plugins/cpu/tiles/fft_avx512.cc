// FftLines for avx512; CMakeLists.txt has this file's instruction set.
#include "cpu/tiles/fft_kernel.h"

namespace ricci::cpu {

void FftLinesAvx512(const FftLines& f) { f.f64 ? FftKernel<64, double>::Run(f) : FftKernel<64, float>::Run(f); }

}  // namespace ricci::cpu
