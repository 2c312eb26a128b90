// hoist: moves work that is the same for all trips of a scan or all elements of a vmap out of the body.
//
// An equation of the body that depends on nothing but loop constants (unbatched operands) is computed once, before, and
// its results come in as further constants. So sin(W) inside vmap(grad(scan)) is computed once. What a body computes
// from nothing (iota) stays: it costs nothing there.
#include "pass/pass.h"
#include "trace/attrs.h"

namespace ricci::inline v0::pass {
namespace {

// A body split in two: `before` from the constant parameters to the values the rest needs, `rest` with those as
// parameters.
struct Split {
  std::vector<uint32_t> hoisted;    // equations of the body
  std::vector<ir::ValueId> needed;  // their values that the rest reads
};

Split FindInvariant(const ir::Program& body, const std::vector<uint8_t>& is_const) {
  const prim::Registry& registry = prim::Registry::Of(body);
  Split split;
  std::vector<uint8_t> invariant(body.values.size(), 0), from_const(body.values.size(), 0);
  for (uint32_t i = 0; i < body.n_params(); ++i) invariant[i] = from_const[i] = is_const[i];
  for (const ir::Constant& c : body.constants) invariant[c.value] = 1;
  for (uint32_t e = 0; e < body.equations.size(); ++e) {
    const ir::Equation& eqn = body.equations[e];
    const prim::Row& row = registry.Get(eqn.prim);
    bool all = !row.effectful(), any = false;
    for (ir::ValueId v : eqn.operands) {
      all &= invariant[v] != 0;
      any |= from_const[v] != 0;
    }
    if (!all || !any) continue;
    split.hoisted.push_back(e);
    for (uint32_t i = 0; i < eqn.n_results; ++i) invariant[eqn.result(i)] = from_const[eqn.result(i)] = 1;
  }
  std::vector<uint8_t> is_hoisted(body.equations.size(), 0), used(body.values.size(), 0);
  for (uint32_t e : split.hoisted) is_hoisted[e] = 1;
  for (uint32_t e = 0; e < body.equations.size(); ++e) {
    if (is_hoisted[e]) continue;
    for (ir::ValueId v : body.equations[e].operands) used[v] = 1;
  }
  for (ir::ValueId r : body.results) used[r] = 1;
  for (uint32_t e : split.hoisted) {
    const ir::Equation& eqn = body.equations[e];
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      if (used[eqn.result(i)]) split.needed.push_back(eqn.result(i));
    }
  }
  return split;
}

// Appends equation `eqn` of `from`, its operands taken from `env`; constants are made where they are first needed.
absl::StatusOr<Vals> CopyInto(Builder& b, const ir::Program& from, const ir::Equation& eqn, Vals& env) {
  Vals in;
  for (ir::ValueId v : eqn.operands) {
    if (const ir::Constant* c = from.constant(v); c != nullptr && env[v] == trace::kNone) {
      RICCI_ASSIGN(env[v], b.Constant(from.type_id(v), c->splat, c->data));
    }
    in.push_back(env[v]);
  }
  return b.Copy(from, eqn, in);
}

// The body without its hoisted equations; the needed values are new parameters at the front.
absl::StatusOr<ir::ProgramRef> Rest(const ir::Program& body, const Split& split) {
  std::vector<ir::TypeId> params;
  for (ir::ValueId v : split.needed) params.push_back(body.type_id(v));
  params.insert(params.end(), body.param_types.begin(), body.param_types.end());
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(body), body.name, params));
  Vals env(body.values.size(), trace::kNone), results;
  for (uint32_t i = 0; i < split.needed.size(); ++i) env[split.needed[i]] = b->param(i);
  for (uint32_t i = 0; i < body.n_params(); ++i) env[i] = b->param(static_cast<uint32_t>(split.needed.size()) + i);
  size_t next = 0;
  for (uint32_t e = 0; e < body.equations.size(); ++e) {
    if (next < split.hoisted.size() && split.hoisted[next] == e) {
      ++next;
      continue;
    }
    const ir::Equation& eqn = body.equations[e];
    RICCI_ASSIGN(Vals out, CopyInto(*b, body, eqn, env));
    for (uint32_t i = 0; i < eqn.n_results; ++i) env[eqn.result(i)] = out[i];
  }
  for (ir::ValueId r : body.results) {
    if (const ir::Constant* c = body.constant(r); c != nullptr && env[r] == trace::kNone) {
      RICCI_ASSIGN(env[r], b->Constant(body.type_id(r), c->splat, c->data));
    }
    results.push_back(env[r]);
  }
  return b->Finish(results);
}

absl::StatusOr<Vals> HoistEquation(Builder& b, const ir::Equation& eqn, std::span<const trace::Val> in,
                                   const ir::Program& body, bool is_scan) {
  std::vector<uint8_t> is_const(in.size());
  const auto in_axes = trace::IntsOf(eqn.attrs, "in_axes");
  const int64_t n_consts = trace::IntOf(eqn.attrs, "num_consts");
  for (size_t i = 0; i < in.size(); ++i) is_const[i] = is_scan ? static_cast<int64_t>(i) < n_consts : in_axes[i] < 0;
  const Split split = FindInvariant(body, is_const);
  ricci_program* handle = ir::Abi(&body);
  std::vector<ricci_attr> attrs(eqn.attrs.begin(), eqn.attrs.end());
  auto set = [&](const ricci_attr& a) {
    for (ricci_attr& old : attrs) {
      if (std::string_view(old.name.ptr, old.name.len) == std::string_view(a.name.ptr, a.name.len)) old = a;
    }
  };
  if (split.hoisted.empty()) {
    set(trace::AttrBase("body", RICCI_ATTR_PROGRAM, 1, &handle));
    return b.Emit(eqn.prim, attrs, in);
  }
  Vals env(body.values.size(), trace::kNone), operands;
  for (size_t i = 0; i < in.size(); ++i) env[i] = is_const[i] ? in[i] : trace::kNone;
  for (uint32_t e : split.hoisted) {
    RICCI_ASSIGN(Vals out, CopyInto(b, body, body.equations[e], env));
    for (uint32_t i = 0; i < out.size(); ++i) env[body.equations[e].result(i)] = out[i];
  }
  for (ir::ValueId v : split.needed) operands.push_back(env[v]);
  operands.insert(operands.end(), in.begin(), in.end());
  RICCI_ASSIGN(ir::ProgramRef rest, Rest(body, split));
  handle = ir::Abi(rest.get());
  std::vector<int64_t> axes(split.needed.size(), -1);
  axes.insert(axes.end(), in_axes.begin(), in_axes.end());
  set(trace::AttrBase("body", RICCI_ATTR_PROGRAM, 1, &handle));
  if (is_scan) {
    set(trace::IntAttr("num_consts", n_consts + static_cast<int64_t>(split.needed.size())));
  } else {
    set(trace::IntsAttr("in_axes", axes));
  }
  b.SetLocation(eqn.location);
  return b.Emit(eqn.prim, attrs, operands);
}

}  // namespace

absl::StatusOr<ir::ProgramRef> Hoist(const ir::Program& program, const Options& options) {
  return Rebuild(program,
                 [&](Builder& b, const ir::Program& f, const ir::Equation& eqn,
                     std::span<const trace::Val> in) -> absl::StatusOr<Vals> {
                   const prim::Flow flow = b.registry().Get(eqn.prim).flow;
                   if (flow != prim::Flow::kScan && flow != prim::Flow::kVmap) {
                     return CopyWithNested(b, f, eqn, in, [&](const ir::Program& q) { return Hoist(q, options); });
                   }
                   // Inner bodies first: what leaves them may leave this one too.
                   RICCI_ASSIGN(ir::ProgramRef body, Hoist(trace::ProgramOf(eqn.attrs, "body"), options));
                   return HoistEquation(b, eqn, in, *body, flow == prim::Flow::kScan);
                 });
}

}  // namespace ricci::inline v0::pass
