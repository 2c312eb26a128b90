// ricci/custom_derivative.hpp: checkpoint, and functions with a custom derivative.
//
// Functions and rules given here may capture Arrays and values without a derivative (integers, bool, keys), which
// become operands with a tangent of zero. A floating Value of the function around them would need a derivative of its
// own, so it has to come in as an argument.
#ifndef RICCI_CUSTOM_DERIVATIVE_HPP_
#define RICCI_CUSTOM_DERIVATIVE_HPP_
#include "ricci/derivatives.hpp"

namespace ricci { inline namespace v0 {

struct CheckpointOptions {
  // What is saved: or `everything`, `dots`, `dots_with_no_batch_dims`, `names:a,b`, `names_but:a,b`, `dots|names:a`.
  std::string policy = "nothing";
  // Keeps the recomputation apart from the first computation; if the two were merged, no memory would be saved. Loops
  // need no such barrier and get none.
  bool prevent_cse = true;
};
Values CheckpointLeaves(const CallSite& site, LeafFunction f, const Values& leaves, const CheckpointOptions& options);
// f, whose derivative computes again what the policy does not save: checkpoint(f, {.policy = "dots"}).
template <typename F>
auto checkpoint(F f, CheckpointOptions options = {}, Location at = Location::Here()) {
  return Transformed("checkpoint", at,
                     [f = std::move(f), options = std::move(options)](const CallSite& site, const auto&... args) {
                       const auto in = std::make_tuple(args...);
                       TracedFunction traced(f, in);
                       const Values out = CheckpointLeaves(site, traced, LeavesOfAll<Value>(in), options);
                       return Fill<Value>(traced.out(), out);
                     });
}
// The same with only a policy. A template of its type, so that {.policy = ...} is never taken for a string.
template <typename F, std::convertible_to<std::string> Policy>
auto checkpoint(F f, Policy&& policy, Location at = Location::Here()) {
  return checkpoint(std::move(f), CheckpointOptions{.policy = std::forward<Policy>(policy)}, at);
}

// x itself, under a name that policies refer to: checkpoint(f, "names:hidden") saves checkpoint_name(x, "hidden").
Value checkpoint_name(const Operand& x, std::string_view name);

// The identity of a custom derivative: the types of its functions and arguments, and what the functions capture.
struct FunctionIdentity {
  const void* type;
  std::string captured;
  bool plain;  // all captures are plain data; else the function equals no other
  bool Same(const FunctionIdentity& o) const { return plain && type == o.type && captured == o.captured; }
};
template <typename...>
inline constexpr char kTypeTag = 0;
template <typename In, typename... F>
FunctionIdentity IdentityOf(const F&... functions) {
  FunctionIdentity id{&kTypeTag<In, F...>, {}, (std::is_trivially_copyable_v<F> && ...)};
  auto add = [&](const auto& f) {
    if constexpr (!std::is_empty_v<std::remove_cvref_t<decltype(f)>>) {
      id.captured.append(reinterpret_cast<const char*>(&f), sizeof f);
    }
  };
  if (id.plain) (add(functions), ...);
  return id;
}

// `rule`: leaves and a tangent of each -> results and a tangent of each.
Values CustomJvpLeaves(const CallSite& site, const FunctionIdentity& identity, LeafFunction f, LeafFunction rule,
                       const Values& leaves);
// f with the derivative `rule`: rule(primals, tangents), each a tuple with one entry per argument of f, gives
// {f(primals...), its tangent}. The rule may apply the resulting function itself, at the types of its primals, which
// gives derivatives of every order. For this it needs a name, so a function: `Value Norm(Value x) { return
// custom_jvp([](Value x) {...}, [](auto x, auto dx) { Value n = Norm(get<0>(x)); ... })(x); }`.
template <typename F, typename Rule>
auto custom_jvp(F f, Rule rule, Location at = Location::Here()) {
  return Transformed(
      "custom_jvp", at, [f = std::move(f), rule = std::move(rule)](const CallSite& site, const auto&... args) {
        const auto in = std::make_tuple(args...);
        TracedFunction traced(f, in);
        using In = std::remove_const_t<decltype(in)>;
        static_assert(std::is_invocable_v<const Rule&, In, In>,
                      "the rule of custom_jvp takes two tuples, the primals and the tangents of all arguments");
        using Both = std::invoke_result_t<const Rule&, In, In>;
        static_assert(kIsPair<Both>, "the rule of custom_jvp must give std::pair(result, tangent of the result)");
        auto on_leaves = [&](const CallSite& inside, const Values& params) {
          const std::span<const Value> all(params);
          const size_t n = all.size() / 2;
          const Both both = rule(FillAll<Value>(in, all.first(n)), FillAll<Value>(in, all.subspan(n)));
          Values out = LeavesOf<Value>(LiftTree(inside, both.first));
          const Values y = LeavesOf<Value>(traced.out()), dy = LeavesOf<Value>(LiftTree(inside, both.second));
          if (out.size() != y.size() || dy.size() != y.size()) {
            site.Fail("the rule gives ", Count(out.size(), "result"), " and ", Count(dy.size(), "tangent"),
                      "; the function gives ", y.size());
          }
          return Joined(out, dy);
        };
        const Values out = CustomJvpLeaves(site, IdentityOf<In>(f, rule), traced, on_leaves, LeavesOfAll<Value>(in));
        return Fill<Value>(traced.out(), out);
      });
}

// `fwd`: leaves -> results and residuals; `bwd`: residuals, a cotangent of each result -> a cotangent of each leaf.
Values CustomVjpLeaves(const CallSite& site, const FunctionIdentity& identity, LeafFunction f, LeafFunction fwd,
                       LeafFunction bwd, const Values& leaves);
// f with a reverse mode of its own: fwd(args...) gives {f(args...), residuals}, any tree; bwd(residuals, ct) gives the
// tuple of cotangents of the arguments. Both may apply the resulting function, as the rule of custom_jvp may.
template <typename F, typename Fwd, typename Bwd>
auto custom_vjp(F f, Fwd fwd, Bwd bwd, Location at = Location::Here()) {
  return Transformed("custom_vjp", at, [=](const CallSite& site, const auto&... args) {
    const auto in = std::make_tuple(args...);
    TracedFunction traced(f, in);
    TracedFunction traced_fwd(fwd, in);
    using FwdOut = typename decltype(traced_fwd)::Out;
    static_assert(kIsPair<FwdOut>, "fwd of custom_vjp must give std::pair(result, residuals)");
    auto on_leaves = [&](const CallSite& inside, const Values& params) {
      const auto& [out_like, residual_like] = traced_fwd.out();
      size_t next = 0;
      const auto residuals = Fill<Value>(residual_like, std::span<const Value>(params), next);
      const auto ct = Fill<Value>(out_like, std::span<const Value>(params), next);
      using Bwd0 = std::remove_const_t<Bwd>;
      static_assert(std::is_invocable_v<const Bwd0&, decltype(residuals), decltype(ct)>,
                    "bwd of custom_vjp takes the residuals that fwd returns, then the cotangent of the result");
      return LeavesOf<Value>(LiftTree(inside, bwd(residuals, ct)));
    };
    using In = std::remove_const_t<decltype(in)>;
    const Values out =
        CustomVjpLeaves(site, IdentityOf<In>(f, fwd, bwd), traced, traced_fwd, on_leaves, LeavesOfAll<Value>(in));
    return Fill<Value>(traced.out(), out);
  });
}

}}  // namespace ricci::v0
#endif
