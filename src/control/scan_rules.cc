// The transforms of scan (partial evaluation: scan_partial_eval.cc). Which carries have tangents, are known or are
// batched is a fixpoint: a flag once set stays set, and after some rounds what depends on it is set at once
// (carry_rounds).
#include "control/carry_rounds.h"
#include "control/partition.h"
#include "control/scan.h"
#include "transform/dead_code.h"
#include "transform/transpose.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace control {
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

// A loop that runs backwards: which operands are linear, and which results have cotangents.
struct BackwardTrips {
  Mask linear, ct_nonzero;
};

BackwardTrips BackwardTripsOf(const StructuralOp& h, const ricci_transpose_args& a, const ScanParts& s) {
  BackwardTrips t{Mask(a.linear, a.linear + h.op.n_in), Mask(s.body->n_results(), 1)};
  // A carry that starts as a known zero tangent is linear from then on: it has a cotangent in the body, which is
  // dropped at the end.
  std::fill_n(t.linear.begin() + s.n_consts, s.n_carry, uint8_t{1});
  for (uint32_t i = 0; i < s.n_ys; ++i) t.ct_nonzero[s.n_carry + i] = a.cts[s.n_carry + i] != kZero;
  return t;
}

// Res consts | ct consts, ct carry | res xs, ct ys -> ct consts + new ones, ct carry | ct xs. The transpose of the body
// takes non-linear parameters, cts of carry and of ys, and gives cts of all linear parameters.
absl::StatusOr<ProgramRef> BackwardBody(Builder& b, const ScanParts& s, const BackwardTrips& t) {
  const uint32_t x0 = s.n_consts + s.n_carry;
  const MaskView linear(t.linear), ct_ys = MaskView(t.ct_nonzero).subspan(s.n_carry);
  RICCI_ASSIGN(auto transposed, transform::Transpose(*s.body, linear, t.ct_nonzero, /*instantiate=*/true));
  const std::span<const TypeId> params(s.body->param_types), results(s.body->result_types);
  const Mask residual = Not(linear);
  std::vector<TypeId> types;
  const auto add = [&](std::span<const TypeId> all, MaskView which) {
    const std::vector<TypeId> some = Where(all, which);
    types.insert(types.end(), some.begin(), some.end());
  };
  add(params.first(s.n_consts), MaskView(residual).first(s.n_consts));
  add(params.first(x0), linear.first(x0));
  add(params.subspan(x0), MaskView(residual).subspan(x0));
  add(results.subspan(s.n_carry), ct_ys);
  RICCI_ASSIGN(auto nb, b.Nest(s.body->name, types));
  const uint32_t n_lin = Count(linear.first(s.n_consts)), n_res_xs = s.n_xs - Count(linear.subspan(x0));
  const auto [res_consts, ct_consts, ct_carry, res_xs, cts_of_ys] =
      Partition({s.n_consts - n_lin, n_lin, s.n_carry, n_res_xs, Count(ct_ys)});
  const Vals p = nb->params();
  RICCI_ASSIGN(Vals cts, nb->Inline(*transposed.program, Pick(p, Joined({res_consts, res_xs, ct_carry, cts_of_ys}))));
  for (uint32_t i = 0; i < n_lin; ++i) {
    RICCI_ASSIGN(cts[i], trace::Add(*nb, p[ct_consts.from + i], cts[i]));
  }
  return nb->Finish(cts);
}

// Its operands; cotangents of consts are added up from zero.
absl::StatusOr<Vals> BackwardOperands(Builder& b, const StructuralOp& h, const ricci_transpose_args& a,
                                      const ScanParts& s, const BackwardTrips& t) {
  Vals in;
  for (uint32_t i = 0; i < s.n_consts; ++i) {
    if (!t.linear[i]) in.push_back(a.operands[i]);
  }
  for (uint32_t i = 0; i < s.n_consts; ++i) {
    if (!t.linear[i]) continue;
    RICCI_ASSIGN(in.emplace_back(), b.Zero(h.op.in_types[i]));
  }
  for (uint32_t i = 0; i < s.n_carry; ++i) {
    RICCI_ASSIGN(in.emplace_back(), b.Instantiate(a.cts[i], h.op.out_types[i]));
  }
  for (uint32_t i = s.n_consts + s.n_carry; i < h.op.n_in; ++i) {
    if (!t.linear[i]) in.push_back(a.operands[i]);
  }
  for (uint32_t i = s.n_carry; i < h.op.n_out; ++i) {
    if (t.ct_nonzero[i]) in.push_back(a.cts[i]);
  }
  return in;
}

}  // namespace

// scan(res consts, lin consts, lin carry, res xs, lin xs), linear in the lin ones, runs backwards as
// scan(res consts, [ct of lin consts, ct of carry], [res xs, ct of ys]) -> ([ct consts, ct carry], ct of lin xs).
absl::Status ScanTranspose(Builder& b, const StructuralOp& h, const ricci_transpose_args& a) {
  const ScanParts s(h.attrs, h.op.n_in);
  const BackwardTrips t = BackwardTripsOf(h, a, s);
  RICCI_ASSIGN(ProgramRef body, BackwardBody(b, s, t));
  RICCI_ASSIGN(const Vals in, BackwardOperands(b, h, a, s, t));
  ScanParts backwards = s;
  backwards.reverse = !s.reverse;
  const uint32_t n_lin = Count(MaskView(t.linear).first(s.n_consts));
  RICCI_ASSIGN(Vals out, EmitScan(b, backwards, *body, s.n_consts - n_lin, n_lin + s.n_carry, in));
  uint32_t at = 0;
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (!t.linear[i]) continue;
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
