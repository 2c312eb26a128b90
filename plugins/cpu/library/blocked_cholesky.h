// Cholesky factors of large matrices by blocks: a library lowering of cholesky.
#ifndef RICCI_CPU_BLOCKED_CHOLESKY_H_
#define RICCI_CPU_BLOCKED_CHOLESKY_H_
#include "ricci/primitive.h"

namespace ricci::cpu {

// Each registers one with the row `cholesky`, which must exist: of real and of complex matrices.
ricci_status* AddCholesky(ricci_ctx* ctx);
ricci_status* AddComplexCholesky(ricci_ctx* ctx);

}  // namespace ricci::cpu
#endif
