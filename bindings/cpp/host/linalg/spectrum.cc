// Eigenvalues and singular values, and what follows from them: pseudo-inverses, ranks and norms of matrices.
#include <cmath>

#include "host/core/numpy_steps.h"
#include "ricci/custom_derivative.hpp"
#include "ricci/linalg.hpp"
#include "ricci/products.hpp"

namespace ricci { inline namespace v0 { namespace linalg {
namespace {

Value UseMatrices(std::string_view name, const Operand& a) {
  const Value v = UseInexact(name, a);
  if (v.rank() >= 2) return v;
  FailAt(a.at, name, ": operand is ", v.type(), "; its last two dimensions must be those of a matrix");
}
Value UseSquare(std::string_view name, const Operand& a) {
  const Value v = UseInexact(name, a);
  if (v.rank() >= 2 && v.dim(v.rank() - 1) == v.dim(v.rank() - 2)) return v;
  FailAt(a.at, name, ": operand is ", v.type(), "; its last two dimensions must be those of a square matrix");
}
Value Transposed(const Value& a) { return swapaxes(a, -1, -2); }
Value Adjoint(const Value& a) { return IsComplex(a.dtype()) ? lax::conj(Transposed(a)) : Transposed(a); }
Value Symmetrized(const Value& a) { return lax::mul(lax::add(a, Adjoint(a)), 0.5); }
DType PartDType(const Value& a) { return IsComplex(a.dtype()) ? PartOf(a.dtype()) : a.dtype(); }
double Larger(const Value& a) { return static_cast<double>(std::max(a.dim(a.rank() - 1), a.dim(a.rank() - 2))); }

}  // namespace

EighResult eigh(const Operand& a) {
  const lax::linalg::Eigh out = lax::linalg::eigh(Symmetrized(UseSquare("eigh", a)));
  return {out.w, out.v};
}
Value eigvalsh(const Operand& a) { return lax::linalg::eigh(Symmetrized(UseSquare("eigvalsh", a))).w; }
EigResult eig(const Operand& a) {
  const Values out = lax::linalg::eig(UseSquare("eig", a), {.compute_left_eigenvectors = false});
  return {out[0], out[1]};
}
Value eigvals(const Operand& a) {
  return lax::linalg::eig(UseSquare("eigvals", a),
                          {.compute_left_eigenvectors = false, .compute_right_eigenvectors = false})[0];
}

SvdResult svd(const Operand& a, bool full_matrices) {
  const lax::linalg::Svd out = lax::linalg::svd(UseMatrices("svd", a), {.full_matrices = full_matrices});
  return {out.u, out.s, out.vt};
}
Value svdvals(const Operand& a) { return lax::linalg::svdvals(UseMatrices("svdvals", a)); }

namespace {

Value FromSvd(const Value& a, double rtol) {
  const lax::linalg::Svd f = lax::linalg::svd(a, {.full_matrices = false});
  const int64_t last = f.s.rank() - 1;
  const Value largest = lax::slice_in_dim(f.s, 0, 1, last),
              cutoff = BroadcastValue(lax::mul(largest, rtol), f.s.shape());
  const Value inverse = lax::select(lax::gt(f.s, cutoff), lax::div(1.0, f.s), lax::zeros_like(f.s));
  const Value v = Adjoint(f.vt);
  Shape row = ShapeOfValue(inverse);
  row.insert(row.end() - 1, 1);
  const Value across = BroadcastValue(lax::reshape(inverse, row), v.shape());
  return matmul(lax::mul(v, lax::convert_element_type(across, v.dtype())), Adjoint(f.u));
}
// With the derivative of Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
// problems whose variables separate", 1973, which holds where the rank does not change.
Value PseudoInverse(const Value& a, double rtol) {
  const auto tangent = [rtol](const auto& in, const auto& t) {
    const Value &x = std::get<0>(in), &dx = std::get<0>(t), p = PseudoInverse(x, rtol);
    const Value h = Adjoint(p), dh = Adjoint(dx);
    if (x.dim(x.rank() - 2) >= x.dim(x.rank() - 1)) {
      const Value s = matmul(matmul(p, h), dh), u = matmul(matmul(dh, h), p);
      return std::pair(p, s - matmul(matmul(p, dx), p) - matmul(matmul(s, x), p) + u - matmul(matmul(p, x), u));
    }
    const Value s = matmul(p, matmul(h, dh)), u = matmul(dh, matmul(h, p));
    return std::pair(p, s - matmul(p, matmul(dx, p)) - matmul(s, matmul(x, p)) + u - matmul(p, matmul(x, u)));
  };
  return custom_jvp([rtol](const Value& x) { return FromSvd(x, rtol); }, tangent).Emit(a);
}

}  // namespace

Value pinv(const Operand& a, std::optional<double> rtol) {
  const Value m = UseMatrices("pinv", a);
  if (m.type().elements() == 0) return lax::zeros_like(Transposed(m));
  return PseudoInverse(m, rtol.value_or(10 * Larger(m) * InfoOf(PartDType(m)).epsilon));
}

Value matrix_rank(const Operand& a, std::optional<double> tol) {
  const Value m = UseInexact("matrix_rank", a);
  if (m.rank() < 2) return lax::convert_element_type(any(Operand(lax::ne(m, lax::zeros_like(m)), a.at)), DType::kI32);
  const Value s = lax::linalg::svdvals(m);
  const int64_t last[] = {s.rank() - 1};
  if (s.dim(last[0]) == 0) return lax::reduce_sum(lax::convert_element_type(s, DType::kI32), last);
  const Value largest = lax::slice_in_dim(s, 0, 1, last[0]);
  const Value least = tol ? lax::full_like(largest, *tol) : lax::mul(largest, Larger(m) * InfoOf(PartDType(m)).epsilon);
  return lax::reduce_sum(lax::convert_element_type(lax::gt(s, BroadcastValue(least, s.shape())), DType::kI32), last);
}

namespace {

Value SumOfSingularValues(const Value& m) {
  const Value s = lax::linalg::svdvals(m);
  return lax::reduce_sum(s, Shape{s.rank() - 1});
}
// The largest, or the smallest, of a list that may be empty only for the largest.
Value Extremum(const Value& x, bool largest) {
  const Shape last = {x.rank() - 1};
  if (!largest) return lax::reduce_min(x, last);
  const Value m = lax::reduce_max(x, last);
  return lax::max(m, lax::zeros_like(m));
}

}  // namespace

Value matrix_norm(const Operand& x, std::string_view ord) {
  const Value m = UseMatrices("matrix_norm", x);
  if (ord == "nuc") return SumOfSingularValues(m);
  if (ord != "fro") FailAt(x.at, "matrix_norm: order is `", ord, "`; it must be fro, nuc or a number");
  const Value magnitudes = lax::abs(m);
  return lax::sqrt(lax::reduce_sum(lax::mul(magnitudes, magnitudes), Shape{m.rank() - 2, m.rank() - 1}));
}
Value matrix_norm(const Operand& x, double ord) {
  const Value m = UseMatrices("matrix_norm", x);
  const bool largest = ord > 0;
  if (std::abs(ord) == 2) return Extremum(lax::linalg::svdvals(m), largest);
  if (std::abs(ord) == 1) return Extremum(lax::reduce_sum(lax::abs(m), Shape{m.rank() - 2}), largest);
  if (std::isinf(ord)) return Extremum(lax::reduce_sum(lax::abs(m), Shape{m.rank() - 1}), largest);
  FailAt(x.at, "matrix_norm: order is ", ord, "; it must be 1, -1, 2, -2, inf, -inf, fro or nuc");
}

}}}  // namespace ricci::v0::linalg
