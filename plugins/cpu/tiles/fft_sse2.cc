// FftLines for sse2; CMakeLists.txt has this file's instruction set.
#include "cpu/tiles/fft_kernel.h"

namespace ricci::cpu {

void FftLinesSse2(const FftLines& f) { f.f64 ? FftKernel<16, double>::Run(f) : FftKernel<16, float>::Run(f); }

}  // namespace ricci::cpu
