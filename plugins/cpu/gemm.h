// Matrix products by packed tiles: a library lowering of dot_general.
#ifndef RICCI_CPU_GEMM_H_
#define RICCI_CPU_GEMM_H_
#include "ricci/primitive.h"

namespace ricci::cpu {

// Registers it with the row `dot_general`, which must exist.
ricci_status* AddGemm(ricci_ctx* ctx);

}  // namespace ricci::cpu
#endif
