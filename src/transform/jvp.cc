#include "transform/jvp.h"

#include "trace/rewriter.h"
#include "transform/memo.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace transform {
namespace {

// Values of the program being differentiated, as they are in the new one: each with a tangent, kZero where it has none.
struct Duals {
  trace::Rewriter primal;
  Vals tangent;
};

absl::Status Step(const ir::Program& f, const ir::Equation& eqn, Duals& values) {
  Vals tangents;
  bool any = false;
  for (ir::ValueId v : eqn.operands) {
    tangents.push_back(values.tangent[v]);
    any |= values.tangent[v] != kZero;
  }
  if (!any) return values.primal.Copy(eqn);
  RICCI_ASSIGN(const Tangents out, ApplyJvp(values.primal.to(), f, eqn, values.primal[eqn.operands], tangents));
  values.primal.SetResults(eqn, out.primals);
  std::copy(out.tangents.begin(), out.tangents.end(), values.tangent.begin() + eqn.first_result);
  return absl::OkStatus();
}

absl::StatusOr<JvpProgram> Differentiate(const ir::Program& f, MaskView active, MaskView instantiate) {
  if (active.size() != f.n_params()) {
    return base::InvalidArgument("jvp: program ", f.name, " has ", base::Count(f.n_params(), "parameter"), ", not ",
                                 active.size());
  }
  RICCI_ASSIGN(auto b,
               Builder::Create(prim::Registry::Of(f), f.name, {f.param_types.data(), f.param_types.size()}, f.level));
  Duals values{{f, *b}, Vals(f.values.size(), kZero)};
  values.primal.SetParams(b->params());
  for (uint32_t i = 0; i < f.n_params(); ++i) {
    if (!active[i]) continue;
    if (!types::IsDifferentiable(f.type(i).dtype)) {
      return base::InvalidArgument("jvp: parameter ", i, " of program ", f.name, " is ", ToText(f.type(i)),
                                   ": only floating types have tangents");
    }
    RICCI_ASSIGN(values.tangent[i], b->AddParam(f.param_types[i]));
  }
  RICCI_TRY(values.primal.AddConstants());
  for (const ir::Equation& eqn : f.equations) RICCI_TRY(Step(f, eqn, values));
  JvpProgram out;
  Vals results = values.primal.Results(), tangents;
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    const ir::ValueId r = f.results[i];
    const bool has_tangent = types::IsDifferentiable(f.type(r).dtype);
    const bool wanted = has_tangent && !instantiate.empty() && instantiate[i];
    out.nonzero.push_back(values.tangent[r] != kZero || wanted);
    if (!out.nonzero.back()) continue;
    RICCI_ASSIGN(Val t, b->Instantiate(values.tangent[r], f.type_id(r)));
    tangents.push_back(t);
  }
  results.insert(results.end(), tangents.begin(), tangents.end());
  RICCI_ASSIGN(out.program, b->Finish(results));
  return out;
}

}  // namespace

absl::StatusOr<JvpProgram> Jvp(const ir::Program& f, MaskView active, MaskView instantiate) {
  return Remembered<JvpProgram>(MemoKey("jvp", f).Add(active).Add(instantiate),
                                [&] { return Differentiate(f, active, instantiate); });
}

}}}  // namespace ricci::v0::transform
