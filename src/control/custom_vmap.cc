// custom_vmap: runs a held program `body`; under vmap the program for the whole batch is what a function of the host
// makes (jax.custom_batching.custom_vmap).
//
// The attribute `rule` names a callback of the context, whose `batch` appends that program (ricci/callback.h). Nothing
// of the rule is in the program, so it prints, hashes and saves like any other; in a context that does not know the
// name vmap is that of `body`, and so it is if no operand is batched.
//
// `transform::Vmap` asks for the batch at once, so that derivatives of it are those of what was made; a vmap equation
// around one is expanded first of all when it is compiled. An element that must run by itself (in a branch that holds a
// check) runs `body`.
//
// Its jvp is again a custom_vmap, which has no name but the program `of`, the operation that it is the derivative of:
// its batch is the derivative of what the rule made, as in JAX. An operand of `of` is batched there if its value or its
// tangent is; if only tangents are, the values are not batched, and the derivative is that of `body`. Reverse mode,
// which JAX refuses, splits `body`.
#include "base/foreign_call.h"
#include "control/call.h"
#include "ricci/callback.h"
#include "transform/jvp.h"
#include "transform/rebuild.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

// Checks `moving`, the operands of `of` that have a tangent.
absl::Status CheckMoving(Builder& b, const StructuralOp& h) {
  const Program& of = h.program("of");
  std::vector<TypeId> params(of.param_types.begin(), of.param_types.end());
  int64_t last = -1;
  for (int64_t i : h.ints("moving")) {
    if (i <= last || i >= of.n_params()) {
      return base::InvalidArgument("custom_vmap: moving holds ", i, " after ", last, "; `of` has ",
                                   base::Count(of.n_params(), "parameter"), " and they are named in order");
    }
    params.push_back(params[i]);
    last = i;
  }
  RICCI_TRY(CheckParams(b, "custom_vmap", "body", h.program("body"), params));
  std::vector<TypeId> results(of.result_types.begin(), of.result_types.end());
  results.insert(results.end(), results.begin(), results.end());
  const Mask moves = HasTangent(b, ResultTypes(of));
  Mask kept(of.n_results(), 1);
  kept.insert(kept.end(), moves.begin(), moves.end());
  return CheckResults(b, "custom_vmap", "body", h.program("body"), Where(std::span<const TypeId>(results), kept));
}

absl::Status Type(Builder& b, const StructuralOp& h) {
  const bool derived = ir::FindAttr(h.attrs, "of") != nullptr;
  if (derived == !h.text("rule").empty()) {
    return base::InvalidArgument("custom_vmap: give either the name of a rule or `of`, not ",
                                 derived ? "both" : "none");
  }
  if (!derived && ir::FindAttr(h.attrs, "moving") != nullptr) {
    return base::InvalidArgument(
        "custom_vmap: moving says which operands of `of` have a tangent, and there is no `of`");
  }
  RICCI_TRY(TypeOfBody(b, h));
  return derived ? CheckMoving(b, h) : absl::OkStatus();
}

// The same operation as a program.
absl::StatusOr<ProgramRef> Alone(Builder& b, const StructuralOp& h) {
  RICCI_ASSIGN(auto one, b.Nest("of", h.in_types()));
  RICCI_ASSIGN(const Vals results, one->Emit(h.op.prim, h.attrs, one->params()));
  return one->Finish(results);
}

absl::Status Jvp(Builder& b, const StructuralOp& h, const ricci_jvp_args& a) {
  const std::span<const Val> tangents(a.tangents, h.op.n_in);
  const Mask active = NonZero(tangents), all = HasTangent(b, h.out_types());
  RICCI_ASSIGN(const auto jvp, transform::Jvp(h.program("body"), active, all));
  RICCI_ASSIGN(const ProgramRef of, Alone(b, h));
  std::vector<int64_t> moving;
  Vals in(a.primals, a.primals + h.op.n_in);
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (!active[i]) continue;
    moving.push_back(i);
    in.push_back(tangents[i]);
  }
  ricci_program* slot;
  RICCI_ASSIGN(const Vals out,
               EmitHolding(b, "custom_vmap", *jvp.program,
                           {trace::ProgramAttr("of", *of, slot), trace::IntsAttr("moving", moving)}, in));
  GiveJvp(a, all, out);
  return absl::OkStatus();
}

absl::Status Transpose(Builder& b, const StructuralOp& h, const ricci_transpose_args& a) {
  return TransposeOfProgram(h.program("body"), b, h, a, "call", {});
}

absl::Status PartialEval(const StructuralOp& h, const ricci_partial_eval_args& a) {
  return PartialEvalOfProgram(h.program("body"), h, a, {}, "call", {});
}

// As any call is batched.
absl::Status BatchBody(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  RICCI_ASSIGN(const Vals in, BatchFront(b, a, h.op.n_in));
  RICCI_ASSIGN(auto batch,
               transform::Batch(h.program("body"), IsBatched(a, h.op.n_in), a.axis_size, base::View(a.axis_name)));
  RICCI_ASSIGN(const Vals out, EmitCall(b, *batch.program, in));
  GiveBatch(a, batch.out_batched, out);
  return absl::OkStatus();
}

// A rule is foreign code: what it gives is checked here, where its name is known.
absl::Status CheckGiven(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  for (uint32_t i = 0; i < h.op.n_out; ++i) {
    if (a.out[i] == kNone || !b.Owns(a.out[i]) || (a.out_dims[i] != 0 && a.out_dims[i] != -1)) {
      return base::InvalidArgument("custom_vmap: rule ", h.text("rule"), " gives no result ", i, " of this batch");
    }
    RICCI_ASSIGN(const TypeId want, trace::WithDim(b.types(), h.op.out_types[i], a.out_dims[i], a.axis_size));
    if (b.type_id(a.out[i]) == want) continue;
    return base::InvalidArgument("custom_vmap: rule ", h.text("rule"), " gives ", ToText(b.type(a.out[i])),
                                 " for result ", i, ", which is ", ToText(b.types().Get(want)));
  }
  return absl::OkStatus();
}

absl::Status BatchByRule(Builder& b, const StructuralOp& h, const ricci_callback& rule, const ricci_batch_args& a) {
  RICCI_ASSIGN(const Vals in, BatchFront(b, a, h.op.n_in));
  std::vector<int32_t> dims;
  for (const uint8_t batched : IsBatched(a, h.op.n_in)) dims.push_back(batched ? 0 : -1);
  ricci_batch_args front = a;
  front.in = in.data();
  front.in_dims = dims.data();
  RICCI_TRY(base::CallForeign([&] { return base::Cat("custom_vmap: rule ", h.text("rule")); },
                              [&] { return rule.batch(rule.self, trace::Abi(&b), &h.op, &front); }));
  return CheckGiven(b, h, a);
}

// The derivative of the batch of `of`.
absl::Status BatchDerivative(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  const Program& of = h.program("of");
  const Mask given = IsBatched(a, h.op.n_in);
  Mask batched(given.begin(), given.begin() + of.n_params()), active(of.n_params(), 0);
  uint32_t tangent = of.n_params();
  for (int64_t i : h.ints("moving")) {
    active[i] = 1;
    batched[i] |= given[tangent++];
  }
  RICCI_ASSIGN(const auto batch, transform::Batch(of, batched, a.axis_size, base::View(a.axis_name)));
  const Mask all = HasTangent(b, ResultTypes(of));
  RICCI_ASSIGN(const auto jvp, transform::Jvp(*batch.program, active, all));
  RICCI_ASSIGN(Vals in, BatchFront(b, a, h.op.n_in));
  tangent = of.n_params();
  const auto repeat = [&](uint32_t operand, uint32_t primal) -> absl::Status {
    if (given[operand] || !batched[primal]) return absl::OkStatus();
    RICCI_ASSIGN(in[operand], trace::BroadcastLeading(b, in[operand], a.axis_size));
    return absl::OkStatus();
  };
  for (uint32_t i = 0; i < of.n_params(); ++i) {
    RICCI_TRY(repeat(i, i));
    if (active[i]) RICCI_TRY(repeat(tangent++, i));
  }
  RICCI_ASSIGN(const Vals out, b.Inline(*jvp.program, in));
  Mask results = batch.out_batched;
  const Mask tangents = Where(std::span<const uint8_t>(batch.out_batched), all);
  results.insert(results.end(), tangents.begin(), tangents.end());
  GiveBatch(a, results, out);
  return absl::OkStatus();
}

absl::Status Batch(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  const Mask given = IsBatched(a, h.op.n_in);
  const bool derived = ir::FindAttr(h.attrs, "of") != nullptr;
  const uint32_t values = derived ? h.program("of").n_params() : h.op.n_in;
  if (Count(MaskView(given.data(), values)) == 0) return BatchBody(b, h, a);
  if (derived) return BatchDerivative(b, h, a);
  const std::string_view name = h.text("rule");
  const ricci_callback* const rule = ricci_context_callback(h.op.ctx, name.data(), name.size());
  return rule == nullptr || rule->batch == nullptr ? BatchBody(b, h, a) : BatchByRule(b, h, *rule, a);
}

constexpr std::string_view kExamples =
    "(f64[3], i32[2]) rule=\"ricci.copy\" body=program(%a: f64[3], %n: i32[2]) {\n"
    "  return %a, %n\n"
    "};\n"
    "(f64[3], f64[3]) body=program(%a: f64[3], %t: f64[3]) {\n"
    "  return %a, %t\n"
    "} of=program(%a: f64[3]) {\n"
    "  %b: f64[3] = custom_vmap(%a) rule=\"ricci.copy\" body=program(%a: f64[3]) { return %a }\n"
    "  return %b\n"
    "} moving=[0]";
constexpr ricci_attr_spec kAttrs[] = {
    Spec("body", RICCI_ATTR_PROGRAM), Spec("rule", RICCI_ATTR_STRING, "that of the operation in `of`"),
    Spec("of", RICCI_ATTR_PROGRAM, "no derivative"), Spec("moving", RICCI_ATTR_INTS, "no derivative")};
constexpr ricci_lowering kInline = Decomposition<InlineBody>();
constexpr const ricci_lowering* kLowerings[] = {&kInline};

}  // namespace

absl::StatusOr<ProgramRef> WithoutBatchRules(const Program& f) {
  if (!f.custom_batch) return ProgramRef(&f);
  return transform::Rebuild(
      f, [](Builder& b, const Program& p, const ir::Equation& e, std::span<const Val> in) -> absl::StatusOr<Vals> {
        if (b.registry().Get(e.prim).flow != prim::Flow::kCustomVmap) {
          return transform::CopyWithNested(b, p, e, in, WithoutBatchRules);
        }
        RICCI_ASSIGN(const ProgramRef body, WithoutBatchRules(trace::ProgramOf(e.attrs, "body")));
        return EmitCall(b, *body, in);
      });
}

constinit const StructuralRow kCustomVmapRow = {
    .name = "custom_vmap",
    .doc =
        "ys... = custom_vmap(xs...): the results of `body`; vmap of it is what the function `rule` of the host makes",
    .flow = prim::Flow::kCustomVmap,
    .attrs = kAttrs,
    .lowerings = kLowerings,
    .type = Type,
    .jvp = Jvp,
    .transpose = Transpose,
    .batch = Batch,
    .partial_eval = PartialEval,
    .examples = kExamples,
};

}}}  // namespace ricci::v0::control
