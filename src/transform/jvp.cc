#include "transform/jvp.h"

#include "transform/memo.h"
#include "transform/rules.h"

namespace ricci::inline v0::transform {
namespace {

// Values of the program being differentiated, as they are in the new one: each with a tangent, kZero where it has none.
struct JvpEnv {
  Vals primal, tangent;
};

absl::Status Step(Builder& b, const ir::Program& f, const ir::Equation& eqn, JvpEnv& env) {
  Vals primals, tangents;
  bool any = false;
  for (ir::ValueId v : eqn.operands) {
    primals.push_back(env.primal[v]);
    tangents.push_back(env.tangent[v]);
    any |= env.tangent[v] != kZero;
  }
  Tangents out;
  if (any) {
    RICCI_ASSIGN(out, ApplyJvp(b, f, eqn, primals, tangents));
  } else {
    RICCI_ASSIGN(out.primals, b.Copy(f, eqn, primals));
    out.tangents.assign(out.primals.size(), kZero);
  }
  for (uint32_t i = 0; i < eqn.n_results; ++i) {
    env.primal[eqn.result(i)] = out.primals[i];
    env.tangent[eqn.result(i)] = out.tangents[i];
  }
  return absl::OkStatus();
}

absl::StatusOr<JvpProgram> Differentiate(const ir::Program& f, MaskView active, MaskView instantiate) {
  if (active.size() != f.n_params()) {
    return base::InvalidArgument("jvp: program ", f.name, " has ", base::Count(f.n_params(), "parameter"), ", not ",
                                 active.size());
  }
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, {f.param_types.data(), f.param_types.size()}));
  JvpEnv env{Vals(f.values.size(), kNone), Vals(f.values.size(), kZero)};
  for (uint32_t i = 0; i < f.n_params(); ++i) env.primal[i] = b->param(i);
  for (uint32_t i = 0; i < f.n_params(); ++i) {
    if (!active[i]) continue;
    if (!types::IsDifferentiable(f.type(i).dtype)) {
      return base::InvalidArgument("jvp: parameter ", i, " of program ", f.name, " is ", ToText(f.type(i)),
                                   ": only floating types have tangents");
    }
    RICCI_ASSIGN(env.tangent[i], b->AddParam(f.param_types[i]));
  }
  for (const ir::Constant& c : f.constants) {
    RICCI_ASSIGN(env.primal[c.value], b->Constant(f.type_id(c.value), c.splat, c.data));
  }
  for (const ir::Equation& eqn : f.equations) RICCI_TRY(Step(*b, f, eqn, env));
  JvpProgram out;
  Vals results, tangents;
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    const ir::ValueId r = f.results[i];
    results.push_back(env.primal[r]);
    const bool has_tangent = types::IsDifferentiable(f.type(r).dtype);
    const bool wanted = has_tangent && !instantiate.empty() && instantiate[i];
    out.nonzero.push_back(env.tangent[r] != kZero || wanted);
    if (!out.nonzero.back()) continue;
    RICCI_ASSIGN(Val t, b->Instantiate(env.tangent[r], f.type_id(r)));
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

}  // namespace ricci::inline v0::transform
