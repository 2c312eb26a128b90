// What a row says of the factors of an operation (ricci/primitive.h has the grammar), read into numbers.
//
// The one reader of that text: passes ask what may be split, the laws hold every word of it against what is computed.
#ifndef RICCI_PRIM_FACTOR_TEXT_H_
#define RICCI_PRIM_FACTOR_TEXT_H_
#include <span>

#include "absl/status/statusor.h"
#include "ir/factors.h"
#include "prim/registry.h"

namespace ricci::inline v0::prim {

// Does the row say anything of any operation?
inline bool SaysFactors(const Row& row) { return row.def.factors_of != nullptr || !row.factors.empty(); }
// What the row of `op` says of it, NULL if nothing. The error is one of the row's callback; a text that fits neither
// the grammar nor the operation is told in Factors::wrong.
absl::StatusOr<ir::FactorsRef> FactorsOf(Registry& registry, const ricci_op& op);

using Shapes = std::span<const std::span<const int64_t>>;
// FAILED_PRECONDITION says what is wrong with the text for operands and results of these shapes.
absl::StatusOr<ir::Factors> ReadFactors(std::string_view text, Shapes in, Shapes out);

}  // namespace ricci::inline v0::prim
#endif
