// igamma, igammac: the regularized incomplete gamma functions P(a, x) and Q(a, x); igamma_grad_a: the derivative of P
// by a; random_gamma_grad: the derivative of a sample x of the gamma distribution by its shape a.
//
// Domains and edges are those of jax.lax, with one exception: where `a` is infinite, or is 0 and x below 1, the result
// is the limit and not NaN. incomplete_gamma.hpp has the formulas.
#include "incomplete_gamma.hpp"

#include <limits>

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

using incomplete_gamma::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

// NaN where an operand is NaN or negative, or both are 0.
Scalar Defined(Scalar a, Scalar x, Scalar y) {
  return scalar::Where((!((a >= 0.0) & (x >= 0.0))) | ((a == 0.0) & (x == 0.0)), kNaN, y);
}
// The value of an integral whose limits are `at_left` for x = 0 or an infinite a, and `at_right` for the converse.
Scalar Integral(const Work& w, std::span<const Scalar> in, Kind kind, double at_left, double at_right) {
  const Scalar a = in[0], x = in[1];
  Scalar y = incomplete_gamma::Compute(w, {a, x}, kind);
  y = scalar::Where((x == 0.0) | (a == kInfinity), at_left, y);
  y = scalar::Where((a == 0.0) | (x == kInfinity), at_right, y);
  return Defined(a, x, y);
}

Scalar Igamma(const Work& w, std::span<const Scalar> in) { return Integral(w, in, Kind::kLower, 0, 1); }
Scalar Igammac(const Work& w, std::span<const Scalar> in) { return Integral(w, in, Kind::kUpper, 1, 0); }
Scalar IgammaGradA(const Work& w, std::span<const Scalar> in) {
  const Scalar y = Integral(w, in, Kind::kSlope, 0, 0);
  return scalar::Where(in[0] == 0.0, kNaN, y);
}
Scalar RandomGammaGrad(const Work& w, std::span<const Scalar> in) {
  const Scalar a = in[0], x = in[1], y = incomplete_gamma::Compute(w, {a, x}, Kind::kSample);
  const Scalar bounded = (a > 0.0) & (a < kInfinity) & (x >= 0.0) & (x < kInfinity);
  return Select(bounded, scalar::Where(x == 0.0, 0, y), w.Number(kNaN));
}

// ---- derivatives, as in jax.lax ----
Value ByArgument(std::span<const Value> in) {
  const Value &a = in[0], &x = in[1];
  const Value log_gamma = lgamma(a), log_x = log(x), log_power = mul(sub(a, 1.0), log_x);
  return exp(sub(add(neg(x), log_power), log_gamma));
}
Value LowerByShape(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  return mul(t, igamma_grad_a(in[0], in[1]));
}
Value LowerByArgument(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  return mul(t, ByArgument(in));
}
Value UpperByShape(const Eqn& e, const Value& t, std::span<const Value> in, const Value& y) {
  return neg(LowerByShape(e, t, in, y));
}
Value UpperByArgument(const Eqn& e, const Value& t, std::span<const Value> in, const Value& y) {
  return neg(LowerByArgument(e, t, in, y));
}

// Second derivatives of P, of which those by the shape have no formula.
Value MixedOverDensity(std::span<const Value> in) {
  const Value by_shape = digamma(in[0]);
  return sub(log(in[1]), by_shape);
}
Value GradByArgument(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  const Value ratio = MixedOverDensity(in);
  return mul(t, mul(ByArgument(in), ratio));
}
Value SampleByArgument(const Eqn&, const Value& t, std::span<const Value> in, const Value& y) {
  const Value bend = sub(div(sub(in[0], 1.0), in[1]), 1.0);
  const Value by_bend = mul(y, bend);
  return mul(t, neg(add(MixedOverDensity(in), by_bend)));
}

constexpr std::string_view kExamples =
    "order=1 (f64[2,3] in 0.3..4, f64[2,3] in 0.3..4); "
    "order=1 (f64[4] in 1e3..1.1e3, f64[4] in 9e2..1.2e3); "
    "program (%x: f64[2,3] in 0.3..4) { %a: f64[2,3] = constant 1.5 "
    "%y: f64[2,3] = igamma(%a, %x) return %y }";

constexpr std::string_view kGradExamples =
    "program (%x: f64[2,3] in 0.3..4) { %a: f64[2,3] = constant 1.5 %y: f64[2,3] = igamma_grad_a(%a, %x) return %y }; "
    "order=0 (f64[2,3] in 0.3..4, f64[2,3] in 0.3..4)";
constexpr std::string_view kSampleExamples =
    "program (%x: f64[2,3] in 0.3..4) { %a: f64[2,3] = constant 1.5 %y: f64[2,3] = random_gamma_grad(%a, %x) "
    "return %y }; order=0 (f64[2,3] in 0.3..4, f64[2,3] in 0.3..4)";

constexpr Row kRows[] = {
    LoopedFunction<2, Igamma>("igamma", "p = igamma(a, x): the regularized lower incomplete gamma function P(a, x)",
                              rules::Terms<LowerByShape, LowerByArgument>, kExamples),
    LoopedFunction<2, Igammac>("igammac", "q = igammac(a, x): the regularized upper incomplete gamma function Q(a, x)",
                               rules::Terms<UpperByShape, UpperByArgument>, kExamples),
    LoopedFunction<2, IgammaGradA>("igamma_grad_a", "d = igamma_grad_a(a, x): the derivative of igamma by a",
                                   rules::Terms<rules::NoDerivative<0>, GradByArgument>, kGradExamples),
    LoopedFunction<2, RandomGammaGrad>(
        "random_gamma_grad",
        "d = random_gamma_grad(a, x): the derivative by a of a sample x of the gamma distribution of shape a",
        rules::Terms<rules::NoDerivative<0>, SampleByArgument>, kSampleExamples),
};

}  // namespace

RowList incomplete_gamma_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
