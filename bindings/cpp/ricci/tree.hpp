// ricci/tree.hpp: structures whose leaves are Values or Arrays, as arguments and results (pytrees).
//
// A tree is a leaf, or a std::vector, array, tuple, pair, optional or map of trees, or a plain struct (an aggregate of
// up to 64 members, without a base class), or a class whose owner lists its members in TreeMembers
// (struct_members.hpp). The same tree with other leaves is the same template with another argument, so a struct that
// crosses jit is a template over its leaf:
//
//   template <class T> struct Params { T w, b; };   // Params<Array> outside of a traced function, Params<Value> inside
//
// Anything else in a tree (numbers, texts, enums, a Static) is part of its structure: it reaches the traced function as
// it is, and for another value the function is traced again. LeavesOf lists the leaves of a tree, Fill replaces them,
// and tree_map (tree_map.hpp) applies a function to each.
#ifndef RICCI_TREE_HPP_
#define RICCI_TREE_HPP_
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ricci/operand.hpp"
#include "ricci/small_list.hpp"
#include "ricci/struct_members.hpp"

namespace ricci { inline namespace v0 {

// Only shape and dtype, the leaf of eval_shape.
struct ShapeDType {
  Shape shape = {};
  DType dtype = DType::kNone;
  bool operator==(const ShapeDType&) const = default;
};
// A tree without leaves, for a scan without inputs or outputs.
struct None {};
// A value known when the function is traced.
template <typename T>
struct Static {
  T value;
};

template <typename T>
concept Leaf = std::same_as<T, Value> || std::same_as<T, Array> || std::same_as<T, ShapeDType>;

// ---- the same tree over other leaves ----
template <typename T, typename To>
struct Rebound {
  using type = T;
};
template <typename T, typename To>
using Rebind = typename Rebound<T, To>::type;
template <Leaf T, typename To>
struct Rebound<T, To> {
  using type = To;
};
template <typename T, typename To>
struct Rebound<const T, To> {
  using type = const Rebind<T, To>;
};
template <typename T>
concept ListsRebind = requires {
  std::type_identity<typename TreeMembers<T>::template rebind<Value>>();
};
template <template <typename...> class Tree, typename... Parts, typename To>
requires(!ListsRebind<Tree<Parts...>>) struct Rebound<Tree<Parts...>, To> {
  using type = Tree<Rebind<Parts, To>...>;
};
template <ListsRebind T, typename To>
struct Rebound<T, To> {
  using type = typename TreeMembers<T>::template rebind<To>;
};
template <typename T, size_t kSize, typename To>
struct Rebound<std::array<T, kSize>, To> {
  using type = std::array<Rebind<T, To>, kSize>;
};

// ---- kinds of nodes ----
template <typename T>
inline constexpr bool kIsStatic = false;
template <typename T>
inline constexpr bool kIsStatic<Static<T>> = true;
template <typename T>
concept StaticNode = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, std::string> || kIsStatic<T>;
template <typename T>
concept TupleNode = !StaticNode<T> && !ListsMembers<T> && requires {
  std::tuple_size<T>::value;
};
template <typename T>
concept OptionalNode = !ListsMembers<T> && requires(const T& t) {
  typename T::value_type;
  { t.has_value() } -> std::same_as<bool>;
};
template <typename T>
concept MapNode = !ListsMembers<T> && requires {
  typename T::mapped_type;
  typename T::key_compare;
};
template <typename T>
concept ListNode = !StaticNode<T> && !ListsMembers<T> && !requires {
  typename T::key_type;
}
&&!TupleNode<T> && requires(T & t) {
  typename T::value_type;
  t.begin();
  t.push_back(typename T::value_type());
};
template <typename T>
concept StructNode = ListsMembers<T> ||
    (std::is_aggregate_v<T> && !Leaf<T> && !StaticNode<T> && !TupleNode<T> && !ListNode<T>);
// Everything else must be a struct.
template <typename T>
consteval void WantStruct() {
  static_assert(!std::is_array_v<T>, "a struct in a tree holds an array T w[N]; use std::array<T, N>");
  static_assert(StructNode<T>,
                "a tree is made of Values or Arrays, numbers, texts, plain structs, and std::vector, array, tuple, "
                "pair, optional and map of trees; for another class list its members in ricci::TreeMembers");
}
// The S of these members, in order; it lists them.
template <typename S, typename Members>
S FilledStruct(Members&& members) {
  S out;
  TreeMembers<S>::of(out) = std::forward<Members>(members);
  return out;
}

// ---- walking ----
// Functions of leaves are types with a name here, not lambdas: a walk over a tree is then compiled once for all its
// uses. Calls `f` on every leaf in order: members in order of declaration, maps in order of keys.
template <typename Tree, typename F>
void ForEachLeaf(Tree& tree, F& f) {
  using T = std::remove_const_t<Tree>;
  if constexpr (Leaf<T>) {
    f(tree);
  } else if constexpr (StaticNode<T>) {
    return;
  } else if constexpr (TupleNode<T>) {
    std::apply([&](auto&... parts) { (ForEachLeaf(parts, f), ...); }, tree);
  } else if constexpr (OptionalNode<T>) {
    if (tree) ForEachLeaf(*tree, f);
  } else if constexpr (MapNode<T>) {
    for (auto& [key, part] : tree) ForEachLeaf(part, f);
  } else if constexpr (ListNode<T>) {
    for (auto& part : tree) ForEachLeaf(part, f);
  } else {
    WantStruct<T>();
    WithMembers(tree, [&](auto&... parts) { (ForEachLeaf(parts, f), ...); });
  }
}
// The same tree with f(leaf), a To, for every leaf.
template <typename To, typename T, typename F>
Rebind<T, To> MapLeaves(const T& tree, F& f) {
  using Out = Rebind<T, To>;
  if constexpr (Leaf<T>) {
    return f(tree);
  } else if constexpr (StaticNode<T>) {
    return tree;
  } else if constexpr (TupleNode<T>) {
    return std::apply([&](const auto&... parts) { return Out{MapLeaves<To>(parts, f)...}; }, tree);
  } else if constexpr (OptionalNode<T>) {
    return tree ? Out(MapLeaves<To>(*tree, f)) : Out();
  } else if constexpr (MapNode<T>) {
    Out out;
    for (const auto& [key, part] : tree) out.emplace_hint(out.end(), key, MapLeaves<To>(part, f));
    return out;
  } else if constexpr (ListNode<T>) {
    Out out;
    for (const auto& part : tree) out.push_back(MapLeaves<To>(part, f));
    return out;
  } else {
    WantStruct<T>();
    return WithMembers(tree, [&](const auto&... parts) {
      if constexpr (ListsMembers<Out>)
        return FilledStruct<Out>(
            std::tuple<Rebind<std::remove_cvref_t<decltype(parts)>, To>...>{MapLeaves<To>(parts, f)...});
      else
        return Out{MapLeaves<To>(parts, f)...};
    });
  }
}

// Compiled once: a host calls them for every tree.
void AppendLeaf(Values& out, const Value& leaf);
void AppendLeaf(Arrays& out, const Array& leaf);
inline void AppendLeaf(std::vector<ShapeDType>& out, const ShapeDType& leaf) { out.push_back(leaf); }
template <typename L>
struct LeafCollector {
  std::vector<L>& out;
  void operator()(const L& leaf) { AppendLeaf(out, leaf); }
};
struct LeafCounter {
  size_t n = 0;
  template <typename L>
  void operator()(const L&) {
    ++n;
  }
};
template <typename L>
struct LeafSource {
  const L* next;
  template <typename Like>
  const L& operator()(const Like&) {
    return *next++;
  }
};

template <typename L, typename Tree>
void AppendLeaves(std::vector<L>& out, const Tree& tree) {
  LeafCollector<L> collect{out};
  ForEachLeaf(tree, collect);
}
// All leaves of a tree, in order; they are of type L: LeavesOf<Array>(params).
template <typename L, typename Tree>
std::vector<L> LeavesOf(const Tree& tree) {
  std::vector<L> out;
  AppendLeaves(out, tree);
  return out;
}
template <typename Tree>
size_t LeafCount(const Tree& tree) {
  LeafCounter count;
  ForEachLeaf(tree, count);
  return count.n;
}
// The structure of `like` filled with leaves[next], leaves[next + 1], ...
template <typename L, typename Tree>
Rebind<Tree, L> Fill(const Tree& like, std::span<const L> leaves, size_t& next) {
  LeafSource<L> source{leaves.data() + next};
  Rebind<Tree, L> out = MapLeaves<L>(like, source);
  next = static_cast<size_t>(source.next - leaves.data());
  return out;
}
// The structure of `like` with other leaves, as many as it has: the inverse of LeavesOf.
template <typename L, typename Tree>
Rebind<Tree, L> Fill(const Tree& like, const std::vector<L>& leaves) {
  LeafSource<L> source{leaves.data()};
  return MapLeaves<L>(like, source);
}

// ---- what a tree holds ----
template <typename T, typename L>
consteval bool LeavesAre();
template <typename... Parts>
struct TypeList {
  template <typename L>
  static constexpr bool kAllAre = (LeavesAre<Parts, L>() && ...);
};
struct MemberTypes {
  template <typename... Parts>
  TypeList<std::remove_cvref_t<Parts>...> operator()(Parts&...) const {
    return {};
  }
};
// Whether every leaf of T is an L.
template <typename T, typename L>
consteval bool LeavesAre() {
  if constexpr (Leaf<T>) {
    return std::same_as<T, L>;
  } else if constexpr (StaticNode<T>) {
    return true;
  } else if constexpr (TupleNode<T>) {
    return []<size_t... kIndex>(std::index_sequence<kIndex...>) {
      return (LeavesAre<std::remove_cvref_t<std::tuple_element_t<kIndex, T>>, L>() && ...);
    }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (MapNode<T>) {
    return LeavesAre<typename T::mapped_type, L>();
  } else if constexpr (OptionalNode<T> || ListNode<T>) {
    return LeavesAre<typename T::value_type, L>();
  } else if constexpr (StructNode<T>) {
    return decltype(WithMembers(std::declval<T&>(), MemberTypes()))::template kAllAre<L>;
  } else {
    WantStruct<T>();
    return true;  // reported already
  }
}
// Whether a Value is among the leaves.
template <typename T>
inline constexpr bool kHoldsValue = !std::same_as<T, Rebind<T, Array>> && !std::same_as<T, Rebind<T, ShapeDType>>;

// Appends what distinguishes this tree from others of its type: sizes, keys, numbers, texts. `on_leaf` gets the leaves.
using TreeKey = SmallList<uint64_t, 32>;
void AppendBytes(TreeKey& key, const void* data, size_t size);
template <typename T>
void AppendStatic(TreeKey& key, const T& value) {
  if constexpr (requires {
                  value.data();
                  value.size();
                }) {
    AppendBytes(key, value.data(), value.size() * sizeof(*value.data()));
  } else {
    static_assert(std::is_trivially_copyable_v<T>, "a static value must be a number, an enum or a text");
    AppendBytes(key, &value, sizeof value);
  }
}
template <typename T, typename OnLeaf>
void AppendKey(TreeKey& key, const T& tree, OnLeaf& on_leaf) {
  if constexpr (Leaf<T>) {
    on_leaf(tree);
  } else if constexpr (kIsStatic<T>) {
    AppendStatic(key, tree.value);
  } else if constexpr (StaticNode<T>) {
    AppendStatic(key, tree);
  } else if constexpr (TupleNode<T>) {
    std::apply([&](const auto&... parts) { (AppendKey(key, parts, on_leaf), ...); }, tree);
  } else if constexpr (OptionalNode<T>) {
    key.push_back(tree.has_value());
    if (tree) AppendKey(key, *tree, on_leaf);
  } else if constexpr (MapNode<T>) {
    key.push_back(tree.size());
    for (const auto& [name, part] : tree) {
      AppendStatic(key, name);
      AppendKey(key, part, on_leaf);
    }
  } else if constexpr (ListNode<T>) {
    key.push_back(tree.size());
    for (const auto& part : tree) AppendKey(key, part, on_leaf);
  } else {
    WantStruct<T>();
    WithMembers(tree, [&](const auto&... parts) { (AppendKey(key, parts, on_leaf), ...); });
  }
}
struct SkipLeaf {
  template <typename L>
  void operator()(const L&) {}
};
// Whether a tree can differ from others of its type in more than its leaves.
template <typename T>
consteval bool HasFixedStructure() {
  return Leaf<T> || std::is_empty_v<T>;
}
// Whether sizes, keys and static values are the same.
template <typename A, typename B>
bool SameStructure(const A& a, const B& b) {
  if constexpr (HasFixedStructure<A>() && HasFixedStructure<B>()) {
    return true;
  } else {
    TreeKey key_a, key_b;
    SkipLeaf skip;
    AppendKey(key_a, a, skip);
    AppendKey(key_b, b, skip);
    return key_a == key_b;
  }
}

}}  // namespace ricci::v0
#endif
