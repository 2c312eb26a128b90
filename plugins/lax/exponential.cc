// exp, log and their relatives exp2, expm1, log1p, logistic.
#include <numbers>

#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

Value Exp(const Value&, const Value& y) { return y; }
Value Exp2(const Value&, const Value& y) { return mul(std::numbers::ln2, y); }
Value Expm1(const Value&, const Value& y) { return add(y, 1.0); }
Value Logistic(const Value&, const Value& y) { return mul(y, sub(1.0, y)); }

Value Log(const Eqn&, const Value& t, std::span<const Value> in, const Value&) { return div(t, in[0]); }
Value Log1p(const Eqn&, const Value& t, std::span<const Value> in, const Value&) { return div(t, add(in[0], 1.0)); }

constexpr Row kRows[] = {
    rules::RealFunction<RICCI_S_EXP, Exp, kInexact>("exp", "y = exp(x): e^x", "(f64[2,3]); (c128[2,3])"),
    rules::RealFunction<RICCI_S_EXP2, Exp2, kInexact>("exp2", "y = exp2(x): 2^x", "(f64[2,3]); (c128[2,3])"),
    rules::RealFunction<RICCI_S_EXPM1, Expm1, kInexact>("expm1", "y = expm1(x): e^x - 1, accurate near 0",
                                                        "(f64[2,3]); (c128[2,3])"),
    rules::RealFunction<RICCI_S_LOGISTIC, Logistic, kInexact>("logistic", "y = logistic(x): 1 / (1 + e^-x)",
                                                              "(f64[2,3]); (c128[2,3])"),
    {.name = "log",
     .doc = "y = log(x): the natural logarithm of x",
     .flags = RICCI_PRIM_TRANSCENDENTAL,
     .type = rules::Same<1, kInexact>,
     .jvp = rules::Terms<Log>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_LOG>>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3] in 0.3..3); (c128[2,3] in 0.3..3)"},
    {.name = "log1p",
     .doc = "y = log1p(x): log(1 + x), accurate near 0",
     .flags = RICCI_PRIM_TRANSCENDENTAL,
     .type = rules::Same<1, kInexact>,
     .jvp = rules::Terms<Log1p>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_LOG1P>>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3] in -0.5..3); (c128[2,3] in -0.5..3)"},
};

}  // namespace

RowList exponential_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
