#include "fuzz/variation.h"

namespace ricci::testing {
namespace {

constexpr int64_t kBatch = 3;

// Each writes the transformed program to *out; NULL there without an error means that it does not apply.
ricci_status* Jvp(ricci_ctx* ctx, Dice& dice, const ricci_program* p, ricci_program** out) {
  std::vector<uint8_t> active;
  bool any = false;
  for (const ArrayType& t : ParamsOf(ctx, p))
    active.push_back(IsFloat(t.dtype()) && dice.Chance(0.8)), any |= active.back() != 0;
  return any ? ricci_jvp(p, active.data(), static_cast<uint32_t>(active.size()), out) : nullptr;
}
ricci_status* Backward(ricci_ctx* ctx, Dice& dice, const ricci_program* p, ricci_program** out) {
  std::vector<uint8_t> wanted;
  bool any = false, floating = false;
  for (const ArrayType& t : ParamsOf(ctx, p))
    wanted.push_back(IsFloat(t.dtype()) && dice.Chance(0.8)), any |= wanted.back() != 0;
  for (const ArrayType& t : ResultsOf(ctx, p)) floating |= IsFloat(t.dtype());
  if (!any || !floating) return nullptr;
  // Both halves as one program: parameters, cotangents -> cotangents.
  ricci_program *fwd = nullptr, *bwd = nullptr;
  if (ricci_status* s = ricci_vjp(p, wanted.data(), static_cast<uint32_t>(wanted.size()), &fwd, &bwd)) return s;
  const Program keep_fwd = Own(fwd), keep_bwd = Own(bwd);
  const std::vector<ArrayType> params = ParamsOf(ctx, p), residuals = ResultsOf(ctx, fwd),
                               bwd_params = ParamsOf(ctx, bwd);
  const size_t n_results = ResultsOf(ctx, p).size(), n_residuals = residuals.size() - n_results;
  std::vector<ricci_type> types;
  for (const ArrayType& t : params) types.push_back(t.id());
  for (size_t i = n_residuals; i < bwd_params.size(); ++i) types.push_back(bwd_params[i].id());
  std::vector<ricci_val> vals(types.size()), kept(residuals.size()), cts(ResultsOf(ctx, bwd).size());
  ricci_builder* b = nullptr;
  Check(ricci_builder_create(ctx, "backward", 8, types.data(), static_cast<uint32_t>(types.size()), &b, vals.data()));
  const std::shared_ptr<ricci_builder> guard(b, [](ricci_builder*) {});
  ricci_status* s = ricci_builder_inline(b, fwd, vals.data(), static_cast<uint32_t>(params.size()), kept.data(),
                                         static_cast<uint32_t>(kept.size()));
  std::vector<ricci_val> in(kept.begin() + static_cast<int64_t>(n_results), kept.end());
  in.insert(in.end(), vals.begin() + static_cast<int64_t>(params.size()), vals.end());
  if (s == nullptr)
    s = ricci_builder_inline(b, bwd, in.data(), static_cast<uint32_t>(in.size()), cts.data(),
                             static_cast<uint32_t>(cts.size()));
  if (s == nullptr) s = ricci_builder_finish(b, cts.data(), static_cast<uint32_t>(cts.size()), out);
  if (s != nullptr) ricci_builder_abandon(b);
  return s;
}
ricci_status* Vmap(ricci_ctx* ctx, Dice& dice, const ricci_program* p, ricci_program** out) {
  std::vector<int32_t> in_axes, out_axes;
  for (const ArrayType& t : ParamsOf(ctx, p))
    in_axes.push_back(dice.Chance(0.25) ? -1 : static_cast<int32_t>(dice.Between(0, t.rank())));
  for (const ArrayType& t : ResultsOf(ctx, p)) out_axes.push_back(static_cast<int32_t>(dice.Between(0, t.rank())));
  return ricci_vmap(p, in_axes.data(), static_cast<uint32_t>(in_axes.size()), out_axes.data(),
                    static_cast<uint32_t>(out_axes.size()), kBatch, "", 0, out);
}
ricci_status* Batch(ricci_ctx* ctx, Dice& dice, const ricci_program* p, ricci_program** out) {
  std::vector<uint8_t> batched, out_batched;
  for (size_t i = ParamsOf(ctx, p).size(); i > 0; --i) batched.push_back(dice.Chance(0.7));
  for (size_t i = ResultsOf(ctx, p).size(); i > 0; --i) out_batched.push_back(dice.Chance(0.5));
  return ricci_batch(p, batched.data(), static_cast<uint32_t>(batched.size()), kBatch, "", 0, out_batched.data(), out);
}

struct Transform {
  std::string_view name;
  ricci_status* (*apply)(ricci_ctx*, Dice&, const ricci_program*, ricci_program**);
};
constexpr Transform kTransforms[] = {{"jvp", Jvp}, {"backward", Backward}, {"vmap", Vmap}, {"batch", Batch}};

bool HasKeys(ricci_ctx* ctx, const ricci_program* p) {
  for (const ArrayType& t : ParamsOf(ctx, p)) {
    if (t.dtype() == DType::kKey) return true;
  }
  return false;
}

}  // namespace

Variation SomeVariation(ricci_ctx* ctx, Dice& dice, const Program& p) {
  Variation v;
  if (dice.Chance(0.4) || HasKeys(ctx, p.get())) return v;
  Program now = p;
  for (int64_t n = dice.Chance(0.3) ? 2 : 1; n > 0; --n) {
    const Transform& t = dice.Pick(kTransforms);
    v.name = std::string(t.name) + (v.name.empty() ? "" : " ") + v.name;
    ricci_program* made = nullptr;
    if (ricci_status* s = t.apply(ctx, dice, now.get(), &made)) {
      const Error e(s);
      if (e.code() != RICCI_UNIMPLEMENTED) v.complaint = Text(v.name, ": ", e.message());
      return {v.name, nullptr, v.complaint};
    }
    if (made == nullptr) break;
    now = Own(made);
    v.program = now;
  }
  return v;
}

}  // namespace ricci::testing
