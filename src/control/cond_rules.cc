// The transforms of cond: each branch is transformed by itself, then all are made to agree on their results.
#include "control/computed_again.h"
#include "control/cond.h"
#include "transform/dead_code.h"
#include "transform/partial_eval.h"
#include "transform/transpose.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

size_t NumBranches(const StructuralOp& h) { return Branches(h).size(); }
const Program& Branch(const StructuralOp& h, size_t i) { return *ir::FromAbi(Branches(h)[i]); }

}  // namespace

absl::Status CondJvp(Builder& b, const StructuralOp& h, const ricci_jvp_args& a) {
  const std::span<const Val> tangents(a.tangents + 1, h.op.n_in - 1);
  const Mask active = NonZero(tangents);
  // A result has a tangent if it has one in any branch; branches that lack it are transformed again with a zero there.
  Mask nonzero(h.op.n_out, 0);
  std::vector<transform::JvpProgram> jvps;
  for (size_t i = 0; i < NumBranches(h); ++i) {
    RICCI_ASSIGN(auto jvp, transform::Jvp(Branch(h, i), active));
    Merge(nonzero, jvp.nonzero);
    jvps.push_back(std::move(jvp));
  }
  Programs branches;
  for (size_t i = 0; i < jvps.size(); ++i) {
    if (jvps[i].nonzero != nonzero) {
      RICCI_ASSIGN(jvps[i], transform::Jvp(Branch(h, i), active, nonzero));
    }
    branches.push_back(jvps[i].program);
  }
  Vals in(a.primals, a.primals + h.op.n_in);
  const Vals live = Where(tangents, active);
  in.insert(in.end(), live.begin(), live.end());
  RICCI_ASSIGN(Vals out, EmitCond(b, branches, in));
  GiveJvp(a, nonzero, out);
  return absl::OkStatus();
}

namespace {

// How the residuals of each branch are passed: an operand of the cond as it is, the others in slots, which are results
// of the known half. Branches share slots, so of each type there are only as many as one branch needs at most.
struct Residuals {
  std::vector<uint32_t> operands;  // operands that some branch needs as a residual
  std::vector<TypeId> slots;
  std::vector<std::vector<int32_t>> operand, slot;  // [branch][residual]: position in the lists above, or -1

  explicit Residuals(const std::vector<transform::PartialEvalProgram>& splits) {
    for (const transform::PartialEvalProgram& split : splits) {
      operand.emplace_back(split.n_residuals, -1);
      slot.emplace_back(split.n_residuals, -1);
      std::vector<uint8_t> taken(slots.size(), 0);
      for (uint32_t r = 0; r < split.n_residuals; ++r) {
        if (split.residual_param[r] >= 0) {
          operand.back()[r] = IndexOfOperand(static_cast<uint32_t>(split.residual_param[r]));
        } else {
          slot.back()[r] = FreeSlot(split.unknown->param_types[r], taken);
        }
      }
    }
  }

 private:
  int32_t IndexOfOperand(uint32_t param) {
    const auto at = std::find(operands.begin(), operands.end(), param);
    if (at == operands.end()) return operands.push_back(param), static_cast<int32_t>(operands.size()) - 1;
    return static_cast<int32_t>(at - operands.begin());
  }
  int32_t FreeSlot(TypeId type, std::vector<uint8_t>& taken) {
    for (size_t i = 0; i < taken.size(); ++i) {
      if (taken[i] || slots[i] != type) continue;
      taken[i] = 1;
      return static_cast<int32_t>(i);
    }
    slots.push_back(type);
    taken.push_back(1);
    return static_cast<int32_t>(slots.size()) - 1;
  }
};

// The known half of branch `i`: its known results, then the slots, its own filled and the others zero.
absl::StatusOr<ProgramRef> KnownBranch(Builder& b, const transform::PartialEvalProgram& split, const Residuals& res,
                                       size_t i, uint32_t n_known) {
  const Program& known = *split.known;
  RICCI_ASSIGN(auto nb, b.Nest(known.name, {known.param_types.data(), known.param_types.size()}));
  RICCI_ASSIGN(Vals own, nb->Inline(known, nb->params()));
  Vals out(own.begin(), own.begin() + n_known);
  out.resize(n_known + res.slots.size(), kNone);
  for (uint32_t r = 0; r < split.n_residuals; ++r) {
    if (res.slot[i][r] >= 0) out[n_known + res.slot[i][r]] = own[n_known + r];
  }
  for (size_t s = 0; s < res.slots.size(); ++s) {
    if (out[n_known + s] != kNone) continue;
    RICCI_ASSIGN(out[n_known + s], nb->Zero(res.slots[s]));
  }
  return nb->Finish(out);
}

// The unknown half of branch `i`: the operands passed as they are, the slots, then what is unknown.
absl::StatusOr<ProgramRef> UnknownBranch(Builder& b, const transform::PartialEvalProgram& split, const Residuals& res,
                                         size_t i, std::span<const TypeId> operand_types) {
  const Program& unknown = *split.unknown;
  std::vector<TypeId> types;
  for (uint32_t param : res.operands) types.push_back(operand_types[param]);
  types.insert(types.end(), res.slots.begin(), res.slots.end());
  types.insert(types.end(), unknown.param_types.begin() + split.n_residuals, unknown.param_types.end());
  RICCI_ASSIGN(auto nb, b.Nest(unknown.name, types));
  const Vals p = nb->params();
  Vals in;
  for (uint32_t r = 0; r < split.n_residuals; ++r) {
    in.push_back(p[res.operand[i][r] >= 0 ? res.operand[i][r] : res.operands.size() + res.slot[i][r]]);
  }
  in.insert(in.end(), p.begin() + res.operands.size() + res.slots.size(), p.end());
  RICCI_ASSIGN(Vals out, nb->Inline(unknown, in));
  return nb->Finish(out);
}

// If it is not known which branch runs, the whole operation is unknown.
absl::Status AllUnknown(Builder& ub, const StructuralOp& h, const ricci_partial_eval_args& a) {
  RICCI_ASSIGN(const Vals all, UnknownOperands(h, a));
  RICCI_ASSIGN(Vals out, ub.Emit(h.op.prim, h.attrs, all));
  std::copy(out.begin(), out.end(), a.out);
  return absl::OkStatus();
}

// The halves of every branch; a result is known if it is known in every branch (force_unknown: the others).
absl::StatusOr<std::vector<transform::PartialEvalProgram>> SplitBranches(const StructuralOp& h, MaskView known,
                                                                         const transform::Saving& saving,
                                                                         Mask& force_unknown) {
  std::vector<transform::PartialEvalProgram> splits;
  for (size_t i = 0; i < NumBranches(h); ++i) {
    RICCI_ASSIGN(auto split, transform::PartialEval(Branch(h, i), known, {}, saving));
    Merge(force_unknown, Not(split.out_known));
    splits.push_back(std::move(split));
  }
  for (size_t i = 0; i < splits.size(); ++i) {
    if (Not(splits[i].out_known) == force_unknown) continue;
    RICCI_ASSIGN(splits[i], transform::PartialEval(Branch(h, i), known, force_unknown, saving));
  }
  return splits;
}

}  // namespace

namespace {

struct Halves {
  Vals known, unknown;  // results, without residuals
};
// Both halves of the cond whose branches are split in this way.
absl::StatusOr<Halves> EmitHalves(const std::vector<transform::PartialEvalProgram>& splits, const StructuralOp& h,
                                  const ricci_partial_eval_args& a) {
  Builder &kb = *trace::FromAbi(a.known), &ub = *trace::FromAbi(a.unknown);
  const MaskView is_known(a.is_known, h.op.n_in);
  const uint32_t n_known = Count(splits[0].out_known);
  const Residuals res(splits);
  Programs known_branches, unknown_branches;
  for (size_t i = 0; i < splits.size(); ++i) {
    RICCI_ASSIGN(ProgramRef k, KnownBranch(kb, splits[i], res, i, n_known));
    RICCI_ASSIGN(ProgramRef u, UnknownBranch(ub, splits[i], res, i, h.in_types().subspan(1)));
    known_branches.push_back(k);
    unknown_branches.push_back(u);
  }
  RICCI_ASSIGN(Vals known_out, EmitCond(kb, known_branches, Where(std::span<const Val>(a.in, h.op.n_in), is_known)));
  Vals residuals{a.in[0]}, unknown_in;  // of the known half, then the same as values of the unknown half
  for (uint32_t param : res.operands) residuals.push_back(a.in[1 + param]);
  residuals.insert(residuals.end(), known_out.begin() + n_known, known_out.end());
  for (Val known : residuals) {
    unknown_in.push_back(kNone);
    RICCI_TRY(base::FromAbi(a.residual(a.split, known, &unknown_in.back())));
  }
  for (uint32_t i = 1; i < h.op.n_in; ++i) {
    if (!is_known[i]) unknown_in.push_back(a.in[i]);
  }
  known_out.resize(n_known);
  RICCI_ASSIGN(Vals unknown_out, EmitCond(ub, unknown_branches, unknown_in));
  return Halves{std::move(known_out), std::move(unknown_out)};
}

absl::Status ComputeBranchesAgain(const StructuralOp& h, const ricci_partial_eval_args& a) {
  std::vector<transform::PartialEvalProgram> splits;
  for (size_t i = 0; i < NumBranches(h); ++i) {
    RICCI_ASSIGN(splits.emplace_back(), SplitAgain(Branch(h, i), SavingOf(a)));
  }
  RICCI_ASSIGN(const Halves halves, EmitHalves(splits, h, a));
  GiveAgain(h, a, halves.known, halves.unknown);
  return absl::OkStatus();
}

}  // namespace

absl::Status CondPartialEval(const StructuralOp& h, const ricci_partial_eval_args& a) {
  if (a.again != nullptr) return ComputeBranchesAgain(h, a);
  const MaskView is_known(a.is_known, h.op.n_in);
  if (!is_known[0]) return AllUnknown(*trace::FromAbi(a.unknown), h, a);
  Mask force(h.op.n_out, 0);
  RICCI_ASSIGN(const auto splits, SplitBranches(h, is_known.subspan(1), SavingOf(a), force));
  RICCI_ASSIGN(const Halves halves, EmitHalves(splits, h, a));
  uint32_t next_known = 0, next_unknown = 0;
  for (uint32_t r = 0; r < h.op.n_out; ++r) {
    a.out_is_known[r] = !force[r];
    a.out[r] = force[r] ? halves.unknown[next_unknown++] : halves.known[next_known++];
  }
  return absl::OkStatus();
}

absl::Status CondTranspose(Builder& b, const StructuralOp& h, const ricci_transpose_args& a) {
  if (a.linear[0]) return absl::InvalidArgumentError("cond: not linear in the index of the branch");
  const MaskView linear(a.linear + 1, h.op.n_in - 1);
  const std::span<const Val> cts(a.cts, h.op.n_out);
  const Mask ct_nonzero = NonZero(cts);
  Programs transposed;
  for (size_t i = 0; i < NumBranches(h); ++i) {
    RICCI_ASSIGN(auto t, transform::Transpose(Branch(h, i), linear, ct_nonzero, /*instantiate=*/true));
    transposed.push_back(t.program);
  }
  Vals in{a.operands[0]};
  for (uint32_t i = 1; i < h.op.n_in; ++i) {
    if (!a.linear[i]) in.push_back(a.operands[i]);
  }
  const Vals live = Where(cts, ct_nonzero);
  in.insert(in.end(), live.begin(), live.end());
  RICCI_ASSIGN(Vals out, EmitCond(b, transposed, in));
  Scatter({a.linear + 1, h.op.n_in - 1}, out, a.in_cts + 1);
  return absl::OkStatus();
}

namespace {

// One index per batch element: every branch runs on the whole batch, and each element takes the result of its own
// branch.
absl::Status SelectBranches(Builder& b, const Programs& branches, Val index, std::span<const Val> in,
                            const ricci_batch_args& a, uint32_t n_out) {
  std::vector<Vals> results;
  for (const ProgramRef& p : branches) {
    RICCI_ASSIGN(Vals out, b.Inline(*p, in));
    results.push_back(std::move(out));
  }
  Vals chosen = results.back();
  for (size_t k = branches.size() - 1; k-- > 0;) {
    // Branch k serves indices up to k that no branch before it serves: indices below 0 go to the first branch, those
    // beyond the end to the last.
    RICCI_ASSIGN(Val number, ScalarI32(b, static_cast<int32_t>(k)));
    RICCI_ASSIGN(number, trace::BroadcastLeading(b, number, a.axis_size));
    const Val pair[] = {index, number};
    RICCI_ASSIGN(Val is_k, b.Emit1("le", {}, pair));
    for (uint32_t r = 0; r < n_out; ++r) {
      const std::vector<int64_t> batch_dim{0};
      RICCI_ASSIGN(Val pred, trace::BroadcastInDim(b, is_k, b.type(chosen[r]).shape, batch_dim));
      RICCI_ASSIGN(chosen[r], trace::Select(b, pred, results[k][r], chosen[r]));
    }
  }
  std::copy(chosen.begin(), chosen.end(), a.out);
  return absl::OkStatus();
}

}  // namespace

absl::Status CondBatch(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  RICCI_ASSIGN(Vals in, BatchFront(b, a, h.op.n_in));
  const Mask batched = IsBatched(a, h.op.n_in);
  const MaskView operands_batched = MaskView(batched).subspan(1);
  const std::string_view axis(a.axis_name.ptr, a.axis_name.len);
  bool may_fail = false, effect = false;
  for (size_t i = 0; i < NumBranches(h); ++i) {
    may_fail |= MayFail(Branch(h, i));
    effect |= Branch(h, i).effectful;
  }
  if (batched[0] && may_fail && !effect) return BatchAsVmap(b, h, a);
  // A result is batched if it is in any branch, or if each element chooses its own branch.
  Mask force(h.op.n_out, batched[0]);
  std::vector<transform::BatchProgram> batches;
  for (size_t i = 0; i < NumBranches(h); ++i) {
    RICCI_ASSIGN(auto batch, transform::Batch(Branch(h, i), operands_batched, a.axis_size, axis, force));
    Merge(force, batch.out_batched);
    batches.push_back(std::move(batch));
  }
  // Effects happen only for the elements that choose their branch. (The batches above refuse those without an order.)
  if (batched[0] && effect) return BatchOneByOne(b, h, a);
  Programs branches;
  for (size_t i = 0; i < batches.size(); ++i) {
    if (batches[i].out_batched != force) {
      RICCI_ASSIGN(batches[i], transform::Batch(Branch(h, i), operands_batched, a.axis_size, axis, force));
    }
    branches.push_back(batches[i].program);
  }
  for (uint32_t r = 0; r < h.op.n_out; ++r) a.out_dims[r] = force[r] ? 0 : -1;
  if (batched[0]) return SelectBranches(b, branches, in[0], std::span<const Val>(in).subspan(1), a, h.op.n_out);
  RICCI_ASSIGN(Vals out, EmitCond(b, branches, in));
  std::copy(out.begin(), out.end(), a.out);
  return absl::OkStatus();
}

absl::Status CondDce(Builder* b, const StructuralOp& h, const ricci_dce_args& a) {
  const MaskView used_out(a.used_out, h.op.n_out);
  Mask used(h.op.n_in - 1, 0);
  for (size_t i = 0; i < NumBranches(h); ++i) {
    RICCI_ASSIGN(auto pruned, transform::Prune(Branch(h, i), used_out));
    for (size_t k = 0; k < used.size(); ++k) used[k] |= pruned.used_params[k];
  }
  a.used_in[0] = 1;
  std::copy(used.begin(), used.end(), a.used_in + 1);
  if (a.in == nullptr) return absl::OkStatus();
  Programs branches;
  for (size_t i = 0; i < NumBranches(h); ++i) {
    RICCI_ASSIGN(auto pruned, transform::Prune(Branch(h, i), used_out, Not(used)));
    branches.push_back(pruned.program);
  }
  Vals in{a.in[0]};
  const Vals rest = Where(std::span<const Val>(a.in + 1, h.op.n_in - 1), used);
  in.insert(in.end(), rest.begin(), rest.end());
  RICCI_ASSIGN(Vals out, EmitCond(*b, branches, in));
  Scatter(used_out, out, a.out);
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::control
