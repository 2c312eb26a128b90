// ricci/jacobian.hpp: jacfwd, jacrev and hessian of a function by its first argument, or by others: jacfwd<0, 2>(f).
//
// An argument that is differentiated by is one Value, and so is the result (for jacfwd any tree of them); other
// arguments are any trees. A Jacobian has the shape of the result followed by that of the argument; by several
// arguments they are a tuple.
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

// f as a function of argument kArg alone, the others as they are.
template <size_t kArg, typename F, typename... T>
auto AsFunctionOf(const F& f, const T&... args) {
  return [&f, all = std::tuple<const T&...>(args...)](const Value& v) {
    return [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      auto at = [&]<size_t kI>(std::integral_constant<size_t, kI>) -> const auto& {
        if constexpr (kI == kArg)
          return v;
        else
          return std::get<kI>(all);
      };
      return f(at(std::integral_constant<size_t, kIndex>())...);
    }
    (std::index_sequence_for<T...>());
  };
}
template <size_t kArg, typename... T>
const Value& JacobianArgument(const T&... args) {
  static_assert(kArg < sizeof...(T), "there are fewer arguments");
  return std::get<kArg>(std::tuple<const T&...>(args...));
}
template <size_t kArg, typename F, typename... T>
auto ForwardJacobian(const Place& p, const F& f, const T&... args) {
  const Value& x = JacobianArgument<kArg>(args...);
  const auto g = AsFunctionOf<kArg>(f, args...);
  auto column = [&](const Value& t) { return Jvp(p, g, std::tuple<Value>(x), std::tuple<Value>(t)).second; };
  return MapLeaves<Value>(vmap(column, 0, -1, {}, p.at)(UnitArrays(p, x)), [&](const Value& columns) {
    return lax::reshape(columns, Appended(columns.shape().first(static_cast<size_t>(columns.rank() - 1)), x.shape()));
  });
}
template <size_t kArg, typename F, typename... T>
Value ReverseJacobian(const Place& p, const F& f, const T&... args) {
  const Value& x = JacobianArgument<kArg>(args...);
  const auto [y, pullback] = Vjp<Value>(p, AsFunctionOf<kArg>(f, args...), std::tuple<Value>(x));
  auto row = [&pull = pullback](const Value& ct) { return std::get<0>(pull(ct)); };
  return lax::reshape(vmap(row, 0, 0, {}, p.at)(UnitArrays(p, y)), Appended(y.shape(), x.shape()));
}

// By forward mode: one jvp per element of the argument, all at once by vmap. The result of f may be any tree.
template <size_t... kArgs, typename F>
auto jacfwd(F f, Location at = Location::Here()) {
  return Transformed("jacfwd", at, [f = std::move(f)](const Place& p, const auto&... args) {
    if constexpr (sizeof...(kArgs) == 0)
      return ForwardJacobian<0>(p, f, args...);
    else
      return OneOrTuple(std::tuple(ForwardJacobian<kArgs>(p, f, args...)...));
  });
}
// By reverse mode: one pullback per element of the result.
template <size_t... kArgs, typename F>
auto jacrev(F f, Location at = Location::Here()) {
  return Transformed("jacrev", at, [f = std::move(f)](const Place& p, const auto&... args) {
    if constexpr (sizeof...(kArgs) == 0)
      return ReverseJacobian<0>(p, f, args...);
    else
      return OneOrTuple(std::tuple(ReverseJacobian<kArgs>(p, f, args...)...));
  });
}
template <typename F>
auto hessian(F f, Location at = Location::Here()) {
  return jacfwd(jacrev(std::move(f), at), at);
}

}  // namespace ricci::inline v0
#endif
