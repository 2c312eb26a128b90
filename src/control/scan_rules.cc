// The transforms of scan. Which carries have tangents, are known or are batched is a fixpoint: a flag once set stays
// set, and after some rounds what depends on it is set at once (carry_rounds).
#include "control/carry_rounds.h"
#include "control/computed_again.h"
#include "control/invariant_residuals.h"
#include "control/partition.h"
#include "control/scan.h"
#include "transform/dead_code.h"
#include "transform/partial_eval.h"
#include "transform/transpose.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

Order Range(uint32_t from, uint32_t n) {
  Order out;
  for (uint32_t i = 0; i < n; ++i) out.push_back(from + i);
  return out;
}
void Append(Order& to, const Order& more) { to.insert(to.end(), more.begin(), more.end()); }

// The first of the results `from` to `to` of `f` that is the same value as result `r`, or -1.
int32_t FindResult(const Program& f, uint32_t from, uint32_t to, uint32_t r) {
  for (uint32_t i = from; i < to; ++i) {
    if (f.results[i] == f.results[r]) return static_cast<int32_t>(i);
  }
  return -1;
}

}  // namespace

absl::StatusOr<ProgramRef> Permute(const Program& f, std::span<const uint32_t> params,
                                   std::span<const uint32_t> results) {
  std::vector<TypeId> types;
  for (uint32_t p : params) types.push_back(f.param_types[p]);
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, types));
  Vals in(f.n_params(), kNone), out;
  for (uint32_t i = 0; i < params.size(); ++i) in[params[i]] = b->param(i);
  RICCI_ASSIGN(Vals all, b->Inline(f, in));
  for (uint32_t r : results) out.push_back(all[r]);
  return b->Finish(out);
}

absl::Status ScanJvp(Builder& b, const StructuralOp& h, const ricci_jvp_args& a) {
  const ScanParts s(h.attrs, h.op.n_in);
  const std::span<const Val> tangents(a.tangents, h.op.n_in);
  Mask active = NonZero(tangents), instantiate(s.body->n_results(), 0);
  const std::span<uint8_t> carry(active.data() + s.n_consts, s.n_carry);
  transform::JvpProgram jvp;
  ForwardRounds rounds(*s.body, s.n_consts, /*tangents=*/true);
  do {
    std::copy(carry.begin(), carry.end(), instantiate.begin());
    RICCI_ASSIGN(jvp, transform::Jvp(*s.body, active, instantiate));
  } while (rounds.Merge(carry, MaskView(jvp.nonzero).first(s.n_carry)));

  // jvp.program: consts carry xs, their tangents -> carry ys, their tangents. The new body has the tangents of each
  // part after its primals.
  const uint32_t d_consts_n = Count(MaskView(active).first(s.n_consts)), d_carry_n = Count(carry);
  const uint32_t d_xs_n = Count(MaskView(active).subspan(s.n_consts + s.n_carry));
  const uint32_t d_ys_n = Count(MaskView(jvp.nonzero).subspan(s.n_carry));
  const auto [consts, k, xs, d_consts, d_k, d_xs] =
      Partition({s.n_consts, s.n_carry, s.n_xs, d_consts_n, d_carry_n, d_xs_n});
  const Order params = Joined({consts, d_consts, k, d_k, xs, d_xs});
  const auto [after, ys, d_after, d_ys] = Partition({s.n_carry, s.n_ys, d_carry_n, d_ys_n});
  RICCI_ASSIGN(ProgramRef body, Permute(*jvp.program, params, Joined({after, d_after, ys, d_ys})));

  Vals in(a.primals, a.primals + h.op.n_in);
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (!active[i]) continue;
    RICCI_ASSIGN(in.emplace_back(), b.Instantiate(tangents[i], h.op.in_types[i]));
  }
  RICCI_ASSIGN(const Vals out, EmitScan(b, s, *body, s.n_consts + d_consts_n, s.n_carry + d_carry_n, Pick(in, params)));
  const auto [out_k, out_d_k, out_ys, out_d_ys] = Partition({s.n_carry, d_carry_n, s.n_ys, d_ys_n});
  GiveJvp(a, jvp.nonzero, Pick(out, Joined({out_k, out_ys, out_d_k, out_d_ys})));
  return absl::OkStatus();
}

namespace {

// The body of the loop that computes everything again: consts that are residuals, carry, slices that are residuals.
// Residual r of `split` is parameter place_of[r].
absl::StatusOr<ProgramRef> BodyAgain(Builder& b, const ScanParts& s, const transform::PartialEvalProgram& split,
                                     std::span<const uint32_t> place_of, std::span<const TypeId> types) {
  RICCI_ASSIGN(auto nb, b.Nest(s.body->name, types));
  Vals in;
  for (uint32_t r = 0; r < split.n_residuals; ++r) in.push_back(nb->param(place_of[r]));
  RICCI_ASSIGN(const Vals out, nb->Inline(*split.unknown, in));
  return nb->Finish(out);
}

// The loop runs again in the unknown half. Of a trip it reads what the policy saves, one slice per trip, and the xs.
absl::Status ComputeTripsAgain(const StructuralOp& h, const ricci_partial_eval_args& a, const ScanParts& s) {
  Builder &kb = *trace::FromAbi(a.known), &ub = *trace::FromAbi(a.unknown);
  const std::span<const Val> known_in(a.in, h.op.n_in);
  RICCI_ASSIGN(const auto split, SplitAgain(*s.body, {base::View(a.policy), /*apart=*/true}));
  Mask is_const(h.op.n_in, 0);
  std::fill_n(is_const.begin(), s.n_consts, uint8_t{1});
  RICCI_ASSIGN(const Vals const_residuals, InvariantResiduals(kb, split, known_in, is_const));
  Order known_results = Range(0, h.op.n_out), consts, slices;
  std::vector<int32_t> result_of(split.n_residuals, -1);
  const auto is_carry = [&](int32_t p) { return p >= 0 && static_cast<uint32_t>(p) < s.n_consts + s.n_carry; };
  for (uint32_t r = 0; r < split.n_residuals; ++r) {
    if (const_residuals[r] != kNone) {
      consts.push_back(r);
      continue;
    }
    if (is_carry(split.residual_param[r])) continue;
    slices.push_back(r);
    if (split.residual_param[r] >= 0) continue;
    result_of[r] = static_cast<int32_t>(known_results.size());
    known_results.push_back(h.op.n_out + r);
  }
  RICCI_ASSIGN(ProgramRef known_body, Permute(*split.known, Range(0, h.op.n_in), known_results));
  RICCI_ASSIGN(const Vals known_out, EmitScan(kb, s, *known_body, s.n_consts, s.n_carry, known_in));

  // From here on all is of the unknown half.
  Vals in;
  std::vector<TypeId> types;
  std::vector<uint32_t> place_of(split.n_residuals, 0);
  const auto add = [&](Val known, TypeId type) {
    types.push_back(type);
    in.push_back(kNone);
    return base::FromAbi(a.residual(a.split, known, &in.back()));
  };
  const auto add_residual = [&](uint32_t r, Val known) {
    place_of[r] = static_cast<uint32_t>(in.size());
    return add(known, split.unknown->param_types[r]);
  };
  for (uint32_t r : consts) RICCI_TRY(add_residual(r, const_residuals[r]));
  for (uint32_t i = s.n_consts; i < s.n_consts + s.n_carry; ++i) RICCI_TRY(add(a.in[i], h.op.in_types[i]));
  for (uint32_t r = 0; r < split.n_residuals; ++r) {
    if (const_residuals[r] != kNone || !is_carry(split.residual_param[r])) continue;
    place_of[r] = static_cast<uint32_t>(consts.size()) + static_cast<uint32_t>(split.residual_param[r]) - s.n_consts;
  }
  for (uint32_t r : slices) {
    RICCI_TRY(add_residual(r, result_of[r] >= 0 ? known_out[result_of[r]] : a.in[split.residual_param[r]]));
  }
  RICCI_ASSIGN(ProgramRef body, BodyAgain(ub, s, split, place_of, types));
  RICCI_ASSIGN(const Vals again, EmitScan(ub, s, *body, static_cast<uint32_t>(consts.size()), s.n_carry, in));
  GiveAgain(h, a, known_out, again);
  return absl::OkStatus();
}

}  // namespace

absl::Status ScanPartialEval(const StructuralOp& h, const ricci_partial_eval_args& a) {
  const ScanParts s(h.attrs, h.op.n_in);
  if (a.again != nullptr) return ComputeTripsAgain(h, a, s);
  // The backward pass is a loop of its own.
  const transform::Saving saving{base::View(a.policy), /*apart=*/true};
  Builder &kb = *trace::FromAbi(a.known), &ub = *trace::FromAbi(a.unknown);
  // known_in over consts, carry, xs: a carry is known if it is known on entry and after every trip.
  Mask unknown_in = Not(MaskView(a.is_known, h.op.n_in)), force(s.body->n_results(), 0);
  const std::span<uint8_t> carry(unknown_in.data() + s.n_consts, s.n_carry);
  transform::PartialEvalProgram split;
  ForwardRounds rounds(*s.body, s.n_consts);
  do {
    std::copy(carry.begin(), carry.end(), force.begin());
    RICCI_ASSIGN(split, transform::PartialEval(*s.body, Not(unknown_in), force, saving));
  } while (rounds.Merge(carry, Not(MaskView(split.out_known).first(s.n_carry))));

  // Known half: known consts, carry, xs -> known carry, known ys, stacked residuals. A residual that is the same on
  // every trip is a const of the unknown half; all others are stacked, one slice per trip.
  const uint32_t n_known_out = Count(split.out_known);
  const Vals known_in = Where(std::span<const Val>(a.in, h.op.n_in), Not(unknown_in));
  const uint32_t kc = s.n_consts - Count(MaskView(unknown_in).first(s.n_consts)), kk = s.n_carry - Count(carry);
  Mask is_const(known_in.size(), 0);
  std::fill(is_const.begin(), is_const.begin() + kc, 1);
  RICCI_ASSIGN(const Vals const_residuals, InvariantResiduals(kb, split, known_in, is_const));
  Order known_results = Range(0, n_known_out), all_params = Range(0, split.known->n_params());
  // The result of the known half that is residual r stacked; -1: none is needed, because an operand is.
  std::vector<int32_t> result_of(split.n_residuals, -1);
  for (uint32_t r = 0; r < split.n_residuals; ++r) {
    const bool is_x = split.residual_param[r] >= static_cast<int32_t>(s.n_consts + s.n_carry);
    if (const_residuals[r] != kNone || is_x) continue;
    result_of[r] = FindResult(*split.known, kk, n_known_out, n_known_out + r);
    if (result_of[r] >= 0) continue;
    result_of[r] = static_cast<int32_t>(known_results.size());
    known_results.push_back(n_known_out + r);
  }
  RICCI_ASSIGN(ProgramRef known_body, Permute(*split.known, all_params, known_results));
  RICCI_ASSIGN(Vals known_out, EmitScan(kb, s, *known_body, kc, kk, known_in));

  // Unknown half: const residuals, unknown consts, unknown carry, stacked residuals, unknown xs.
  auto residual = [&](Val known, Val& out) { return base::FromAbi(a.residual(a.split, known, &out)); };
  const uint32_t nr = split.n_residuals, uc = s.n_consts - kc, uk = s.n_carry - kk;
  Order params;
  Vals in;
  for (uint32_t r = 0; r < nr; ++r) {
    if (const_residuals[r] == kNone) continue;
    params.push_back(r);
    in.push_back(kNone);
    RICCI_TRY(residual(const_residuals[r], in.back()));
  }
  const uint32_t n_const_residuals = static_cast<uint32_t>(in.size());
  Append(params, Range(nr, uc + uk));
  for (uint32_t i = 0; i < s.n_consts + s.n_carry; ++i) {
    if (!unknown_in[i]) continue;
    in.push_back(a.in[i]);
    if (a.is_known[i]) RICCI_TRY(residual(a.in[i], in.back()));  // known on entry, unknown after a trip
  }
  for (uint32_t r = 0; r < nr; ++r) {
    if (const_residuals[r] != kNone) continue;
    params.push_back(r);
    in.push_back(kNone);
    RICCI_TRY(residual(result_of[r] >= 0 ? known_out[result_of[r]] : a.in[split.residual_param[r]], in.back()));
  }
  Append(params, Range(nr + uc + uk, split.unknown->n_params() - nr - uc - uk));
  for (uint32_t i = s.n_consts + s.n_carry; i < h.op.n_in; ++i) {
    if (unknown_in[i]) in.push_back(a.in[i]);
  }
  RICCI_ASSIGN(ProgramRef unknown_body, Permute(*split.unknown, params, Range(0, split.unknown->n_results())));
  RICCI_ASSIGN(Vals unknown_out, EmitScan(ub, s, *unknown_body, n_const_residuals + uc, uk, in));
  uint32_t next_known = 0, next_unknown = 0;
  for (uint32_t i = 0; i < h.op.n_out; ++i) {
    a.out_is_known[i] = split.out_known[i];
    a.out[i] = split.out_known[i] ? known_out[next_known++] : unknown_out[next_unknown++];
  }
  return absl::OkStatus();
}

// scan(res consts, lin consts, lin carry, res xs, lin xs), linear in the lin ones, runs backwards as
// scan(res consts, [ct of lin consts, ct of carry], [res xs, ct of ys]) -> ([ct consts, ct carry], ct of lin xs).
absl::Status ScanTranspose(Builder& b, const StructuralOp& h, const ricci_transpose_args& a) {
  const ScanParts s(h.attrs, h.op.n_in);
  const uint32_t x0 = s.n_consts + s.n_carry;
  Mask linear(a.linear, a.linear + h.op.n_in);
  // A carry that starts as a known zero tangent is linear from then on: it has a cotangent in the body, which is
  // dropped at the end.
  std::fill(linear.begin() + s.n_consts, linear.begin() + x0, 1);
  // Body: its transpose takes non-linear parameters, cts of carry and of ys, and gives cts of all linear parameters.
  Mask ct_nonzero(s.body->n_results(), 1);
  for (uint32_t i = 0; i < s.n_ys; ++i) ct_nonzero[s.n_carry + i] = a.cts[s.n_carry + i] != kZero;
  RICCI_ASSIGN(auto t, transform::Transpose(*s.body, linear, ct_nonzero, /*instantiate=*/true));
  const uint32_t rc = s.n_consts - Count(MaskView(linear).first(s.n_consts)), lc = s.n_consts - rc;
  const uint32_t lx = Count(MaskView(linear).subspan(x0)), rx = s.n_xs - lx;
  const uint32_t n_ct_ys = Count(MaskView(ct_nonzero).subspan(s.n_carry));

  // New body: res consts | ct consts, ct carry | res xs, ct ys -> ct consts + new ones, ct carry | ct xs.
  std::vector<TypeId> types;
  auto body_types = [&](uint32_t from, uint32_t n, bool want_linear) {
    for (uint32_t i = from; i < from + n; ++i) {
      if ((linear[i] != 0) == want_linear) types.push_back(s.body->param_types[i]);
    }
  };
  body_types(0, s.n_consts, false);
  body_types(0, s.n_consts, true);
  body_types(s.n_consts, s.n_carry, true);
  body_types(x0, s.n_xs, false);
  for (uint32_t i = 0; i < s.n_ys; ++i) {
    if (ct_nonzero[s.n_carry + i]) types.push_back(s.body->result_types[s.n_carry + i]);
  }
  RICCI_ASSIGN(auto nb, b.Nest(s.body->name, types));
  const Vals p = nb->params();
  const auto [res_consts, ct_consts, ct_carry, res_xs, ct_ys] = Partition({rc, lc, s.n_carry, rx, n_ct_ys});
  RICCI_ASSIGN(Vals cts, nb->Inline(*t.program, Pick(p, Joined({res_consts, res_xs, ct_carry, ct_ys}))));
  for (uint32_t i = 0; i < lc; ++i) {
    RICCI_ASSIGN(cts[i], trace::Add(*nb, p[ct_consts.from + i], cts[i]));
  }
  RICCI_ASSIGN(ProgramRef body, nb->Finish(cts));

  Vals operands;
  for (uint32_t i = 0; i < s.n_consts; ++i) {
    if (!linear[i]) operands.push_back(a.operands[i]);
  }
  for (uint32_t i = 0; i < s.n_consts; ++i) {
    if (!linear[i]) continue;
    RICCI_ASSIGN(Val zero, b.Zero(h.op.in_types[i]));
    operands.push_back(zero);
  }
  for (uint32_t i = 0; i < s.n_carry; ++i) {
    RICCI_ASSIGN(Val ct, b.Instantiate(a.cts[i], h.op.out_types[i]));
    operands.push_back(ct);
  }
  for (uint32_t i = x0; i < h.op.n_in; ++i) {
    if (!linear[i]) operands.push_back(a.operands[i]);
  }
  for (uint32_t i = 0; i < s.n_ys; ++i) {
    if (ct_nonzero[s.n_carry + i]) operands.push_back(a.cts[s.n_carry + i]);
  }
  ScanParts backwards = s;
  backwards.reverse = !s.reverse;
  RICCI_ASSIGN(Vals out, EmitScan(b, backwards, *body, rc, lc + s.n_carry, operands));
  uint32_t at = 0;
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (!linear[i]) continue;
    if (a.linear[i]) a.in_cts[i] = out[at];
    ++at;
  }
  return absl::OkStatus();
}

absl::Status ScanBatch(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  const ScanParts s(h.attrs, h.op.n_in);
  const std::string_view axis(a.axis_name.ptr, a.axis_name.len);
  Mask batched = IsBatched(a, h.op.n_in), force(s.body->n_results(), 0);
  const std::span<uint8_t> carry(batched.data() + s.n_consts, s.n_carry);
  transform::BatchProgram batch;
  ForwardRounds rounds(*s.body, s.n_consts);
  do {
    std::copy(carry.begin(), carry.end(), force.begin());
    RICCI_ASSIGN(batch, transform::Batch(*s.body, batched, a.axis_size, axis, force));
  } while (rounds.Merge(carry, MaskView(batch.out_batched).first(s.n_carry)));
  // Consts and carry have the batch first; an x has the trip first, then the batch.
  Vals in(a.in, a.in + h.op.n_in);
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    const bool is_x = i >= s.n_consts + s.n_carry;
    if (a.in_dims[i] >= 0) {
      RICCI_ASSIGN(in[i], trace::MoveAxis(b, in[i], a.in_dims[i], is_x ? 1 : 0));
    } else if (batched[i]) {
      RICCI_ASSIGN(in[i], trace::BroadcastLeading(b, in[i], a.axis_size));
    }
  }
  RICCI_ASSIGN(Vals out, EmitScan(b, s, *batch.program, s.n_consts, s.n_carry, in));
  for (uint32_t i = 0; i < h.op.n_out; ++i) {
    a.out[i] = out[i];
    a.out_dims[i] = !batch.out_batched[i] ? -1 : i < s.n_carry ? 0 : 1;
  }
  return absl::OkStatus();
}

absl::Status ScanDce(Builder* b, const StructuralOp& h, const ricci_dce_args& a) {
  const ScanParts s(h.attrs, h.op.n_in);
  // A carry is used if its result is, or if a used carry or y of a trip needs it.
  Mask used(a.used_out, a.used_out + h.op.n_out);
  const Mask droppable(h.op.n_in, 1);
  const std::span<uint8_t> carry(used.data(), s.n_carry);
  transform::PrunedProgram pruned;
  BackwardRounds rounds(*s.body, s.n_consts);
  do {
    RICCI_ASSIGN(pruned, transform::Prune(*s.body, used, droppable));
  } while (rounds.Merge(carry, MaskView(pruned.used_params).subspan(s.n_consts, s.n_carry)));
  // A used carry stays a parameter even if no trip reads it.
  Mask keep = pruned.used_params;
  for (uint32_t i = 0; i < s.n_carry; ++i) keep[s.n_consts + i] = used[i];
  std::copy(keep.begin(), keep.end(), a.used_in);
  if (a.in == nullptr) return absl::OkStatus();
  RICCI_ASSIGN(pruned, transform::Prune(*s.body, used, Not(keep)));
  const Vals in = Where(std::span<const Val>(a.in, h.op.n_in), keep);
  RICCI_ASSIGN(Vals out, EmitScan(*b, s, *pruned.program, Count(MaskView(keep).first(s.n_consts)), Count(carry), in));
  Scatter(used, out, a.out);
  return absl::OkStatus();
}

absl::Status BatchOneByOne(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  RICCI_ASSIGN(const Vals in, BatchFront(b, a, h.op.n_in));
  const Mask batched = IsBatched(a, h.op.n_in), same = Not(batched);
  std::vector<TypeId> params = Where(h.in_types(), same);  // what is the same for all elements comes first
  const std::vector<TypeId> sliced = Where(h.in_types(), batched);
  params.insert(params.end(), sliced.begin(), sliced.end());
  Vals operands = Where(in, same), inner(h.op.n_in);
  const Vals stacked = Where(in, batched);
  operands.insert(operands.end(), stacked.begin(), stacked.end());
  RICCI_ASSIGN(auto body, b.Nest("element", params));
  const Vals of_element = body->params();
  Scatter(same, of_element, inner.data());
  Scatter(batched, std::span(of_element).subspan(Count(same)), inner.data());
  RICCI_ASSIGN(const Vals results, body->Emit(h.op.prim, h.attrs, inner));
  RICCI_ASSIGN(const ProgramRef element, body->Finish(results));
  std::vector<ricci_attr> attrs = {trace::IntAttr("length", a.axis_size), trace::IntAttr("num_consts", Count(same)),
                                   trace::IntAttr("num_carry", 0)};
  RICCI_ASSIGN(const Vals out, EmitHolding(b, "scan", *element, std::move(attrs), operands));
  std::copy(out.begin(), out.end(), a.out);
  std::fill(a.out_dims, a.out_dims + h.op.n_out, 0);
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::control
