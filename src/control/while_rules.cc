// The transforms of while.
#include "control/call.h"
#include "control/carry_rounds.h"
#include "control/partition.h"
#include "control/scan.h"
#include "control/while_loop.h"
#include "transform/dead_code.h"
#include "transform/partial_eval.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

void Append(Vals& to, std::span<const Val> more) { to.insert(to.end(), more.begin(), more.end()); }

// `cond` with more parameters at the end, which it ignores.
absl::StatusOr<ProgramRef> WithMoreParams(Builder& b, const Program& cond, std::span<const TypeId> more) {
  std::vector<TypeId> types(cond.param_types.begin(), cond.param_types.end());
  types.insert(types.end(), more.begin(), more.end());
  RICCI_ASSIGN(auto nb, b.Nest(cond.name, types));
  Vals in = nb->params();
  in.resize(cond.n_params());
  RICCI_ASSIGN(Vals out, nb->Inline(cond, in));
  return nb->Finish(out);
}

}  // namespace

absl::Status WhileJvp(Builder& b, const StructuralOp& h, const ricci_jvp_args& a) {
  const WhileParts w(h.attrs, h.op.n_in);
  const std::span<const Val> tangents(a.tangents + w.n_cond, w.n_body + w.n_carry);
  Mask active = NonZero(tangents);
  const std::span<uint8_t> carry(active.data() + w.n_body, w.n_carry);
  transform::JvpProgram jvp;
  ForwardRounds rounds(*w.body, w.n_body, /*tangents=*/true);
  do {
    RICCI_ASSIGN(jvp, transform::Jvp(*w.body, active, Mask(carry.begin(), carry.end())));
  } while (rounds.Merge(carry, jvp.nonzero));
  // jvp.program: consts carry, their tangents. The new body has the tangents of each part after its primals.
  const uint32_t d_consts_n = Count(MaskView(active).first(w.n_body)), d_carry_n = Count(carry);
  const auto [consts, k, d_consts, d_k] = Partition({w.n_body, w.n_carry, d_consts_n, d_carry_n});
  const Order params = Joined({consts, d_consts, k, d_k});
  const auto [results] = Partition({w.n_carry + d_carry_n});
  RICCI_ASSIGN(ProgramRef body, Permute(*jvp.program, params, Joined({results})));
  const std::vector<TypeId> tangent_types = Where(h.out_types(), carry);
  RICCI_ASSIGN(ProgramRef cond, WithMoreParams(b, *w.cond, tangent_types));
  Vals of_body(a.primals + w.n_cond, a.primals + h.op.n_in);
  for (uint32_t i = 0; i < w.n_body + w.n_carry; ++i) {
    if (!active[i]) continue;
    RICCI_ASSIGN(of_body.emplace_back(), b.Instantiate(tangents[i], h.op.in_types[w.n_cond + i]));
  }
  Vals in(a.primals, a.primals + w.n_cond);
  Append(in, Pick(of_body, params));
  RICCI_ASSIGN(const Vals out, EmitWhile(b, w, *cond, *body, w.n_cond, w.n_body + d_consts_n, in));
  GiveJvp(a, carry, out);
  return absl::OkStatus();
}

namespace {

// Every result of the loop passes through a check that the condition does not hold any more. So do their tangents, and
// with them all cotangents: a loop that was cut off never gives a gradient.
absl::Status CheckEnded(Builder& b, const WhileParts& w, Vals& carry) {
  Vals in = b.params();
  in.resize(w.n_cond);
  Append(in, carry);
  RICCI_ASSIGN(Vals going_on, b.Inline(*w.cond, in));
  RICCI_ASSIGN(Val ended, trace::Not(b, going_on[0]));
  for (Val& v : carry) {
    RICCI_ASSIGN(v, EmitCheck(b, ended, v, RICCI_OUT_OF_RANGE, StillGoingOn(w.max_trips)));
  }
  return absl::OkStatus();
}

// The same function as a scan of max_trips trips, each of which runs the body only while the condition holds.
absl::StatusOr<ProgramRef> AsScan(Builder& b, const StructuralOp& h, const WhileParts& w) {
  RICCI_ASSIGN(auto outer, b.Nest(w.body->name, h.in_types()));
  RICCI_ASSIGN(auto trip, outer->Nest(w.body->name, h.in_types()));
  const Vals p = trip->params();
  const std::span<const Val> all(p);
  Vals cond_in(all.begin(), all.begin() + w.n_cond);
  Append(cond_in, all.subspan(w.n_cond + w.n_body));
  RICCI_ASSIGN(Vals predicate, trip->Inline(*w.cond, cond_in));
  const ricci_attr to_i32[] = {trace::DTypeAttr("new_dtype", RICCI_I32)};
  RICCI_ASSIGN(Val index, trip->Emit1("convert_element_type", to_i32, predicate));
  RICCI_ASSIGN(auto stay, trip->Nest(w.body->name, h.in_types().subspan(w.n_cond)));
  const Vals carry_params = stay->params();
  RICCI_ASSIGN(ProgramRef identity, stay->Finish(std::span<const Val>(carry_params).subspan(w.n_body)));
  ricci_program* branches[] = {ir::Abi(identity.get()), ir::Abi(w.body)};
  const ricci_attr attrs[] = {trace::ProgramsAttr("branches", branches)};
  Vals branch_in{index};
  Append(branch_in, all.subspan(w.n_cond));
  RICCI_ASSIGN(Vals next, trip->Emit("cond", attrs, branch_in));
  RICCI_ASSIGN(ProgramRef body, trip->Finish(next));
  std::vector<ricci_attr> scan_attrs = {trace::IntAttr("length", w.max_trips),
                                        trace::IntAttr("num_consts", w.n_cond + w.n_body),
                                        trace::IntAttr("num_carry", w.n_carry)};
  if (!w.run_in.empty()) scan_attrs.push_back(trace::StringAttr("run_in", w.run_in));
  RICCI_ASSIGN(Vals out, EmitHolding(*outer, "scan", *body, std::move(scan_attrs), outer->params()));
  RICCI_TRY(CheckEnded(*outer, w, out));
  return outer->Finish(out);
}

// The whole loop in the unknown half, with these programs.
absl::Status UnknownLoop(const StructuralOp& h, const ricci_partial_eval_args& a, const WhileParts& w,
                         const Program& cond, const Program& body) {
  RICCI_ASSIGN(const Vals in, UnknownOperands(h, a));
  RICCI_ASSIGN(Vals out, EmitWhile(*trace::FromAbi(a.unknown), w, cond, body, w.n_cond, w.n_body, in));
  std::copy(out.begin(), out.end(), a.out);
  return absl::OkStatus();
}
// The same beside a known half, which has all effects but `own_effects`.
absl::Status UnknownAgain(const StructuralOp& h, const ricci_partial_eval_args& a, const WhileParts& w,
                          bool known_effects, bool own_effects) {
  if (!known_effects) return UnknownLoop(h, a, w, *w.cond, *w.body);
  using transform::Effects;
  RICCI_ASSIGN(auto cond, transform::Prune(*w.cond, Mask(1, 1), {}, Effects::kLeave));
  RICCI_ASSIGN(auto body, transform::Prune(*w.body, Mask(w.n_carry, 1), {}, Effects::kLeave));
  if (own_effects || cond.program->effectful || body.program->effectful) {
    return base::InvalidArgument("while: an effect may not run twice, with the values and with the derivatives; move ",
                                 "it out, or give max_trips");
  }
  return UnknownLoop(h, a, w, *cond.program, *body.program);
}

// What is known of a loop: operands of the body and carries, on entry and after every trip.
struct KnownPart {
  Mask in;
  transform::PartialEvalProgram body;

  MaskView carry(const WhileParts& w) const { return MaskView(in).subspan(w.n_body); }
};
absl::StatusOr<KnownPart> KnownPartOf(const WhileParts& w, MaskView known_in) {
  // Reverse mode splits what a custom_vmap holds, so its parts are what is known or not.
  RICCI_ASSIGN(const ProgramRef whole, WithoutBatchRules(*w.body));
  KnownPart out{.in = {known_in.begin(), known_in.end()}, .body = {}};
  ForwardRounds rounds(*whole, w.n_body);
  for (;;) {
    Mask unknown = Not(out.carry(w));
    RICCI_ASSIGN(out.body, transform::PartialEval(*whole, out.in, unknown));
    if (!rounds.Merge(unknown, Not(out.body.out_known))) return out;
    for (uint32_t i = 0; i < w.n_carry; ++i) out.in[w.n_body + i] = !unknown[i];
  }
}

// The loop over only the known carries, in the known half.
absl::StatusOr<Vals> KnownLoop(const ricci_partial_eval_args& a, const WhileParts& w, const KnownPart& known,
                               const Program& cond, MaskView cond_known) {
  Mask results(known.body.known->n_results(), 1);
  std::fill(results.end() - known.body.n_residuals, results.end(), 0);
  RICCI_ASSIGN(auto body, transform::Prune(*known.body.known, results));
  Vals in;
  for (uint32_t i = 0; i < w.n_cond; ++i) {
    if (cond_known[i]) in.push_back(a.in[i]);
  }
  for (uint32_t i = 0; i < known.in.size(); ++i) {
    if (known.in[i]) in.push_back(a.in[w.n_cond + i]);
  }
  return EmitWhile(*trace::FromAbi(a.known), w, cond, *body.program, Count(cond_known.first(w.n_cond)),
                   Count(MaskView(known.in).first(w.n_body)), in);
}

}  // namespace

absl::Status WhilePartialEval(const StructuralOp& h, const ricci_partial_eval_args& a) {
  const WhileParts w(h.attrs, h.op.n_in);
  if (w.max_trips >= 0) {
    RICCI_ASSIGN(ProgramRef scan, AsScan(*trace::FromAbi(a.known), h, w));
    return PartialEvalOfProgram(*scan, h, a, {}, "call", {});
  }
  RICCI_ASSIGN(const KnownPart known, KnownPartOf(w, {a.is_known + w.n_cond, w.n_body + w.n_carry}));
  const MaskView known_carry = known.carry(w);
  Mask cond_known(a.is_known, a.is_known + w.n_cond);
  cond_known.insert(cond_known.end(), known_carry.begin(), known_carry.end());
  RICCI_ASSIGN(auto cond, transform::Prune(*w.cond, Mask(1, 1), Not(cond_known)));
  for (uint32_t i = 0; i < cond_known.size(); ++i) {
    if (cond.used_params[i] && !cond_known[i]) {
      return UnknownLoop(h, a, w, *w.cond, *w.body);  // it is not known when it ends
    }
  }
  RICCI_ASSIGN(const Vals known_out, KnownLoop(a, w, known, *cond.program, cond_known));
  const bool own_effects = known.body.unknown->effectful;
  if (own_effects || Count(known_carry) != w.n_carry) {
    const bool known_effects = cond.program->effectful || known.body.known->effectful;
    RICCI_TRY(UnknownAgain(h, a, w, known_effects, own_effects));
  }
  uint32_t next = 0;
  for (uint32_t i = 0; i < w.n_carry; ++i) {
    if (!known_carry[i]) continue;
    a.out_is_known[i] = 1;
    a.out[i] = known_out[next++];
  }
  return absl::OkStatus();
}

absl::Status WhileBatch(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  const WhileParts w(h.attrs, h.op.n_in);
  const std::string_view axis(a.axis_name.ptr, a.axis_name.len);
  Mask batched = IsBatched(a, h.op.n_in);
  const std::span<uint8_t> carry(batched.data() + w.n_cond + w.n_body, w.n_carry);
  transform::BatchProgram body, cond;
  ForwardRounds rounds(*w.body, w.n_body);
  auto round = [&]() -> absl::StatusOr<bool> {
    Mask cond_in(batched.begin(), batched.begin() + w.n_cond);
    cond_in.insert(cond_in.end(), carry.begin(), carry.end());
    RICCI_ASSIGN(cond, transform::Batch(*w.cond, cond_in, a.axis_size, axis));
    RICCI_ASSIGN(body, transform::Batch(*w.body, MaskView(batched).subspan(w.n_cond), a.axis_size, axis,
                                        Mask(carry.begin(), carry.end())));
    Mask after = body.out_batched;
    if (cond.out_batched[0]) std::fill(after.begin(), after.end(), 1);  // an element that has ended keeps its carry
    return rounds.Merge(carry, after);
  };
  for (bool changed = true; changed;) {
    RICCI_ASSIGN(changed, round());
  }
  // Effects happen only for the elements that go on.
  if (cond.out_batched[0] && (w.cond->effectful || w.body->effectful)) return BatchOneByOne(b, h, a);
  if (cond.out_batched[0] && (MayFail(*w.cond) || MayFail(*w.body))) return BatchAsVmap(b, h, a);
  RICCI_ASSIGN(Vals in, BatchFront(b, a, h.op.n_in));
  for (uint32_t i = w.n_cond + w.n_body; i < h.op.n_in; ++i) {
    if (a.in_dims[i] >= 0 || !batched[i]) continue;
    RICCI_ASSIGN(in[i], trace::BroadcastLeading(b, in[i], a.axis_size));
  }
  for (uint32_t i = 0; i < w.n_carry; ++i) a.out_dims[i] = carry[i] ? 0 : -1;
  if (!cond.out_batched[0]) {
    RICCI_ASSIGN(Vals out, EmitWhile(b, w, *cond.program, *body.program, w.n_cond, w.n_body, in));
    std::copy(out.begin(), out.end(), a.out);
    return absl::OkStatus();
  }
  // The loop runs while any element continues; those that have ended keep their carry. The body needs the condition's
  // consts.
  RICCI_ASSIGN(auto any, b.Nest(w.cond->name, {cond.program->param_types.data(), cond.program->param_types.size()}));
  RICCI_ASSIGN(Vals predicates, any->Inline(*cond.program, any->params()));
  RICCI_ASSIGN(Val go_on, trace::ReduceAny(*any, predicates[0]));
  RICCI_ASSIGN(ProgramRef new_cond, any->Finish({&go_on, 1}));
  std::vector<TypeId> types;
  for (Val v : in) types.push_back(b.type_id(v));
  RICCI_ASSIGN(auto trip, b.Nest(w.body->name, types));
  const Vals params = trip->params();
  const std::span<const Val> p(params), old_carry = p.subspan(w.n_cond + w.n_body);
  Vals cond_in(p.begin(), p.begin() + w.n_cond);
  Append(cond_in, old_carry);
  RICCI_ASSIGN(Vals active, trip->Inline(*cond.program, cond_in));
  RICCI_ASSIGN(Vals next, trip->Inline(*body.program, p.subspan(w.n_cond)));
  for (uint32_t i = 0; i < w.n_carry; ++i) {
    const std::vector<int64_t> batch_dim{0};
    RICCI_ASSIGN(Val mask, trace::BroadcastInDim(*trip, active[0], trip->type(next[i]).shape, batch_dim));
    RICCI_ASSIGN(next[i], trace::Select(*trip, mask, next[i], old_carry[i]));
  }
  RICCI_ASSIGN(ProgramRef new_body, trip->Finish(next));
  Vals operands(in.begin(), in.begin() + w.n_cond);
  Append(operands, in);
  RICCI_ASSIGN(Vals out, EmitWhile(b, w, *new_cond, *new_body, w.n_cond, w.n_cond + w.n_body, operands));
  std::copy(out.begin(), out.end(), a.out);
  return absl::OkStatus();
}

absl::Status WhileDce(Builder* b, const StructuralOp& h, const ricci_dce_args& a) {
  const WhileParts w(h.attrs, h.op.n_in);
  const Mask one(1, 1);
  const Mask cond_all(w.cond->n_params(), 1), body_all(w.body->n_params(), 1);
  RICCI_ASSIGN(auto cond, transform::Prune(*w.cond, one, cond_all));
  Mask used(a.used_out, a.used_out + h.op.n_out);
  Merge(used, MaskView(cond.used_params).subspan(w.n_cond));
  transform::PrunedProgram body;
  BackwardRounds rounds(*w.body, w.n_body);
  do {
    RICCI_ASSIGN(body, transform::Prune(*w.body, used, body_all));
  } while (rounds.Merge(used, MaskView(body.used_params).subspan(w.n_body)));
  Mask keep_cond(cond.used_params.begin(), cond.used_params.begin() + w.n_cond);
  Mask keep_body(body.used_params.begin(), body.used_params.begin() + w.n_body);
  const uint32_t nc = Count(keep_cond), nb = Count(keep_body);
  keep_cond.insert(keep_cond.end(), used.begin(), used.end());
  keep_body.insert(keep_body.end(), used.begin(), used.end());
  std::copy(keep_cond.begin(), keep_cond.begin() + w.n_cond, a.used_in);
  std::copy(keep_body.begin(), keep_body.end(), a.used_in + w.n_cond);
  if (a.in == nullptr) return absl::OkStatus();
  RICCI_ASSIGN(cond, transform::Prune(*w.cond, one, Not(keep_cond)));
  RICCI_ASSIGN(body, transform::Prune(*w.body, used, Not(keep_body)));
  const Vals in = Where(std::span<const Val>(a.in, h.op.n_in), {a.used_in, h.op.n_in});
  RICCI_ASSIGN(Vals out, EmitWhile(*b, w, *cond.program, *body.program, nc, nb, in));
  Scatter(used, out, a.out);
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::control
