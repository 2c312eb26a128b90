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
// `more`: it may give other leaves after that.
LinearFunction CloseLinear(const CallSite& site, std::string_view what, LeafFunction f, const Values& b,
                           std::string_view name_of_b = "b", bool more = false);
LinearFunction TransposeOf(const CallSite& site, const LinearFunction& f, const Values& b);

// The solution, then what else `solve` gives. vecmat and transpose_solve: both or neither.
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

// Whether a solver that returns Out gives more than the solution.
template <typename Out, typename B>
inline constexpr bool kHasAux = false;
template <typename B, typename Aux>
inline constexpr bool kHasAux<std::pair<B, Aux>, B> = true;

// solve(map, b) on leaves, and its result as it was traced.
template <typename Out>
struct ClosedSolve {
  LinearFunction function;
  Out like;
};
template <typename Solve, typename B>
auto CloseSolve(const CallSite& site, std::string_view what, const Solve& solve, const LinearFunction& map,
                const B& b) {
  const auto on_vector = [&](const B& right) { return solve(LinearMapOf<B>(map, b), right); };
  const std::tuple<const B&> like(b);
  TracedFunction traced(on_vector, like);
  using Out = typename decltype(traced)::Out;
  static_assert(std::same_as<Out, B> || kHasAux<Out, B>,
                "a solver of custom_linear_solve must return the type of b, or a pair of it and anything else");
  LinearFunction function = CloseLinear(site, what, traced, LeavesOf<Value>(b), "b", kHasAux<Out, B>);
  return ClosedSolve<Out>{std::move(function), traced.out()};
}

// The x with matvec(x) = b, found by solve(matvec, b). Its derivative solves again: matvec is differentiated, solve is
// not. Reverse mode calls transpose_solve(vecmat, c), where vecmat is the transpose of matvec. A solver may return a
// pair of the solution and anything else, such as the number of its steps; then the result is that pair (has_aux), of
// which only the solution has a derivative. As jax.lax.custom_linear_solve.
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
  const LinearFunction map = CloseLinear(site, "matvec", traced, leaves);
  const auto found = CloseSolve(site, "solve", solve, map, right);
  const auto solved = [&](const LinearFunction* vecmat, const LinearFunction* back) {
    return Fill<Value>(found.like, SolveLeaves(site, map, found.function, vecmat, back, leaves));
  };
  constexpr bool kGiven = !std::same_as<TransposeSolve, NoTransposeSolve>;
  if (!kGiven && !options.symmetric) return solved(nullptr, nullptr);
  const LinearFunction transposed = options.symmetric ? map : TransposeOf(site, map, leaves);
  if constexpr (kGiven) {
    const auto back = CloseSolve(site, "transpose_solve", transpose_solve, transposed, right);
    return solved(&transposed, &back.function);
  } else {
    return solved(&transposed, &found.function);
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
