// ricci/jacobian.hpp: jacfwd, jacrev and hessian of a function of Values by its first argument.
//
// The first argument and the result are each one Value; other arguments are any trees. The Jacobian has the shape of
// the result followed by that of the argument.
#ifndef RICCI_JACOBIAN_HPP_
#define RICCI_JACOBIAN_HPP_
#include "ricci/derivatives.hpp"
#include "ricci/shaping.hpp"

namespace ricci::inline v0 {

// The unit arrays of the type of `like`, stacked along a new first dimension.
inline Value UnitArrays(const Place& p, const Value& like) {
  const int64_t n = like.type().elements();
  Shape shape{n};
  shape.insert(shape.end(), like.shape().begin(), like.shape().end());
  return lax::reshape(eye(Operand(like, p.at), n, like.dtype()), shape);
}
inline Shape Appended(Dims a, Dims b) {
  Shape out(a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

// By forward mode: one jvp per element of the argument, all at once by vmap.
template <typename F>
auto jacfwd(F f, Location at = Location::Here()) {
  return Transformed("jacfwd", at, [f = std::move(f)](const Place& p, const Value& x, const auto&... rest) {
    auto of_first = [&](const Value& v) { return f(v, rest...); };
    auto column = [&](const Value& t) { return Jvp(p, of_first, std::tuple<Value>(x), std::tuple<Value>(t)).second; };
    const Value columns = vmap(column, 0, -1, {}, p.at)(UnitArrays(p, x));
    return lax::reshape(columns, Appended(columns.shape().first(static_cast<size_t>(columns.rank() - 1)), x.shape()));
  });
}
// By reverse mode: one pullback per element of the result.
template <typename F>
auto jacrev(F f, Location at = Location::Here()) {
  return Transformed("jacrev", at, [f = std::move(f)](const Place& p, const Value& x, const auto&... rest) {
    auto of_first = [&](const Value& v) { return f(v, rest...); };
    const auto [y, pullback] = Vjp<Value>(p, of_first, std::tuple<Value>(x));
    auto row = [&pull = pullback](const Value& ct) { return std::get<0>(pull(ct)); };
    const Value rows = vmap(row, 0, 0, {}, p.at)(UnitArrays(p, y));
    return lax::reshape(rows, Appended(y.shape(), x.shape()));
  });
}
template <typename F>
auto hessian(F f, Location at = Location::Here()) {
  return jacfwd(jacrev(std::move(f), at), at);
}

}  // namespace ricci::inline v0
#endif
