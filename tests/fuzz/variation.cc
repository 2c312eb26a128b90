#include "fuzz/variation.h"

#include <algorithm>

namespace ricci::testing {
namespace {

bool HasFloats(const std::vector<ArrayType>& types) {
  return std::any_of(types.begin(), types.end(), [](const ArrayType& t) { return IsFloat(t.dtype()); });
}

// Each gives null if it does not apply.
Program Jvp(ricci_ctx* ctx, Dice& dice, const Program& p) {
  const Mask active = SomeFloating(dice, ParamsOf(ctx, p.get()));
  // custom_vjp does not support forward mode.
  return active.empty() || RowsOf(p).contains("custom_vjp") ? Program() : JvpOf(p, active);
}
Program Backward(ricci_ctx* ctx, Dice& dice, const Program& p) {
  const Mask wanted = SomeFloating(dice, ParamsOf(ctx, p.get()));
  return wanted.empty() || !HasFloats(ResultsOf(ctx, p.get())) ? Program() : BackwardOf(ctx, p, wanted);
}
Program Vmap(ricci_ctx* ctx, Dice& dice, const Program& p) {
  const BatchAxes in = SomeInAxes(dice, ParamsOf(ctx, p.get()));
  return VmapOf(p, in, SomeOutAxes(dice, ResultsOf(ctx, p.get())));
}
Program Batch(ricci_ctx* ctx, Dice& dice, const Program& p) {
  Mask batched, out_batched;
  for (size_t i = ParamsOf(ctx, p.get()).size(); i > 0; --i) batched.push_back(dice.Chance(0.7));
  for (size_t i = ResultsOf(ctx, p.get()).size(); i > 0; --i) out_batched.push_back(dice.Chance(0.5));
  return BatchOf(p, batched, out_batched);
}

struct Transform {
  std::string_view name;
  Program (*apply)(ricci_ctx*, Dice&, const Program&);
};
constexpr Transform kTransforms[] = {{"jvp", Jvp}, {"backward", Backward}, {"vmap", Vmap}, {"batch", Batch}};

bool HasKeys(const std::vector<ArrayType>& params) {
  return std::any_of(params.begin(), params.end(), [](const ArrayType& t) { return t.dtype() == DType::kKey; });
}

}  // namespace

BatchAxes SomeInAxes(Dice& dice, const std::vector<ArrayType>& params) {
  BatchAxes out;
  for (const ArrayType& t : params)
    out.push_back(dice.Chance(0.25) ? -1 : static_cast<int32_t>(dice.Between(0, t.rank())));
  return out;
}
BatchAxes SomeOutAxes(Dice& dice, const std::vector<ArrayType>& results) {
  BatchAxes out;
  for (const ArrayType& t : results) out.push_back(static_cast<int32_t>(dice.Between(0, t.rank())));
  return out;
}
Mask SomeFloating(Dice& dice, const std::vector<ArrayType>& params) {
  Mask out;
  for (const ArrayType& t : params) out.push_back(IsFloat(t.dtype()) && dice.Chance(0.8));
  return std::count(out.begin(), out.end(), 1) == 0 ? Mask() : out;
}

Variation SomeVariation(ricci_ctx* ctx, Dice& dice, const Program& p) {
  Variation v;
  if (dice.Chance(0.4) || HasKeys(ParamsOf(ctx, p.get()))) return v;
  Program now = p;
  for (int64_t n = dice.Chance(0.3) ? 2 : 1; n > 0; --n) {
    const Transform& t = dice.Pick(kTransforms);
    v.name = std::string(t.name) + (v.name.empty() ? "" : " ") + v.name;
    try {
      now = t.apply(ctx, dice, now);
    } catch (const Error& e) {
      if (!MayBeRefused(e)) v.complaint = Text(v.name, ": ", e.message());
      return {v.name, nullptr, v.complaint};
    }
    if (now == nullptr) break;
    v.program = now;
  }
  return v;
}

}  // namespace ricci::testing
