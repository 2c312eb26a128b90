// Scalar semantics of every RICCI_S_* operation on every element type, on bits: the definition that backends must
// match.
//
// The interpreter and constant folding call the same functions, so a folded value is what the oracle gives.
// Elements are kept as their bits, zero-extended to 64. Floats are computed in double and rounded once to their dtype.
#ifndef RICCI_KERNEL_SCALAR_EVAL_H_
#define RICCI_KERNEL_SCALAR_EVAL_H_
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"
#include "ricci/kernel.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace kernel {

// Operands that the operation does not have are ignored.
using ScalarFn = uint64_t (*)(uint64_t a, uint64_t b, uint64_t c);

struct ScalarOpInfo {
  std::string_view name;
  uint32_t arity;  // 0: no such operation
};
// A function that backends approximate, each in its own way; all others have the same bits wherever they are computed.
bool IsApproximated(uint32_t op);
// Of RICCI_S_*; arity 0 for anything else.
const ScalarOpInfo& InfoOf(uint32_t op);

// The dtype of the result. INVALID_ARGUMENT if the operation does not take such operands. `requested` as in
// ricci_kernel_scalar.
absl::StatusOr<uint32_t> ResultDType(uint32_t op, uint32_t requested, std::span<const uint32_t> operands);

// The function of `op`; `operand` is the dtype of its last operand, `result` matters for CONVERT only. NULL if there is
// none: ResultDType gives the reason.
ScalarFn FindScalarFn(uint32_t op, uint32_t operand, uint32_t result);

// Signed or unsigned integer, bool as 0 and 1, as its numerical value (u64 above 2^63 wraps); and back, truncating.
int64_t DecodeInteger(uint32_t dtype, uint64_t bits);
uint64_t EncodeInteger(uint32_t dtype, int64_t v);

// The combination of no elements. `op`: ADD MUL MAX MIN AND OR XOR.
uint64_t IdentityOf(uint32_t op, uint32_t dtype);
bool IsCombiner(uint32_t op);
bool IsUpdater(uint32_t op);  // of COMBINE

}}}  // namespace ricci::v0::kernel
#endif
