// checkpoint: runs a held program whose derivative computes again what the policy does not save (rematerialisation).
//
// The policy decides in partial evaluation: only saved values cross from the known to the unknown half, which stays a
// checkpoint, now `differentiated`. At compile time that becomes an optimization_barrier over all its operands
// (residuals and tangents or cotangents), followed by the body. So the second computation is not merged with the first,
// and does not begin before the cotangents are there (JAX: prevent_cse). No barrier is needed where scan has put the
// two halves into loops of their own, nor wanted with prevent_cse=false. Transforms never see the barrier. What is
// computed again is computed again in its derivatives too.
#include "control/call.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

bool IsDifferentiated(const StructuralOp& h) { return h.integer("differentiated") != 0; }

absl::Status PartialEval(const StructuralOp& h, const ricci_partial_eval_args& a) {
  if (a.again != nullptr) return ComputeBodyAgain(h, a);  // by the policy around this one
  const std::string_view policy = h.text("policy");
  std::vector<ricci_attr> unknown = AttrsBesideBody(h), known;
  // What a derivative computes again stays protected in derivatives of that derivative.
  if (IsDifferentiated(h)) known = unknown;
  const bool apart = (a.hdr.flags & RICCI_PARTIAL_EVAL_APART) != 0;
  if (!IsDifferentiated(h) && !apart) {
    std::erase_if(unknown, [](const ricci_attr& o) { return base::View(o.name) == "differentiated"; });
    unknown.push_back(trace::BoolAttr("differentiated", true));
  }
  return PartialEvalOfProgram(h.program("body"), h, a, policy.empty() ? "nothing" : policy, "checkpoint",
                              std::move(unknown), std::move(known));
}

absl::StatusOr<Vals> Expand(Builder& b, const StructuralOp& h, std::span<const Val> in) {
  Vals operands(in.begin(), in.end());
  if (IsDifferentiated(h) && h.integer("prevent_cse", 1) != 0 && !in.empty()) {
    RICCI_ASSIGN(operands, trace::OptimizationBarrier(b, in));
  }
  return b.Inline(h.program("body"), operands);
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
constexpr ricci_attr_spec kAttrs[] = {Spec("body", RICCI_ATTR_PROGRAM), Spec("policy", RICCI_ATTR_STRING),
                                      Spec("prevent_cse", RICCI_ATTR_BOOL, "true"),
                                      Spec("differentiated", RICCI_ATTR_BOOL, "false")};
constexpr ricci_lowering kExpand = Decomposition<Expand>();
constexpr const ricci_lowering* kLowerings[] = {&kExpand};

}  // namespace

constinit const StructuralRow kCheckpointRow = {
    .name = "checkpoint",
    .doc = "ys... = checkpoint(xs...): the results of `body`; reverse mode computes again what `policy` does not save",
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
