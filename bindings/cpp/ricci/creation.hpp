// ricci/creation.hpp: arrays made from nothing, diagonals and triangles of jax.numpy.
//
// What makes an array from nothing takes a Context or Value first: that is where the array goes.
#ifndef RICCI_CREATION_HPP_
#define RICCI_CREATION_HPP_
#include "ricci/shaping.hpp"

namespace ricci { inline namespace v0 {

Value empty(const Operand& in, const Shape& shape, DType dtype = kDefaultFloat);
Value empty_like(const Operand& x);
Value identity(const Operand& in, int64_t n, DType dtype = kDefaultFloat);
// base^start to base^stop, at equal distances of the exponents.
Value logspace(const Operand& in, double start, double stop, int64_t n = 50, bool endpoint = true, double base = 10,
               DType dtype = kDefaultFloat);
// start to stop, each the same multiple of the one before.
Value geomspace(const Operand& in, double start, double stop, int64_t n = 50, bool endpoint = true,
                DType dtype = kDefaultFloat);
// 1 on and below diagonal k of n x m.
Value tri(const Operand& in, int64_t n, std::optional<int64_t> m = {}, int64_t k = 0, DType dtype = kDefaultFloat);
// The index along each dimension of an array of that shape, stacked.
Value indices(const Operand& in, const Shape& dimensions, DType dtype = kDefaultInt);
// Powers of the elements of a vector as columns, the highest first.
Value vander(const Operand& x, std::optional<int64_t> n = {}, bool increasing = false);

// ---- windows of m points ----
Value bartlett(const Operand& in, int64_t m);
Value blackman(const Operand& in, int64_t m);
Value hamming(const Operand& in, int64_t m);
Value hanning(const Operand& in, int64_t m);
// By the Bessel function i0, narrower with greater beta.
Value kaiser(const Operand& in, int64_t m, double beta);

// ---- diagonals and triangles ----
// Diagonal k of a matrix, or the matrix that has a vector there.
Value diag(const Operand& x, int64_t k = 0);
// The matrix with the flattened x on diagonal k.
Value diagflat(const Operand& x, int64_t k = 0);
// The elements with index + offset = index along these two axes, as a new last dimension.
Value diagonal(const Operand& x, int64_t offset = 0, AxisNumber axis1 = 0, AxisNumber axis2 = 1);
Value trace(const Operand& x, int64_t offset = 0, AxisNumber axis1 = 0, AxisNumber axis2 = 1);
// A copy whose diagonal holds `value`, again and again if it has fewer elements.
Value fill_diagonal(const Operand& x, const Operand& value);
// i32 indices, row and column, of what tril and triu keep of an n x m matrix, and of the diagonal.
std::pair<Value, Value> tril_indices(const Operand& in, int64_t n, int64_t k = 0, std::optional<int64_t> m = {});
std::pair<Value, Value> triu_indices(const Operand& in, int64_t n, int64_t k = 0, std::optional<int64_t> m = {});
std::pair<Value, Value> tril_indices_from(const Operand& x, int64_t k = 0);
std::pair<Value, Value> triu_indices_from(const Operand& x, int64_t k = 0);
Values diag_indices(const Operand& in, int64_t n, int64_t ndim = 2);
Values diag_indices_from(const Operand& x);

// ---- indices of a flattened array ----
// One index per dimension of `shape`, clamped to it.
Values unravel_index(const Operand& i, const Shape& shape);
// The index in an array of `shape`, flattened. `mode` says what becomes of indices outside: clip or wrap.
Value ravel_multi_index(const Values& indices, const Shape& shape, std::string_view mode = "clip",
                        Location at = Location::Here());

}}  // namespace ricci::v0
#endif
