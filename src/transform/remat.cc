#include "transform/remat.h"

#include "trace/attrs.h"
#include "transform/policy.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace transform {
namespace {

// A program with one equation, with the name and the context of f.
absl::StatusOr<ir::ProgramRef> OneEquation(const ir::Program& f, std::span<const ir::TypeId> params,
                                           std::string_view prim, trace::Attrs attrs) {
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, params));
  RICCI_ASSIGN(Vals out, b->Emit(prim, attrs, b->params()));
  return b->Finish(out);
}
absl::StatusOr<ir::ProgramRef> OneEquation(const ir::Program& f, std::string_view prim, trace::Attrs attrs) {
  return OneEquation(f, {f.param_types.data(), f.param_types.size()}, prim, attrs);
}

}  // namespace

absl::StatusOr<ir::ProgramRef> Checkpoint(const ir::Program& f, std::string_view policy, bool prevent_cse) {
  RICCI_TRY(VerifyPolicy(policy));
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

absl::StatusOr<ir::ProgramRef> CustomLinearSolve(const ir::Program& matvec, const ir::Program* vecmat,
                                                 const ir::Program& solve, const ir::Program* transpose_solve) {
  const std::pair<std::string_view, const ir::Program*> parts[] = {
      {"matvec", &matvec}, {"vecmat", vecmat}, {"solve", &solve}, {"transpose_solve", transpose_solve}};
  ricci_program* slots[std::size(parts)];
  std::vector<ricci_attr> attrs;
  std::vector<ir::TypeId> params;
  const size_t n = matvec.n_results();
  for (size_t i = 0; i < std::size(parts); ++i) {
    const auto& [name, p] = parts[i];
    if (p == nullptr) continue;
    if (&prim::Registry::Of(*p) != &prim::Registry::Of(matvec)) {
      return base::InvalidArgument("custom_linear_solve: program ", p->name, " is of another context");
    }
    attrs.push_back(trace::ProgramAttr(name, *p, slots[i]));
    const size_t n_consts = p->n_params() - std::min<size_t>(p->n_params(), n);  // too few: the row refuses it
    params.insert(params.end(), p->param_types.begin(), p->param_types.begin() + static_cast<int64_t>(n_consts));
  }
  params.insert(params.end(), matvec.result_types.begin(), matvec.result_types.end());
  return OneEquation(matvec, params, "custom_linear_solve", attrs);
}

}}}  // namespace ricci::v0::transform
