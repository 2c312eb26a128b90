/* Tries the plugin fast_erf: erf of f32 is computed by its formula, in the kernel of the function around it, erf of f64
 * as before; on a GPU, in the CUDA kernel. fast_erf_test PLUGIN [--device cpu|cuda] [--config KEY=VALUE]...
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

/* Whether the CUDA source of f calls the function of the backend for erf. Takes f over. */
static int calls_erf(ricci_program* f) {
  kernel_text t = {0, 0, 0, "ricci_dev_erf"};
  ricci_executable* const x = compiled(f);
  check(ricci_executable_dump(x, "source", 6, &t, count_lines));
  ricci_executable_release(x), ricci_program_release(f);
  return t.has_word;
}
static void test_cuda_source(ricci_ctx* plain, ricci_ctx* ctx) {
  if (ricci_device_get(ctx, 0) != ricci_device_find(ctx, "cuda", 4)) return;
  expect(calls_erf(mapped_over_last(parsed(plain, kF32), 64)), "on cuda without the plugin: erf of the backend");
  expect(!calls_erf(mapped_over_last(parsed(ctx, kF32), 64)), "on cuda with it: the formula, in the CUDA kernel");
}

int main(int argc, char** argv) {
  ricci_ctx *const plain = context_of(argc, argv, /*with_plugin=*/0), *const ctx = context_of(argc, argv, 1);
  expect(kernels_of(mapped_over_last(parsed(plain, kF32), 64), " erf").has_word, "without the plugin: erf");
  const kernel_text ours = kernels_of(mapped_over_last(parsed(ctx, kF32), 64), " erf");
  expect(!ours.has_word && ours.kernels == 1, "with it: a formula, in one kernel");
  expect(kernels_of(mapped_over_last(parsed(ctx, kF64), 64), " erf").has_word, "f64: erf as before");
  test_cuda_source(plain, ctx);
  test_numbers(ctx);
  ricci_context_release(ctx), ricci_context_release(plain);
  return sample_faults != 0;
}
