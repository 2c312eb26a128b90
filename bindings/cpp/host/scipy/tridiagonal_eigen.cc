// eigh_tridiagonal of jax.scipy.linalg.
//
// Eigenvalues alone are found by bisection: those below x are as many as there are negative pivots of the matrix minus
// x (W. Barth, R. S. Martin and J. H. Wilkinson, "Calculation of the eigenvalues of a symmetric tridiagonal matrix by
// the method of bisection", Numer. Math. 9, 1967), all of them side by side, with memory for one number each. With
// vectors all are those of `eigh`, which are orthogonal however close eigenvalues are; JAX iterates from random
// vectors, and orthogonalises. The derivative is that of single eigenvalues, which JAX has not.
#include "host/linalg/matrix_steps.h"
#include "ricci/creation.hpp"
#include "ricci/custom_derivative.hpp"
#include "ricci/loops.hpp"
#include "ricci/scipy_linalg.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace linalg {

using namespace plain;

namespace {

// Which eigenvalues, in ascending order.
struct Wanted {
  int64_t first, count;
  double tol;
};

// How many eigenvalues of the matrix with the diagonal d, and e2 the squares beside it after a zero, are below each x.
Value CountBelow(const Value& d, const Value& e2, const Value& x) {
  const double least = InfoOf(x.dtype()).tiny;
  using State = std::pair<Value, Value>;  // the pivot and the count
  const auto step = [&](const State& s, const std::pair<Value, Value>& row) {
    const Value pivot = row.first - x - row.second / s.first;
    const Value safe = Where(lax::abs(pivot) < least, -least, pivot);
    return std::pair(State(safe, s.second + To(safe < 0, DType::kI32)), None{});
  };
  const Value zero = lax::convert_element_type(lax::zeros_like(x), DType::kI32);
  return scan(step, State(lax::ones_like(x), zero), std::pair(d, e2)).first.second;
}

// By a power of 2, so that the largest element is about 1 and no square overflows.
Value ScaleOf(const Value& d, const Value& e) {
  const Value most = Max(lax::reduce_max(lax::abs(d), Shape{0}), lax::reduce_max(lax::abs(e), Shape{0}));
  const Value safe = Where((most > 0) & lax::is_finite(most), most, 1);
  return lax::exp2(lax::floor(lax::log(safe) / std::numbers::ln2));
}
// For real d and e. A NaN among them makes all eigenvalues NaN.
Value Bisected(const Value& given_d, const Value& given_e, const Wanted& wanted) {
  const double rounding = InfoOf(given_d.dtype()).epsilon;
  const Value scale = ScaleOf(given_d, given_e), d = given_d / scale, e = lax::abs(given_e / scale);
  const Value zero = Cut(lax::zeros_like(d), 0, 1, 0), before = Join({zero, e}, 0),
              radius = before + Join({e, zero}, 0);
  const Value low = lax::reduce_min(d - radius, Shape{0}), high = lax::reduce_max(d + radius, Shape{0});
  const Value norm = Max(lax::abs(low), lax::abs(high));
  const Value slack = norm * (4 * rounding * static_cast<double>(d.dim(0))) + InfoOf(d.dtype()).tiny;
  const Value enough = Max(norm * (0.5 * rounding), wanted.tol / scale), squares = lax::square(before);
  const Value like = BroadcastValue(Scalar(d, 0), Shape{wanted.count});
  const Value target = Positions(like, DType::kI32, 0) + static_cast<double>(wanted.first);
  using State = std::tuple<Value, Value, Value>;  // step, lower and upper bounds
  const double steps = d.dtype() == DType::kF64 ? 56 : 27;
  const auto more = [&](const State& s) {
    const auto& [step, lower, upper] = s;
    return (step < steps) & (lax::reduce_max(upper - lower, Shape{0}) > enough);
  };
  const auto halve = [&](const State& s) -> State {
    const auto& [step, lower, upper] = s;
    const Value middle = (lower + upper) * 0.5, below = CountBelow(d, squares, middle) <= target;
    return {step + 1, Where(below, middle, lower), Where(below, upper, middle)};
  };
  const State start{Scalar(target, 0), like + (low - slack), like + (high + slack)};
  const auto [step, lower, upper] = while_loop(more, halve, start);
  return (lower + upper) * (scale * 0.5);
}

Value Matrix(const Value& d, const Value& e) {
  const Value low = IsComplex(e.dtype()) ? lax::conj(e) : e;
  return diag(d) + diag(e, 1) + diag(low, -1);
}
Value Part(const Value& v, const Wanted& wanted, int64_t axis) {
  return Cut(v, wanted.first, wanted.first + wanted.count, axis);
}
Value Eigenvalues(const Value& d, const Value& e, const Wanted& wanted) {
  const auto value = [wanted](const Value& x, const Value& y) { return Bisected(x, y, wanted); };
  // By the vector v of each: the sum of v_i^2 dd_i + 2 v_i v_(i+1) de_i.
  const auto rule = [wanted](const auto& primals, const auto& tangents) {
    const Value &x = std::get<0>(primals), &y = std::get<1>(primals);
    const Value v = Part(lax::linalg::eigh(Matrix(x, y)).v, wanted, 1);
    const auto rows = [](const Value& t) { return lax::expand_dims(t, Shape{1}); };
    const Value of_d = lax::reduce_sum(lax::square(v) * rows(std::get<0>(tangents)), Shape{0});
    const Value pairs = Cut(v, 0, x.dim(0) - 1, 0) * Cut(v, 1, x.dim(0), 0);
    return std::pair(Eigenvalues(x, y, wanted),
                     of_d + 2 * lax::reduce_sum(pairs * rows(std::get<1>(tangents)), Shape{0}));
  };
  return custom_jvp(value, rule).Emit(d, e);
}

Wanted WantedOf(const CallSite& site, int64_t n, const TridiagonalOptions& o) {
  if (o.select != "a" && o.select != "i") site.Fail("select is ", o.select, "; it must be a or i");
  const double tol = o.tol.value_or(0);
  if (o.select == "a") return {0, n, tol};
  if (!o.select_range) site.Fail("select is i; select_range must be given");
  const auto [first, last] = *o.select_range;
  if (first < 0 || last < first || last >= n) {
    site.Fail("select_range is ", first, " to ", last, "; it must be a range from 0 to ", n - 1);
  }
  return {first, last - first + 1, tol};
}

}  // namespace

EighResult eigh_tridiagonal(const Operand& d, const Operand& e, const TridiagonalOptions& options) {
  const Operand in[] = {d, e};
  const CallSite site = SiteOf("eigh_tridiagonal", in);
  const Value diagonal = site.Lift(d, DType::kNone), beside = site.Lift(e, DType::kNone);
  const DType dtype = diagonal.dtype();
  const bool wide = dtype == DType::kF32 || dtype == DType::kF64 || IsComplex(dtype);
  if (diagonal.rank() != 1 || beside.rank() != 1 || beside.dtype() != dtype || !wide ||
      beside.dim(0) != std::max<int64_t>(diagonal.dim(0) - 1, 0)) {
    site.Fail("operands are ", diagonal.type(), " and ", beside.type(),
              "; they must be vectors of n and n - 1 elements, both of f32, f64, c64 or c128");
  }
  const Wanted wanted = WantedOf(site, diagonal.dim(0), options);
  const bool is_complex = IsComplex(dtype);
  const Value real = is_complex ? lax::real(diagonal) : diagonal;
  if (options.eigvals_only) {
    const Value size = is_complex ? lax::abs(beside) : beside;
    return {diagonal.dim(0) < 2 ? Part(real, wanted, 0) : Eigenvalues(real, size, wanted), Value()};
  }
  const lax::linalg::Eigh all = lax::linalg::eigh(Matrix(To(real, dtype), beside));
  return {Part(all.w, wanted, 0), Part(all.v, wanted, 1)};
}

}}}}  // namespace ricci::v0::scipy::linalg
