// demo.cube(x) = x^3: a row with its derivative and its kernel, one scalar expression, which fuses on every backend.
#include "ricci/plugin.hpp"

namespace {

using namespace ricci;

constexpr DTypeSet kTaken = SetOf(DType::kF32) | SetOf(DType::kF64);

Value Slope(const Value& x, const Value&) { return lax::mul(lax::mul(x, x), 3); }
Scalar Cube(KernelBuilder&, const Eqn&, std::span<const Scalar> x) { return x[0] * x[0] * x[0]; }

constexpr Row kRows[] = {{.name = "demo.cube",
                          .doc = "y = demo.cube(x): x^3",
                          .type = rules::Same<1, kTaken>,
                          .jvp = rules::Derivative<Slope>,
                          .batch = rules::kElementwise,
                          .lowerings = lower::Scalar<Cube>,
                          .missing = rules::kNotLinear,
                          .examples = "(f64[2,3]); (f32[4])"}};

RowList Rows() { return kRows; }
RowList (*const kTables[])() = {Rows};
ricci_status* Attach(void*, ricci_ctx* ctx) { return AttachRows(ctx, kTables); }
constexpr ricci_plugin kPlugin = Describe("cube", "0.1.0", Attach);

}  // namespace

extern "C" ricci_status* ricci_plugin_query_cube(const ricci_host_info*, const ricci_plugin** out) {
  *out = &kPlugin;
  return nullptr;
}
