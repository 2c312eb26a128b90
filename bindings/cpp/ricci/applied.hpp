// ricci/applied.hpp: functions of jax.numpy that apply the host's function.
#ifndef RICCI_APPLIED_HPP_
#define RICCI_APPLIED_HPP_
#include "ricci/creation.hpp"
#include "ricci/sets.hpp"
#include "ricci/vectorize.hpp"

namespace ricci { inline namespace v0 {

// ---- along an axis ----
// x as rows along one axis, and what a function of a row gave put back in the place of that axis.
struct AxisRows {
  Value rows;  // one per place of the other axes
  Shape before;
  int64_t axis;
};
AxisRows RowsAlong(const Operand& x, AxisNumber axis);
Value Restored(const AxisRows& like, const Value& results);
// f of every vector along `axis`: its result takes the place of the axis.
template <typename F>
Value apply_along_axis(const F& f, AxisNumber axis, const Operand& x) {
  const AxisRows r = RowsAlong(x, axis);
  return Restored(r, vmap(f)(r.rows));
}
// f(x, axis) for one axis after the other; f keeps the dimension or drops it, and then it comes back with size 1.
template <typename F>
Value apply_over_axes(const F& f, const Operand& x, const Shape& axes) {
  Value v = Use("apply_over_axes", x);
  for (int64_t a : axes) {
    const int64_t axis = Axis("apply_over_axes", x.at, a, v.rank());
    const Value out = f(v, axis);
    v = out.rank() == v.rank() ? out : expand_dims(Operand(out, x.at), axis);
  }
  return v;
}

// ---- of scalars ----
// A function of scalars as one of arrays, which broadcast: vectorize(f)(x, y).
template <typename F>
auto vectorize(F f) {
  return [f = std::move(f)](const auto&... xs) {
    const Values all = broadcast_arrays({Operand(xs)...});
    Values flat;
    for (const Value& v : all) flat.push_back(ravel(v));
    const auto of_vectors = [&]<size_t... I>(std::index_sequence<I...>) { return Value(vmap(f)(flat[I]...)); };
    return reshape(of_vectors(std::index_sequence_for<decltype(xs)...>()),
                   Shape(all[0].shape().begin(), all[0].shape().end()));
  };
}
// The array of f(i, j, ...) at its indices. f takes one array of indices per dimension.
template <typename F, typename... N>
requires(std::integral<N>&&...) Value fromfunction(const Operand& in, const F& f, N... sizes) {
  const Shape shape{static_cast<int64_t>(sizes)...};
  const Value all = indices(in, shape, kDefaultFloat);
  return [&]<size_t... I>(std::index_sequence<I...>) { return f(Value(all[static_cast<int64_t>(I)])...); }
  (std::index_sequence_for<N...>());
}
// Where condition i holds: the i-th of `choices`, a function of x or a number; one more is for where none holds, else
// it is 0. The result has the dtype of x.
Value PiecewiseOf(const Value& x, const OperandList& conditions, std::vector<Operand> values, const Location& at);
template <typename... C>
Value piecewise(const Operand& x, const OperandList& conditions, const C&... choices) {
  const Value v = Use("piecewise", x);
  const auto value = [&](const auto& c) {
    if constexpr (requires { c(v); })
      return Operand(c(v), x.at);
    else
      return Operand(c, x.at);
  };
  return PiecewiseOf(v, conditions, {value(choices)...}, x.at);
}

}}  // namespace ricci::v0
#endif
