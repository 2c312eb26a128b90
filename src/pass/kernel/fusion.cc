// A group of equations that becomes one kernel. It has no derivative rules because no transform runs after the fuse
// pass. With `rows` = n it runs row by row: a row is one point of the leading n dimensions
// of all results, and the kernel builder keeps values that are only used within a row private. With `views`, a program
// that only moves elements, its results replace those of the body, and what the body computes is stored at its final
// place.
#include "pass/kernel/fusion.h"

#include "control/call.h"
#include "control/structural_row.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

using control::StructuralOp;
using trace::Builder;

absl::Status Lower(ricci_kernel_builder* k, const StructuralOp& h) {
  std::vector<ricci_karr> in, out;
  for (uint32_t i = 0; i < h.op.n_in; ++i) in.push_back(ricci_kernel_operand(k, i));
  for (uint32_t i = 0; i < h.op.n_out; ++i) out.push_back(ricci_kernel_result(k, i));
  return base::FromAbi(
      ricci_kernel_inline(k, ir::Abi(&h.program("body")), in.data(), h.op.n_in, out.data(), nullptr, h.op.n_out));
}

// Rows are points of the leading dimensions that all results have in common.
absl::Status Type(Builder& b, const StructuralOp& h) {
  const FusionParts parts(h.attrs);
  const ir::Program& body = *parts.body;
  const int64_t rows = parts.rows;
  const auto leading = [&](uint32_t i) { return body.type(body.results[i]).shape; };
  bool fits = rows >= 0 && (rows == 0 || body.n_results() > 0);
  for (uint32_t i = 0; fits && i < body.n_results(); ++i) {
    const auto n = static_cast<size_t>(rows);  // exact: not negative
    fits = leading(i).size() >= n;
    for (size_t d = 0; fits && d < n; ++d) fits = leading(i)[d] == leading(0)[d];
  }
  if (!fits) return base::InvalidArgument("fusion: results have no ", rows, " leading dimensions in common");
  const ir::Program* views = parts.views;
  if (views == nullptr) return control::TypeOfBody(b, h);
  RICCI_TRY(control::CheckParams(b, "fusion", "body", body, h.in_types()));
  RICCI_TRY(control::CheckParams(b, "fusion", "views", *views, body.result_types));
  return control::SetOutTypes(b, views->result_types);
}

constexpr ricci_attr_spec kAttrs[] = {control::Spec("body", RICCI_ATTR_PROGRAM),
                                      control::Spec("rows", RICCI_ATTR_INT, "0"),
                                      control::Spec("views", RICCI_ATTR_PROGRAM, "none")};
constexpr ricci_lowering kLoops = control::Loops<Lower>();
constexpr const ricci_lowering* kLowerings[] = {&kLoops};

constinit const control::StructuralRow kRow = {
    .name = "fusion",
    .doc = "ys... = fusion(xs...): the results of the program `body`, in one kernel",
    .flow = prim::Flow::kFusion,
    .attrs = kAttrs,
    .lowerings = kLowerings,
    .type = Type,
    .missing = "jvp, transpose, batch: made after all transforms",
};

}  // namespace

absl::Status RegisterFusion(prim::Registry& registry) {
  registry.Begin("core");
  RICCI_TRY(registry.Add(DefinitionOf(kRow), kRow.flow).status());
  registry.Commit();
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::pass
