// LU factors of large matrices by blocks: a library lowering of lu.
#ifndef RICCI_CPU_BLOCKED_LU_H_
#define RICCI_CPU_BLOCKED_LU_H_
#include "ricci/primitive.h"

namespace ricci::cpu {

// Registers it with the row `lu`, which must be there.
ricci_status* AddLu(ricci_ctx* ctx);

}  // namespace ricci::cpu
#endif
