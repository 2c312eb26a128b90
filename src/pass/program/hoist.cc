// hoist: moves work that is the same for all trips of a loop or all elements of a vmap out of the body.
//
// An equation of the body that depends only on loop constants (unbatched operands) is computed once, before the loop,
// and its results become additional constants. So sin(W) inside vmap(grad(scan)) is computed once. What a body computes
// from nothing (iota) stays, since it costs nothing there, and is repeated outside where hoisted work reads it.
#include "base/abi_text.h"
#include "control/parts.h"
#include "pass/program/pass.h"
#include "trace/attrs.h"
#include "trace/rewriter.h"
#include "transform/invariant.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

// Which equations of a body move out, and which of their values the rest of the body still needs.
struct Split {
  transform::Invariant invariant;
  bool any = false;
  std::vector<ir::ValueId> needed;

  bool Hoisted(const ir::Equation& eqn) const { return eqn.n_results > 0 && invariant.from_const[eqn.result(0)]; }
};

Split FindSplit(const ir::Program& body, const Vals& args, bool runs) {
  transform::Mask is_const;
  for (trace::Val v : args) is_const.push_back(v != trace::kNone);
  Split split{transform::FindInvariant(body, is_const, /*speculative=*/!runs)};
  std::vector<uint8_t> used(body.values.size(), 0);
  for (const ir::Equation& eqn : body.equations) {
    split.any |= split.Hoisted(eqn);
    if (split.Hoisted(eqn)) continue;
    for (ir::ValueId v : eqn.operands) used[v] = 1;
  }
  for (ir::ValueId r : body.results) used[r] = 1;
  for (const ir::Equation& eqn : body.equations) {
    if (!split.Hoisted(eqn)) continue;
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      if (used[eqn.result(i)]) split.needed.push_back(eqn.result(i));
    }
  }
  return split;
}

// `eqn`, after the constants and what is computed from nothing that it takes.
absl::Status CopyNeeding(trace::Rewriter& values, const ir::Equation& eqn) {
  for (ir::ValueId v : eqn.operands) RICCI_TRY(values.Need(v).status());
  return values.Copy(eqn);
}

// The body without its hoisted equations; the needed values are new parameters at the front.
absl::StatusOr<ir::ProgramRef> Rest(const ir::Program& body, const Split& split) {
  std::vector<ir::TypeId> params;
  for (ir::ValueId v : split.needed) params.push_back(body.type_id(v));
  params.insert(params.end(), body.param_types.begin(), body.param_types.end());
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(body), body.name, params));
  trace::Rewriter values(body, *b);
  const Vals all = b->params();
  for (uint32_t i = 0; i < split.needed.size(); ++i) values[split.needed[i]] = all[i];
  values.SetParams(std::span(all).subspan(split.needed.size()));
  for (const ir::Equation& eqn : body.equations) {
    if (!split.Hoisted(eqn)) RICCI_TRY(CopyNeeding(values, eqn));
  }
  for (ir::ValueId r : body.results) RICCI_TRY(values.Need(r).status());
  return b->Finish(values.Results());
}

// The result for a held program: the values that moved out, and the program that takes them as its first parameters.
struct Hoisted {
  Vals before;
  ir::ProgramRef rest;
};
// args[i]: the value of parameter i outside the loop, kNone if it changes from trip to trip. `runs`: there is at least
// one trip; if that is not known, only work that costs little and cannot fail is done before the loop.
absl::StatusOr<Hoisted> HoistBody(Builder& b, const ir::Program& body, const Vals& args, bool runs) {
  const Split split = FindSplit(body, args, runs);
  if (!split.any) return Hoisted{{}, ir::ProgramRef(&body)};
  trace::Rewriter values(body, b);
  values.SetParams(args);
  for (const ir::Equation& inner : body.equations) {
    if (split.Hoisted(inner)) RICCI_TRY(CopyNeeding(values, inner));
  }
  Hoisted out;
  out.before = values[split.needed];
  RICCI_ASSIGN(out.rest, Rest(body, split));
  return out;
}

// The new equation of a loop: attributes replaced by name, a new list of operands.
class Loop {
 public:
  Loop(Builder& b, const ir::Equation& eqn, std::span<const trace::Val> in)
      : b_(b), eqn_(eqn), in_(in), attrs_(eqn.attrs.begin(), eqn.attrs.end()) {}

  int64_t integer(std::string_view name) const { return trace::IntOf(eqn_.attrs, name); }
  // Operands `from` to `from` + n as constants of a body with `more` further parameters.
  Vals Constants(int64_t from, int64_t n, size_t more) const {
    Vals out(in_.begin() + from, in_.begin() + from + n);
    out.resize(out.size() + more, trace::kNone);
    return out;
  }
  void Set(const ricci_attr& a) {
    for (ricci_attr& old : attrs_) {
      if (base::View(old.name) == base::View(a.name)) old = a;
    }
  }
  // attribute += n; for counts of constants.
  void Grow(std::string_view name, size_t n) { Set(trace::IntAttr(name, integer(name) + static_cast<int64_t>(n))); }
  absl::StatusOr<Vals> Emit(std::span<const trace::Val> operands) {
    b_.SetLocation(eqn_.location);
    return b_.Emit(eqn_.prim, attrs_, operands);
  }

 private:
  Builder& b_;
  const ir::Equation& eqn_;
  std::span<const trace::Val> in_;
  std::vector<ricci_attr> attrs_;
};

using Operands = std::span<const trace::Val>;
Vals operator+(Vals a, Operands b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

absl::StatusOr<Vals> HoistScan(Builder& b, const ir::Equation& eqn, Operands in, const ir::Program& body) {
  Loop loop(b, eqn, in);
  const control::ScanParts s(eqn);
  const Vals args = loop.Constants(0, s.n_consts, in.size() - s.n_consts);  // exact: checked by the type
  RICCI_ASSIGN(Hoisted h, HoistBody(b, body, args, /*runs=*/s.length > 0));
  ricci_program* slot;
  loop.Set(trace::ProgramAttr("body", *h.rest, slot));
  loop.Grow("num_consts", h.before.size());
  return loop.Emit(h.before + in);
}

absl::StatusOr<Vals> HoistVmap(Builder& b, const ir::Equation& eqn, Operands in, const ir::Program& body) {
  Loop loop(b, eqn, in);
  const control::VmapParts v(eqn.attrs);
  Vals args(in.begin(), in.end());
  for (size_t i = 0; i < in.size(); ++i) args[i] = v.in_axes[i] < 0 ? in[i] : trace::kNone;
  RICCI_ASSIGN(Hoisted h, HoistBody(b, body, args, /*runs=*/v.size > 0));
  ricci_program* slot;
  loop.Set(trace::ProgramAttr("body", *h.rest, slot));
  std::vector<int64_t> axes(h.before.size(), -1);
  axes.insert(axes.end(), v.in_axes.begin(), v.in_axes.end());
  loop.Set(trace::IntsAttr("in_axes", axes));
  return loop.Emit(h.before + in);
}

absl::StatusOr<Vals> HoistWhile(Builder& b, const ir::Equation& eqn, Operands in, const ir::Program& cond,
                                const ir::Program& body) {
  Loop loop(b, eqn, in);
  const control::WhileParts w(eqn);
  RICCI_ASSIGN(Hoisted c, HoistBody(b, cond, loop.Constants(0, w.n_cond, w.n_carry), /*runs=*/true));
  RICCI_ASSIGN(Hoisted t, HoistBody(b, body, loop.Constants(w.n_cond, w.n_body, w.n_carry), /*runs=*/false));
  ricci_program *cond_slot, *body_slot;
  loop.Set(trace::ProgramAttr("cond", *c.rest, cond_slot));
  loop.Set(trace::ProgramAttr("body", *t.rest, body_slot));
  loop.Grow("cond_nconsts", c.before.size());
  loop.Grow("body_nconsts", t.before.size());
  return loop.Emit(c.before + in.first(w.n_cond) + t.before + in.subspan(w.n_cond));
}

}  // namespace

absl::StatusOr<ir::ProgramRef> Hoist(const ir::Program& program, const Options& options) {
  return Rebuild(program,
                 [&](Builder& b, const ir::Program& f, const ir::Equation& eqn, Operands in) -> absl::StatusOr<Vals> {
                   auto inner = [&](const ir::Program& q) { return Hoist(q, options); };
                   const prim::Flow flow = b.registry().Get(eqn.prim).flow;
                   if (flow != prim::Flow::kScan && flow != prim::Flow::kVmap && flow != prim::Flow::kWhile) {
                     return CopyWithNested(b, f, eqn, in, inner);
                   }
                   // Inner bodies first: what moves out of them may move out of this one too.
                   RICCI_ASSIGN(ir::ProgramRef body, inner(trace::ProgramOf(eqn.attrs, "body")));
                   if (flow == prim::Flow::kScan) return HoistScan(b, eqn, in, *body);
                   if (flow == prim::Flow::kVmap) return HoistVmap(b, eqn, in, *body);
                   RICCI_ASSIGN(ir::ProgramRef cond, inner(trace::ProgramOf(eqn.attrs, "cond")));
                   return HoistWhile(b, eqn, in, *cond, *body);
                 });
}

}}}  // namespace ricci::v0::pass
