// ricci/custom_linear_solve.hpp: the solution of a linear equation by a solver that the caller gives.
//
// Only inside of a trace. The functions may capture any Value, and derivatives go through what matvec captures: they
// are taken at the solution, so the solver may be anything, even a while_loop.
#ifndef RICCI_CUSTOM_LINEAR_SOLVE_HPP_
#define RICCI_CUSTOM_LINEAR_SOLVE_HPP_
#include "ricci/callable.hpp"

namespace ricci { inline namespace v0 {

// A linear function of a vector, which is a list of leaves, with what it captures.
struct LinearFunction {
  Closed<Value> closed;  // leaves, captured -> leaves
  Values operator()(const Values& x) const;
};
// `f` closed over a vector like `b`; throws unless it gives one, with `what` and the name of `b` for the message.
LinearFunction CloseLinear(const CallSite& site, std::string_view what, LeafFunction f, const Values& b,
                           std::string_view name_of_b = "b");
LinearFunction TransposeOf(const CallSite& site, const LinearFunction& f, const Values& b);

// vecmat and transpose_solve: both or neither.
Values SolveLeaves(const CallSite& site, const LinearFunction& matvec, const LinearFunction& solve,
                   const LinearFunction* vecmat, const LinearFunction* transpose_solve, const Values& b);

namespace lax {

struct LinearSolveOptions {
  bool symmetric = false;  // the map is its own transpose; `solve` then serves for both if no transpose_solve is given
};

// The first argument of a solver: x -> A x for x of the structure of b, or its transpose.
template <typename B>
class LinearMapOf {
 public:
  LinearMapOf(const LinearFunction& f, const B& like) : f_(f), like_(like) {}
  B operator()(const B& x) const { return Fill<Value>(like_, f_(LeavesOf<Value>(x))); }

 private:
  const LinearFunction& f_;
  const B& like_;
};

struct NoTransposeSolve {};

// solve(map, b) on leaves.
template <typename Solve, typename B>
LinearFunction CloseSolve(const CallSite& site, std::string_view what, const Solve& solve, const LinearFunction& map,
                          const B& b) {
  const auto on_vector = [&](const B& right) { return solve(LinearMapOf<B>(map, b), right); };
  const std::tuple<const B&> like(b);
  TracedFunction traced(on_vector, like);
  static_assert(std::same_as<typename decltype(traced)::Out, B>,
                "a solver of custom_linear_solve must return the type of b");
  return CloseLinear(site, what, traced, LeavesOf<Value>(b));
}

// The x with matvec(x) = b, found by solve(matvec, b). Its derivative solves again: matvec is differentiated, solve is
// not. Reverse mode calls transpose_solve(vecmat, c), where vecmat is the transpose of matvec. As
// jax.lax.custom_linear_solve.
template <typename Matvec, typename T, typename Solve, typename TransposeSolve>
[[gnu::cold]] auto custom_linear_solve(const Matvec& matvec, const T& b, const Solve& solve,
                                       const TransposeSolve& transpose_solve, LinearSolveOptions options = {},
                                       Location at = Location::Here()) {
  const CallSite site = SiteOfTrees("custom_linear_solve", at, b);
  const auto right = LiftTree(site, b);
  using B = std::remove_const_t<decltype(right)>;
  const std::tuple<const B&> like(right);
  TracedFunction traced(matvec, like);
  static_assert(std::same_as<typename decltype(traced)::Out, B>,
                "matvec of custom_linear_solve must return the type of b");
  const Values leaves = LeavesOf<Value>(right);
  const LinearFunction map = CloseLinear(site, "matvec", traced, leaves),
                       found = CloseSolve(site, "solve", solve, map, right);
  constexpr bool kGiven = !std::same_as<TransposeSolve, NoTransposeSolve>;
  if (!kGiven && !options.symmetric) return Fill<Value>(right, SolveLeaves(site, map, found, nullptr, nullptr, leaves));
  const LinearFunction transposed = options.symmetric ? map : TransposeOf(site, map, leaves);
  if constexpr (kGiven) {
    const LinearFunction back = CloseSolve(site, "transpose_solve", transpose_solve, transposed, right);
    return Fill<Value>(right, SolveLeaves(site, map, found, &transposed, &back, leaves));
  } else {
    return Fill<Value>(right, SolveLeaves(site, map, found, &transposed, &found, leaves));
  }
}
// The same without a solver for the transposed equation.
template <typename Matvec, typename T, typename Solve>
auto custom_linear_solve(const Matvec& matvec, const T& b, const Solve& solve, LinearSolveOptions options = {},
                         Location at = Location::Here()) {
  return custom_linear_solve(matvec, b, solve, NoTransposeSolve(), options, at);
}

}  // namespace lax
}}  // namespace ricci::v0
#endif
