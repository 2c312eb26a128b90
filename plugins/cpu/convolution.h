// Convolutions by packed tiles: a library lowering of conv_general_dilated.
#ifndef RICCI_CPU_CONVOLUTION_H_
#define RICCI_CPU_CONVOLUTION_H_
#include "ricci/primitive.h"

namespace ricci::cpu {

// Registers it with the row `conv_general_dilated`, which must exist.
ricci_status* AddConvolution(ricci_ctx* ctx);

}  // namespace ricci::cpu
#endif
