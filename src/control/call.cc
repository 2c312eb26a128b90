// call: runs a held program. All its rules are the transforms of that program.
//
// It keeps repeated functions small in transformed programs; the pipeline inlines it. Residuals of its partial
// evaluation are plain results of the known half. Checkpoint uses the functions here that transform a held program,
// too.
#include "control/call.h"

#include "control/computed_again.h"
#include "transform/dead_code.h"
#include "transform/partial_eval.h"
#include "transform/transpose.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

absl::StatusOr<Vals> EmitSame(Builder& b, const StructuralOp& h, const Program& body, std::span<const Val> in) {
  return EmitHolding(b, b.registry().Get(h.op.prim).name, body, AttrsBesideBody(h), in);
}

}  // namespace

std::vector<ricci_attr> AttrsBesideBody(const StructuralOp& h) {
  std::vector<ricci_attr> out;
  for (const ricci_attr& a : h.attrs) {
    if (base::View(a.name) != "body") out.push_back(a);
  }
  return out;
}

absl::Status TypeOfBody(Builder& b, const StructuralOp& h) {
  const Program& body = h.program("body");
  RICCI_TRY(CheckParams(b, b.registry().Get(h.op.prim).name, "body", body, h.in_types()));
  return SetOutTypes(b, body.result_types);
}

absl::Status JvpOfBody(Builder& b, const StructuralOp& h, const ricci_jvp_args& a) {
  const Program& body = h.program("body");
  const std::span<const Val> tangents(a.tangents, h.op.n_in);
  const Mask active = NonZero(tangents);
  RICCI_ASSIGN(transform::JvpProgram jvp, transform::Jvp(body, active));
  Vals in(a.primals, a.primals + h.op.n_in);
  const Vals live = Where(tangents, active);
  in.insert(in.end(), live.begin(), live.end());
  RICCI_ASSIGN(Vals out, EmitSame(b, h, *jvp.program, in));
  GiveJvp(a, jvp.nonzero, out);
  return absl::OkStatus();
}

absl::Status TransposeOfBody(Builder& b, const StructuralOp& h, const ricci_transpose_args& a) {
  return TransposeOfProgram(h.program("body"), b, h, a, b.registry().Get(h.op.prim).name, AttrsBesideBody(h));
}

absl::Status TransposeOfProgram(const Program& program, Builder& b, const StructuralOp& h,
                                const ricci_transpose_args& a, std::string_view prim, std::vector<ricci_attr> attrs) {
  const MaskView linear(a.linear, h.op.n_in);
  const std::span<const Val> cts(a.cts, h.op.n_out);
  const Mask ct_nonzero = NonZero(cts);
  RICCI_ASSIGN(auto t, transform::Transpose(program, linear, ct_nonzero, /*instantiate=*/false));
  Vals in = Where(std::span<const Val>(a.operands, h.op.n_in), Not(linear));
  const Vals live = Where(cts, ct_nonzero);
  in.insert(in.end(), live.begin(), live.end());
  if (t.program->n_results() == 0) return absl::OkStatus();
  RICCI_ASSIGN(Vals out, EmitHolding(b, prim, *t.program, std::move(attrs), in));
  Scatter(t.nonzero, out, a.in_cts);
  return absl::OkStatus();
}

absl::Status BatchOfBody(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  RICCI_ASSIGN(Vals in, BatchFront(b, a, h.op.n_in));
  const std::string_view axis(a.axis_name.ptr, a.axis_name.len);
  RICCI_ASSIGN(auto batch, transform::Batch(h.program("body"), IsBatched(a, h.op.n_in), a.axis_size, axis));
  RICCI_ASSIGN(Vals out, EmitSame(b, h, *batch.program, in));
  GiveBatch(a, batch.out_batched, out);
  return absl::OkStatus();
}

namespace {

// The operands of the unknown half: its residuals, then the unknown operands.
absl::StatusOr<Vals> UnknownOperands(const transform::PartialEvalProgram& split, const StructuralOp& h,
                                     const ricci_partial_eval_args& a, std::span<const Val> known_out) {
  const std::span<const Val> in(a.in, h.op.n_in);
  const uint32_t n_known = Count(split.out_known);
  Vals out;
  for (uint32_t r = 0; r < split.n_residuals; ++r) {
    // A residual that is a parameter is passed as the operand itself.
    const int32_t param = split.residual_param[r];
    Val u;
    RICCI_TRY(base::FromAbi(a.residual(a.split, param >= 0 ? in[param] : known_out[n_known + r], &u)));
    out.push_back(u);
  }
  const Vals rest = Where(in, Not(MaskView(a.is_known, h.op.n_in)));
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

}  // namespace

absl::Status ComputeBodyAgain(const StructuralOp& h, const ricci_partial_eval_args& a) {
  Builder &kb = *trace::FromAbi(a.known), &ub = *trace::FromAbi(a.unknown);
  RICCI_ASSIGN(const auto split, SplitAgain(h.program("body"), SavingOf(a)));
  RICCI_ASSIGN(const Vals known, EmitSame(kb, h, *split.known, {a.in, h.op.n_in}));
  RICCI_ASSIGN(const Vals in, UnknownOperands(split, h, a, known));
  RICCI_ASSIGN(const Vals again, EmitSame(ub, h, *split.unknown, in));
  GiveAgain(h, a, known, again);
  return absl::OkStatus();
}

absl::Status PartialEvalOfProgram(const Program& body, const StructuralOp& h, const ricci_partial_eval_args& a,
                                  std::string_view policy, std::string_view unknown_prim,
                                  std::vector<ricci_attr> unknown_attrs, std::vector<ricci_attr> known_attrs) {
  const MaskView known(a.is_known, h.op.n_in);
  const std::span<const Val> in(a.in, h.op.n_in);
  RICCI_ASSIGN(auto split, transform::PartialEval(body, known, {}, SavingOf(a, policy)));
  const std::string_view known_prim = known_attrs.empty() ? "call" : unknown_prim;
  RICCI_ASSIGN(Vals known_out, EmitHolding(*trace::FromAbi(a.known), known_prim, *split.known, std::move(known_attrs),
                                           Where(in, known)));
  RICCI_ASSIGN(const Vals unknown_in, UnknownOperands(split, h, a, known_out));
  RICCI_ASSIGN(Vals unknown_out, EmitHolding(*trace::FromAbi(a.unknown), unknown_prim, *split.unknown,
                                             std::move(unknown_attrs), unknown_in));
  uint32_t next_known = 0, next_unknown = 0;
  for (uint32_t i = 0; i < h.op.n_out; ++i) {
    a.out_is_known[i] = split.out_known[i];
    a.out[i] = split.out_known[i] ? known_out[next_known++] : unknown_out[next_unknown++];
  }
  return absl::OkStatus();
}

absl::Status DceOfBody(Builder* b, const StructuralOp& h, const ricci_dce_args& a) {
  const Mask droppable(h.op.n_in, 1);
  RICCI_ASSIGN(auto pruned, transform::Prune(h.program("body"), {a.used_out, h.op.n_out}, droppable));
  std::copy(pruned.used_params.begin(), pruned.used_params.end(), a.used_in);
  if (a.in == nullptr) return absl::OkStatus();
  const Vals in = Where(std::span<const Val>(a.in, h.op.n_in), pruned.used_params);
  RICCI_ASSIGN(Vals out, EmitSame(*b, h, *pruned.program, in));
  Scatter({a.used_out, h.op.n_out}, out, a.out);
  return absl::OkStatus();
}

absl::StatusOr<Vals> InlineBody(Builder& b, const StructuralOp& h, std::span<const Val> in) {
  return b.Inline(h.program("body"), in);
}

namespace {

absl::Status PartialEval(const StructuralOp& h, const ricci_partial_eval_args& a) {
  if (a.again != nullptr) return ComputeBodyAgain(h, a);
  return PartialEvalOfProgram(h.program("body"), h, a, {}, "call", AttrsBesideBody(h));
}

constexpr std::string_view kExamples =
    "(f64[3], f64[3]) name=\"g\" body=program(%a: f64[3], %b: f64[3]) {\n"
    "  %p: f64[3] = mul(%a, %b)\n"
    "  %s: f64[3] = sin(%p)\n"
    "  return %s, %a\n"
    "}";
constexpr ricci_attr_spec kAttrs[] = {Spec("body", RICCI_ATTR_PROGRAM),
                                      Spec("name", RICCI_ATTR_STRING, "that of the body")};
constexpr ricci_lowering kInline = Decomposition<InlineBody>();
constexpr const ricci_lowering* kLowerings[] = {&kInline};

}  // namespace

constinit const StructuralRow kCallRow = {
    .name = "call",
    .doc = "ys... = call(xs...): the results of the program `body`",
    .flags = RICCI_PRIM_SAVES_INSIDE,
    .attrs = kAttrs,
    .lowerings = kLowerings,
    .type = TypeOfBody,
    .jvp = JvpOfBody,
    .transpose = TransposeOfBody,
    .batch = BatchOfBody,
    .partial_eval = PartialEval,
    .dce = DceOfBody,
    .examples = kExamples,
};

}}}  // namespace ricci::v0::control
