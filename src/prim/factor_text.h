// FactorText: the factors that a row declares for an operation (ricci/primitive.h has the grammar), as numbers.
//
// The one reader of that text: passes ask what may be split, the laws hold every word of it against what is computed.
#ifndef RICCI_PRIM_FACTOR_TEXT_H_
#define RICCI_PRIM_FACTOR_TEXT_H_
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "prim/row.h"

namespace ricci::inline v0::prim {

enum class FactorKind : uint8_t {
  kParallel,
  kSum,
  kProd,
  kMax,
  kMin,
  kAnd,
  kOr,
  kXor,
  kWhole,
  kSeq,
  kWindow,
  kPlace,
  kCount
};
// As in a text; empty for kParallel.
std::string_view NameOf(FactorKind kind);
// The results of two parts are combined element by element.
inline bool IsReduced(FactorKind kind) { return kind >= FactorKind::kSum && kind <= FactorKind::kXor; }

struct FactorText {
  std::string text;
  std::vector<std::string> names;              // of the factors, in the order in which they come
  std::vector<FactorKind> kinds;               // of the factors
  std::vector<std::vector<uint32_t>> in, out;  // per operand and result: the factor of each dimension
};

// What the row says of `op`: its text, or what its callback writes; empty if it says nothing.
absl::StatusOr<std::string> FactorTextOf(const Row& row, const ricci_op& op);
// FAILED_PRECONDITION says what is wrong with the text for an operation of so many operands and results.
absl::StatusOr<FactorText> ReadFactors(std::string_view text, uint32_t n_in, uint32_t n_out);

}  // namespace ricci::inline v0::prim
#endif
