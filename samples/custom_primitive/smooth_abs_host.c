/* A host that loads the plugin smooth_abs and uses its primitive as if it were built in:
 * smooth_abs_host PLUGIN [--device cpu|cuda] [--config KEY=VALUE]...
 *
 * The program is given as text. Its derivative is compiled under vmap, so the plugin's rules go through jvp, transpose,
 * batching, fusion and code generation, and the numbers are compared with the formula.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../add_device.h"
#include "ricci/ricci.h"

enum { kCount = 8 };
static const double kEps = 0.5;
static const char kText[] =
    "program f(%x: f64[]) {\n"
    "  %0: f64[] = demo.smooth_abs(%x) eps=0.5\n"
    "  %1: f64[] = mul(%0, %x)\n"
    "  return %1\n"
    "}\n";

static void check(ricci_status* status) {
  if (status == NULL) return;
  ricci_str message;
  ricci_status_message(status, &message);
  fprintf(stderr, "%.*s\n", (int)message.len, message.ptr);
  ricci_status_free(status);
  exit(1);
}

/* vmap over kCount values of x of (f(x), f'(x)). */
static ricci_executable* compile_batched_derivative(ricci_ctx* ctx) {
  const uint32_t by_x = 0;
  const int32_t in_axis = 0, out_axes[2] = {0, 0};
  ricci_program *f, *derivative, *batched;
  ricci_executable* out;
  check(ricci_program_parse(ctx, kText, sizeof(kText) - 1, "smooth_abs_host.c", 17, &f));
  check(ricci_grad(f, &by_x, 1, /*with_value=*/1, &derivative));
  check(ricci_vmap(derivative, &in_axis, 1, out_axes, 2, kCount, NULL, &batched));
  check(ricci_compile(batched, NULL, &out));
  ricci_program_release(f);
  ricci_program_release(derivative);
  ricci_program_release(batched);
  return out;
}

int main(int argc, char** argv) {
  ricci_ctx* ctx;
  check(ricci_context_create(NULL, &ctx));
  check(ricci_context_add_plugin(ctx, ricci_plugin_query_lax));
  check(add_device(ctx, &argc, argv));
  if (argc != 2) {
    fprintf(stderr, "usage: %s libricci_plugin_smooth_abs.so.0 [--device cpu|cuda] [--config KEY=VALUE]...\n", argv[0]);
    return 2;
  }
  check(ricci_context_load_plugin(ctx, argv[1], strlen(argv[1])));

  ricci_executable* run = compile_batched_derivative(ctx);
  double x[kCount], value[kCount], slope[kCount], worst = 0.0;
  for (int i = 0; i < kCount; ++i) x[i] = -2.0 + 0.5 * i;
  const ricci_type* types;
  ricci_executable_signature(run, NULL, &types, NULL, NULL);
  ricci_array *in, *out[2];
  check(ricci_array_from_host(ricci_device_get(ctx, 0), types[0], x, NULL, &in));
  check(ricci_executable_run(run, &in, 1, out, 2, NULL));
  check(ricci_array_copy_to_host(out[0], value, sizeof value));
  check(ricci_array_copy_to_host(out[1], slope, sizeof slope));

  for (int i = 0; i < kCount; ++i) {
    const double r = sqrt(x[i] * x[i] + kEps * kEps), expected = r + x[i] * x[i] / r;
    printf("x %6.2f  f %9.6f  df/dx %9.6f\n", x[i], value[i], slope[i]);
    worst = fmax(worst, fmax(fabs(value[i] - r * x[i]), fabs(slope[i] - expected)));
  }
  printf("largest error %.1e\n", worst);

  ricci_array_release(in);
  for (int i = 0; i < 2; ++i) ricci_array_release(out[i]);
  ricci_executable_release(run);
  ricci_context_release(ctx);
  return worst < 1e-12 ? 0 : 1;
}
