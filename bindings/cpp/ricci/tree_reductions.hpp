// ricci/tree_reductions.hpp: a tree of Values or Arrays as one vector or one number: jax.tree, jax.flatten_util, and
// the sums of optax.tree.
#ifndef RICCI_TREE_REDUCTIONS_HPP_
#define RICCI_TREE_REDUCTIONS_HPP_
#include "ricci/creation.hpp"
#include "ricci/tree_map.hpp"

namespace ricci { inline namespace v0 {

// All leaves as one vector, and the function that makes such a tree of a vector: jax.flatten_util.ravel_pytree.
Value RavelLeaves(const Values& leaves, const Location& at);
Values UnravelLeaves(const Values& like, const Operand& flat);
template <typename Tree>
auto ravel_pytree(const Tree& tree, Location at = Location::Here()) {
  Values leaves = LeavesOf<Value>(tree);
  Value flat = RavelLeaves(leaves, at);
  auto unravel = [tree, leaves](const Operand& v) { return Fill<Value>(tree, UnravelLeaves(leaves, v)); };
  return std::pair(flat, unravel);
}
// The leaves in order. (JAX: jax.tree.leaves.)
template <typename Tree>
auto tree_leaves(const Tree& tree) {
  return LeavesOf<LeafType<Tree>>(tree);
}
[[noreturn]] void FailOnNoLeaves(std::string_view name, const Location& at);
// f(f(initial, leaf 0), leaf 1), ...; without `initial` from leaf 0 on. (JAX: jax.tree.reduce.)
template <typename F, typename Tree>
Value tree_reduce(const F& f, const Tree& tree, const Operand& initial) {
  const Values leaves = LeavesOf<Value>(tree);
  if (leaves.empty()) FailOnNoLeaves("tree_reduce", initial.at);
  Value out = constant(Operand(leaves[0], initial.at), initial);
  for (const Value& leaf : leaves) out = f(out, leaf);
  return out;
}
template <typename F, typename Tree>
auto tree_reduce(const F& f, const Tree& tree, Location at = Location::Here()) {
  auto leaves = tree_leaves(tree);
  if (leaves.empty()) FailOnNoLeaves("tree_reduce", at);
  auto out = std::move(leaves[0]);
  for (size_t i = 1; i < leaves.size(); ++i) out = f(out, leaves[i]);
  return out;
}
// They refer to the leaves.
template <typename L>
std::vector<Operand> OperandsOf(const std::vector<L>& leaves, const Location& at) {
  std::vector<Operand> out;
  for (const L& leaf : leaves) out.emplace_back(leaf, at);
  return out;
}
Value SumOfLeaves(std::span<const Operand> leaves, const Location& at);
Value VdotOfLeaves(std::span<const Operand> a, std::span<const Operand> b, const Location& at);
Value NormOfLeaves(std::span<const Operand> leaves, const Location& at);
// The sum of all elements of all leaves. (optax.tree.sum, as those below.)
template <typename Tree>
Value tree_sum(const Tree& tree, Location at = Location::Here()) {
  const auto leaves = tree_leaves(tree);
  return SumOfLeaves(OperandsOf(leaves, at), at);
}
// The inner product of trees of one structure, with the conjugate of the first.
template <typename Tree, typename Other>
Value tree_vdot(const Tree& a, const Other& b, Location at = Location::Here()) {
  if (!SameStructure(a, b)) FailOnTrees("tree_vdot", at, 1);
  const auto first = tree_leaves(a);
  const auto second = tree_leaves(b);
  return VdotOfLeaves(OperandsOf(first, at), OperandsOf(second, at), at);
}
// The root of the sum of the squares of all elements.
template <typename Tree>
Value tree_norm(const Tree& tree, Location at = Location::Here()) {
  const auto leaves = tree_leaves(tree);
  return NormOfLeaves(OperandsOf(leaves, at), at);
}

}}  // namespace ricci::v0
#endif
