// Fourier transforms by lines that fill vectors: a library lowering of fft.
#ifndef RICCI_CPU_FOURIER_LIBRARY_H_
#define RICCI_CPU_FOURIER_LIBRARY_H_
#include "ricci/primitive.h"

namespace ricci::cpu {

// Registers it with the row `fft`, which must exist.
ricci_status* AddFourier(ricci_ctx* ctx);

}  // namespace ricci::cpu
#endif
