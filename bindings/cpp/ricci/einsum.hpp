// ricci/einsum.hpp: sums of products in Einstein's notation, as numpy.einsum and jax.numpy.einsum.
#ifndef RICCI_EINSUM_HPP_
#define RICCI_EINSUM_HPP_
#include "ricci/operand.hpp"

namespace ricci { inline namespace v0 {

// The text of an einsum and the location of its caller.
struct Subscripts {
  Subscripts(std::string_view text, Location at = Location::Here()) : text(text), at(at) {}  // NOLINT
  Subscripts(const char* text, Location at = Location::Here()) : text(text), at(at) {}       // NOLINT
  std::string_view text;
  Location at;
};
Value EinsumOf(const Subscripts& s, std::span<const Operand> xs);

// einsum("bij,bjk->bik", x, y): one list of letters per operand, a letter per dimension. Dimensions of one letter run
// together (one of size 1 is repeated), a letter twice in one operand takes the diagonal, and letters that the result
// does not name are summed over. Without `->` the result has the letters that occur once, in alphabetical order.
// `...` stands for any dimensions, which broadcast and, without `->`, come first. Up to 8 operands are multiplied in
// the order with the fewest multiplications; of more, the cheapest pair comes first. Operands are promoted to one
// dtype, that of the result. Errors: INVALID_ARGUMENT with the location of the caller.
template <typename... X>
Value einsum(Subscripts s, const X&... xs) {
  static_assert(sizeof...(X) > 0, "einsum needs at least one operand");
  const Operand operands[] = {Operand(xs, s.at)...};
  return EinsumOf(s, operands);
}

}}  // namespace ricci::v0
#endif
