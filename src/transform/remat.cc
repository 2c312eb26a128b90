#include "transform/remat.h"

#include "trace/attrs.h"
#include "transform/partial_eval.h"
#include "transform/rules.h"

namespace ricci::inline v0::transform {
namespace {

absl::StatusOr<ir::ProgramRef> OneEquation(const ir::Program& f, std::string_view prim, trace::Attrs attrs) {
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, {f.param_types.data(), f.param_types.size()}));
  RICCI_ASSIGN(Vals out, b->Emit(prim, attrs, b->params()));
  return b->Finish(out);
}

}  // namespace

absl::StatusOr<ir::ProgramRef> Checkpoint(const ir::Program& f, std::string_view policy, bool prevent_cse) {
  const prim::Row none;
  RICCI_TRY(PolicySaves(policy, none, ir::Equation{}).status());
  ricci_program* body;
  std::vector<ricci_attr> attrs = {trace::ProgramAttr("body", f, body), trace::StringAttr("policy", policy)};
  if (!prevent_cse) attrs.push_back(trace::BoolAttr("prevent_cse", false));
  return OneEquation(f, "checkpoint", attrs);
}

absl::StatusOr<ir::ProgramRef> CustomJvp(const ir::Program& f, const ir::Program& rule) {
  ricci_program *call, *jvp;
  const ricci_attr attrs[] = {trace::ProgramAttr("call", f, call), trace::ProgramAttr("jvp", rule, jvp)};
  return OneEquation(f, "custom_jvp", attrs);
}

absl::StatusOr<ir::ProgramRef> CustomVjp(const ir::Program& f, const ir::Program& fwd, const ir::Program& bwd) {
  ricci_program *call, *forward, *backward;
  const ricci_attr attrs[] = {trace::ProgramAttr("call", f, call), trace::ProgramAttr("fwd", fwd, forward),
                              trace::ProgramAttr("bwd", bwd, backward)};
  return OneEquation(f, "custom_vjp", attrs);
}

}  // namespace ricci::inline v0::transform
