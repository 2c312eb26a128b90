// Steps that the special functions share: real operands, dtypes wide enough, and derivatives in closed form.
//
// A function that is computed by a fit or by a loop has a derivative that is simpler than it. `WithSlope` attaches it;
// the rule applies the function with its rule again, so derivatives of every order follow.
#ifndef RICCI_BINDINGS_CPP_HOST_SPECIAL_STEPS_H_
#define RICCI_BINDINGS_CPP_HOST_SPECIAL_STEPS_H_
#include "host/core/plain_math.h"
#include "host/scipy/special_fits.h"
#include "ricci/custom_derivative.hpp"

namespace ricci { inline namespace v0 { namespace plain {

// The operands with one dtype and one shape, in at least f32: narrower floats have no room for the steps.
struct RealOperands {
  RealOperands(std::string_view name, std::span<const Operand> xs);
  Value Narrowed(const Value& v) const { return To(v, dtype); }

  DType dtype;  // of the result
  Values wide;
};

inline Value Times(const Value& slope, const Value& dx) { return slope * dx; }
inline ValuePair Times(const ValuePair& slope, const Value& dx) { return {slope.first * dx, slope.second * dx}; }

// top(x) / bottom(x), a fit of special_fits.h.
inline Value Ratio(const Value& x, std::span<const double> top, std::span<const double> bottom) {
  return Polynomial(x, top) / Polynomial(x, bottom);
}

// F(x), whose derivative is Slope(x, F(x)); F gives a Value or a pair.
template <auto F, auto Slope>
std::invoke_result_t<decltype(F), const Value&> WithSlope(const Value& x) {
  const auto value = [](const Value& v) { return F(v); };
  const auto rule = [](const auto& primals, const auto& tangents) {
    const Value& v = std::get<0>(primals);
    const auto y = WithSlope<F, Slope>(v);
    return std::pair(y, Times(Slope(v, y), std::get<0>(tangents)));
  };
  return custom_jvp(value, rule).Emit(x);
}

// F(x...), whose derivatives are Slopes(x...), one function per argument.
template <auto F, auto... Slopes, typename... X>
Value WithSlopes(const X&... x) {
  const auto value = [](const X&... v) { return F(v...); };
  const auto rule = [](const auto& primals, const auto& tangents) {
    return std::apply(
        [&](const auto&... v) {
          const Values slopes{Slopes(v...)...};
          Value dy = slopes[0] * std::get<0>(tangents);
          size_t i = 0;
          std::apply([&](const auto&, const auto&... dx) { ((dy = dy + slopes[++i] * dx), ...); }, tangents);
          return std::pair(WithSlopes<F, Slopes...>(v...), dy);
        },
        primals);
  };
  return custom_jvp(value, rule).Emit(x...);
}

}}}  // namespace ricci::v0::plain
#endif
