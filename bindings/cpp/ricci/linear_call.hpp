// ricci/linear_call.hpp: a linear function with a transpose of its own.
//
// Reverse mode calls `transpose` instead of transposing the function, and the transpose of that is the function again.
// What both capture, and `residual`, are constants of the map: a derivative with respect to them is an error, which
// stop_gradient avoids where it is not wanted.
#ifndef RICCI_LINEAR_CALL_HPP_
#define RICCI_LINEAR_CALL_HPP_
#include "ricci/callable.hpp"

namespace ricci { inline namespace v0 {

// f: residuals, x -> y; transpose: residuals, cotangents of y -> cotangents of x. All are lists of leaves.
Values LinearCallLeaves(const CallSite& site, LeafFunction f, LeafFunction transpose, const Values& residuals,
                        const Values& x);

namespace lax {

// fun(residual, x), which is linear in x; transpose(residual, ct) gives the cotangent of x for a cotangent of the
// result. Any trees of floating leaves. Only inside of a trace. As jax.custom_derivatives.linear_call.
template <typename F, typename Transpose, typename R, typename T>
[[gnu::cold]] auto linear_call(const F& fun, const Transpose& transpose, const R& residual, const T& x,
                               Location at = Location::Here()) {
  const CallSite site = SiteOfTrees("linear_call", at, residual, x);
  const auto r = LiftTree(site, residual);
  const auto v = LiftTree(site, x);
  using X = std::remove_const_t<decltype(v)>;
  const std::tuple in(r, v);
  TracedFunction traced(fun, in);
  const auto back = [&](const CallSite& inside, const Values& params) {
    size_t next = 0;
    const auto constants = Fill<Value>(r, std::span<const Value>(params), next);
    const auto ct = Fill<Value>(traced.out(), std::span<const Value>(params), next);
    static_assert(std::same_as<std::remove_cvref_t<decltype(transpose(constants, ct))>, X>,
                  "the transpose of linear_call must return the type of x");
    return LeavesOf<Value>(LiftTree(inside, transpose(constants, ct)));
  };
  const Values out = LinearCallLeaves(site, traced, back, LeavesOf<Value>(r), LeavesOf<Value>(v));
  return Fill<Value>(traced.out(), out);  // known once it is traced
}

}  // namespace lax
}}  // namespace ricci::v0
#endif
