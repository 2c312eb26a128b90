// Convolutions by planes: a library lowering of conv_general_dilated for few features.
#ifndef RICCI_CPU_PLANE_CONVOLUTION_H_
#define RICCI_CPU_PLANE_CONVOLUTION_H_
#include "ricci/primitive.h"

namespace ricci::cpu {

// Registers it with the row `conv_general_dilated`, which must exist.
ricci_status* AddPlaneConvolution(ricci_ctx* ctx);

}  // namespace ricci::cpu
#endif
