// ricci/inspect.hpp: what a function traces to, without running it: make_program and eval_shape.
#ifndef RICCI_INSPECT_HPP_
#define RICCI_INSPECT_HPP_
#include "ricci/derivatives.hpp"

namespace ricci::inline v0 {

// The program of f for Arrays like these; captured Arrays are its last parameters. (JAX: make_jaxpr.)
template <typename F, typename... A>
Program make_program(const F& f, const A&... args) {
  const std::tuple<const A&...> in(args...);
  return Close(OutsideOf("make_program", {}, in), f, in).program;
}
// Shapes and dtypes of f's result, in its structure.
template <typename F, typename... A>
auto eval_shape(const F& f, const A&... args) {
  const std::tuple<const A&...> in(args...);
  const Outside o = OutsideOf("eval_shape", {}, in);
  const auto closed = Close(o, f, in);
  size_t next = 0;
  return MapLeaves<ShapeDType>(closed.out, [&](const Value&) {
    const ArrayType t(o.ctx, closed.program.results()[next++]);
    return ShapeDType{Shape(t.shape().begin(), t.shape().end()), t.dtype()};
  });
}

}  // namespace ricci::inline v0
#endif
