// checkpoint: runs a held program whose derivative computes again what the policy does not save (rematerialisation).
//
// The policy decides in partial evaluation: only saved values cross from the known to the unknown half, which stays a
// checkpoint, so that common-subexpression elimination does not merge the second computation with the first.
#include "control/call.h"

namespace ricci::inline v0::control {
namespace {

std::vector<ricci_attr> Policy(const Held& h) { return {*ir::FindAttr(h.attrs, "policy")}; }

absl::Status Jvp(Builder& b, const Held& h, const ricci_jvp_args& a) {
  return JvpOfBody(b, h, a, "checkpoint", Policy(h));
}
absl::Status Transpose(Builder& b, const Held& h, const ricci_transpose_args& a) {
  return TransposeOfBody(b, h, a, "checkpoint", Policy(h));
}
absl::Status Batch(Builder& b, const Held& h, const ricci_batch_args& a) {
  return BatchOfBody(b, h, a, "checkpoint", Policy(h));
}
absl::Status PartialEval(const Held& h, const ricci_partial_eval_args& a) {
  const std::string_view policy = h.text("policy");
  return PartialEvalOfProgram(h.program("body"), h, a, policy.empty() ? "nothing" : policy, "checkpoint", Policy(h));
}
absl::Status Dce(Builder* b, const Held& h, const ricci_dce_args& a) {
  return DceOfBody(b, h, a, "checkpoint", Policy(h));
}

constexpr std::string_view kExamples =
    "(f64[3], f64[3]) policy=\"nothing\" body=program(%a: f64[3], %b: f64[3]) {\n"
    "  %p: f64[3] = mul(%a, %b)\n"
    "  %s: f64[3] = sin(%p)\n"
    "  return %s\n"
    "};\n"
    "(f64[2,2]) policy=\"dots\" body=program(%a: f64[2,2]) {\n"
    "  %p: f64[2,2] = dot_general(%a, %a) lhs_contract=[1] rhs_contract=[0]\n"
    "  %s: f64[2,2] = sin(%p)\n"
    "  return %s\n"
    "}";
constexpr ricci_attr_spec kAttrs[] = {Spec("body", RICCI_ATTR_PROGRAM), Spec("policy", RICCI_ATTR_STRING)};
constexpr ricci_lowering kInline = Decomposition<InlineBody>();
constexpr const ricci_lowering* kLowerings[] = {&kInline};

}  // namespace

absl::Status RegisterCheckpoint(prim::Registry& r) {
  ricci_prim_def d = Define("checkpoint", kAttrs, kLowerings);
  d.abstract_eval = TypeThunk<TypeOfBody>;
  d.jvp = RuleThunk<Jvp, ricci_jvp_args>;
  d.transpose = RuleThunk<Transpose, ricci_transpose_args>;
  d.batch = RuleThunk<Batch, ricci_batch_args>;
  d.partial_eval = PartialEvalThunk<PartialEval>;
  d.dce = DceThunk<Dce>;
  d.examples = Str(kExamples);
  return r.Add(d).status();
}

}  // namespace ricci::inline v0::control
