#include "transform/transpose.h"

#include "trace/rewriter.h"
#include "trace/roles.h"
#include "transform/dead_code.h"
#include "transform/memo.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace transform {
namespace {

class Transposer {
 public:
  Transposer(const ir::Program& f, Builder& b)
      : f_(f), b_(b), linear_(f.values.size(), 0), primal_(f, b), ct_(f.values.size(), kZero) {}

  // Copies non-linear parameters and equations, in order, and marks what depends on a linear parameter.
  absl::Status Forward(MaskView linear) {
    uint32_t next = 0;
    for (uint32_t i = 0; i < f_.n_params(); ++i) {
      linear_[i] = linear[i];
      if (!linear[i]) primal_[i] = b_.param(next++);
    }
    RICCI_TRY(primal_.AddConstants());
    for (const ir::Equation& eqn : f_.equations) {
      bool any = false;
      for (ir::ValueId v : eqn.operands) any |= linear_[v] != 0;
      if (any) {
        for (uint32_t i = 0; i < eqn.n_results; ++i) linear_[eqn.result(i)] = 1;
        continue;
      }
      RICCI_TRY(primal_.Copy(eqn));
    }
    return absl::OkStatus();
  }

  absl::Status Accumulate(ir::ValueId v, Val ct) {
    if (ct == kZero || !linear_[v]) return absl::OkStatus();
    if (ct_[v] == kZero) {
      ct_[v] = ct;
      return absl::OkStatus();
    }
    RICCI_ASSIGN(ct_[v], trace::Add(b_, ct_[v], ct));
    return absl::OkStatus();
  }

  absl::Status Backward() {
    for (size_t i = f_.equations.size(); i-- > 0;) {
      const ir::Equation& eqn = f_.equations[i];
      Vals cts;
      bool any = false;
      for (uint32_t r = 0; r < eqn.n_results; ++r) {
        const ir::ValueId v = eqn.result(r);
        cts.push_back(linear_[v] ? ct_[v] : kZero);
        any |= cts.back() != kZero;
      }
      if (!any) continue;
      Mask linear;
      for (ir::ValueId v : eqn.operands) linear.push_back(linear_[v]);
      RICCI_ASSIGN(Vals in_cts, ApplyTranspose(b_, f_, eqn, cts, linear, primal_[eqn.operands]));
      for (size_t k = 0; k < in_cts.size(); ++k) RICCI_TRY(Accumulate(eqn.operands[k], in_cts[k]));
    }
    return absl::OkStatus();
  }

  Val ct(ir::ValueId v) const { return ct_[v]; }

 private:
  const ir::Program& f_;
  Builder& b_;
  Mask linear_;             // the value depends on a linear parameter
  trace::Rewriter primal_;  // non-linear values
  Vals ct_;                 // cotangents of linear ones so far
};

absl::StatusOr<TransposeProgram> Adjoint(const ir::Program& f, MaskView linear, MaskView ct_nonzero, bool instantiate) {
  if (linear.size() != f.n_params()) {
    return base::InvalidArgument("transpose: program ", f.name, " has ", base::Count(f.n_params(), "parameter"),
                                 ", not ", linear.size());
  }
  std::vector<ir::TypeId> params;
  for (uint32_t i = 0; i < f.n_params(); ++i) {
    if (!linear[i]) params.push_back(f.param_types[i]);
  }
  const size_t n_nonlinear = params.size();
  auto has_ct = [&](uint32_t i) { return ct_nonzero.empty() || ct_nonzero[i] != 0; };
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    if (has_ct(i)) params.push_back(f.result_types[i]);
  }
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, params, f.level));
  Transposer t(f, *b);
  RICCI_TRY(t.Forward(linear));
  auto next = static_cast<uint32_t>(n_nonlinear);
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    if (has_ct(i)) RICCI_TRY(t.Accumulate(f.results[i], b->param(next++)));
  }
  RICCI_TRY(t.Backward());
  TransposeProgram out;
  Vals results;
  for (uint32_t i = 0; i < f.n_params(); ++i) {
    out.nonzero.push_back(linear[i] && (instantiate || t.ct(i) != kZero));
    if (!out.nonzero.back()) continue;
    RICCI_ASSIGN(Val ct, b->Instantiate(t.ct(i), f.param_types[i]));
    results.push_back(ct);
  }
  // Without what the forward part computes for linear equations alone, and linear maps that depend on no linear
  // parameter, which have no value.
  RICCI_ASSIGN(out.program, FinishLive(*b, results));
  return out;
}

}  // namespace

absl::StatusOr<TransposeProgram> Transpose(const ir::Program& f, MaskView linear, MaskView ct_nonzero,
                                           bool instantiate) {
  return Remembered<TransposeProgram>(MemoKey("transpose", f).Add(linear).Add(ct_nonzero).Add(instantiate),
                                      [&] { return Adjoint(f, linear, ct_nonzero, instantiate); });
}

}}}  // namespace ricci::v0::transform
