// Solutions of large triangular systems by blocks: a library lowering of triangular_solve.
#ifndef RICCI_CPU_BLOCKED_TRIANGULAR_SOLVE_H_
#define RICCI_CPU_BLOCKED_TRIANGULAR_SOLVE_H_
#include "ricci/primitive.h"

namespace ricci::cpu {

// Registers it with the row `triangular_solve`, which must be there.
ricci_status* AddTriangularSolve(ricci_ctx* ctx);

}  // namespace ricci::cpu
#endif
