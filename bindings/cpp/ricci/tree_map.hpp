// ricci/tree_map.hpp: tree_map(f, trees...), f on the leaves of trees of one structure.
//
// The usual update of parameters is one line:
//
//   tree_map([&](Value p, Value g) { return p - rate * g; }, params, grads)
#ifndef RICCI_TREE_MAP_HPP_
#define RICCI_TREE_MAP_HPP_
#include "ricci/tree.hpp"

namespace ricci { inline namespace v0 {

// The one type of the leaves of T.
template <typename T>
consteval auto LeafOf() {
  static_assert(LeavesAre<T, Value>() || LeavesAre<T, Array>() || LeavesAre<T, ShapeDType>(),
                "the leaves of a tree given to tree_map or a reduction are all Values, all Arrays or all shapes");
  if constexpr (LeavesAre<T, Value>()) {
    return std::type_identity<Value>();
  } else if constexpr (LeavesAre<T, Array>()) {
    return std::type_identity<Array>();
  } else {
    return std::type_identity<ShapeDType>();
  }
}
template <typename T>
using LeafType = typename decltype(LeafOf<T>())::type;
// Throws because tree number `tree` of `name` has another structure than the first.
[[noreturn]] void FailOnTrees(std::string_view name, const Location& at, size_t tree);

template <typename F, typename T, typename... Rest>
auto MapTrees(const Location& at, const F& f, const T& tree, const Rest&... rest) {
  static_assert(std::is_invocable_v<const F&, const LeafType<T>&, const LeafType<Rest>&...>,
                "the function given to tree_map takes one leaf of each tree");
  using R = std::invoke_result_t<const F&, const LeafType<T>&, const LeafType<Rest>&...>;
  static_assert(!std::is_void_v<R>, "the function given to tree_map returns nothing; return its result");
  using To = std::remove_cvref_t<R>;
  size_t number = 0;
  ((++number, SameStructure(tree, rest) ? void() : FailOnTrees("tree_map", at, number)), ...);
  const std::tuple<std::vector<LeafType<Rest>>...> others(LeavesOf<LeafType<Rest>>(rest)...);
  size_t i = 0;
  auto on_leaf = [&](const LeafType<T>& leaf) -> To {
    const size_t k = i++;
    return std::apply([&](const auto&... lists) { return f(leaf, lists[k]...); }, others);
  };
  return MapLeaves<To>(tree, on_leaf);
}

// The structure of `tree` with f(leaf of tree, leaf of each other tree...) in the place of each leaf. All trees have
// one structure: sizes, keys and numbers in them are the same. f may return any type; if it returns a Value, the result
// is again a tree of Values. Leaves are visited in order, those of maps in order of keys. (JAX: jax.tree.map.)
template <typename F, typename T>
auto tree_map(const F& f, const T& tree, Location at = Location::Here()) {
  return MapTrees(at, f, tree);
}
template <typename F, typename T, typename U>
requires(!std::same_as<U, Location>) auto tree_map(const F& f, const T& tree, const U& other,
                                                   Location at = Location::Here()) {
  return MapTrees(at, f, tree, other);
}
template <typename F, typename T, typename U, typename V>
requires(!std::same_as<V, Location>) auto tree_map(const F& f, const T& tree, const U& second, const V& third,
                                                   Location at = Location::Here()) {
  return MapTrees(at, f, tree, second, third);
}
template <typename F, typename T, typename... Rest>
requires(sizeof...(Rest) > 2) auto tree_map(const F& f, const T& tree, const Rest&... rest) {
  return MapTrees({}, f, tree, rest...);
}

}}  // namespace ricci::v0
#endif
