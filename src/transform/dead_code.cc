#include "transform/dead_code.h"

#include "trace/rewriter.h"
#include "trace/rule_slot.h"
#include "transform/memo.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace transform {
namespace {

using trace::Op;

// Runs the dce rule of a row that holds programs. `in` empty: only finds out what is used; else emits the operation and
// returns the results.
absl::StatusOr<Vals> ApplyDce(Builder* b, const prim::Row& row, const ir::Program& f, const ir::Equation& eqn,
                              MaskView used_out, Mask& used_in, std::span<const Val> in) {
  const Op op(f, eqn);
  Vals out(eqn.n_results, kNone);
  ricci_dce_args args{};
  args.hdr.size = sizeof args;
  args.used_out = used_out.data();
  args.used_in = used_in.data();
  args.in = in.empty() ? nullptr : in.data();
  args.out = out.data();
  const auto call = [&] { return row.def.dce(row.def.self, Abi(b), op.get(), &args); };
  RICCI_TRY(AtEquation(trace::CallWithLoan(b, row, "dce", call), f, eqn, "dce"));
  for (uint32_t i = 0; b != nullptr && i < eqn.n_results; ++i) {
    if (!used_out[i]) continue;
    RICCI_TRY(AtEquation(trace::CheckSlot(*b, row, "dce", i, out[i], op->out_types[i]), f, eqn, "dce"));
  }
  return out;
}

// A barrier over only those operands that are used.
absl::StatusOr<Vals> SmallerBarrier(Builder& b, const ir::Equation& eqn, MaskView used, std::span<const Val> in) {
  RICCI_ASSIGN(Vals results, b.Emit(eqn.prim, eqn.attrs, Where(in, used)));
  Vals out(eqn.n_results, kNone);
  Scatter(used, results, out.data());
  return out;
}

// Which values are needed, and for each equation which of its operands; equations are walked backwards once.
struct Liveness {
  Mask value, equation;
  std::vector<std::optional<Mask>> operands;  // where the row has a dce rule or is a barrier
};

absl::StatusOr<Liveness> FindLive(const ir::Program& f, MaskView used_results, Effects effects) {
  const prim::Registry& registry = prim::Registry::Of(f);
  Liveness live{Mask(f.values.size(), 0), Mask(f.equations.size(), 0), {}};
  live.operands.resize(f.equations.size());
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    if (used_results[i]) live.value[f.results[i]] = 1;
  }
  for (size_t e = f.equations.size(); e-- > 0;) {
    const ir::Equation& eqn = f.equations[e];
    const prim::Row& row = registry.Get(eqn.prim);
    const MaskView used_out(live.value.data() + eqn.first_result, eqn.n_results);
    bool any = false;
    for (uint8_t u : used_out) any |= u != 0;
    const bool effect = registry.HasEffect(eqn);
    if (!any && (!effect || effects == Effects::kLeave)) continue;
    live.equation[e] = 1;
    Mask used_in(eqn.operands.size(), 1);
    if (row.has(RICCI_PRIM_BARRIER)) {
      used_in.assign(used_out.begin(), used_out.end());
      live.operands[e] = used_in;
    } else if (row.def.dce != nullptr && !effect) {
      used_in.assign(eqn.operands.size(), 0);
      RICCI_TRY(ApplyDce(nullptr, row, f, eqn, used_out, used_in, {}).status());
      live.operands[e] = used_in;
    }
    for (size_t i = 0; i < used_in.size(); ++i) live.value[eqn.operands[i]] |= used_in[i];
  }
  return live;
}

absl::StatusOr<PrunedProgram> WithoutDead(const ir::Program& f, MaskView used_results, MaskView droppable,
                                          Effects effects) {
  RICCI_TRY(base::Invariant(used_results.size() == f.n_results(), "prune: one flag per result"));
  const prim::Registry& registry = prim::Registry::Of(f);
  RICCI_ASSIGN(Liveness live, FindLive(f, used_results, effects));
  PrunedProgram out;
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, {}));
  trace::Rewriter values(f, *b);
  for (uint32_t i = 0; i < f.n_params(); ++i) {
    out.used_params.push_back(live.value[i]);
    if (live.value[i] || droppable.empty() || !droppable[i]) {
      RICCI_ASSIGN(values[i], b->AddParam(f.param_types[i]));
    }
  }
  for (const ir::Constant& c : f.constants) {
    if (live.value[c.value]) RICCI_TRY(values.AddConstant(c));
  }
  for (size_t e = 0; e < f.equations.size(); ++e) {
    if (!live.equation[e]) continue;
    const ir::Equation& eqn = f.equations[e];
    if (!live.operands[e]) {
      RICCI_TRY(values.Copy(eqn));
      continue;
    }
    Vals in = values[eqn.operands], results;
    if (registry.Get(eqn.prim).has(RICCI_PRIM_BARRIER)) {
      b->SetLocation(eqn.location);
      RICCI_ASSIGN(results, SmallerBarrier(*b, eqn, *live.operands[e], in));
    } else {
      b->SetLocation(eqn.location);
      Mask& used_in = *live.operands[e];
      for (size_t i = 0; i < in.size(); ++i) in[i] = used_in[i] ? in[i] : kNone;
      const MaskView used_out(live.value.data() + eqn.first_result, eqn.n_results);
      in.push_back(kNone);  // never empty: an empty list means the first call
      RICCI_ASSIGN(results, ApplyDce(b.get(), registry.Get(eqn.prim), f, eqn, used_out, used_in, in));
    }
    values.SetResults(eqn, results);
  }
  RICCI_ASSIGN(out.program, b->Finish(Where(values.Results(), used_results)));
  return out;
}

// The key under which the used parameters of a program without dead code are remembered.
MemoKey LiveKey(const ir::Program& f) { return MemoKey("live", f); }

bool DropsAny(MaskView droppable, MaskView used_params) {
  for (size_t i = 0; i < droppable.size(); ++i) {
    if (droppable[i] && !used_params[i]) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<PrunedProgram> Prune(const ir::Program& f, MaskView used_results, MaskView droppable, Effects effects) {
  MemoUse use(f);
  const bool all = std::ranges::all_of(used_results, [](uint8_t u) { return u != 0; });
  if (const auto live = all ? use.Find(LiveKey(f)) : nullptr) {
    // A program that has been pruned is not walked again at every level around it.
    const auto& used_params = *static_cast<const Mask*>(live.get());
    if (!DropsAny(droppable, used_params)) return PrunedProgram{ir::ProgramRef(&f), used_params};
  }
  return Remembered<PrunedProgram>(
      MemoKey("prune", f).Add(used_results).Add(droppable).Add(int64_t{effects == Effects::kLeave}),
      [&]() -> absl::StatusOr<PrunedProgram> {
        RICCI_ASSIGN(PrunedProgram out, WithoutDead(f, used_results, droppable, effects));
        Mask kept;
        for (uint32_t i = 0; i < f.n_params(); ++i) {
          const bool drop = !droppable.empty() && droppable[i] != 0;
          if (out.used_params[i] || !drop) kept.push_back(out.used_params[i]);
        }
        use.Keep(LiveKey(*out.program), std::make_shared<const Mask>(std::move(kept)));
        return out;
      });
}

absl::StatusOr<ir::ProgramRef> WithoutDeadCode(const ir::Program& f) {
  RICCI_ASSIGN(PrunedProgram live, Prune(f, Mask(f.n_results(), 1)));
  return live.program;
}

absl::StatusOr<ir::ProgramRef> FinishLive(trace::Builder& b, std::span<const trace::Val> results) {
  RICCI_ASSIGN(const ir::ProgramRef whole, b.Finish(results));
  return WithoutDeadCode(*whole);
}

}}}  // namespace ricci::v0::transform
