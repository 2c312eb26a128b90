// sink_constants: a small constant that a loop, a batch or a branch takes as an operand becomes a constant of the
// programs that it holds.
//
// Held programs are closed: what a host closes over, and what JAX calls the consts of a scan, comes in as a parameter,
// of which a pass over the body knows nothing. As a constant it folds there, and rows can use it (a gather at known
// places is a view). The parameter stays, unused, until dce drops it.
//
// The shifts of a lattice, closed over by a scan, make its gathers views this way: streaming is 5.6 times as fast.
#include "control/parts.h"
#include "pass/program/pass.h"
#include "trace/rewriter.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr size_t kMostBytes = 4096;  // a table, not the weights of a model, which nothing folds

using Known = std::vector<const ir::Constant*>;  // per parameter of a held program: what it always is, or NULL

// Of operands `first` to `first` + n; `more` parameters follow.
Known KnownOf(const ir::Program& f, const ir::Equation& eqn, size_t first, size_t n, size_t more) {
  Known known;
  for (size_t i = first; i < first + n; ++i) {
    const ir::Constant* c = f.constant(eqn.operands[i]);
    known.push_back(c != nullptr && c->data->bytes.size() <= kMostBytes ? c : nullptr);
  }
  known.resize(n + more);
  return known;
}

Known KnownIn(const ir::Program& f, const ir::Equation& eqn, prim::Flow flow, const ir::Program& held) {
  const size_t n_in = eqn.operands.size();
  if (flow == prim::Flow::kScan) {
    const control::ScanParts s(eqn);
    return KnownOf(f, eqn, 0, s.n_consts, n_in - s.n_consts);
  }
  if (flow == prim::Flow::kCond) return KnownOf(f, eqn, 1, n_in - 1, 0);
  if (flow == prim::Flow::kVmap) {
    const control::VmapParts v(eqn.attrs);
    Known known = KnownOf(f, eqn, 0, n_in, 0);
    for (size_t i = 0; i < n_in; ++i) {
      if (v.in_axes[i] >= 0) known[i] = nullptr;
    }
    return known;
  }
  const control::WhileParts w(eqn);
  if (w.cond == w.body) return Known(held.param_types.size());  // one program in two roles
  return &held == w.cond ? KnownOf(f, eqn, 0, w.n_cond, w.n_carry) : KnownOf(f, eqn, w.n_cond, w.n_body, w.n_carry);
}

// `held` with these constants in place of its parameters.
absl::StatusOr<ir::ProgramRef> WithConstants(const ir::Program& held, const ir::Program& f, const Known& known) {
  if (std::ranges::all_of(known, [](const ir::Constant* c) { return c == nullptr; })) return ir::ProgramRef(&held);
  RICCI_ASSIGN(
      auto b, Builder::Create(prim::Registry::Of(held), held.name, {held.param_types.data(), held.param_types.size()}));
  trace::Rewriter values(held, *b);
  Vals params = b->params();
  for (size_t i = 0; i < known.size(); ++i) {
    if (known[i] == nullptr) continue;
    RICCI_ASSIGN(params[i], b->Constant(f.type_id(known[i]->value), known[i]->splat, known[i]->data));
  }
  values.SetParams(params);
  RICCI_TRY(values.AddConstants());
  RICCI_TRY(values.CopyAll());
  return b->Finish(values.Results());
}

}  // namespace

absl::StatusOr<ir::ProgramRef> SinkConstants(const ir::Program& program, const Options& options) {
  return Rebuild(program,
                 [&](Builder& b, const ir::Program& f, const ir::Equation& eqn,
                     std::span<const trace::Val> in) -> absl::StatusOr<Vals> {
                   const prim::Flow flow = b.registry().Get(eqn.prim).flow;
                   const bool takes = flow == prim::Flow::kScan || flow == prim::Flow::kCond ||
                                      flow == prim::Flow::kVmap || flow == prim::Flow::kWhile;
                   return CopyWithNested(b, f, eqn, in, [&](const ir::Program& q) -> absl::StatusOr<ir::ProgramRef> {
                     if (!takes) return SinkConstants(q, options);
                     RICCI_ASSIGN(const ir::ProgramRef known, WithConstants(q, f, KnownIn(f, eqn, flow, q)));
                     return SinkConstants(*known, options);
                   });
                 });
}

}}}  // namespace ricci::v0::pass
