// Matrix products by packed tiles: a library lowering of dot_general.
#ifndef RICCI_CPU_GEMM_H_
#define RICCI_CPU_GEMM_H_
#include "ricci/primitive.h"

namespace ricci::cpu {

// Registers it with the row `dot_general`, which must exist.
ricci_status* AddGemm(ricci_ctx* ctx);

struct Product;
// False: the generated kernel is as good as tiles, or they have no such types.
bool PlanGemm(const ricci_op* op, Product& p);

}  // namespace ricci::cpu
#endif
