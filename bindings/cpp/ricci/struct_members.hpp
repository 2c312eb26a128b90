// ricci/struct_members.hpp: the members of a plain struct as a tuple of references.
//
// C++20 has no reflection: the number of members is how many values of any type can initialise the struct, and
// structured bindings name them. An array among the members would count once per element, so it is a std::array.
#ifndef RICCI_STRUCT_MEMBERS_HPP_
#define RICCI_STRUCT_MEMBERS_HPP_
#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ricci::inline v0 {

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
// The members of `s` as a tuple of references.
template <typename S>
auto Members(S& s) {
  constexpr size_t kCount = MemberCount<std::remove_const_t<S>>();
  static_assert(!TakesMembers<std::remove_const_t<S>>(std::make_index_sequence<kMaxMembers + 1>()),
                "a struct in a tree may have up to 16 members");
  if constexpr (kCount == 0) {
    return std::tie();
  } else if constexpr (kCount == 1) {
    auto& [a] = s;
    return std::tie(a);
  } else if constexpr (kCount == 2) {
    auto& [a, b] = s;
    return std::tie(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = s;
    return std::tie(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = s;
    return std::tie(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = s;
    return std::tie(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = s;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = s;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (kCount == 8) {
    auto& [a, b, c, d, e, f, g, h] = s;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (kCount == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = s;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (kCount == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (kCount == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (kCount == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (kCount == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (kCount == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (kCount == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = s;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
}

}  // namespace ricci::inline v0
#endif
