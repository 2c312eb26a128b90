// ricci/jacobian.hpp: jacfwd, jacrev and hessian, with respect to the first argument or to others: jacfwd<0, 2>(f).
//
// Arguments and results are any trees. As in JAX the Jacobian has the structure of the result, with the structure of
// the argument (for several arguments, a tuple of them) in the place of each leaf; a leaf has the shape of the result's
// leaf followed by that of the argument's.
#ifndef RICCI_JACOBIAN_HPP_
#define RICCI_JACOBIAN_HPP_
#include "ricci/derivatives.hpp"

namespace ricci { inline namespace v0 {

// The Jacobian of each result by each chosen leaf, results first: all at once by vmap of jvp or of the pullback.
Values ForwardJacobian(const CallSite& site, LeafFunction f, const Values& leaves, std::span<const size_t> counts,
                       std::span<const size_t> chosen);
Values ReverseJacobian(const CallSite& site, LeafFunction f, const Values& leaves, std::span<const size_t> counts,
                       std::span<const size_t> chosen);

template <bool kForward, size_t... kArgs, typename F, typename... T>
[[gnu::cold]] auto Jacobian(const CallSite& site, const F& f, const T&... args) {
  static_assert(((kArgs < sizeof...(T)) && ...),
                "jacfwd<k>(f), jacrev<k>(f): f has no argument k; arguments are counted from 0");
  const std::tuple<const T&...> in(args...);
  TracedFunction traced(f, in);
  const size_t counts[] = {LeafCount(args)...}, chosen[] = {kArgs...};
  const Values leaves = LeavesOfAll<Value>(in);
  const Values all = kForward ? ForwardJacobian(site, traced, leaves, counts, chosen)
                              : ReverseJacobian(site, traced, leaves, counts, chosen);
  size_t next = 0;
  auto by_arguments = [&](const Value&) {
    return OneOrTuple(FillChosen<kArgs...>(in, std::span<const Value>(all), next));
  };
  return MapLeaves<decltype(by_arguments(Value()))>(traced.out(), by_arguments);
}

// By forward mode: one jvp per element of the argument, all at once by vmap.
template <size_t... kArgs, typename F>
auto jacfwd(F f, Location at = Location::Here()) {
  return Transformed("jacfwd", at, [f = std::move(f)](const CallSite& site, const auto&... args) {
    if constexpr (sizeof...(kArgs) == 0)
      return Jacobian<true, 0>(site, f, args...);
    else
      return Jacobian<true, kArgs...>(site, f, args...);
  });
}
// By reverse mode: one pullback per element of the result.
template <size_t... kArgs, typename F>
auto jacrev(F f, Location at = Location::Here()) {
  return Transformed("jacrev", at, [f = std::move(f)](const CallSite& site, const auto&... args) {
    if constexpr (sizeof...(kArgs) == 0)
      return Jacobian<false, 0>(site, f, args...);
    else
      return Jacobian<false, kArgs...>(site, f, args...);
  });
}
// Second derivatives, forward over reverse. Of a scalar function of a tree: that tree, with the tree in the place of
// each leaf.
template <size_t... kArgs, typename F>
auto hessian(F f, Location at = Location::Here()) {
  return jacfwd<kArgs...>(jacrev<kArgs...>(std::move(f), at), at);
}

}}  // namespace ricci::v0
#endif
