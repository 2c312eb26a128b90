// custom_jvp: a held program `call` whose derivative is the held program `jvp`: primals, tangents -> results, tangents.
//
// Both are Programs, so they hash, save and cache. After differentiation only equations are left of the operation. The
// rule may apply the function again (log-sum-exp, safe norms): there `self=1` stands for the operation that the rule
// belongs to, see control/self_rule.
//
// Where it is linear in tangents (a rule applies it to them), its transpose is that of `call`, as in JAX.
#include "control/call.h"
#include "control/self_rule.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

constexpr std::string_view kRules[] = {"jvp"};

// `types`, followed by those among them that have tangents.
std::vector<TypeId> WithTangents(Builder& b, std::span<const TypeId> types) {
  std::vector<TypeId> out(types.begin(), types.end());
  for (TypeId t : types) {
    if (types::IsDifferentiable(b.types().Get(t).dtype)) out.push_back(t);
  }
  return out;
}

absl::Status Type(Builder& b, const StructuralOp& h) {
  const Program& call = h.program("call");
  const std::span<const TypeId> results(call.result_types.data(), call.result_types.size());
  RICCI_TRY(CheckParams(b, "custom_jvp", "call", call, h.in_types()));
  RICCI_TRY(CheckSelfRule(b, h, kRules, results));
  if (StandsForOther(h)) return SetOutTypes(b, results);
  const Program& jvp = h.program("jvp");
  RICCI_TRY(CheckParams(b, "custom_jvp", "jvp", jvp, WithTangents(b, h.in_types())));
  RICCI_TRY(CheckResults(b, "custom_jvp", "jvp", jvp, WithTangents(b, results)));
  return SetOutTypes(b, results);
}

absl::Status Jvp(Builder& b, const StructuralOp& h, const ricci_jvp_args& a) {
  RICCI_ASSIGN(ProgramRef jvp, Released(h, "jvp"));
  Vals in(a.primals, a.primals + h.op.n_in);
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (!types::IsDifferentiable(b.types().Get(h.op.in_types[i]).dtype)) continue;
    RICCI_ASSIGN(Val t, b.Instantiate(a.tangents[i], h.op.in_types[i]));
    in.push_back(t);
  }
  RICCI_ASSIGN(Vals out, b.Inline(*jvp, in));
  GiveJvp(a, HasTangent(b, h.out_types()), out);
  return absl::OkStatus();
}

absl::Status Transpose(Builder& b, const StructuralOp& h, const ricci_transpose_args& a) {
  RICCI_ASSIGN(ProgramRef call, Released(h, "call"));
  return TransposeOfProgram(*call, b, h, a, "call", {});
}

absl::Status Batch(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  if (IsRecursive(h)) return BatchWhole(b, h, a);
  RICCI_ASSIGN(Vals in, BatchFront(b, a, h.op.n_in));
  const Mask batched = IsBatched(a, h.op.n_in);
  const std::string_view axis(a.axis_name.ptr, a.axis_name.len);
  const Program &call = h.program("call"), &jvp = h.program("jvp");
  auto tangent = [&](TypeId t) { return types::IsDifferentiable(b.types().Get(t).dtype); };
  Mask jvp_in = batched;
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (tangent(h.op.in_types[i])) jvp_in.push_back(batched[i]);
  }
  // A result is batched if it or its tangent is, in either program.
  Mask out(h.op.n_out, 0);
  transform::BatchProgram new_call, new_jvp;
  for (int round = 0; round < 2; ++round) {
    Mask jvp_out = out;
    for (uint32_t i = 0; i < h.op.n_out; ++i) {
      if (tangent(h.op.out_types[i])) jvp_out.push_back(out[i]);
    }
    RICCI_ASSIGN(new_call, transform::Batch(call, batched, a.axis_size, axis, out));
    RICCI_ASSIGN(new_jvp, transform::Batch(jvp, jvp_in, a.axis_size, axis, jvp_out));
    uint32_t next = h.op.n_out;
    for (uint32_t i = 0; i < h.op.n_out; ++i) {
      out[i] |= new_call.out_batched[i] | new_jvp.out_batched[i];
      if (tangent(h.op.out_types[i])) out[i] |= new_jvp.out_batched[next++];
    }
  }
  ricci_program *call_slot, *jvp_slot;
  const ricci_attr attrs[] = {trace::ProgramAttr("call", *new_call.program, call_slot),
                              trace::ProgramAttr("jvp", *new_jvp.program, jvp_slot)};
  RICCI_ASSIGN(Vals results, b.Emit("custom_jvp", attrs, in));
  GiveBatch(a, out, results);
  return absl::OkStatus();
}

absl::StatusOr<Vals> InlineCall(Builder& b, const StructuralOp& h, std::span<const Val> in) {
  RICCI_ASSIGN(ProgramRef call, Released(h, "call"));
  return b.Inline(*call, in);
}

constexpr std::string_view kExamples =
    "(f64[3], i32[3]) call=program(%x: f64[3], %n: i32[3]) {\n"
    "  %p: f64[3] = pow(%x, %n)\n"
    "  return %p, %n\n"
    "} jvp=program(%x: f64[3], %n: i32[3], %t: f64[3]) {\n"
    "  %p: f64[3] = pow(%x, %n)\n"
    "  %one: i32[3] = constant 1\n"
    "  %m: i32[3] = sub(%n, %one)\n"
    "  %q: f64[3] = pow(%x, %m)\n"
    "  %r: f64[3] = convert_element_type(%n) new_dtype=f64\n"
    "  %s: f64[3] = mul(%q, %r)\n"
    "  %u: f64[3] = mul(%s, %t)\n"
    "  return %p, %n, %u\n"
    "};\n"
    "(f64[3]) call=program(%x: f64[3]) {\n"
    "  %e: f64[3] = exp(%x)\n"
    "  %y: f64[3] = log1p(%e)\n"
    "  return %y\n"
    "} jvp=program(%x: f64[3], %t: f64[3]) {\n"
    "  %y: f64[3] = custom_jvp(%x) self=1\n"
    "  %d: f64[3] = sub(%x, %y)\n"
    "  %s: f64[3] = exp(%d)\n"
    "  %u: f64[3] = mul(%s, %t)\n"
    "  return %y, %u\n"
    "}";
constexpr ricci_attr_spec kAttrs[] = {Spec("call", RICCI_ATTR_PROGRAM),
                                      Spec("jvp", RICCI_ATTR_PROGRAM, "that of the rule named by `self`"),
                                      Spec(ir::kSelf, RICCI_ATTR_INT, "none")};
constexpr ricci_lowering kInline = Decomposition<InlineCall>();
constexpr const ricci_lowering* kLowerings[] = {&kInline};

}  // namespace

constinit const StructuralRow kCustomJvpRow = {
    .name = "custom_jvp",
    .doc = "ys... = custom_jvp(xs...): the results of `call`, whose jvp is the program `jvp`",
    .attrs = kAttrs,
    .lowerings = kLowerings,
    .type = Type,
    .jvp = Jvp,
    .transpose = Transpose,
    .batch = Batch,
    .examples = kExamples,
};

}}}  // namespace ricci::v0::control
