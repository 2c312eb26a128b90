// In which order the operands of an einsum are multiplied.
#ifndef RICCI_BINDINGS_CPP_HOST_CONTRACTION_ORDER_H_
#define RICCI_BINDINGS_CPP_HOST_CONTRACTION_ORDER_H_
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ricci { inline namespace v0 {

// The size of each letter of one operand.
using ContractionTerm = std::map<int, int64_t>;
// Pairs {a, b}, a < b, of operands to multiply one after another: the product takes the place of a, and b is removed.
// The order with the fewest multiplications for up to 8 operands; for more, each step takes the cheapest pair.
// `output`: the letters that are not summed over. A letter has one size wherever it occurs.
std::vector<std::pair<size_t, size_t>> ContractionOrder(const std::vector<ContractionTerm>& terms,
                                                        const std::vector<int>& output);

}}  // namespace ricci::v0
#endif
