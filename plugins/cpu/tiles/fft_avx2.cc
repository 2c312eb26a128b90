// FftLines for avx2; CMakeLists.txt has this file's instruction set.
#include "cpu/tiles/fft_kernel.h"

namespace ricci::cpu {

void FftLinesAvx2(const FftLines& f) { f.f64 ? FftKernel<32, double>::Run(f) : FftKernel<32, float>::Run(f); }

}  // namespace ricci::cpu
