// ricci/custom_derivative.hpp: checkpoint, and functions that bring a derivative of their own.
//
// Functions and rules given here may capture Arrays and values without a derivative (integers, bool, keys), which
// become operands with a tangent of zero. A floating Value of the function around them would need a derivative of its
// own, so it has to come in as an argument.
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

// What the functions of one custom derivative capture, each value once: operands behind those of the arguments.
class Captures {
 public:
  explicit Captures(const Place& p) : p_(p) {}

  void Add(std::string_view what, const Values& captured) {
    for (const Value& v : captured) {
      if (IsFloat(v.dtype()) && !IsArray(v)) {
        p_.Fail(what, " captures a ", v.type(), " of the function around it; pass it as an argument");
      }
      if (Find(v) == values_.size()) values_.push_back(v);
    }
  }
  const Values& values() const { return values_; }
  // Those that `captured` names, out of one parameter per value.
  Values Pick(const Values& captured, std::span<const Value> params) const {
    Values out;
    for (const Value& v : captured) out.push_back(params[Find(v)]);
    return out;
  }

 private:
  static bool Same(const Value& a, const Value& b) { return a.builder == b.builder && a.id == b.id; }
  bool IsArray(const Value& v) const {
    if (p_.scope == nullptr) return false;
    for (const Value& a : static_cast<Trace*>(p_.scope)->session()->array_values) {
      if (Same(a, v)) return true;
    }
    return false;
  }
  size_t Find(const Value& v) const {
    size_t i = 0;
    while (i < values_.size() && !Same(values_[i], v)) ++i;
    return i;
  }

  const Place& p_;
  Values values_;
};
// A program of `types` with the results of use(params).
template <typename Use>
Program Wrapped(const Place& p, std::span<const ricci_type> types, Use&& use) {
  Tracing tracing(Value{p.builder, RICCI_VAL_NONE, p.scope}, types);
  return tracing.Finish(use(tracing.params()));
}
inline Values Part(const Values& all, size_t first, size_t n) {
  const auto begin = all.begin() + static_cast<int64_t>(first);
  return Values(begin, begin + static_cast<int64_t>(n));
}
// `closed` over its arguments and all captures.
template <typename C>
Program OverCaptures(const Place& p, const C& closed, const Values& leaves, const Captures& captures) {
  return Wrapped(p, TypesOf(Joined(leaves, captures.values())), [&](const Values& params) {
    const Values picked = captures.Pick(closed.captured, std::span(params).subspan(leaves.size()));
    return Inline(closed.program, Joined(Part(params, 0, leaves.size()), picked));
  });
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
        Captures captures(p);
        captures.Add("the function", closed.captured);
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
        captures.Add("the rule", closed_rule.captured);
        const Values operands = Joined(leaves, captures.values());
        const Program call = OverCaptures(p, closed, leaves, captures);
        const Program with_rule = Wrapped(p, WithTangentTypes(operands), [&](const Values& params) {
          const size_t n = leaves.size(), n_tangents = types.size() - n;
          const Values picked = captures.Pick(closed_rule.captured, std::span(params).subspan(n));
          return Inline(closed_rule.program,
                        Joined(Joined(Part(params, 0, n), Part(params, operands.size(), n_tangents)), picked));
        });
        const Program c = MakeProgramAt(
            p.at, [&](ricci_program** out) { return ricci_custom_jvp(call.handle(), with_rule.handle(), out); });
        return Fill<Value>(closed.out, Apply(p, c, operands));
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
    const auto closed_fwd = Close(p, fwd, in);
    Captures captures(p);
    captures.Add("the function", closed.captured);
    captures.Add("fwd", closed_fwd.captured);
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
    captures.Add("bwd", closed_bwd.captured);
    const Values& extra = captures.values();
    const Values operands = Joined(leaves, extra);
    const Program call = OverCaptures(p, closed, leaves, captures);
    // All captures are residuals too, between those of fwd and the cotangents.
    const Program forward = Wrapped(p, TypesOf(operands), [&](const Values& params) {
      const Values mine = Part(params, leaves.size(), extra.size());
      return Joined(
          Inline(closed_fwd.program, Joined(Part(params, 0, leaves.size()), captures.Pick(closed_fwd.captured, mine))),
          mine);
    });
    std::vector<ricci_type> bwd_types = types;
    const std::vector<ricci_type> extra_types = TypesOf(extra);
    bwd_types.insert(bwd_types.begin() + static_cast<int64_t>(n_residuals), extra_types.begin(), extra_types.end());
    const Program backward = Wrapped(p, bwd_types, [&](const Values& params) {
      const Values mine = Part(params, n_residuals, extra.size());
      Values arguments = Part(params, 0, n_residuals);
      arguments.insert(arguments.end(), params.begin() + static_cast<int64_t>(n_residuals + extra.size()),
                       params.end());
      Values cts = Inline(closed_bwd.program, Joined(arguments, captures.Pick(closed_bwd.captured, mine)));
      for (const Value& v : mine) {
        if (IsFloat(v.dtype())) cts.push_back(lax::zeros_like(v));
      }
      return cts;
    });
    const Program c = MakeProgramAt(p.at, [&](ricci_program** out) {
      return ricci_custom_vjp(call.handle(), forward.handle(), backward.handle(), out);
    });
    return Fill<Value>(closed.out, Apply(p, c, operands));
  });
}

}  // namespace ricci::inline v0
#endif
