// ricci/products.hpp: dot, matmul and similar products, with the batching rules of jax.numpy.
#ifndef RICCI_PRODUCTS_HPP_
#define RICCI_PRODUCTS_HPP_
#include "ricci/shaping.hpp"

namespace ricci { inline namespace v0 {

// Sums over the last dimension of a and the second last (or only) one of b.
Value dot(const Operand& a, const Operand& b);
// Matrix product; dimensions before the last two are a batch, which broadcasts. A vector is a row on the left, a column
// on the right.
Value matmul(const Operand& a, const Operand& b);
Value inner(const Operand& a, const Operand& b);
Value outer(const Operand& a, const Operand& b);
// Sums over these dimensions of a and b, in pairs.
Value tensordot(const Operand& a, const Operand& b, const Shape& axes_a, const Shape& axes_b);

}}  // namespace ricci::v0
#endif
