// fusion: the equation that the fuse pass makes of a group, and lower_plan and the kernel builder take apart. It is not
// a primitive: its row has a type and a lowering, so that it can be printed, read, verified and run, but no host finds
// or lists it.
#ifndef RICCI_PASS_FUSION_H_
#define RICCI_PASS_FUSION_H_
#include "prim/registry.h"
#include "trace/attrs.h"

namespace ricci { inline namespace v0 { namespace pass {

absl::Status RegisterFusion(prim::Registry& registry);

//   fusion(operands) -> results      body(operands) -> computed; views(computed) -> results
struct FusionParts {
  explicit FusionParts(std::span<const ricci_attr> attrs)
      : body(&trace::ProgramOf(attrs, "body")),
        views(trace::ProgramIn(attrs, "views")),
        rows(trace::IntOf(attrs, "rows")) {}

  const ir::Program *body, *views;  // views is NULL where results are what the body computes
  int64_t rows;                     // 0: not given
};

}}}  // namespace ricci::v0::pass
#endif
