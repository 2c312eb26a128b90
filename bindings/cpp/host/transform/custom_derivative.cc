// checkpoint, custom_jvp and custom_vjp over lists of leaves.
//
// The core requires closed programs of one signature, so the captures of the functions and rules are joined into one
// list of operands, and every program is wrapped to take all of it.
#include "ricci/custom_derivative.hpp"

#include "host/core/numpy_steps.h"
#include "host/core/open_rule.h"

namespace ricci { inline namespace v0 {

Values CheckpointLeaves(const CallSite& site, LeafFunction f, const Values& leaves, const CheckpointOptions& options) {
  const Closed<Value> closed = Close(site, f, TypesOf(leaves));
  const Program c = MakeProgramAt(site.at, [&](ricci_program** out) {
    ricci_checkpoint_opts given = ricci_checkpoint_opts_default();
    given.hdr.flags = options.prevent_cse ? 0 : RICCI_CHECKPOINT_ALLOW_CSE;
    given.policy = ToAbi(options.policy);
    return ricci_checkpoint(closed.program.handle(), &given, out);
  });
  return Apply(site, c, Joined(leaves, closed.captured));
}

Value checkpoint_name(const Operand& x, std::string_view name) { return lax::name(Use("checkpoint_name", x), name); }

namespace {

// The types of `all`, then the types of those that have a tangent.
std::vector<ricci_type> WithTangentTypes(const Values& all) {
  return TypesOf(Joined(all, Selected(all, FloatMask(all))));
}

// Throws unless `given`, which `who` gave, are of these types.
void WantTypes(const CallSite& site, std::string_view who, std::string_view what, std::span<const Value> given,
               std::string_view other, std::span<const ricci_type> types) {
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].type().id() == types[i]) continue;
    site.Fail(who, " gives ", given[i].type(), " as ", what, " ", i, "; ", other, " is ",
              ArrayType(site.context(), types[i]));
  }
}

}  // namespace

Values CustomJvpLeaves(const CallSite& site, const FunctionIdentity& identity, LeafFunction f, LeafFunction rule,
                       const Values& leaves) {
  OpenRule::WantEnd(site, identity);
  OpenRule open("custom_jvp", identity, leaves);
  auto function = open.Inside(f);
  const Closed<Value> closed = Close(site, function, TypesOf(leaves));
  if (auto mine = OpenRule::StandIn(site, "custom_jvp", identity, closed, leaves)) return *mine;
  const std::span<const ricci_type> results = closed.program.results();
  Captures captures(site);
  captures.Add("the function", closed.captured);
  auto on_leaves = [&](const CallSite& inside, const Values& params) {
    const Values x = Part(params, 0, leaves.size());
    const Values dx = WithZeros(x, std::span(params).subspan(leaves.size()), FloatMask(x));
    const Values both = rule(inside, Joined(x, dx));
    const Values y = Part(both, 0, results.size()), dy = Part(both, results.size(), results.size());
    WantTypes(site, "the rule", "result", y, "that of the function", results);
    const auto has = FloatMask(y);
    WantTypes(site, "the rule", "tangent", Selected(dy, has), "the result", TypesOf(Selected(y, has)));
    return Joined(y, Selected(dy, has));
  };
  const auto types = WithTangentTypes(leaves);
  auto inside = open.Inside(on_leaves);
  Closed<Value> closed_rule;
  do {
    open.Begin(closed, captures);
    closed_rule = Close(site, inside, types);
    captures.Add("the rule", closed_rule.captured);
  } while (open.Again(captures));
  const Values operands = Joined(leaves, captures.values());
  const Program call = captures.Over(closed, leaves);
  const size_t n = leaves.size(), n_tangents = types.size() - n;
  auto wrapped = [&](const CallSite&, const Values& params) {
    const Values picked = captures.Pick(closed_rule.captured, std::span(params).subspan(n));
    return Inline(closed_rule.program,
                  Joined(Joined(Part(params, 0, n), Part(params, operands.size(), n_tangents)), picked));
  };
  const Program with_rule = Wrapped(site, WithTangentTypes(operands), wrapped);
  const Program c = MakeProgramAt(
      site.at, [&](ricci_program** out) { return ricci_custom_jvp(call.handle(), with_rule.handle(), out); });
  return Apply(site, c, operands);
}

namespace {

// One custom_vjp: the closed functions, and the role of each of their operands.
struct ReverseRule {
  const CallSite& site;
  const Values& leaves;
  OpenRule& open;
  Closed<Value> f, fwd, bwd;
  size_t n_out = 0, n_residuals = 0;
  std::vector<uint8_t> has_ct;        // of each result
  std::vector<ricci_type> bwd_types;  // residuals, then a cotangent of each floating result

  void CloseForward(LeafFunction forward);
  void CloseBackward(LeafFunction backward);
  Program Forward(const Captures& captures) const;
  Program Backward(const Captures& captures) const;
};

void ReverseRule::CloseForward(LeafFunction forward) {
  auto inside = open.Inside(forward);
  fwd = Close(site, inside, TypesOf(leaves));
  const auto y = f.program.results(), both = fwd.program.results();
  n_out = y.size();
  if (both.size() < n_out)
    site.Fail("fwd gives ", Count(both.size(), "array"), ", fewer than the ", n_out, " of the function");
  for (size_t i = 0; i < n_out; ++i) {
    if (y[i] == both[i]) continue;
    site.Fail("fwd gives ", ArrayType(site.context(), both[i]), " as result ", i, "; that of the function is ",
              ArrayType(site.context(), y[i]));
  }
  n_residuals = both.size() - n_out;
  bwd_types.assign(both.begin() + static_cast<int64_t>(n_out), both.end());
  has_ct = FloatMask(site.context(), y, n_out);
  for (size_t i = 0; i < n_out; ++i) {
    if (has_ct[i]) bwd_types.push_back(y[i]);
  }
}

void ReverseRule::CloseBackward(LeafFunction backward) {
  auto on_leaves = [&](const CallSite& inside, const Values& params) {
    Values all = Part(params, 0, n_residuals);
    size_t next = n_residuals;
    for (size_t i = 0; i < n_out; ++i) {
      if (has_ct[i]) {
        all.push_back(params[next++]);
        continue;
      }
      all.push_back(lax::zeros(inside.builder, ArrayType(site.context(), f.program.results()[i])));
      all.back().scope = inside.scope;
    }
    const Values cts = backward(inside, all);
    if (cts.size() != leaves.size()) {
      site.Fail("bwd gives ", Count(cts.size(), "cotangent"), " for ", Count(leaves.size(), "array"),
                " among the arguments");
    }
    const auto wanted = FloatMask(leaves);
    WantTypes(site, "bwd", "cotangent", Selected(cts, wanted), "the argument", TypesOf(Selected(leaves, wanted)));
    return Selected(cts, wanted);
  };
  auto inside = open.Inside(on_leaves);
  bwd = Close(site, inside, bwd_types);
}

// All captures are residuals too; they come after those of fwd and before the cotangents.
Program ReverseRule::Forward(const Captures& captures) const {
  auto wrapped = [&](const CallSite&, const Values& params) {
    const Values mine = Part(params, leaves.size(), captures.values().size());
    return Joined(Inline(fwd.program, Joined(Part(params, 0, leaves.size()), captures.Pick(fwd.captured, mine))), mine);
  };
  return Wrapped(site, TypesOf(Joined(leaves, captures.values())), wrapped);
}

Program ReverseRule::Backward(const Captures& captures) const {
  const size_t n_extra = captures.values().size();
  std::vector<ricci_type> types = bwd_types;
  const std::vector<ricci_type> extra = TypesOf(captures.values());
  types.insert(types.begin() + static_cast<int64_t>(n_residuals), extra.begin(), extra.end());
  auto wrapped = [&](const CallSite&, const Values& params) {
    const Values mine = Part(params, n_residuals, n_extra);
    const Values arguments = Joined(Part(params, 0, n_residuals),
                                    Part(params, n_residuals + n_extra, params.size() - n_residuals - n_extra));
    Values cts = Inline(bwd.program, Joined(arguments, captures.Pick(bwd.captured, mine)));
    for (const Value& v : mine) {
      if (IsInexact(v.dtype())) cts.push_back(lax::zeros_like(v));
    }
    return cts;
  };
  return Wrapped(site, types, wrapped);
}

}  // namespace

Values CustomVjpLeaves(const CallSite& site, const FunctionIdentity& identity, LeafFunction f, LeafFunction fwd,
                       LeafFunction bwd, const Values& leaves) {
  OpenRule::WantEnd(site, identity);
  OpenRule open("custom_vjp", identity, leaves);
  ReverseRule rule{site, leaves, open, {}, {}, {}, 0, 0, {}, {}};
  auto function = open.Inside(f);
  rule.f = Close(site, function, TypesOf(leaves));
  if (auto mine = OpenRule::StandIn(site, "custom_vjp", identity, rule.f, leaves)) return *mine;
  Captures captures(site);
  captures.Add("the function", rule.f.captured);
  do {
    open.Begin(rule.f, captures);
    rule.CloseForward(fwd);
    captures.Add("fwd", rule.fwd.captured);
    rule.CloseBackward(bwd);
    captures.Add("bwd", rule.bwd.captured);
  } while (open.Again(captures));
  const Program call = captures.Over(rule.f, leaves), forward = rule.Forward(captures),
                backward = rule.Backward(captures);
  const Program c = MakeProgramAt(site.at, [&](ricci_program** out) {
    return ricci_custom_vjp(call.handle(), forward.handle(), backward.handle(), out);
  });
  return Apply(site, c, Joined(leaves, captures.values()));
}

}}  // namespace ricci::v0
