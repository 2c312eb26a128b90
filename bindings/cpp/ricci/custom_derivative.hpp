// ricci/custom_derivative.hpp: checkpoint, and functions that bring a derivative of their own.
//
// Functions and rules given here are closed: what they need comes in as an argument, never by capture, because it would
// need a derivative of its own.
#ifndef RICCI_CUSTOM_DERIVATIVE_HPP_
#define RICCI_CUSTOM_DERIVATIVE_HPP_
#include "ricci/derivatives.hpp"

namespace ricci::inline v0 {

// f, whose derivative computes anew what `policy` does not save: `nothing`, `everything`, `dots`,
// `dots_with_no_batch_dims`, `names:a,b`.
template <typename F>
auto checkpoint(F f, std::string policy = "nothing", Location at = Location::Here()) {
  return Transformed("checkpoint", at,
                     [f = std::move(f), policy = std::move(policy)](const Place& p, const auto&... args) {
                       const std::tuple in(args...);
                       auto closed = Close(p, f, in);
                       const Program c = MakeProgramAt(p.at, [&](ricci_program** out) {
                         return ricci_checkpoint(closed.program.handle(), policy.data(), policy.size(), out);
                       });
                       return Fill<Value>(closed.out, Apply(p, c, Joined(LeavesOfAll<Value>(in), closed.captured)));
                     });
}

template <typename C>
void WantClosed(const Place& p, std::string_view what, const C& closed) {
  if (closed.captured.empty()) return;
  p.Fail(what, " captures a ", closed.captured[0].type(), " of the function around it; pass it as an argument");
}
inline std::vector<uint8_t> FloatLeaves(const Values& leaves) {
  std::vector<uint8_t> mask;
  for (const Value& v : leaves) mask.push_back(IsFloat(v.dtype()));
  return mask;
}
// Types of `all`, then of those that have a tangent.
inline std::vector<ricci_type> WithTangentTypes(const Values& all) {
  return TypesOf(Joined(all, Selected(all, FloatLeaves(all))));
}

// f with the derivative `rule`: rule(primals, tangents), each a tuple with one entry per argument of f, gives
// {f(primals...), tangent of it}.
template <typename F, typename Rule>
auto custom_jvp(F f, Rule rule, Location at = Location::Here()) {
  return Transformed(
      "custom_jvp", at, [=, f = std::move(f), rule = std::move(rule)](const Place& p, const auto&... args) {
        const std::tuple in(args...);
        const Values leaves = LeavesOfAll<Value>(in);
        const auto closed = Close(p, f, in);
        WantClosed(p, "the function", closed);
        auto on_leaves = [&](const Values& params) {
          const Values x(params.begin(), params.begin() + static_cast<int64_t>(leaves.size()));
          const Values dx = WithZeros(x, std::span(params).subspan(leaves.size()), FloatLeaves(x));
          const auto both =
              rule(FillAll<Value>(in, std::span<const Value>(x)), FillAll<Value>(in, std::span<const Value>(dx)));
          const Values y = LeavesOf<Value>(both.first), dy = LeavesOf<Value>(both.second);
          if (y.size() != dy.size()) p.Fail("the rule gives ", y.size(), " results but ", dy.size(), " tangents");
          return Joined(y, Selected(dy, FloatLeaves(y)));
        };
        const auto types = WithTangentTypes(leaves);
        const auto closed_rule = Close(p, on_leaves, types, std::tuple(Values(types.size())));
        WantClosed(p, "the rule", closed_rule);
        const Program c = MakeProgramAt(p.at, [&](ricci_program** out) {
          return ricci_custom_jvp(closed.program.handle(), closed_rule.program.handle(), out);
        });
        return Fill<Value>(closed.out, Apply(p, c, leaves));
      });
}
// f with a reverse mode of its own: fwd(args...) gives {f(args...), residuals}, any tree; bwd(residuals, ct) gives the
// tuple of cotangents of the arguments.
template <typename F, typename Fwd, typename Bwd>
auto custom_vjp(F f, Fwd fwd, Bwd bwd, Location at = Location::Here()) {
  return Transformed("custom_vjp", at, [=](const Place& p, const auto&... args) {
    const std::tuple in(args...);
    const Values leaves = LeavesOfAll<Value>(in);
    const auto closed = Close(p, f, in);
    WantClosed(p, "the function", closed);
    const auto closed_fwd = Close(p, fwd, in);
    WantClosed(p, "fwd", closed_fwd);
    const auto& [out_like, residual_like] = closed_fwd.out;
    // Residuals, then a cotangent of each floating result.
    const auto results = closed_fwd.program.results();
    const size_t n_out = closed.program.results().size(), n_residuals = results.size() - n_out;
    std::vector<ricci_type> types(results.begin() + static_cast<int64_t>(n_out), results.end());
    const auto has = FloatMask(ricci_builder_context(p.builder), closed.program.results(), n_out);
    for (size_t i = 0; i < n_out; ++i) {
      if (has[i]) types.push_back(closed.program.results()[i]);
    }
    auto on_leaves = [&, &out_like = out_like, &residual_like = residual_like](const Values& params) {
      const Values kept(params.begin(), params.begin() + static_cast<int64_t>(n_residuals));
      Values cts;
      size_t next = n_residuals;
      for (size_t i = 0; i < n_out; ++i) {
        if (!has[i]) p.Fail("result ", i, " is not floating, so bwd cannot have its cotangent");
        cts.push_back(params[next++]);
      }
      const auto given = bwd(Fill<Value>(residual_like, kept), Fill<Value>(out_like, cts));
      const Values all = LeavesOf<Value>(given);
      if (all.size() != leaves.size()) p.Fail("bwd gives ", all.size(), " cotangents for ", leaves.size(), " leaves");
      return Selected(all, FloatLeaves(leaves));
    };
    const auto closed_bwd = Close(p, on_leaves, types, std::tuple(Values(types.size())));
    WantClosed(p, "bwd", closed_bwd);
    const Program c = MakeProgramAt(p.at, [&](ricci_program** out) {
      return ricci_custom_vjp(closed.program.handle(), closed_fwd.program.handle(), closed_bwd.program.handle(), out);
    });
    return Fill<Value>(closed.out, Apply(p, c, leaves));
  });
}

}  // namespace ricci::inline v0
#endif
