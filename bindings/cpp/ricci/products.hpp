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
// The last `axes` dimensions of a with the first ones of b.
Value tensordot(const Operand& a, const Operand& b, int64_t axes = 2);
// The sum of products of the flattened operands; those of a complex a are conjugated.
Value vdot(const Operand& a, const Operand& b);
// The same along one axis.
Value vecdot(const Operand& a, const Operand& b, AxisNumber axis = -1);
// Matrices times vectors and vectors times matrices (conjugated), along the last dimensions.
Value matvec(const Operand& a, const Operand& b);
Value vecmat(const Operand& a, const Operand& b);
// Blocks a[i, j] b.
Value kron(const Operand& a, const Operand& b);
// Of vectors of 2 or 3 elements along `axis`; of two of 2 elements the third element alone.
Value cross(const Operand& a, const Operand& b, AxisNumber axis = -1);
Value cross(const Operand& a, const Operand& b, AxisNumber axisa, AxisNumber axisb, AxisNumber axisc);

}}  // namespace ricci::v0
#endif
