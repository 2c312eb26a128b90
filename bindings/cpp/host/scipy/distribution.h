// The operands of a function of a distribution: together, and in the standard form.
#ifndef RICCI_BINDINGS_CPP_HOST_DISTRIBUTION_H_
#define RICCI_BINDINGS_CPP_HOST_DISTRIBUTION_H_
#include <limits>

#include "host/core/plain_math.h"
#include "ricci/scipy_special.hpp"
#include "ricci/scipy_stats.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace stats {

using namespace plain;

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kPi = std::numbers::pi;

// The operands in one floating dtype and shape; x comes first, then the shape parameters, loc and scale.
inline Values Use(std::string_view name, std::initializer_list<Operand> in) {
  return UseTogether(name, std::span(in.begin(), in.size()), /*inexact=*/true);
}
// (x - loc) / scale of three operands.
inline Value Standard(const Values& v) { return (v[0] - v[1]) / v[2]; }
inline Operand At(const Value& v, const Operand& x) { return Operand(v, x.at); }
inline Value AtLeastZero(const Value& v) { return Max(v, lax::zeros_like(v)); }
inline Value NoProbability(const Value& q) { return (q < 0) | (q > 1) | IsNaN(q); }

}}}}  // namespace ricci::v0::scipy::stats
#endif
