// Norms of vectors and matrices along any axes, and condition numbers.
#include <cmath>
#include <limits>

#include "host/core/plain_math.h"
#include "ricci/linalg.hpp"
#include "ricci/reductions.hpp"

namespace ricci { inline namespace v0 { namespace linalg {

using namespace plain;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// |x|^2, real.
Value Squares(const Value& x) {
  if (!IsComplex(x.dtype())) return x * x;
  return lax::square(lax::real(x)) + lax::square(lax::imag(x));
}
Value Kept(const Value& reduced, const Shape& list, bool keepdims) {
  return keepdims ? lax::expand_dims(reduced, list) : reduced;
}
Value Euclidean(const Value& x, const Shape& list) { return lax::sqrt(lax::reduce_sum(Squares(x), list)); }
Value PowerNorm(const Value& magnitudes, const Shape& list, double ord) {
  const Value powers = lax::pow(magnitudes, Num(magnitudes, ord)), total = lax::reduce_sum(powers, list);
  return lax::pow(total, Num(total, 1 / ord));
}
Value VectorNorm(const Value& x, const Shape& list, double ord) {
  if (ord == 2) return Euclidean(x, list);
  const Value magnitudes = lax::abs(x);
  if (ord == kInf) {
    const Value largest = lax::reduce_max(magnitudes, list);
    return Max(largest, lax::zeros_like(largest));
  }
  if (ord == -kInf) return lax::reduce_min(magnitudes, list);
  if (ord == 0) return lax::reduce_sum(To(magnitudes != 0, magnitudes.dtype()), list);
  if (ord == 1) return lax::reduce_sum(magnitudes, list);
  return PowerNorm(magnitudes, list, ord);
}
// Rows and columns as the last two dimensions.
Value MatricesAlong(const Value& x, const Shape& list) {
  Shape order;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d != list[0] && d != list[1]) order.push_back(d);
  }
  order.insert(order.end(), list.begin(), list.end());
  return lax::transpose(x, order);
}
Value MatrixNorm(const Operand& x, const Value& v, const Shape& list, const NormOrder& ord) {
  const Operand matrices(MatricesAlong(v, list), x.at);
  return ord.number ? matrix_norm(matrices, *ord.number) : matrix_norm(matrices, ord.name);
}
Value OrderedNorm(const Operand& x, const Value& v, const Shape& list, const NormOrder& ord) {
  if (list.size() == 2) return MatrixNorm(x, v, list, ord);
  if (list.size() != 1) {
    FailAt(x.at, "norm: ", list.size(), " axes of ", v.type(),
           " with an order; give one axis for vectors, two for "
           "matrices");
  }
  if (!ord.number) FailAt(x.at, "norm: order is `", ord.name, "`; that of a vector is a number");
  return VectorNorm(v, list, *ord.number);
}

}  // namespace

Value vector_norm(const Operand& x, const Axes& axes, bool keepdims, double ord) {
  const Value v = UseInexact("vector_norm", x);
  const Shape list = axes.Of("vector_norm", x.at, v.rank());
  return Kept(VectorNorm(v, list, ord), list, keepdims);
}
Value norm(const Operand& x, const NormOrder& ord, const Axes& axes, bool keepdims) {
  const Value v = UseInexact("norm", x);
  const Shape list = axes.Of("norm", x.at, v.rank());
  const bool ordered = ord.number || !ord.name.empty();
  return Kept(ordered ? OrderedNorm(x, v, list, ord) : Euclidean(v, list), list, keepdims);
}

namespace {

Value UseFilledMatrices(const Operand& x) {
  const Value v = UseInexact("cond", x);
  if (v.rank() >= 2 && v.dim(v.rank() - 1) > 0 && v.dim(v.rank() - 2) > 0) return v;
  FailAt(x.at, "cond: operand is ", v.type(), "; its last two dimensions must be those of a matrix with elements");
}
// Infinity where the ratio is NaN but the matrix is not.
Value InfiniteIfSingular(const Value& ratio, const Value& m) {
  const Value has_nan = lax::reduce_or(IsNaN(m), Shape{m.rank() - 2, m.rank() - 1});
  return Where(IsNaN(ratio) & ~has_nan, kInf, ratio);
}
template <typename Order>
Value NormTimesInverse(const Operand& x, const Value& m, const Order& p) {
  const Operand at(m, x.at);
  return InfiniteIfSingular(matrix_norm(at, p) * matrix_norm(Operand(inv(at), x.at), p), m);
}

}  // namespace

Value cond(const Operand& x, double p) {
  const Value m = UseFilledMatrices(x);
  if (std::abs(p) != 2) return NormTimesInverse(x, m, p);
  const Value s = lax::linalg::svdvals(m);
  const int64_t last = s.rank() - 1, n = s.dim(last);
  const Value largest = lax::squeeze(Cut(s, 0, 1, last), {&last, 1});
  const Value smallest = lax::squeeze(Cut(s, n - 1, n, last), {&last, 1});
  return p > 0 ? largest / smallest : InfiniteIfSingular(smallest / largest, m);
}
Value cond(const Operand& x, std::string_view p) { return NormTimesInverse(x, UseFilledMatrices(x), p); }

}}}  // namespace ricci::v0::linalg
