#include "transform/partial_eval.h"

#include "base/hash_map.h"
#include "base/status_abi.h"
#include "trace/attrs.h"
#include "trace/rewriter.h"
#include "trace/rule_slot.h"
#include "transform/dead_code.h"
#include "transform/memo.h"
#include "transform/policy.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace transform {
namespace {

using trace::Op;

// A linear map of which only the transpose is known has no value, so it is never known, whatever its operands are. (In
// reverse mode these are tangents that depend on no argument and so are zero: nothing needs the map's cotangents.)
bool HasNoValue(const prim::Row& row, const ir::Equation& eqn) {
  const auto holds = [](const ricci_attr& a) {
    return std::ranges::any_of(ir::Programs(a), [](ricci_program* p) { return ir::FromAbi(p)->holds_linear_map; });
  };
  return row.flow == prim::Flow::kLinearMap || std::ranges::any_of(eqn.attrs, holds);
}

// Builds the two programs side by side. A known value is always in `known`. It is in `unknown` once it is first needed
// there: as a constant, as a residual, or computed again if the policy does not save it. A policy is for programs of
// which all is known (SplitByPolicy).
class Splitter {
 public:
  Splitter(const ir::Program& f, Builder& known, Builder& unknown, const Saving& saving)
      : f_(f),
        registry_(prim::Registry::Of(f)),
        kb_(known),
        ub_(unknown),
        saving_(saving),
        known_(f, known),
        unknown_(f, unknown),
        saved_(f.equations.size(), 1) {}

  absl::Status Start(MaskView known) {
    uint32_t next_known = 0, next_unknown = 0;
    for (uint32_t i = 0; i < f_.n_params(); ++i) {
      if (known[i]) {
        known_[i] = kb_.param(next_known++);
        param_of_[known_[i]] = static_cast<int32_t>(i);
      } else {
        unknown_[i] = ub_.param(next_unknown++);
      }
    }
    return known_.AddConstants();
  }

  absl::Status Run() {
    for (uint32_t e = 0; e < f_.equations.size(); ++e) RICCI_TRY(Step(e));
    return absl::OkStatus();
  }

  bool is_known(ir::ValueId v) const { return known_[v] != kNone; }
  Val known(ir::ValueId v) const { return known_[v]; }
  const Vals& residuals() const { return residuals_; }
  const std::vector<int32_t>& residual_params() const { return residual_params_; }

  // Value `v` of f in the unknown program: what is saved comes as a residual, what is not is computed again.
  absl::StatusOr<Val> Unknown(ir::ValueId v) {
    return unknown_.Need(v, [&](ir::ValueId at) { return SavedOrNone(at); });
  }

  // A value of the known builder, as a parameter of the unknown one.
  absl::StatusOr<Val> Residual(Val known) {
    if (!kb_.Owns(known)) return absl::InvalidArgumentError("a residual must be a value of the known builder");
    auto [it, fresh] = residual_of_.try_emplace(known, kNone);
    if (!fresh) return it->second;
    RICCI_ASSIGN(it->second, ub_.AddParam(kb_.type_id(known)));
    residuals_.push_back(known);
    const auto param = param_of_.find(known);
    residual_params_.push_back(param == param_of_.end() ? -1 : param->second);
    return it->second;
  }

 private:
  absl::Status Step(uint32_t e) {
    const ir::Equation& eqn = f_.equations[e];
    const prim::Row& row = registry_.Get(eqn.prim);
    bool all_known = true;
    for (ir::ValueId v : eqn.operands) all_known &= is_known(v);
    if (all_known && !HasNoValue(row, eqn)) return StepKnown(e, row);
    if (row.def.partial_eval != nullptr) return ByRule(eqn, row, /*again=*/false);
    for (ir::ValueId v : eqn.operands) RICCI_TRY(Unknown(v).status());
    return unknown_.Copy(eqn);
  }

  absl::Status StepKnown(uint32_t e, const prim::Row& row) {
    const ir::Equation& eqn = f_.equations[e];
    RICCI_ASSIGN(bool saved, PolicySaves(saving_.policy, row, eqn));
    if (!saved && row.has(RICCI_PRIM_SAVES_INSIDE)) {
      RICCI_ASSIGN(bool inside, SavesInside(saving_.policy, eqn));
      if (inside) return ByRule(eqn, row, /*again=*/true);
    }
    saved_[e] = saved || registry_.HasEffect(eqn);  // no effect runs twice
    return known_.Copy(eqn);
  }

  // An operand of the equation that a rule splits, or another value of the known builder, in the unknown program.
  struct Asking {
    Splitter* split;
    const ir::Equation* eqn;
    bool again;
  };
  static absl::StatusOr<Val> Seen(const Asking& a, Val known) {
    for (ir::ValueId v : a.eqn->operands) {
      if (a.again && a.split->known_[v] == known) return a.split->Unknown(v);
    }
    return a.split->Residual(known);
  }

  // `again`: all operands are known, and the rule lets the policy decide on what the equation holds.
  absl::Status ByRule(const ir::Equation& eqn, const prim::Row& row, bool again) {
    const Op op(f_, eqn);
    Mask is_known_in, is_known_out(eqn.n_results, 0);
    Vals in, out(eqn.n_results, kNone), out_again(eqn.n_results, kNone);
    Asking asking{this, &eqn, again};
    for (ir::ValueId v : eqn.operands) {
      is_known_in.push_back(is_known(v));
      in.push_back(is_known(v) ? known_[v] : unknown_[v]);
    }
    kb_.SetLocation(eqn.location);
    ub_.SetLocation(eqn.location);
    ricci_partial_eval_args args{};
    args.hdr.size = sizeof args;
    if (saving_.apart) args.hdr.flags = RICCI_PARTIAL_EVAL_APART;
    args.known = Abi(&kb_);
    args.unknown = Abi(&ub_);
    if (again) args.policy = {saving_.policy.data(), saving_.policy.size()};
    args.is_known = is_known_in.data();
    args.in = in.data();
    args.split = &asking;
    args.residual = [](void* split, ricci_val known, ricci_val* unknown) {
      return base::AtBorder([&]() -> absl::Status {
        if (split == nullptr || unknown == nullptr) {
          return base::InvalidArgument("residual: ", split == nullptr ? "split" : "unknown_value", " is NULL");
        }
        RICCI_ASSIGN(*unknown, Seen(*static_cast<const Asking*>(split), known));
        return absl::OkStatus();
      });
    };
    args.out = out.data();
    args.out_is_known = is_known_out.data();
    if (again) args.again = out_again.data();
    const trace::Loan known_loan(&kb_), unknown_loan(&ub_);
    const auto call = [&] { return row.def.partial_eval(row.def.self, op.get(), &args); };
    RICCI_TRY(AtEquation(prim::CallRule(row, "partial_eval", call), f_, eqn, "partial_eval"));
    for (const trace::Loan* loan : {&known_loan, &unknown_loan}) {
      RICCI_TRY(AtEquation(loan->Returned(row, "partial_eval"), f_, eqn, "partial_eval"));
    }
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      const auto check = [&](const Builder& b, Val v) {
        const absl::Status status = trace::CheckSlot(b, row, "partial_eval", i, v, f_.type_id(eqn.result(i)));
        return AtEquation(status, f_, eqn, "partial_eval");
      };
      RICCI_TRY(check(is_known_out[i] ? kb_ : ub_, out[i]));
      if (again) RICCI_TRY(check(ub_, out_again[i]));
      if (again && !is_known_out[i]) {
        const absl::Status unknown =
            prim::Violation(row, "partial_eval", base::Cat("result ", i, " is not known, though all operands are"));
        return AtEquation(unknown, f_, eqn, "partial_eval");
      }
      (is_known_out[i] ? known_ : unknown_)[eqn.result(i)] = out[i];
      if (again) unknown_[eqn.result(i)] = out_again[i];
    }
    return absl::OkStatus();
  }

  // A known value as a residual; kNone if it is to be computed again.
  absl::StatusOr<Val> SavedOrNone(ir::ValueId v) {
    const ir::Equation* eqn = f_.definition(v);
    if (eqn == nullptr || saved_[f_.values[v].index]) return Residual(known_[v]);
    return kNone;
  }

  const ir::Program& f_;
  const prim::Registry& registry_;
  Builder &kb_, &ub_;
  const Saving saving_;
  trace::Rewriter known_, unknown_;
  Mask saved_;  // per known equation: its results may become residuals
  Vals residuals_;
  std::vector<int32_t> residual_params_;
  base::HashMap<Val, Val> residual_of_;
  base::HashMap<Val, int32_t> param_of_;
};

// `unknown` with its residuals first, without those that nothing needs; `kept` says which residuals are kept.
absl::StatusOr<ir::ProgramRef> TidyUnknown(const ir::Program& unknown, uint32_t n_residuals, Mask& kept) {
  Mask droppable(unknown.n_params(), 0), all(unknown.n_results(), 1);
  std::fill(droppable.begin(), droppable.begin() + n_residuals, 1);
  RICCI_ASSIGN(PrunedProgram pruned, Prune(unknown, all, droppable));
  kept.assign(pruned.used_params.begin(), pruned.used_params.begin() + n_residuals);
  return pruned.program;
}

absl::StatusOr<PartialEvalProgram> SplitProgram(const ir::Program& f, MaskView known, MaskView force_unknown,
                                                const Saving& saving) {
  if (known.size() != f.n_params()) {
    return base::InvalidArgument("partial_eval: program ", f.name, " has ", base::Count(f.n_params(), "parameter"),
                                 ", not ", known.size());
  }
  prim::Registry& registry = prim::Registry::Of(f);
  std::vector<ir::TypeId> known_types, unknown_types;
  for (uint32_t i = 0; i < f.n_params(); ++i) (known[i] ? known_types : unknown_types).push_back(f.param_types[i]);
  RICCI_ASSIGN(auto kb, Builder::Create(registry, f.name, known_types, f.level));
  RICCI_ASSIGN(auto ub, Builder::Create(registry, f.name, unknown_types, f.level));
  Splitter split(f, *kb, *ub, saving);
  RICCI_TRY(split.Start(known));
  RICCI_TRY(split.Run());

  PartialEvalProgram out;
  Vals known_results, unknown_results;
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    const ir::ValueId r = f.results[i];
    out.out_known.push_back(split.is_known(r) && (force_unknown.empty() || !force_unknown[i]));
    if (out.out_known[i]) {
      known_results.push_back(split.known(r));
      continue;
    }
    RICCI_ASSIGN(Val u, split.Unknown(r));
    unknown_results.push_back(u);
  }
  const auto n_unknown = static_cast<uint32_t>(unknown_types.size());
  const auto n_residuals = static_cast<uint32_t>(split.residuals().size());
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < n_residuals; ++i) order.push_back(n_unknown + i);
  for (uint32_t i = 0; i < n_unknown; ++i) order.push_back(i);
  RICCI_ASSIGN(ir::ProgramRef unknown, ub->Finish(unknown_results, order));
  Mask kept;
  RICCI_ASSIGN(out.unknown, TidyUnknown(*unknown, n_residuals, kept));
  for (uint32_t i = 0; i < n_residuals; ++i) {
    if (!kept[i]) continue;
    known_results.push_back(split.residuals()[i]);
    out.residual_param.push_back(split.residual_params()[i]);
  }
  out.n_residuals = static_cast<uint32_t>(out.residual_param.size());
  RICCI_ASSIGN(out.known, FinishLive(*kb, known_results));  // without what only dropped residuals need
  return out;
}

// `last` after `first`, which gives the residuals of `last`: parameters of `first`, unknown parameters -> results.
absl::StatusOr<ir::ProgramRef> Joined(const ir::Program& first, const ir::Program& last) {
  std::vector<ir::TypeId> types(first.param_types.begin(), first.param_types.end());
  types.insert(types.end(), last.param_types.begin() + first.n_results(), last.param_types.end());
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(last), last.name, types));
  const Vals params = b->params();
  RICCI_ASSIGN(Vals in, b->Inline(first, std::span(params).first(first.n_params())));
  in.insert(in.end(), params.begin() + first.n_params(), params.end());
  RICCI_ASSIGN(const Vals out, b->Inline(last, in));
  return b->Finish(out);
}

// What the unknown half needs of the known one is found without the policy. All that leads to it is known, so the
// policy decides only on operations on known values, and rules need no mixture of what is saved, computed again and
// unknown. The unknown half first computes again what is not saved.
absl::StatusOr<PartialEvalProgram> SplitByPolicy(const ir::Program& f, MaskView known, MaskView force_unknown,
                                                 const Saving& saving) {
  RICCI_ASSIGN(PartialEvalProgram whole, PartialEval(f, known, force_unknown, {{}, saving.apart}));
  Mask needed(whole.known->n_results(), 1);
  std::fill(needed.begin(), needed.end() - whole.n_residuals, 0);
  const Mask all(whole.known->n_params(), 1);
  RICCI_ASSIGN(const PartialEvalProgram again, SplitProgram(*whole.known, all, needed, saving));
  std::vector<int32_t> param_of;  // of f, by known parameter
  for (uint32_t i = 0; i < known.size(); ++i) {
    if (known[i]) param_of.push_back(static_cast<int32_t>(i));
  }
  PartialEvalProgram out{again.known, {}, whole.out_known, again.n_residuals, {}};
  for (int32_t p : again.residual_param) out.residual_param.push_back(p < 0 ? p : param_of[p]);
  RICCI_ASSIGN(out.unknown, Joined(*again.unknown, *whole.unknown));
  return out;
}

}  // namespace

absl::StatusOr<PartialEvalProgram> PartialEval(const ir::Program& f, MaskView known, MaskView force_unknown,
                                               const Saving& saving) {
  return Remembered<PartialEvalProgram>(
      MemoKey("partial_eval", f).Add(known).Add(force_unknown).Add(saving.policy).Add(int64_t{saving.apart}),
      [&] { return (saving.policy.empty() ? SplitProgram : SplitByPolicy)(f, known, force_unknown, saving); });
}

}}}  // namespace ricci::v0::transform
