// Factorisations of large matrices as products of their halves, for code that cannot call a library.
#ifndef RICCI_OBJECT_BLOCKED_FACTORS_H_
#define RICCI_OBJECT_BLOCKED_FACTORS_H_
#include "ricci/ricci.h"

namespace ricci::object {

// Gives `cholesky` and `triangular_solve` of real matrices above kBlock rows decompositions for the target `cpu`; call
// from attach. What is smaller stays generated loops.
ricci_status* AddBlockedFactors(ricci_ctx* ctx);
inline constexpr int64_t kBlock = 32;

}  // namespace ricci::object
#endif
