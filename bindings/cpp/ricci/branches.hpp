// ricci/branches.hpp: cond and switch_, of which only the chosen branch runs.
//
// Only inside of a trace. Branches take the operands and may capture any outer Value; every branch gets the captures of
// all branches.
#ifndef RICCI_BRANCHES_HPP_
#define RICCI_BRANCHES_HPP_
#include "ricci/callable.hpp"

namespace ricci { inline namespace v0 {

// The index that a predicate is, and that of a switch, checked.
Value IndexOfPredicate(const CallSite& site, const Operand& pred);
Value IndexOfBranch(const CallSite& site, const Operand& index);
// Branches as users name them: those of cond are the false and the true one.
enum class Branching { kCond, kSwitch };
// The results of the chosen branch.
Values ChooseLeaves(const CallSite& site, Branching kind, const Value& index, std::span<const LeafFunction> branches,
                    const Values& operands);
// Throws because static parts of results differ.
[[noreturn]] void FailOnBranch(const CallSite& site, Branching kind, size_t branch);

template <typename... F, typename... T>
[[gnu::cold]] auto Choose(const CallSite& site, Branching kind, const Value& index,
                          const std::tuple<const F&...>& branches, const std::tuple<T...>& args) {
  auto traced = std::apply([&](const F&... f) { return std::make_tuple(TracedFunction(f, args)...); }, branches);
  return std::apply(
      [&](auto& first, auto&... rest) {
        using Out = typename std::remove_reference_t<decltype(first)>::Out;
        static_assert((std::same_as<Out, typename std::remove_reference_t<decltype(rest)>::Out> && ...),
                      "all branches of cond and switch_ must give results of one type");
        const LeafFunction functions[] = {first, rest...};
        const Values all = ChooseLeaves(site, kind, index, functions, LeavesOfAll<Value>(args));
        size_t number = 0;
        ((++number, SameStructure(first.out(), rest.out()) ? void() : FailOnBranch(site, kind, number)), ...);
        return Fill<Value>(first.out(), all);
      },
      traced);
}

// pred ? on_true(operands...) : on_false(operands...). `pred` is a bool scalar.
template <typename True, typename False, typename... T>
auto cond(const Operand& pred, const True& on_true, const False& on_false, const T&... operands) {
  const CallSite site = SiteOfTrees("cond", pred.at, ValueOf(pred), operands...);
  const std::tuple<Traced<T>...> lifted{LiftTree(site, operands)...};
  return Choose(site, Branching::kCond, IndexOfPredicate(site, pred),
                std::tuple<const False&, const True&>(on_false, on_true), lifted);
}
// branches[index](operands...); the index is clamped to the branches there are. `branches` is a std::tuple of
// callables.
template <typename... F, typename... T>
auto switch_(const Operand& index, const std::tuple<F...>& branches, const T&... operands) {
  static_assert(sizeof...(F) > 0, "switch_ needs at least one branch");
  const CallSite site = SiteOfTrees("switch_", index.at, ValueOf(index), operands...);
  const std::tuple<Traced<T>...> lifted{LiftTree(site, operands)...};
  return Choose(site, Branching::kSwitch, IndexOfBranch(site, index),
                std::apply([](const F&... f) { return std::tuple<const F&...>(f...); }, branches), lifted);
}

}}  // namespace ricci::v0
#endif
