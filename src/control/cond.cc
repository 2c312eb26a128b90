// cond: runs one of several held programs, chosen by an i32 index that is clamped to the branches there are.
//
// A batched index cannot choose for the whole batch: all branches then run and select_n picks per element. In lanes
// (a vmap lowered as a kernel) the branches stay branches.
#include "control/structural_row.h"
#include "transform/dead_code.h"
#include "transform/partial_eval.h"
#include "transform/transpose.h"
#include "transform/vmap.h"

namespace ricci::inline v0::control {
namespace {

using Programs = std::vector<ProgramRef>;

std::span<ricci_program* const> Branches(const Held& h) { return ir::Programs(*ir::FindAttr(h.attrs, "branches")); }
const Program& Branch(const Held& h, size_t i) { return *ir::FromAbi(Branches(h)[i]); }

absl::StatusOr<Vals> EmitCond(Builder& b, const Programs& branches, std::span<const Val> in) {
  std::vector<ricci_program*> handles;
  for (const ProgramRef& p : branches) handles.push_back(ir::Abi(p.get()));
  const ricci_attr attrs[] = {trace::ProgramsAttr("branches", handles)};
  return b.Emit("cond", attrs, in);
}

absl::Status Type(Builder& b, const Held& h) {
  const auto branches = Branches(h);
  if (branches.empty()) return absl::InvalidArgumentError("cond: there is no branch");
  if (h.op.n_in == 0) return absl::InvalidArgumentError("cond: operand 0 must be the i32 index of the branch");
  const auto& index = b.types().Get(h.op.in_types[0]);
  if (index.dtype != RICCI_I32 || index.rank() != 0) {
    return base::InvalidArgument("cond: the index is ", ToText(index), ", not i32[]");
  }
  const auto& first = *ir::FromAbi(branches[0]);
  const std::span<const TypeId> results(first.result_types.data(), first.result_types.size());
  for (size_t i = 0; i < branches.size(); ++i) {
    const std::string name = base::Cat("branch ", i);
    RICCI_TRY(CheckParams(b, "cond", name, *ir::FromAbi(branches[i]), h.in_types().subspan(1)));
    RICCI_TRY(CheckResults(b, "cond", name, *ir::FromAbi(branches[i]), results));
  }
  return SetOutTypes(b, results);
}

absl::Status Jvp(Builder& b, const Held& h, const ricci_jvp_args& a) {
  const std::span<const Val> tangents(a.tangents + 1, h.op.n_in - 1);
  const Mask active = NonZero(tangents);
  // A result has a tangent if it has one in any branch.
  Mask nonzero(h.op.n_out, 0);
  Programs jvps;
  for (int round = 0; round < 2; ++round) {
    jvps.clear();
    for (size_t i = 0; i < Branches(h).size(); ++i) {
      RICCI_ASSIGN(auto jvp, transform::Jvp(Branch(h, i), active, nonzero));
      jvps.push_back(jvp.program);
      if (round == 0) {
        for (uint32_t r = 0; r < h.op.n_out; ++r) nonzero[r] |= jvp.nonzero[r];
      }
    }
  }
  Vals in(a.primals, a.primals + h.op.n_in);
  const Vals live = Where(tangents, active);
  in.insert(in.end(), live.begin(), live.end());
  RICCI_ASSIGN(Vals out, EmitCond(b, jvps, in));
  uint32_t next = h.op.n_out;
  for (uint32_t r = 0; r < h.op.n_out; ++r) {
    a.out_primals[r] = out[r];
    if (nonzero[r]) a.out_tangents[r] = out[next++];
  }
  return absl::OkStatus();
}

// Branch `i`'s known half with residual slots of all branches: its own filled, the others zero.
absl::StatusOr<ProgramRef> KnownBranch(Builder& b, const std::vector<transform::PartialEvalProgram>& splits, size_t i,
                                       uint32_t n_known) {
  const Program& known = *splits[i].known;
  RICCI_ASSIGN(auto nb, b.Nest(known.name, {known.param_types.data(), known.param_types.size()}));
  RICCI_ASSIGN(Vals own, nb->Inline(known, nb->params()));
  Vals out(own.begin(), own.begin() + n_known);
  for (size_t k = 0; k < splits.size(); ++k) {
    for (uint32_t r = 0; r < splits[k].n_residuals; ++r) {
      if (k == i) {
        out.push_back(own[n_known + r]);
        continue;
      }
      RICCI_ASSIGN(Val zero, nb->Zero(splits[k].known->result_types[n_known + r]));
      out.push_back(zero);
    }
  }
  return nb->Finish(out);
}

// Branch `i`'s unknown half with parameters for the residuals of all branches, of which it uses its own.
absl::StatusOr<ProgramRef> UnknownBranch(Builder& b, const std::vector<transform::PartialEvalProgram>& splits,
                                         size_t i) {
  std::vector<TypeId> types;
  uint32_t own_first = 0;
  for (size_t k = 0; k < splits.size(); ++k) {
    if (k == i) own_first = static_cast<uint32_t>(types.size());
    for (uint32_t r = 0; r < splits[k].n_residuals; ++r) types.push_back(splits[k].unknown->param_types[r]);
  }
  const auto n_residuals = static_cast<uint32_t>(types.size());
  const Program& unknown = *splits[i].unknown;
  types.insert(types.end(), unknown.param_types.begin() + splits[i].n_residuals, unknown.param_types.end());
  RICCI_ASSIGN(auto nb, b.Nest(unknown.name, types));
  const Vals p = nb->params();
  Vals in(p.begin() + own_first, p.begin() + own_first + splits[i].n_residuals);
  in.insert(in.end(), p.begin() + n_residuals, p.end());
  RICCI_ASSIGN(Vals out, nb->Inline(unknown, in));
  return nb->Finish(out);
}

absl::Status PartialEval(const Held& h, const ricci_partial_eval_args& a) {
  Builder &kb = *trace::FromAbi(a.known), &ub = *trace::FromAbi(a.unknown);
  const std::span<const Val> in(a.in, h.op.n_in);
  const MaskView is_known(a.is_known, h.op.n_in);
  auto to_unknown = [&](Val known, Val& out) { return base::FromAbi(a.residual(a.split, known, &out)); };
  if (!is_known[0]) {  // which branch runs is not known: the whole operation is unknown
    Vals all(in.begin(), in.end());
    for (uint32_t i = 0; i < h.op.n_in; ++i) {
      if (is_known[i]) RICCI_TRY(to_unknown(in[i], all[i]));
    }
    RICCI_ASSIGN(Vals out, ub.Emit(h.op.prim, h.attrs, all));
    std::copy(out.begin(), out.end(), a.out);
    return absl::OkStatus();
  }
  const MaskView known = is_known.subspan(1);
  Mask force(h.op.n_out, 0);  // a result is known if it is known in every branch
  std::vector<transform::PartialEvalProgram> splits;
  for (int round = 0; round < 2; ++round) {
    splits.clear();
    for (size_t i = 0; i < Branches(h).size(); ++i) {
      RICCI_ASSIGN(auto split, transform::PartialEval(Branch(h, i), known, force, {a.policy.ptr, a.policy.len}));
      splits.push_back(std::move(split));
    }
    for (const auto& split : splits) {
      for (uint32_t r = 0; r < h.op.n_out; ++r) force[r] |= !split.out_known[r];
    }
  }
  const uint32_t n_known = h.op.n_out - Count(force);
  Programs known_branches, unknown_branches;
  for (size_t i = 0; i < splits.size(); ++i) {
    RICCI_ASSIGN(ProgramRef k, KnownBranch(kb, splits, i, n_known));
    RICCI_ASSIGN(ProgramRef u, UnknownBranch(ub, splits, i));
    known_branches.push_back(k);
    unknown_branches.push_back(u);
  }
  Vals known_in{in[0]}, unknown_in(1, kNone);
  for (uint32_t i = 1; i < h.op.n_in; ++i) {
    if (is_known[i]) known_in.push_back(in[i]);
  }
  RICCI_ASSIGN(Vals known_out, EmitCond(kb, known_branches, known_in));
  RICCI_TRY(to_unknown(in[0], unknown_in[0]));
  for (size_t r = n_known; r < known_out.size(); ++r) {
    unknown_in.push_back(kNone);
    RICCI_TRY(to_unknown(known_out[r], unknown_in.back()));
  }
  for (uint32_t i = 1; i < h.op.n_in; ++i) {
    if (!is_known[i]) unknown_in.push_back(in[i]);
  }
  RICCI_ASSIGN(Vals unknown_out, EmitCond(ub, unknown_branches, unknown_in));
  uint32_t next_known = 0, next_unknown = 0;
  for (uint32_t r = 0; r < h.op.n_out; ++r) {
    a.out_is_known[r] = !force[r];
    a.out[r] = force[r] ? unknown_out[next_unknown++] : known_out[next_known++];
  }
  return absl::OkStatus();
}

absl::Status Transpose(Builder& b, const Held& h, const ricci_transpose_args& a) {
  if (a.linear[0]) return absl::InvalidArgumentError("cond: not linear in the index of the branch");
  const MaskView linear(a.linear + 1, h.op.n_in - 1);
  const std::span<const Val> cts(a.cts, h.op.n_out);
  const Mask ct_nonzero = NonZero(cts);
  Programs transposed;
  for (size_t i = 0; i < Branches(h).size(); ++i) {
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
  uint32_t next = 0;
  for (uint32_t i = 1; i < h.op.n_in; ++i) {
    if (a.linear[i]) a.in_cts[i] = out[next++];
  }
  return absl::OkStatus();
}

// Index values per batch element: every branch runs on the whole batch, and each element takes its own branch's result.
absl::Status SelectBranches(Builder& b, const Programs& branches, Val index, std::span<const Val> in,
                            const ricci_batch_args& a, uint32_t n_out) {
  std::vector<Vals> results;
  for (const ProgramRef& p : branches) {
    RICCI_ASSIGN(Vals out, b.Inline(*p, in));
    results.push_back(std::move(out));
  }
  Vals chosen = results.back();
  for (size_t k = branches.size() - 1; k-- > 0;) {
    // Branch k takes what is at most k: indices below 0 are clamped to the first branch, those beyond to the last.
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

absl::Status Batch(Builder& b, const Held& h, const ricci_batch_args& a) {
  RICCI_ASSIGN(Vals in, BatchFront(b, a, h.op.n_in));
  const Mask batched = IsBatched(a, h.op.n_in);
  const MaskView operands_batched = MaskView(batched).subspan(1);
  const std::string_view axis(a.axis_name.ptr, a.axis_name.len);
  Mask force(h.op.n_out, batched[0]);
  Programs branches;
  for (int round = 0; round < 2; ++round) {
    branches.clear();
    for (size_t i = 0; i < Branches(h).size(); ++i) {
      RICCI_ASSIGN(auto batch, transform::Batch(Branch(h, i), operands_batched, a.axis_size, axis, force));
      branches.push_back(batch.program);
      if (round == 0) {
        for (uint32_t r = 0; r < h.op.n_out; ++r) force[r] |= batch.out_batched[r];
      }
    }
  }
  for (uint32_t r = 0; r < h.op.n_out; ++r) a.out_dims[r] = force[r] ? 0 : -1;
  if (batched[0]) return SelectBranches(b, branches, in[0], std::span<const Val>(in).subspan(1), a, h.op.n_out);
  RICCI_ASSIGN(Vals out, EmitCond(b, branches, in));
  std::copy(out.begin(), out.end(), a.out);
  return absl::OkStatus();
}

absl::Status Dce(Builder* b, const Held& h, const ricci_dce_args& a) {
  const MaskView used_out(a.used_out, h.op.n_out);
  Mask used(h.op.n_in - 1, 0);
  for (size_t i = 0; i < Branches(h).size(); ++i) {
    RICCI_ASSIGN(auto pruned, transform::Prune(Branch(h, i), used_out));
    for (size_t k = 0; k < used.size(); ++k) used[k] |= pruned.used_params[k];
  }
  a.used_in[0] = 1;
  std::copy(used.begin(), used.end(), a.used_in + 1);
  if (a.in == nullptr) return absl::OkStatus();
  Programs branches;
  for (size_t i = 0; i < Branches(h).size(); ++i) {
    RICCI_ASSIGN(auto pruned, transform::Prune(Branch(h, i), used_out, Not(used)));
    branches.push_back(pruned.program);
  }
  Vals in{a.in[0]};
  const Vals rest = Where(std::span<const Val>(a.in + 1, h.op.n_in - 1), used);
  in.insert(in.end(), rest.begin(), rest.end());
  RICCI_ASSIGN(Vals out, EmitCond(*b, branches, in));
  uint32_t next = 0;
  for (uint32_t r = 0; r < h.op.n_out; ++r) {
    if (used_out[r]) a.out[r] = out[next++];
  }
  return absl::OkStatus();
}

#define RICCI_K(call) RICCI_TRY(base::FromAbi(call))

absl::Status LowerBranch(ricci_kernel_builder* k, const Held& h, size_t i) {
  std::vector<ricci_karr> in, out;
  for (uint32_t o = 1; o < h.op.n_in; ++o) in.push_back(ricci_kernel_operand(k, o));
  for (uint32_t r = 0; r < h.op.n_out; ++r) out.push_back(ricci_kernel_result(k, r));
  return base::FromAbi(
      ricci_kernel_inline(k, Branches(h)[i], in.data(), h.op.n_in - 1, out.data(), nullptr, h.op.n_out));
}

// if (index <= 0) branch 0 else if (index <= 1) branch 1 ... else the last.
absl::Status Lower(ricci_kernel_builder* k, const Held& h) {
  const size_t n = Branches(h).size();
  ricci_sval index;
  RICCI_K(ricci_kernel_load(k, ricci_kernel_operand(k, 0), nullptr, 0, &index));
  for (size_t i = 0; i + 1 < n; ++i) {
    const auto number = static_cast<int32_t>(i);
    ricci_sval c, is_i;
    RICCI_K(ricci_kernel_const(k, RICCI_I32, &number, &c));
    const ricci_sval pair[] = {index, c};
    RICCI_K(ricci_kernel_scalar(k, RICCI_S_LE, 0, pair, 2, &is_i));
    RICCI_K(ricci_kernel_if(k, is_i));
    RICCI_TRY(LowerBranch(k, h, i));
    RICCI_K(ricci_kernel_else(k));
  }
  RICCI_TRY(LowerBranch(k, h, n - 1));
  for (size_t i = 0; i + 1 < n; ++i) RICCI_K(ricci_kernel_end(k));
  return absl::OkStatus();
}

constexpr ricci_attr_spec kAttrs[] = {Spec("branches", RICCI_ATTR_PROGRAMS)};
constexpr ricci_lowering kLoops = Loops<Lower>();
constexpr const ricci_lowering* kLowerings[] = {&kLoops};

}  // namespace

absl::Status RegisterCond(prim::Registry& r) {
  ricci_prim_def d = Define("cond", kAttrs, kLowerings);
  d.abstract_eval = TypeThunk<Type>;
  d.jvp = RuleThunk<Jvp, ricci_jvp_args>;
  d.transpose = RuleThunk<Transpose, ricci_transpose_args>;
  d.batch = RuleThunk<Batch, ricci_batch_args>;
  d.partial_eval = PartialEvalThunk<PartialEval>;
  d.dce = DceThunk<Dce>;
  return r.Add(d, prim::Flow::kCond).status();
}

}  // namespace ricci::inline v0::control
