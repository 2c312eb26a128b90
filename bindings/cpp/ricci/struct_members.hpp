// ricci/struct_members.hpp: the members of a struct, for a function that takes all of them.
//
// C++20 has no reflection: the number of members of a plain struct is how many values of any type can initialise it,
// and structured bindings name them. An array among the members would count once per element, so it is a std::array.
// Bindings cannot name private members, nor those of a base class and of the class itself together, and nothing in
// C++20 says which class a base is (Boost.PFR and glaze refuse such structs too), so the owner of such a class lists
// them in TreeMembers, in one line.
#ifndef RICCI_STRUCT_MEMBERS_HPP_
#define RICCI_STRUCT_MEMBERS_HPP_
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ricci/many_members.hpp"

namespace ricci { inline namespace v0 {

// The members of a class that is not a plain struct, as a specialization: of a class of another library, of one with a
// base class or constructors, or, as a friend of it, of one with private members.
//
//   template <class T> struct ricci::TreeMembers<Layer<T>> {
//     static auto of(auto& layer) { return std::tie(layer.weights, layer.bias); }  // a Layer<T> or const Layer<T>
//   };
//
// A tree like another one is made by the default constructor and assignments to the members; what is not listed stays
// as the constructor left it. `template <class To> using rebind` in it is the class over the leaf To, if the class is
// not a template over its types alone.
template <typename T>
struct TreeMembers {};
template <typename T>
concept ListsMembers = requires(T& t) {
  TreeMembers<std::remove_const_t<T>>::of(t);
};

template <typename Owner>
struct AnyMember {
  template <typename T>
  requires(!std::same_as<std::remove_cvref_t<T>, Owner>) operator T() const {  // NOLINT
    __builtin_unreachable();
  }
};
inline constexpr size_t kMaxMembers = 64, kFewMembers = 16;
template <typename T, size_t... kIndex>
consteval bool TakesMembers(std::index_sequence<kIndex...>) {
  return requires { T{(static_cast<void>(kIndex), AnyMember<T>{})...}; };
}
// Few members are counted down, because a last one without a default constructor must have a value; more are counted
// up, which takes as many steps as there are members beyond.
template <typename T, size_t kCount>
consteval size_t CountDown() {
  if constexpr (TakesMembers<T>(std::make_index_sequence<kCount>()))
    return kCount;
  else if constexpr (kCount > 0)
    return CountDown<T, kCount - 1>();
  return 0;
}
template <typename T, size_t kCount>
consteval size_t CountUp() {
  if constexpr (kCount <= kMaxMembers && TakesMembers<T>(std::make_index_sequence<kCount + 1>()))
    return CountUp<T, kCount + 1>();
  return kCount;
}
template <typename T>
consteval size_t MemberCount() {
  if constexpr (TakesMembers<T>(std::make_index_sequence<kFewMembers + 1>())) return CountUp<T, kFewMembers + 1>();
  return CountDown<T, kFewMembers>();
}
// Whether member kIndex, counted in values of any type, is the first element of an array: braces around two values
// there initialise the whole array, so fewer values fit after it.
template <typename T, size_t kIndex, size_t... kBefore, size_t... kAfter>
consteval bool IsArrayMember(std::index_sequence<kBefore...>, std::index_sequence<kAfter...>) {
  constexpr bool kTakesBraces = requires {
    T{(static_cast<void>(kBefore), AnyMember<T>{})..., {AnyMember<T>{}, AnyMember<T>{}}};
  };
  constexpr bool kIsOne = requires {
    T{(static_cast<void>(kBefore), AnyMember<T>{})...,
      {AnyMember<T>{}, AnyMember<T>{}},
      (static_cast<void>(kAfter), AnyMember<T>{})...};
  };
  return kTakesBraces && !kIsOne;
}
// Whether T has a base class, whose members its own bindings do not name.
template <typename T>
struct AnyBase {
  template <typename Base>
  requires(std::is_base_of_v<Base, T> && !std::same_as<Base, T>) operator Base() const {  // NOLINT
    __builtin_unreachable();
  }
};
template <typename T>
consteval bool HasBase() {
  return requires { T{AnyBase<T>{}}; };
}
template <typename T, size_t kCount>
consteval bool HoldsArray() {
  return []<size_t... kIndex>(std::index_sequence<kIndex...>) {
    return (
        IsArrayMember<T, kIndex>(std::make_index_sequence<kIndex>(), std::make_index_sequence<kCount - kIndex - 1>()) ||
        ...);
  }
  (std::make_index_sequence<kCount>());
}
// visit(members...) of a plain struct of kCount members.
template <size_t kCount, typename S, typename Visit>
decltype(auto) WithPlainMembers(S& s, Visit& visit) {
  if constexpr (kCount == 0) {
    return visit();
  } else if constexpr (kCount == 1) {
    auto& [a] = s;
    return visit(a);
  } else if constexpr (kCount == 2) {
    auto& [a, b] = s;
    return visit(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = s;
    return visit(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = s;
    return visit(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = s;
    return visit(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = s;
    return visit(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = s;
    return visit(a, b, c, d, e, f, g);
  } else if constexpr (kCount == 8) {
    auto& [a, b, c, d, e, f, g, h] = s;
    return visit(a, b, c, d, e, f, g, h);
  } else if constexpr (kCount == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = s;
    return visit(a, b, c, d, e, f, g, h, i);
  } else if constexpr (kCount == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = s;
    return visit(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (kCount == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = s;
    return visit(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (kCount == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = s;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (kCount == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = s;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (kCount == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = s;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (kCount == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = s;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (kCount == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = s;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  } else {
    return WithManyMembers<kCount>(s, visit);
  }
}
// visit(members...) of `s`, a plain struct or one whose members are listed.
template <typename S, typename Visit>
decltype(auto) WithMembers(S& s, Visit&& visit) {
  using T = std::remove_const_t<S>;
  if constexpr (ListsMembers<S>) {
    return std::apply(visit, TreeMembers<T>::of(s));
  } else {
    static_assert(!HasBase<T>(),
                  "a struct in a tree has a base class, and C++20 names no members of two classes; list those of both: "
                  "template <class T> struct ricci::TreeMembers<S<T>> { static auto of(auto& s) { return std::tie(s.a, "
                  "s.b); } };");
    constexpr size_t kCount = HasBase<T>() ? 0 : MemberCount<T>();
    static_assert(!HoldsArray<T, kCount>(), "a struct in a tree holds an array T w[N]; use std::array<T, N>");
    static_assert(kCount <= kMaxMembers,
                  "a struct in a tree has more than 64 members; nest some in a struct of their own");
    return WithPlainMembers < kCount <= kMaxMembers ? kCount : 0 > (s, visit);
  }
}

}}  // namespace ricci::v0
#endif
