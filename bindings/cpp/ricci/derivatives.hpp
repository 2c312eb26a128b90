// ricci/derivatives.hpp: grad, value_and_grad, jvp, vjp and linearize.
//
// All take and give functions of trees. Called with Values, these emit into the program of the Values, so they nest in
// any order; called with Arrays, they run under jit. What vjp and linearize give outside of a trace takes Arrays, or
// Values of a trace that begins later.
#ifndef RICCI_DERIVATIVES_HPP_
#define RICCI_DERIVATIVES_HPP_
#include "ricci/jit.hpp"
#include "ricci/linear_map.hpp"

namespace ricci { inline namespace v0 {

template <typename T>
inline constexpr bool kIsPair = false;
template <typename A, typename B>
inline constexpr bool kIsPair<std::pair<A, B>> = true;

// The trees number kArgs of `like` filled with `leaves` from `next` on. (Its type is written out: std::tuple{pair} is a
// tuple of two.)
template <size_t... kArgs, typename... T>
auto FillChosen(const std::tuple<T...>& like, std::span<const Value> leaves, size_t& next) {
  using All = std::tuple<std::remove_cvref_t<T>...>;
  return std::tuple<Rebind<std::tuple_element_t<kArgs, All>, Value>...>{
      Fill<Value>(std::get<kArgs>(like), leaves, next)...};
}
// One tree as it is, several trees as a tuple.
template <typename Tuple>
auto OneOrTuple(Tuple&& t) {
  if constexpr (std::tuple_size_v<std::remove_cvref_t<Tuple>> == 1)
    return std::get<0>(std::forward<Tuple>(t));
  else
    return std::forward<Tuple>(t);
}
// Which leaves belong to the chosen arguments; `counts`: leaves of each argument.
std::vector<uint8_t> LeavesOfArguments(const CallSite& site, const Values& leaves, std::span<const size_t> counts,
                                       std::span<const size_t> chosen);

// ---- grad ----
// Results of f, then the gradient of the first by the chosen leaves.
Values GradLeaves(const CallSite& site, LeafFunction f, const Values& leaves, std::span<const size_t> counts,
                  std::span<const size_t> chosen);
// The value of f and its gradient with respect to the arguments kArgs.
template <size_t... kArgs, typename F, typename... T>
[[gnu::cold]] auto ValueAndGrad(const CallSite& site, const F& f, const T&... args) {
  static_assert(((kArgs < sizeof...(T)) && ...), "grad<k>(f): f has no argument k; arguments are counted from 0");
  const std::tuple<const T&...> in(args...);
  TracedFunction traced(f, in);
  using Out = typename decltype(traced)::Out;
  static_assert(std::same_as<Out, Value> || kIsPair<Out>,
                "the function given to grad must give a scalar, or std::pair(scalar, auxiliary results)");
  const size_t counts[] = {LeafCount(args)...}, chosen[] = {kArgs...};
  const Values all = GradLeaves(site, traced, LeavesOfAll<Value>(in), counts, chosen);
  size_t next = 0;
  auto value = Fill<Value>(traced.out(), std::span<const Value>(all), next);
  auto grads = FillChosen<kArgs...>(in, std::span<const Value>(all), next);
  return std::pair{std::move(value), OneOrTuple(std::move(grads))};
}
// f gives a scalar, or a pair of a scalar and auxiliary results. value_and_grad(f)(args...) is {result of f, gradient};
// with value_and_grad<0, 2>(f) the gradient is a tuple, with respect to arguments 0 and 2.
template <size_t... kArgs, typename F>
auto value_and_grad(F f, Location at = Location::Here()) {
  return Transformed("value_and_grad", at, [f = std::move(f)](const CallSite& site, const auto&... args) {
    if constexpr (sizeof...(kArgs) == 0)
      return ValueAndGrad<0>(site, f, args...);
    else
      return ValueAndGrad<kArgs...>(site, f, args...);
  });
}
// Only the gradient, or {gradient, auxiliary results}.
template <size_t... kArgs, typename F>
auto grad(F f, Location at = Location::Here()) {
  return Transformed("grad", at, [f = std::move(f)](const CallSite& site, const auto&... args) {
    auto both = [&] {
      if constexpr (sizeof...(kArgs) == 0)
        return ValueAndGrad<0>(site, f, args...);
      else
        return ValueAndGrad<kArgs...>(site, f, args...);
    }();
    if constexpr (kIsPair<decltype(both.first)>)
      return std::pair{std::move(both.second), std::move(both.first.second)};
    else
      return std::move(both.second);
  });
}

// ---- auxiliary results ----
// f, which gives a pair, as a function of its first entry alone: jvp, vjp and linearize of has_aux(f) differentiate
// that and give the second entry, any tree, as it is. (JAX: has_aux=True. grad needs no mark, because its f gives a
// scalar.)
template <typename F>
struct HasAux {
  F f;
};
template <typename F>
HasAux<F> has_aux(F f) {
  return {std::move(f)};
}
template <typename F>
inline constexpr bool kHasAux = false;
template <typename F>
inline constexpr bool kHasAux<HasAux<F>> = true;
// What a transform of has_aux(f) gives: auto [y, dy, aux] = jvp(has_aux(f), ...).
template <typename First, typename Second, typename Aux>
struct WithAux {
  First first;
  Second second;
  Aux aux;
};
template <typename First, typename Second, typename Aux>
WithAux(First, Second, Aux) -> WithAux<First, Second, Aux>;
// The function itself, without the mark.
template <typename F>
const auto& Unmarked(const F& f) {
  if constexpr (kHasAux<F>)
    return f.f;
  else
    return f;
}
// The part of a result that is differentiated, all of it without a mark.
template <bool kAux, typename Out>
const auto& MainPart(const Out& out) {
  if constexpr (kAux) {
    static_assert(kIsPair<Out>, "the function given to has_aux must give std::pair(result, auxiliary results)");
    return out.first;
  } else {
    return out;
  }
}

// ---- forward mode ----
// Results of f, then the tangent of each; `dx` has one leaf per leaf of x.
Values JvpLeaves(const CallSite& site, LeafFunction f, const Values& x, const Values& dx);
// {f(primals...), its directional derivative along the tangents}. Both are tuples, one entry per argument; a number is
// a scalar. Of has_aux(f) also the auxiliary results.
template <typename F, typename... T, typename... D>
auto jvp(F f, const std::tuple<T...>& primals, const std::tuple<D...>& tangents, Location at = Location::Here()) {
  static_assert(sizeof...(T) == sizeof...(D), "jvp needs one tangent per argument");
  const auto rule = [f = std::move(f)](const CallSite& site, const auto&... both) {
    const auto all = std::make_tuple(both...);  // not std::tuple(both...): that of one pair is a tuple of two
    return [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      const auto x = std::make_tuple(std::get<kIndex>(all)...);
      const auto dx = std::make_tuple(std::get<sizeof...(T) + kIndex>(all)...);
      static_assert(std::same_as<decltype(x), decltype(dx)>, "jvp: a tangent must have the type of its argument");
      TracedFunction traced(Unmarked(f), x);
      const Values y = JvpLeaves(site, traced, LeavesOfAll<Value>(x), LeavesOfAll<Value>(dx));
      size_t next = 0;
      auto value = Fill<Value>(traced.out(), std::span<const Value>(y), next);
      auto tangent = Fill<Value>(MainPart<kHasAux<F>>(traced.out()), std::span<const Value>(y), next);
      if constexpr (kHasAux<F>)
        return WithAux{std::move(value.first), std::move(tangent), std::move(value.second)};
      else
        return std::pair{std::move(value), std::move(tangent)};
    }
    (std::index_sequence_for<T...>());
  };
  return std::apply(
      [&](const auto&... x) {
        return std::apply([&](const auto&... dx) { return Transformed("jvp", at, rule)(x..., dx...); }, tangents);
      },
      primals);
}

// ---- reverse mode and linearize ----
// A call outside of a trace, with the context of its arguments.
template <typename... A>
CallSite SiteOutside(std::string_view name, const Location& at, const A&... args) {
  CallSite site{name, at};
  ContextFinder find{site};
  (ForEachLeaf(args, find), ...);
  WantContext(site, "");
  return site;
}

// {structure of the result filled with it, map}, with has_aux {that of the main part, map, auxiliary results}.
template <bool kReverse, typename L, typename F, typename... T>
[[gnu::cold]] auto MakeLinear(const CallSite& site, const F& f, const std::tuple<T...>& args) {
  TracedFunction traced(Unmarked(f), args);
  size_t n_main = 0;
  auto counted = [&](const CallSite& inside, const Values& params) {
    Values out = traced(inside, params);
    n_main = LeafCount(MainPart<kHasAux<F>>(traced.out()));
    return out;
  };
  LinearParts<L> parts = kReverse ? VjpLeaves(site, counted, LeavesOfAll<L>(args), &n_main)
                                  : LinearizeLeaves(site, counted, LeavesOfAll<L>(args), &n_main);
  auto value = Fill<L>(traced.out(), parts.value);
  const auto& main = MainPart<kHasAux<F>>(traced.out());
  using Out = std::remove_cvref_t<decltype(main)>;
  using Map = std::conditional_t<kReverse, Pullback<L, Out, T...>, Linearized<L, Out, T...>>;
  Map map(std::move(parts.map), main, args);
  if constexpr (kHasAux<F>)
    return WithAux{std::move(value.first), std::move(map), std::move(value.second)};
  else
    return std::pair(std::move(value), std::move(map));
}
template <bool kReverse, typename F, typename... A>
auto LinearOf(std::string_view name, const Location& at, const F& f, const A&... args) {
  if constexpr ((kHoldsValue<A> || ...)) {
    const CallSite site = SiteOfCall(name, at, args...);
    return MakeLinear<kReverse, Value>(site, f, std::tuple<Traced<A>...>(LiftTree(site, args)...));
  } else {
    const CallSite site = SiteOutside(name, at, args...);
    return MakeLinear<kReverse, Array>(
        site, f, std::tuple<std::remove_cvref_t<ConcreteArgument<A>>...>(Concrete(site.ctx, args)...));
  }
}
template <bool kReverse, typename F, typename... A>
using LinearResult = decltype(LinearOf<kReverse>({}, {}, std::declval<const F&>(), std::declval<const A&>()...));

// {f(args...), pullback}: pullback(ct) is the tuple of cotangents of the arguments. Of has_aux(f) also the auxiliary
// results. A class, so that it knows the location of its caller.
template <typename F, typename... A>
struct vjp : LinearResult<true, F, A...> {
  explicit vjp(const F& f, const A&... args, Location at = Location::Here())
      : LinearResult<true, F, A...>(LinearOf<true>("vjp", at, f, args...)) {}
};
template <typename F, typename... A>
vjp(F, A...) -> vjp<F, A...>;
// {f(args...), map}: map(tangents...) is the directional derivative; what does not depend on tangents is computed once.
// Of has_aux(f) also the auxiliary results.
template <typename F, typename... A>
struct linearize : LinearResult<false, F, A...> {
  explicit linearize(const F& f, const A&... args, Location at = Location::Here())
      : LinearResult<false, F, A...>(LinearOf<false>("linearize", at, f, args...)) {}
};
template <typename F, typename... A>
linearize(F, A...) -> linearize<F, A...>;

}}  // namespace ricci::v0
#endif
