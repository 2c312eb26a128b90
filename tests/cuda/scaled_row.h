// A plugin with the row test.scaled: a x by a text for cuda, elsewhere by a SCALAR lowering.
#ifndef RICCI_TESTS_CUDA_SCALED_ROW_H_
#define RICCI_TESTS_CUDA_SCALED_ROW_H_
#include "ricci/plugin.hpp"

namespace ricci::testing {

inline constexpr std::string_view kScaledText =
    R"(extern "C" __global__ void scaled(const double* x, double* y, double* copy, double a, long long n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  copy[i] = x[i];
  y[i] = a * copy[i];
})";
inline constexpr uint32_t kWrongTextLine = __LINE__ + 1;  // where it begins
inline constexpr std::string_view kWrongText = "extern \"C\" __global__ void scaled(const double* x) {\n  return y;\n}";
inline Source Scaled(const Eqn& e, ricci_device*) {
  const int64_t n = e.in(0).elements();
  const double a = e.number("a");
  Source s{std::string(a == 13 || a == 15 ? kWrongText : kScaledText), "scaled"};
  if (a == 15) s.file = __FILE__, s.line = kWrongTextLine;
  s.grid[0] = (n + 31) / 32;
  s.block[0] = a == 14 ? 4096 : 32;
  s.scalars = {SourceScalar(a), SourceScalar(n)};
  s.shared_bytes = a == 16 ? 100 << 10 : a == 17 ? 300 << 10 : a == 18 ? 60 << 10 : 0;
  s.workspace_bytes = 8 * static_cast<uint64_t>(n);
  return s;
}
inline Scalar ScaledElement(KernelBuilder&, const Eqn& e, std::span<const Scalar> in) { return in[0] * e.number("a"); }

inline constexpr AttrSpec kScaledAttrs[] = {{"a", AttrKind::kFloat}};
inline constexpr Lowering kScaledLowerings[] = {{.source = Scaled, .target = "cuda", .priority = 1},
                                                {.scalar = ScaledElement}};
inline constexpr Row kScaledRows[] = {{.name = "test.scaled",
                                       .attrs = kScaledAttrs,
                                       .type = rules::Same<1, kFloats>,
                                       .batch = rules::kElementwise,
                                       .lowerings = kScaledLowerings,
                                       .missing = "jvp, transpose: not of interest"}};
inline RowList ScaledRows() { return kScaledRows; }
inline RowList (*const kScaledTables[])() = {ScaledRows};
inline constexpr ricci_plugin kScaledPlugin =
    Describe("scaled", "1", [](void*, ricci_ctx* ctx) { return AttachRows(ctx, kScaledTables); });
inline ricci_status* QueryScaledRow(const ricci_host_info*, const ricci_plugin** out) {
  *out = &kScaledPlugin;
  return nullptr;
}

}  // namespace ricci::testing
#endif
