// What a row says about the factors of an operation, read into numbers (ricci/primitive.h has the grammar).
//
// The one reader of that text: passes ask what may be split, and the laws compare every word of it with what is
// computed.
#ifndef RICCI_PRIM_FACTOR_TEXT_H_
#define RICCI_PRIM_FACTOR_TEXT_H_
#include <span>

#include "absl/status/statusor.h"
#include "ir/factors.h"
#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace prim {

// Does the row say anything about any operation?
inline bool SaysFactors(const Row& row) { return row.def.factors_of != nullptr || !row.factors.empty(); }
// What the row of `op` says about it, NULL if nothing. An error is one of the row's callback; a text that does not fit
// the grammar or the operation is reported in Factors::wrong.
absl::StatusOr<ir::FactorsRef> FactorsOf(Registry& registry, const ricci_op& op);

using Shapes = std::span<const std::span<const int64_t>>;
// FAILED_PRECONDITION says what is wrong with the text for operands and results of these shapes.
absl::StatusOr<ir::Factors> ReadFactors(std::string_view text, Shapes in, Shapes out);

}}}  // namespace ricci::v0::prim
#endif
