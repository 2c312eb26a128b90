#include "transform/partial_eval.h"

#include "base/hash_map.h"
#include "base/status_abi.h"
#include "trace/attrs.h"
#include "trace/rewriter.h"
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
// there: as a constant, as a residual, or computed again if the policy does not save it.
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
    if (all_known && !HasNoValue(row, eqn)) {
      RICCI_TRY(known_.Copy(eqn));
      RICCI_ASSIGN(bool saved, PolicySaves(saving_.policy, row, eqn));
      saved_[e] = saved;
      return absl::OkStatus();
    }
    if (row.def.partial_eval != nullptr) return ByRule(eqn, row);
    for (ir::ValueId v : eqn.operands) RICCI_TRY(Unknown(v).status());
    return unknown_.Copy(eqn);
  }

  absl::Status ByRule(const ir::Equation& eqn, const prim::Row& row) {
    const Op op(f_, eqn);
    Mask is_known_in, is_known_out(eqn.n_results, 0);
    Vals in, out(eqn.n_results, kNone);
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
    args.policy = {saving_.policy.data(), saving_.policy.size()};
    args.is_known = is_known_in.data();
    args.in = in.data();
    args.split = this;
    args.residual = [](void* split, ricci_val known, ricci_val* unknown) {
      return base::AtBorder([&]() -> absl::Status {
        RICCI_ASSIGN(*unknown, static_cast<Splitter*>(split)->Residual(known));
        return absl::OkStatus();
      });
    };
    args.out = out.data();
    args.out_is_known = is_known_out.data();
    const trace::Loan known_loan(&kb_), unknown_loan(&ub_);
    RICCI_TRY(AtEquation(base::FromAbi(row.def.partial_eval(row.def.self, op.get(), &args)), f_, eqn, "partial_eval"));
    for (const trace::Loan* loan : {&known_loan, &unknown_loan}) {
      RICCI_TRY(AtEquation(loan->Returned(row, "partial_eval"), f_, eqn, "partial_eval"));
    }
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      const Builder& owner = is_known_out[i] ? kb_ : ub_;
      const bool good = owner.Owns(out[i]) && owner.type_id(out[i]) == f_.type_id(eqn.result(i));
      if (!good) {
        return AtEquation(
            base::InvalidArgument(row.name, ": rule partial_eval of ", row.plugin, ": slot ", i,
                                  " is not a value of the builder that it is declared for, or has another type"),
            f_, eqn, "partial_eval");
      }
      (is_known_out[i] ? known_ : unknown_)[eqn.result(i)] = out[i];
    }
    return absl::OkStatus();
  }

  // A known value as a residual; kNone if it is to be computed again.
  absl::StatusOr<Val> SavedOrNone(ir::ValueId v) {
    const ir::Equation* eqn = f_.definition(v);
    if (eqn == nullptr || saved_[f_.values[v].index]) return Residual(known_[v]);
    if (!registry_.HasEffect(*eqn)) return kNone;
    return AtEquation(base::InvalidArgument("checkpoint: an effect may not run twice; move it out"), f_, *eqn,
                      "checkpoint");
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
  RICCI_ASSIGN(auto kb, Builder::Create(registry, f.name, known_types));
  RICCI_ASSIGN(auto ub, Builder::Create(registry, f.name, unknown_types));
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

}  // namespace

absl::StatusOr<PartialEvalProgram> PartialEval(const ir::Program& f, MaskView known, MaskView force_unknown,
                                               const Saving& saving) {
  return Remembered<PartialEvalProgram>(
      MemoKey("partial_eval", f).Add(known).Add(force_unknown).Add(saving.policy).Add(int64_t{saving.apart}),
      [&] { return SplitProgram(f, known, force_unknown, saving); });
}

}}}  // namespace ricci::v0::transform
