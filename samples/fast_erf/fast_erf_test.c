/* Tries the plugin fast_erf: erf of f32 is computed by its formula, in the kernel of the function around it, erf of f64
 * as before. fast_erf_test PLUGIN
 */
#include "../sample_checks.h"

enum { kCount = 1001 };
static float x[kCount], y[kCount], slope[kCount];
static const char kF32[] = "program f(%x: f32[]) { %e: f32[] = erf(%x)  %y: f32[] = mul(%e, %x)  return %y }";
static const char kF64[] = "program f(%x: f64[]) { %e: f64[] = erf(%x)  %y: f64[] = mul(%e, %x)  return %y }";

static void test_numbers(ricci_ctx* ctx) {
  double error = 0, slope_error = 0;
  for (int i = 0; i < kCount; ++i) x[i] = (float)(i - kCount / 2) / 100;
  run_once(ctx, mapped_over_last(parsed(ctx, kF32), kCount), (void*[]){x, y});
  run_once(ctx, mapped_over_last(grad_of(parsed(ctx, kF32), 0), kCount), (void*[]){x, slope});
  for (int i = 0; i < kCount; ++i) {
    const double at = x[i], d = 1.1283791670955126 * exp(-at * at);
    error = fmax(error, fabs(y[i] - at * erf(at)));
    slope_error = fmax(slope_error, fabs(slope[i] - (erf(at) + at * d)));
  }
  printf("x erf(x): largest error %.1e, of the slope %.1e\n", error, slope_error);
  expect(error < 2e-6 && slope_error < 2e-6, "numbers");
}

int main(int argc, char** argv) {
  if (argc != 2) return fprintf(stderr, "usage: %s PLUGIN\n", argv[0]), 2;
  ricci_ctx *const plain = context_with(NULL), *const ctx = context_with(argv[1]);
  expect(kernels_of(mapped_over_last(parsed(plain, kF32), 64), " erf").has_word, "without the plugin: erf");
  const kernel_text ours = kernels_of(mapped_over_last(parsed(ctx, kF32), 64), " erf");
  expect(!ours.has_word && ours.kernels == 1, "with it: a formula, in one kernel");
  expect(kernels_of(mapped_over_last(parsed(ctx, kF64), 64), " erf").has_word, "f64: erf as before");
  test_numbers(ctx);
  ricci_context_release(ctx), ricci_context_release(plain);
  return sample_faults != 0;
}
