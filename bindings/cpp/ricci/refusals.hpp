// ricci/refusals.hpp: why a function that is given to a transform cannot be called, as the first error of the compiler.
//
// Instantiated only after the call was found impossible. The types of the parameters are known if the function is a
// plain one or a lambda without `auto`; for all others there is one general sentence.
#ifndef RICCI_REFUSALS_HPP_
#define RICCI_REFUSALS_HPP_
#include "ricci/tree.hpp"

namespace ricci { inline namespace v0 {

template <typename... P>
struct Parameters {};
template <typename F>
struct ParametersOf {
  static constexpr bool kKnown = false;
};
template <typename R, typename... P>
struct ParametersOf<R (*)(P...)> {
  static constexpr bool kKnown = true;
  using List = Parameters<P...>;
};
template <typename R, typename C, typename... P>
struct ParametersOf<R (C::*)(P...) const> : ParametersOf<R (*)(P...)> {};
template <typename R, typename C, typename... P>
struct ParametersOf<R (C::*)(P...)> : ParametersOf<R (*)(P...)> {};
template <typename R, typename C, typename... P>
struct ParametersOf<R (C::*)(P...) const noexcept> : ParametersOf<R (*)(P...)> {};
template <typename R, typename... P>
struct ParametersOf<R (*)(P...) noexcept> : ParametersOf<R (*)(P...)> {};
template <typename F>
requires requires { &F::operator(); }
struct ParametersOf<F> : ParametersOf<decltype(&F::operator())> {};

// An Array that a parameter is made of would be a Value that is computed at once: not what the function's caller meant.
template <typename P, typename A>
inline constexpr bool kArrayOfValue =
    std::same_as<std::remove_cvref_t<P>, Array> && !std::same_as<std::remove_cvref_t<A>, Array>;
template <typename... A, typename... P>
consteval bool AnyArrayOfValue(Parameters<P...>) {
  if constexpr (sizeof...(A) == sizeof...(P))
    return (kArrayOfValue<P, A> || ...);
  else
    return false;
}
// Can F be called with A..., and takes it Values as such?
template <typename F, typename... A>
consteval bool IsCallable() {
  if constexpr (!std::is_invocable_v<const F&, A...>)
    return false;
  else if constexpr (ParametersOf<F>::kKnown)
    return !AnyArrayOfValue<A...>(typename ParametersOf<F>::List());
  else
    return true;
}

enum class Refusal { kOther, kMissing, kTooMany, kNumber, kOutsideLeaf, kReference };

// What is wrong with one argument of type A for a parameter of type P.
template <typename P, typename A>
consteval Refusal RefusalOf() {
  using Plain = std::remove_cvref_t<P>;
  if constexpr (kArrayOfValue<P, A>) {
    return Refusal::kOutsideLeaf;
  } else if constexpr (std::is_convertible_v<A, P>) {
    return Refusal::kOther;
  } else if constexpr (std::is_convertible_v<A&, P>) {
    return Refusal::kReference;
  } else if constexpr (Number<Plain>) {
    return Refusal::kNumber;
  } else if constexpr (std::same_as<Plain, Rebind<A, Array>>) {
    return Refusal::kOutsideLeaf;
  } else {
    return Refusal::kOther;
  }
}
template <typename... A, typename... P>
consteval Refusal RefusalOfCall(Parameters<P...>) {
  if constexpr (sizeof...(P) > sizeof...(A)) {
    return Refusal::kMissing;
  } else if constexpr (sizeof...(P) < sizeof...(A)) {
    return Refusal::kTooMany;
  } else {
    for (const Refusal r : {Refusal::kOther, RefusalOf<P, A>()...}) {
      if (r != Refusal::kOther) return r;
    }
    return Refusal::kOther;
  }
}
template <typename F, typename... A>
consteval Refusal WhyRefused() {
  if constexpr (ParametersOf<F>::kKnown)
    return RefusalOfCall<A...>(typename ParametersOf<F>::List());
  else
    return Refusal::kOther;
}
// One sentence about a function of type F that does not take arguments of types A; then its result counts as a Value.
template <typename F, typename... A>
struct RefusedCall {
  static constexpr Refusal kWhy = WhyRefused<F, A...>();
  static_assert(kWhy != Refusal::kMissing,
                "the function given to a transform takes more arguments than it is called with");
  static_assert(kWhy != Refusal::kTooMany,
                "the function given to a transform takes fewer arguments than it is called with");
  static_assert(
      kWhy != Refusal::kNumber,
      "a parameter of the function given to a transform is a C++ number, but numbers are traced and reach it "
      "as Value; for a number that is fixed when the function is traced, take Static<int> and pass Static<int>{n}");
  static_assert(kWhy != Refusal::kOutsideLeaf,
                "a parameter of the function given to a transform holds Arrays, but inside of it leaves are Values: "
                "take Value for Array, Params<Value> for Params<Array>");
  static_assert(kWhy != Refusal::kReference,
                "a parameter of the function given to a transform is a reference to a variable; take it by value or by "
                "const reference");
  static_assert(kWhy != Refusal::kOther,
                "the function given to a transform cannot be called with these arguments: Arrays and numbers reach it "
                "as Value, Params<Array> as Params<Value>");
  using type = Value;
};

}}  // namespace ricci::v0
#endif
