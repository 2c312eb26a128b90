// Kinds of operations: scalars, those that begin and end blocks, the parts of a scan, those that have an effect.
#ifndef RICCI_KERNEL_BLOCK_OPS_H_
#define RICCI_KERNEL_BLOCK_OPS_H_
#include "ricci/kernel.h"

namespace ricci { inline namespace v0 { namespace kernel {

inline bool OpensBlock(uint32_t op) {
  return op == RICCI_K_FOR || op == RICCI_K_WHILE || op == RICCI_K_IF || op == RICCI_K_REDUCE || op == RICCI_K_SCAN;
}
inline bool ClosesBlock(uint32_t op) { return op == RICCI_K_END || op == RICCI_K_YIELD; }
inline bool IsScalar(uint32_t op) { return op < RICCI_S_LIMIT; }
inline bool HasEffect(uint32_t op) {
  return op == RICCI_K_STORE || op == RICCI_K_COMBINE || op == RICCI_K_SET || op == RICCI_K_CHECK;
}
inline bool IsPartOfScan(uint32_t op) { return op >= RICCI_K_LEFT && op <= RICCI_K_PREFIX; }

}}}  // namespace ricci::v0::kernel
#endif
