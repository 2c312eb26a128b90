// ricci/loops.hpp: scan, while_loop and fori_loop over trees of Values.
//
// Only inside of a trace. Lambdas may capture any outer Value: captures become constants of the loop.
#ifndef RICCI_LOOPS_HPP_
#define RICCI_LOOPS_HPP_
#include "ricci/callable.hpp"

namespace ricci { inline namespace v0 {

struct ScanOptions {
  int64_t length = -1;  // needed only without inputs
  bool reverse = false;
  int64_t unroll = 1;
};
struct WhileOptions {
  int64_t max_trips = -1;  // with a bound reverse mode can differentiate it; exceeding the bound is an error
};

// The last carry, then the stacked outputs. `n_carry`: how many leaves of the body's result are its next carry; set
// when the body is traced.
Values ScanLeaves(const CallSite& site, LeafFunction body, const size_t& n_carry, const Values& carry,
                  const Values& inputs, const ScanOptions& options);
Values WhileLeaves(const CallSite& site, LeafFunction condition, LeafFunction body, const Values& carry,
                   const WhileOptions& options);
// The carry after f(i, carry) for i = first, ..., last - 1.
Values CountLeaves(const CallSite& site, LeafFunction f, const Operand& first, const Operand& last,
                   const Values& carry);
// Throws because the static parts of a carry changed.
[[noreturn]] void FailOnCarry(const CallSite& site);

// A pair of results, each a tree or a number.
struct LiftPair {
  template <typename T>
  auto operator()(const CallSite& inside, const T& out) const {
    static_assert(
        requires { out.first, out.second; }, "the body of scan must give std::pair(carry, output)");
    return std::pair{LiftTree(inside, out.first), LiftTree(inside, out.second)};
  }
};
// f(carry, x) gives {carry, y}. Returns {last carry, stacked ys}; x runs over the first dimension of the leaves of xs.
// Without inputs pass None{} and a length; without outputs let y be None{}.
template <typename F, typename C, typename X>
[[gnu::cold]] auto scan(const F& f, const C& init, const X& xs, ScanOptions options = {},
                        Location at = Location::Here()) {
  const CallSite site = SiteOfTrees("scan", at, init, xs);
  const auto carry = LiftTree(site, init);
  const auto inputs = LiftTree(site, xs);
  const std::tuple<const decltype(carry)&, const decltype(inputs)&> like(carry, inputs);
  TracedFunction<F, std::remove_const_t<decltype(like)>, LiftPair> traced(f, like);
  static_assert(std::same_as<typename decltype(traced)::Out::first_type, std::remove_const_t<decltype(carry)>>,
                "the body of scan must give a carry of the type that it takes");
  size_t n_carry = 0;
  auto body = [&](const CallSite& inside, const Values& params) {
    Values out = traced(inside, params);
    n_carry = LeafCount(traced.out().first);
    return out;
  };
  const Values all = ScanLeaves(site, body, n_carry, LeavesOf<Value>(carry), LeavesOf<Value>(inputs), options);
  if (!SameStructure(carry, traced.out().first)) FailOnCarry(site);
  return Fill<Value>(traced.out(), all);
}

// Repeats carry = body(carry) while condition(carry), a bool scalar, holds.
template <typename Condition, typename Body, typename C>
[[gnu::cold]] auto while_loop(const Condition& condition, const Body& body, const C& init, WhileOptions options = {},
                              Location at = Location::Here()) {
  const CallSite site = SiteOfTrees("while_loop", at, init);
  const auto carry = LiftTree(site, init);
  const std::tuple<const decltype(carry)&> like(carry);
  TracedFunction test(condition, like);
  TracedFunction step(body, like);
  static_assert(std::same_as<typename decltype(test)::Out, Value>,
                "the condition of while_loop must give one bool scalar");
  static_assert(std::same_as<typename decltype(step)::Out, std::remove_const_t<decltype(carry)>>,
                "the body of while_loop must give a carry of the type that it takes");
  const Values all = WhileLeaves(site, test, step, LeavesOf<Value>(carry), options);
  if (!SameStructure(carry, step.out())) FailOnCarry(site);
  return Fill<Value>(carry, all);
}

// carry = body(i, carry) for i = lower, ..., upper - 1; i is an i32 scalar. With numbers as bounds it is a scan, which
// reverse mode can differentiate; if one is a Value it is a while, and i has the dtype of the bounds.
template <typename Body, typename C>
[[gnu::cold]] auto fori_loop(const Operand& lower, const Operand& upper, const Body& body, const C& init,
                             Location at = Location::Here()) {
  const CallSite site = SiteOfTrees("fori_loop", at, init, ValueOf(lower), ValueOf(upper));
  const std::tuple<Value, Traced<C>> like(Value(), LiftTree(site, init));
  const auto& carry = std::get<1>(like);
  TracedFunction step(body, like);
  static_assert(std::same_as<typename decltype(step)::Out, Traced<C>>,
                "the body of fori_loop must give a carry of the type that it takes");
  const Values all = CountLeaves(site, step, lower, upper, LeavesOf<Value>(carry));
  if (!SameStructure(carry, step.out())) FailOnCarry(site);
  return Fill<Value>(carry, all);
}

}}  // namespace ricci::v0
#endif
