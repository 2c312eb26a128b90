// ricci/custom_root.hpp: the root of a function by a solver that the caller gives, differentiated at the root.
//
// By the implicit function theorem the derivative of x with f(x, c) = 0 solves a linear equation, so the solver itself
// is never differentiated and may be any loop. All that f captures is c: derivatives go through it, of every order.
#ifndef RICCI_CUSTOM_ROOT_HPP_
#define RICCI_CUSTOM_ROOT_HPP_
#include "ricci/custom_derivative.hpp"
#include "ricci/custom_linear_solve.hpp"
#include "ricci/operators.hpp"
#include "ricci/tree_map.hpp"

namespace ricci { inline namespace v0 { namespace lax {

template <typename X, typename Solve, typename TangentSolve>
struct RootProblem {
  const LinearFunction& f;  // closed: x, captured -> the residual
  const X& like;
  const Solve& solve;
  const TangentSolve& tangent_solve;

  // f with other values for what it captures.
  auto At(const Values& captured) const {
    return [this, captured](const X& x) -> X {
      return Fill<Value>(like, Inline(f.closed.program, Joined(LeavesOf<Value>(x), captured)));
    };
  }
};

// The root near x0. Functions made here hold one pointer, so that the rule recognises the root that it asks for.
template <typename Problem, typename X>
X RootOf(const Problem* p, const Values& captured, const X& x0, const Location& at) {
  using In = std::tuple<Values, X>;
  return custom_jvp(
      [p](const Values& c, const X& start) -> X { return p->solve(p->At(c), start); },
      [p](const In& in, const In& tangents) {
        const auto& [c, start] = in;
        const X x = RootOf(p, c, start, Location::Here());
        const auto by_captured = [&](const Values& v) { return p->At(v)(x); };
        const auto by_x = [&, f = p->At(c)](const X& v) { return jvp(f, std::tuple<X>(x), std::tuple<X>(v)).second; };
        const X residual = jvp(by_captured, std::tuple<Values>(c), std::tuple<Values>(std::get<0>(tangents))).second;
        const X dx = p->tangent_solve(by_x, residual);
        return std::pair(x, tree_map([](const Value& v) { return -v; }, dx));
      },
      at)(captured, x0);
}

// The x with f(x) = 0, found by solve(f, initial_guess). tangent_solve(g, y) gives the u with g(u) = y for a linear g;
// it must be linear in y, as operations that have derivatives: `y / g(1)` for a scalar, custom_linear_solve for an
// array. Neither solver may capture a floating Value of the function around it. Only inside of a trace. As
// jax.lax.custom_root.
template <typename F, typename T, typename Solve, typename TangentSolve>
[[gnu::cold]] auto custom_root(const F& f, const T& initial_guess, const Solve& solve,
                               const TangentSolve& tangent_solve, Location at = Location::Here()) {
  const CallSite site = SiteOfTrees("custom_root", at, initial_guess);
  const auto guess = LiftTree(site, initial_guess);
  using X = std::remove_const_t<decltype(guess)>;
  const std::tuple<const X&> like(guess);
  TracedFunction traced(f, like);
  static_assert(std::same_as<typename decltype(traced)::Out, X>, "f of custom_root must return the type of the guess");
  const LinearFunction closed = CloseLinear(site, "f", traced, LeavesOf<Value>(guess), "the guess");
  const RootProblem<X, Solve, TangentSolve> problem{closed, guess, solve, tangent_solve};
  return RootOf(&problem, closed.closed.captured, guess, at);
}

}  // namespace lax
}}  // namespace ricci::v0
#endif
