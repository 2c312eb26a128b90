// ricci/loops.hpp: scan, while_loop and fori_loop over trees of Values.
//
// Inside of a trace only. Lambdas capture outer Values freely: captures become constants of the loop.
#ifndef RICCI_LOOPS_HPP_
#define RICCI_LOOPS_HPP_
#include "ricci/callable.hpp"

namespace ricci::inline v0 {

struct ScanOptions {
  int64_t length = -1;  // needed only without inputs
  bool reverse = false;
  int64_t unroll = 1;
};
struct WhileOptions {
  int64_t max_trips = -1;  // a bound makes it differentiable in reverse mode; exceeding it is an error
};

// The types of the carry and of one slice of the inputs; sets options.length.
std::vector<ricci_type> ScanTypes(const Place& p, const Values& carry, const Values& inputs, ScanOptions& options);
// The last carry, then the stacked outputs. `n_carry`: leaves of the carry that the body gives.
Values ScanLeaves(const Place& p, const Closed<Value>& body, const Values& carry, const Values& inputs, size_t n_carry,
                  const ScanOptions& options);
Values WhileLeaves(const Place& p, LeafFunction condition, LeafFunction body, const Values& carry,
                   const WhileOptions& options);
// Throws because the static parts of a carry changed.
[[noreturn]] void FailOnCarry(const Place& p);

// A pair of results, each a tree or a number.
struct LiftPair {
  template <typename T>
  auto operator()(const Place& inside, const T& out) const {
    static_assert(
        requires { out.first, out.second; }, "the body of scan must give std::pair(carry, output)");
    return std::pair(LiftTree(inside, out.first), LiftTree(inside, out.second));
  }
};
// f(carry, x) gives {carry, y}. Returns {last carry, stacked ys}; x runs over the first dimension of the leaves of xs.
// Without inputs give None{} and a length; without outputs let y be None{}.
template <typename F, typename C, typename X>
auto scan(const F& f, const C& init, const X& xs, ScanOptions options = {}, Location at = Location::Here()) {
  const Place p = PlaceOfTrees("scan", at, init, xs);
  const auto carry = LiftTree(p, init);
  const auto inputs = LiftTree(p, xs);
  const Values first = LeavesOf<Value>(carry), x = LeavesOf<Value>(inputs);
  const std::vector<ricci_type> types = ScanTypes(p, first, x, options);
  const std::tuple<const decltype(carry)&, const decltype(inputs)&> like(carry, inputs);
  auto shell = MakeShell<LiftPair>(f, like);
  using Out = typename decltype(shell)::Out;
  static_assert(std::same_as<typename Out::first_type, std::remove_const_t<decltype(carry)>>,
                "the body of scan must give a carry of the type that it takes");
  const Closed<Value> closed = Close(p, shell, types);
  const Values all = ScanLeaves(p, closed, first, x, LeafCount(shell.out().first), options);
  if (!SameStructure(carry, shell.out().first)) FailOnCarry(p);
  return Fill<Value>(shell.out(), all);
}

// Repeats carry = body(carry) as long as condition(carry), a bool scalar, holds.
template <typename Condition, typename Body, typename C>
auto while_loop(const Condition& condition, const Body& body, const C& init, WhileOptions options = {},
                Location at = Location::Here()) {
  const Place p = PlaceOfTrees("while", at, init);
  const auto carry = LiftTree(p, init);
  const std::tuple<const decltype(carry)&> like(carry);
  auto test = MakeShell(condition, like);
  auto step = MakeShell(body, like);
  static_assert(std::same_as<typename decltype(test)::Out, Value>,
                "the condition of while_loop must give one bool scalar");
  static_assert(std::same_as<typename decltype(step)::Out, std::remove_const_t<decltype(carry)>>,
                "the body of while_loop must give a carry of the type that it takes");
  const Values all = WhileLeaves(p, test, step, LeavesOf<Value>(carry), options);
  if (!SameStructure(carry, step.out())) FailOnCarry(p);
  return Fill<Value>(carry, all);
}

// A bound of fori_loop as a scalar here; both get the dtype of the other.
std::pair<Value, Value> LoopBounds(const Place& p, const Operand& lower, const Operand& upper);

// carry = body(i, carry) for i = lower, ..., upper - 1; i is an i32 scalar. With numbers as bounds it is a scan, which
// reverse mode goes through; with a Value among them a while.
template <typename Body, typename C>
auto fori_loop(int64_t lower, int64_t upper, const Body& body, const C& init, Location at = Location::Here()) {
  const Place p = PlaceOfTrees("fori_loop", at, init);
  const std::pair state(p.Constant(Operand(lower, at), kDefaultInt, {}), LiftTree(p, init));
  auto step = [&](const auto& s, None) {
    return std::pair(std::pair(lax::add(s.first, lax::ones_like(s.first)), body(s.first, s.second)), None{});
  };
  return scan(step, state, None{}, {std::max<int64_t>(upper - lower, 0), false, 1}, at).first.second;
}
template <typename Body, typename C>
auto fori_loop(const Operand& lower, const Operand& upper, const Body& body, const C& init,
               Location at = Location::Here()) {
  const Place p = PlaceOfTrees("fori_loop", at, init, ValueOf(lower), ValueOf(upper));
  const auto [first, last] = LoopBounds(p, lower, upper);
  const std::pair state(first, LiftTree(p, init));
  auto more = [&, &last = last](const auto& s) { return lax::lt(s.first, last); };
  auto step = [&](const auto& s) {
    return std::pair(lax::add(s.first, lax::ones_like(s.first)), body(s.first, s.second));
  };
  return while_loop(more, step, state, {}, at).second;
}

}  // namespace ricci::inline v0
#endif
