// Partial evaluation of scan: a loop of what is known and a loop of the rest, which gets values of the first one,
// stacked by trip, or computes them again (checkpoint).
#include "control/carry_rounds.h"
#include "control/computed_again.h"
#include "control/invariant_residuals.h"
#include "control/partition.h"
#include "control/scan.h"
#include "transform/partial_eval.h"

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

// The body of the loop that computes everything again: consts that are residuals, carry, slices that are residuals.
// Residual r of `split` is parameter param_of[r].
absl::StatusOr<ProgramRef> BodyAgain(Builder& b, const ScanParts& s, const transform::PartialEvalProgram& split,
                                     std::span<const uint32_t> param_of, std::span<const TypeId> types) {
  RICCI_ASSIGN(auto nb, b.Nest(s.body->name, types));
  Vals in;
  for (uint32_t r = 0; r < split.n_residuals; ++r) in.push_back(nb->param(param_of[r]));
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
  std::vector<uint32_t> param_of(split.n_residuals, 0);
  const auto add = [&](Val known, TypeId type) {
    types.push_back(type);
    in.push_back(kNone);
    return base::FromAbi(a.residual(a.split, known, &in.back()));
  };
  const auto add_residual = [&](uint32_t r, Val known) {
    param_of[r] = static_cast<uint32_t>(in.size());
    return add(known, split.unknown->param_types[r]);
  };
  for (uint32_t r : consts) RICCI_TRY(add_residual(r, const_residuals[r]));
  for (uint32_t i = s.n_consts; i < s.n_consts + s.n_carry; ++i) RICCI_TRY(add(a.in[i], h.op.in_types[i]));
  for (uint32_t r = 0; r < split.n_residuals; ++r) {
    if (const_residuals[r] != kNone || !is_carry(split.residual_param[r])) continue;
    param_of[r] = static_cast<uint32_t>(consts.size()) + static_cast<uint32_t>(split.residual_param[r]) - s.n_consts;
  }
  for (uint32_t r : slices) {
    RICCI_TRY(add_residual(r, result_of[r] >= 0 ? known_out[result_of[r]] : a.in[split.residual_param[r]]));
  }
  RICCI_ASSIGN(ProgramRef body, BodyAgain(ub, s, split, param_of, types));
  RICCI_ASSIGN(const Vals again, EmitScan(ub, s, *body, static_cast<uint32_t>(consts.size()), s.n_carry, in));
  GiveAgain(h, a, known_out, again);
  return absl::OkStatus();
}

// The halves of the body, and which operands of the loop (consts, carry, xs) are of the unknown one. A carry is known
// if it is known on entry and after every trip.
struct SplitTrips {
  transform::PartialEvalProgram split;
  Mask unknown_in;
};

absl::StatusOr<SplitTrips> FindSplit(const StructuralOp& h, const ricci_partial_eval_args& a, const ScanParts& s) {
  // The backward pass is a loop of its own.
  const transform::Saving saving{base::View(a.policy), /*apart=*/true};
  SplitTrips t{{}, Not(MaskView(a.is_known, h.op.n_in))};
  Mask force(s.body->n_results(), 0);
  const std::span<uint8_t> carry(t.unknown_in.data() + s.n_consts, s.n_carry);
  ForwardRounds rounds(*s.body, s.n_consts);
  do {
    std::copy(carry.begin(), carry.end(), force.begin());
    RICCI_ASSIGN(t.split, transform::PartialEval(*s.body, Not(t.unknown_in), force, saving));
  } while (rounds.Merge(carry, Not(MaskView(t.split.out_known).first(s.n_carry))));
  return t;
}

// Known consts, carry, xs -> known carry, known ys, stacked residuals. A residual that is the same on every trip is a
// const of the unknown half; all others are stacked, one slice per trip.
struct KnownHalf {
  uint32_t n_consts = 0, n_carry = 0;
  Vals const_residuals;            // kNone: it is stacked
  std::vector<int32_t> result_of;  // the result that is residual r stacked; -1: none is needed, because an operand is
  Vals out;
};

absl::StatusOr<KnownHalf> EmitKnownHalf(const StructuralOp& h, const ricci_partial_eval_args& a, const ScanParts& s,
                                        const SplitTrips& t) {
  Builder& kb = *trace::FromAbi(a.known);
  const transform::PartialEvalProgram& split = t.split;
  const uint32_t n_known_out = Count(split.out_known);
  const Vals in = Where(std::span<const Val>(a.in, h.op.n_in), Not(t.unknown_in));
  KnownHalf half;
  half.n_consts = s.n_consts - Count(MaskView(t.unknown_in).first(s.n_consts));
  half.n_carry = s.n_carry - Count(MaskView(t.unknown_in).subspan(s.n_consts, s.n_carry));
  Mask is_const(in.size(), 0);
  std::fill_n(is_const.begin(), half.n_consts, uint8_t{1});
  RICCI_ASSIGN(half.const_residuals, InvariantResiduals(kb, split, in, is_const));
  Order results = Range(0, n_known_out), all_params = Range(0, split.known->n_params());
  half.result_of.assign(split.n_residuals, -1);
  for (uint32_t r = 0; r < split.n_residuals; ++r) {
    const bool is_x = split.residual_param[r] >= static_cast<int32_t>(s.n_consts + s.n_carry);
    if (half.const_residuals[r] != kNone || is_x) continue;
    half.result_of[r] = FindResult(*split.known, half.n_carry, n_known_out, n_known_out + r);
    if (half.result_of[r] >= 0) continue;
    half.result_of[r] = static_cast<int32_t>(results.size());
    results.push_back(n_known_out + r);
  }
  RICCI_ASSIGN(ProgramRef body, Permute(*split.known, all_params, results));
  RICCI_ASSIGN(half.out, EmitScan(kb, s, *body, half.n_consts, half.n_carry, in));
  return half;
}

// Const residuals, unknown consts, unknown carry, stacked residuals, unknown xs -> unknown carry, unknown ys.
absl::StatusOr<Vals> EmitUnknownHalf(const StructuralOp& h, const ricci_partial_eval_args& a, const ScanParts& s,
                                     const SplitTrips& t, const KnownHalf& known) {
  const transform::PartialEvalProgram& split = t.split;
  const uint32_t nr = split.n_residuals, uc = s.n_consts - known.n_consts, uk = s.n_carry - known.n_carry;
  Order params;
  Vals in;
  const auto add_residual = [&](Val value) {
    in.push_back(kNone);
    return base::FromAbi(a.residual(a.split, value, &in.back()));
  };
  for (uint32_t r = 0; r < nr; ++r) {
    if (known.const_residuals[r] == kNone) continue;
    params.push_back(r);
    RICCI_TRY(add_residual(known.const_residuals[r]));
  }
  const uint32_t n_const_residuals = static_cast<uint32_t>(in.size());
  Append(params, Range(nr, uc + uk));
  for (uint32_t i = 0; i < s.n_consts + s.n_carry; ++i) {
    if (!t.unknown_in[i]) continue;
    if (a.is_known[i]) {  // known on entry, unknown after a trip
      RICCI_TRY(add_residual(a.in[i]));
    } else {
      in.push_back(a.in[i]);
    }
  }
  for (uint32_t r = 0; r < nr; ++r) {
    if (known.const_residuals[r] != kNone) continue;
    params.push_back(r);
    const int32_t result = known.result_of[r];
    RICCI_TRY(add_residual(result >= 0 ? known.out[result] : a.in[split.residual_param[r]]));
  }
  Append(params, Range(nr + uc + uk, split.unknown->n_params() - nr - uc - uk));
  for (uint32_t i = s.n_consts + s.n_carry; i < h.op.n_in; ++i) {
    if (t.unknown_in[i]) in.push_back(a.in[i]);
  }
  RICCI_ASSIGN(ProgramRef body, Permute(*split.unknown, params, Range(0, split.unknown->n_results())));
  return EmitScan(*trace::FromAbi(a.unknown), s, *body, n_const_residuals + uc, uk, in);
}

}  // namespace

absl::Status ScanPartialEval(const StructuralOp& h, const ricci_partial_eval_args& a) {
  const ScanParts s(h.attrs, h.op.n_in);
  if (a.again != nullptr) return ComputeTripsAgain(h, a, s);
  RICCI_ASSIGN(const SplitTrips trips, FindSplit(h, a, s));
  RICCI_ASSIGN(const KnownHalf known, EmitKnownHalf(h, a, s, trips));
  RICCI_ASSIGN(const Vals unknown, EmitUnknownHalf(h, a, s, trips, known));
  uint32_t next_known = 0, next_unknown = 0;
  for (uint32_t i = 0; i < h.op.n_out; ++i) {
    const bool is_known = trips.split.out_known[i] != 0;
    a.out_is_known[i] = is_known;
    a.out[i] = is_known ? known.out[next_known++] : unknown[next_unknown++];
  }
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::control
