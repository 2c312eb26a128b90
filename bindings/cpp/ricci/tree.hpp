// ricci/tree.hpp: structures whose leaves are Values or Arrays, as arguments and results (pytrees).
//
// A tree is a leaf, or a std::vector, array, tuple, pair, optional or map of trees, or a plain struct (an aggregate of
// up to 16 members). The same tree with other leaves is the same template with another argument, so a struct that
// crosses jit is a template over its leaf:
//
//   template <class T> struct Params { T w, b; };   // Params<Array> outside of a traced function, Params<Value> inside
//
// Anything else in a tree (numbers, texts, enums, a Static) is part of its structure: it reaches the traced function as
// it is, and another value traces anew.
#ifndef RICCI_TREE_HPP_
#define RICCI_TREE_HPP_
#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ricci/operand.hpp"

namespace ricci::inline v0 {

// Shape and dtype alone, the leaf of eval_shape.
struct ShapeDType {
  Shape shape;
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
template <template <typename...> class Tree, typename... Parts, typename To>
struct Rebound<Tree<Parts...>, To> {
  using type = Tree<Rebind<Parts, To>...>;
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
concept TupleNode = !StaticNode<T> && requires {
  std::tuple_size<T>::value;
};
template <typename T>
concept OptionalNode = requires(const T& t) {
  typename T::value_type;
  { t.has_value() } -> std::same_as<bool>;
};
template <typename T>
concept MapNode = requires {
  typename T::mapped_type;
};
template <typename T>
concept ListNode = !StaticNode<T> && !MapNode<T> && !TupleNode<T> && requires(T & t) {
  typename T::value_type;
  t.begin();
  t.push_back(typename T::value_type());
};
template <typename T>
concept StructNode = std::is_aggregate_v<T> && !Leaf<T> && !StaticNode<T> && !TupleNode<T> && !ListNode<T>;

// ---- members of a struct ----
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

// ---- walking ----
// Calls `f` on every leaf in order: members in order of declaration, maps in order of keys.
template <typename Tree, typename F>
void ForEachLeaf(Tree& tree, F&& f) {
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
    static_assert(StructNode<T>, "this type is no tree of Values or Arrays");
    std::apply([&](auto&... parts) { (ForEachLeaf(parts, f), ...); }, Members(tree));
  }
}
// The same tree with f(leaf), a To, for every leaf.
template <typename To, typename T, typename F>
Rebind<T, To> MapLeaves(const T& tree, F&& f) {
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
    static_assert(StructNode<T>, "this type is no tree of Values or Arrays");
    return std::apply([&](const auto&... parts) { return Out{MapLeaves<To>(parts, f)...}; }, Members(tree));
  }
}

template <typename L, typename Tree>
void AppendLeaves(std::vector<L>& out, const Tree& tree) {
  ForEachLeaf(tree, [&](const L& leaf) { out.push_back(leaf); });
}
template <typename L, typename Tree>
std::vector<L> LeavesOf(const Tree& tree) {
  std::vector<L> out;
  AppendLeaves(out, tree);
  return out;
}
template <typename Tree>
size_t LeafCount(const Tree& tree) {
  size_t n = 0;
  ForEachLeaf(tree, [&](const auto&) { ++n; });
  return n;
}
// The structure of `like` filled with leaves[next], leaves[next + 1], ...
template <typename L, typename Tree>
Rebind<Tree, L> Fill(const Tree& like, std::span<const L> leaves, size_t& next) {
  return MapLeaves<L>(like, [&](const auto&) { return leaves[next++]; });
}
template <typename L, typename Tree>
Rebind<Tree, L> Fill(const Tree& like, const std::vector<L>& leaves) {
  size_t next = 0;
  return Fill<L>(like, std::span<const L>(leaves), next);
}

// ---- what a tree holds ----
// Whether a leaf of type L occurs in T.
template <typename T, typename L>
inline constexpr bool kHolds = !std::same_as<T, Rebind<T, std::conditional_t<std::same_as<L, Value>, Array, Value>>> &&
                               std::same_as<T, Rebind<T, L>>;

// Appends what tells this tree from others of its type: types of leaves, sizes, keys, numbers, texts.
using TreeKey = std::vector<uint64_t>;
inline void AppendBytes(TreeKey& key, const void* data, size_t size) {
  key.push_back(size);
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(data) + i, std::min<size_t>(8, size - i));
    key.push_back(word);
  }
}
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
template <typename T>
void AppendKey(TreeKey& key, const T& tree) {
  if constexpr (std::same_as<T, Array>) {
    key.push_back(tree.empty() ? 0 : tree.type_id());
  } else if constexpr (kIsStatic<T>) {
    AppendStatic(key, tree.value);
  } else if constexpr (StaticNode<T>) {
    AppendStatic(key, tree);
  } else if constexpr (TupleNode<T>) {
    std::apply([&](const auto&... parts) { (AppendKey(key, parts), ...); }, tree);
  } else if constexpr (OptionalNode<T>) {
    key.push_back(tree.has_value());
    if (tree) AppendKey(key, *tree);
  } else if constexpr (MapNode<T>) {
    key.push_back(tree.size());
    for (const auto& [name, part] : tree) {
      AppendStatic(key, name);
      AppendKey(key, part);
    }
  } else if constexpr (ListNode<T>) {
    key.push_back(tree.size());
    for (const auto& part : tree) AppendKey(key, part);
  } else {
    std::apply([&](const auto&... parts) { (AppendKey(key, parts), ...); }, Members(tree));
  }
}

}  // namespace ricci::inline v0
#endif
