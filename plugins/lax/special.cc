// erf, erfc, erf_inv, lgamma, digamma: special functions of one real number.
#include <cmath>
#include <numbers>

#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr double kInverseSqrtPi = std::numbers::inv_sqrtpi;

Value Gaussian(const Value& x) { return exp(neg(square(x))); }
Value Erf(const Value& x, const Value&) { return mul(2.0 * kInverseSqrtPi, Gaussian(x)); }
Value Erfc(const Value& x, const Value&) { return mul(-2.0 * kInverseSqrtPi, Gaussian(x)); }
Value ErfInv(const Value&, const Value& y) { return mul(0.5 / kInverseSqrtPi, exp(square(y))); }
Value Lgamma(const Value& x, const Value&) { return digamma(x); }
Value Digamma(const Value& x, const Value&) { return polygamma(ones_like(x), x); }

constexpr Row kRows[] = {
    rules::RealFunction<RICCI_S_ERF, Erf>("erf", "y = erf(x): the error function of x"),
    rules::RealFunction<RICCI_S_ERFC, Erfc>("erfc", "y = erfc(x): 1 - erf(x), accurate for large x"),
    rules::RealFunction<RICCI_S_ERF_INV, ErfInv>("erf_inv", "y = erf_inv(x): the inverse of erf",
                                                 "(f64[2,3] in -0.8..0.8)"),
    rules::RealFunction<RICCI_S_LGAMMA, Lgamma>("lgamma", "y = lgamma(x): the logarithm of |gamma(x)|",
                                                "(f64[2,3] in 0.3..3)"),
    rules::RealFunction<RICCI_S_DIGAMMA, Digamma>("digamma", "y = digamma(x): the derivative of lgamma at x",
                                                  "(f64[2,3] in 0.3..3); (f64[3] in -19.8..-19.2)"),
};

}  // namespace

RowList special_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
