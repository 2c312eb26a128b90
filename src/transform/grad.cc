#include "transform/grad.h"

#include "ricci/float_format.h"
#include "transform/dead_code.h"
#include "transform/partial_eval.h"
#include "transform/rules.h"
#include "transform/transpose.h"

namespace ricci { inline namespace v0 { namespace transform {
namespace {

// The constant 1 of type `type`.
absl::StatusOr<Val> One(Builder& b, ir::TypeId type) {
  const uint32_t dtype = b.types().Get(type).dtype;
  if (!types::IsFloating(dtype))
    return base::InvalidArgument("grad: there is no number 1 of dtype ", types::Info(dtype).name);
  const uint64_t bits = ricci_float_encode(ricci_float_format_of(dtype), 1);
  return b.Constant(type, std::as_bytes(std::span(&bits, 1)).first(types::Info(dtype).size));
}

struct Linearized {
  ir::ProgramRef fwd;     // parameters of f -> results of f, residuals
  ir::ProgramRef linear;  // residuals, tangents of the wanted parameters -> tangents of results with nonzero[i]
  Mask nonzero;           // of the results of f
  uint32_t n_residuals;
};

absl::StatusOr<Linearized> Linearize(const ir::Program& f, MaskView wanted) {
  RICCI_ASSIGN(JvpProgram jvp, Jvp(f, wanted));
  Mask known(jvp.program->n_params(), 0), force(jvp.program->n_results(), 1);
  std::fill(known.begin(), known.begin() + f.n_params(), 1);
  std::fill(force.begin(), force.begin() + f.n_results(), 0);
  RICCI_ASSIGN(PartialEvalProgram split, PartialEval(*jvp.program, known, force));
  return Linearized{split.known, split.unknown, jvp.nonzero, split.n_residuals};
}

// residuals, cotangents of the results with linear.nonzero[i] && has_ct[i] -> cotangents of all wanted parameters.
absl::StatusOr<ir::ProgramRef> TransposeLinear(const Linearized& lin, MaskView has_ct) {
  Mask linear(lin.linear->n_params(), 1), ct_nonzero;
  std::fill(linear.begin(), linear.begin() + lin.n_residuals, 0);
  for (size_t i = 0; i < lin.nonzero.size(); ++i) {
    if (lin.nonzero[i]) ct_nonzero.push_back(has_ct.empty() || has_ct[i]);
  }
  if (ct_nonzero.empty()) ct_nonzero.push_back(0);  // f has no results: an empty mask would mean all
  RICCI_ASSIGN(TransposeProgram t, Transpose(*lin.linear, linear, ct_nonzero, /*instantiate=*/true));
  return t.program;
}

}  // namespace

absl::StatusOr<VjpPrograms> Vjp(const ir::Program& f, MaskView wanted) {
  RICCI_ASSIGN(Linearized lin, Linearize(f, wanted));
  RICCI_ASSIGN(ir::ProgramRef transposed, TransposeLinear(lin, {}));
  // The caller passes a cotangent for every differentiable result; those of results with a zero tangent are dropped.
  std::vector<ir::TypeId> params;
  for (uint32_t r = 0; r < lin.n_residuals; ++r) params.push_back(lin.fwd->result_types[f.n_results() + r]);
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    if (types::IsDifferentiable(f.type(f.results[i]).dtype)) params.push_back(f.result_types[i]);
  }
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, params));
  Vals in = b->params();
  in.resize(lin.n_residuals);
  uint32_t next = lin.n_residuals;
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    if (!types::IsDifferentiable(f.type(f.results[i]).dtype)) continue;
    if (lin.nonzero[i]) in.push_back(b->param(next));
    ++next;
  }
  RICCI_ASSIGN(Vals out, b->Inline(*transposed, in));
  RICCI_ASSIGN(ir::ProgramRef bwd, b->Finish(out));
  return VjpPrograms{lin.fwd, bwd, lin.n_residuals};
}

absl::StatusOr<ir::ProgramRef> Grad(const ir::Program& f, std::span<const uint32_t> argnums, bool with_value) {
  if (f.n_results() == 0) return base::InvalidArgument("grad: program ", f.name, " has no result");
  const auto& value = f.type(f.results[0]);
  if (value.rank() != 0 || !types::IsFloating(value.dtype)) {
    return base::InvalidArgument("grad: result 0 of program ", f.name, " is ", ToText(value), ", not a floating scalar",
                                 types::IsComplex(value.dtype) ? "; take its real or imaginary part, or use vjp" : "");
  }
  Mask wanted(f.n_params(), 0), has_ct(f.n_results(), 0);
  has_ct[0] = 1;
  for (uint32_t a : argnums) {
    if (a >= f.n_params()) {
      return base::InvalidArgument("grad: argument ", a, " of program ", f.name, " with ",
                                   base::Count(f.n_params(), "parameter"));
    }
    if (!types::IsDifferentiable(f.type(a).dtype)) {
      return base::InvalidArgument("grad: argument ", a, " of program ", f.name, " is ", ToText(f.type(a)),
                                   ": only floating types have gradients");
    }
    wanted[a] = 1;
  }
  RICCI_ASSIGN(Linearized lin, Linearize(f, wanted));
  RICCI_ASSIGN(ir::ProgramRef bwd, TransposeLinear(lin, has_ct));
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, {f.param_types.data(), f.param_types.size()}));
  RICCI_ASSIGN(Vals forward, b->Inline(*lin.fwd, b->params()));
  Vals in(forward.begin() + f.n_results(), forward.end());
  if (lin.nonzero[0]) {
    RICCI_ASSIGN(Val one, One(*b, f.result_types[0]));
    in.push_back(one);
  }
  RICCI_ASSIGN(Vals gradients, b->Inline(*bwd, in));
  Vals out;
  if (with_value) out.assign(forward.begin(), forward.begin() + f.n_results());
  for (uint32_t a : argnums) {
    uint32_t position = 0;
    for (uint32_t i = 0; i < a; ++i) position += wanted[i];
    out.push_back(gradients[position]);
  }
  return FinishLive(*b, out);  // without what only the value needs
}

}}}  // namespace ricci::v0::transform
