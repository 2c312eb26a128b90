// ricci/struct_members.hpp: the members of a plain struct, for a function that takes all of them.
//
// C++20 has no reflection: the number of members is how many values of any type can initialise the struct, and
// structured bindings name them. An array among the members would count once per element, so it is a std::array.
#ifndef RICCI_STRUCT_MEMBERS_HPP_
#define RICCI_STRUCT_MEMBERS_HPP_
#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace ricci { inline namespace v0 {

template <typename Owner>
struct AnyMember {
  template <typename T>
  requires(!std::same_as<std::remove_cvref_t<T>, Owner>) operator T() const {  // NOLINT
    __builtin_unreachable();
  }
};
inline constexpr size_t kMaxMembers = 16;
template <typename T, size_t... kIndex>
consteval bool TakesMembers(std::index_sequence<kIndex...>) {
  return requires { T{(static_cast<void>(kIndex), AnyMember<T>{})...}; };
}
template <typename T, size_t kCount = kMaxMembers>
consteval size_t MemberCount() {
  if constexpr (TakesMembers<T>(std::make_index_sequence<kCount>()))
    return kCount;
  else if constexpr (kCount > 0)
    return MemberCount<T, kCount - 1>();
  return 0;
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
template <typename T, size_t kCount>
consteval bool HoldsArray() {
  return []<size_t... kIndex>(std::index_sequence<kIndex...>) {
    return (
        IsArrayMember<T, kIndex>(std::make_index_sequence<kIndex>(), std::make_index_sequence<kCount - kIndex - 1>()) ||
        ...);
  }
  (std::make_index_sequence<kCount>());
}
// visit(members...) of the plain struct `s`.
template <typename S, typename Visit>
decltype(auto) WithMembers(S& s, Visit&& visit) {
  using T = std::remove_const_t<S>;
  constexpr size_t kCount = MemberCount<T>();
  static_assert(!HoldsArray<T, kCount>(), "a struct in a tree holds an array T w[N]; use std::array<T, N>");
  static_assert(!TakesMembers<T>(std::make_index_sequence<kMaxMembers + 1>()),
                "a struct in a tree may have up to 16 members");
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
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = s;
    return visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
}

}}  // namespace ricci::v0
#endif
