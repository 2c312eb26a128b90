/* The library for a host that knows nothing of its dependencies: the core and the CPU backend in one shared object.
 * Programs that need the C library, compilers' conversions or copies are run on both backends. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ricci/ricci.h"

enum { kPoints = 64 };

typedef struct {
  const char* what;
  const char* body; /* defines %y: f64[64] from %x: f64[64] */
} Case;

#define TO(dtype)                                                               \
  "%h: " dtype "[64] = convert_element_type(%x) new_dtype=" dtype " %g: " dtype \
  "[64] = mul(%h, %h) %y: f64[64] = convert_element_type(%g) new_dtype=f64"
#define BIG                                                                                                         \
  "%c: f64[] = constant 1e200 %b: f64[64] = broadcast_in_dim(%c) shape=[64] broadcast_dimensions=[] %m: f64[64] = " \
  "mul(%x, %b) "

static const Case kCases[] = {
    {"f64 to f16 and back", TO("f16")},
    {"f64 to bf16 and back", TO("bf16")},
    {"f32 to f16",
     "%f: f32[64] = convert_element_type(%x) new_dtype=f32 %h: f16[64] = convert_element_type(%f)"
     " new_dtype=f16 %y: f64[64] = convert_element_type(%h) new_dtype=f64"},
    {"sin of huge arguments", BIG "%y: f64[64] = sin(%m)"},
    {"cos of huge arguments", BIG "%y: f64[64] = cos(%m)"},
    {"tan of huge arguments", BIG "%y: f64[64] = tan(%m)"},
    {"remainders", "%s: f64[64] = sin(%x) %y: f64[64] = rem(%x, %s)"},
    {"powers", "%e: f64[64] = exp(%x) %y: f64[64] = pow(%e, %x)"},
    {"lgamma", "%y: f64[64] = lgamma(%x)"},
    {"digamma", "%y: f64[64] = digamma(%x)"},
    {"erf_inv", "%t: f64[64] = tanh(%x) %y: f64[64] = erf_inv(%t)"},
    {"rounding", "%y: f64[64] = round(%x) rounding_method=1"},
    {"copies",
     "%t: f64[64] = rev(%x) dimensions=[0] %s: f64[64] = sort(%t) dimension=0 is_stable=true num_keys=1"
     " %y: f64[64] = cumsum(%s) axis=0 reverse=false"},
    {"products",
     "%a: f64[8,8] = reshape(%x) new_sizes=[8,8] %p: f64[8,8] = dot_general(%a, %a) lhs_contract=[1]"
     " rhs_contract=[0] %y: f64[64] = reshape(%p) new_sizes=[64]"},
};

/* 0 if `s` is fine; frees it otherwise. */
static int Failed(const char* what, ricci_status* s) {
  if (s == NULL) return 0;
  ricci_str text;
  ricci_status_message(s, &text);
  fprintf(stdout, "%s: %.*s\n", what, (int)text.len, text.ptr);
  ricci_status_free(s);
  return 1;
}

static int Run(ricci_ctx* ctx, const Case* c, const char* device, double* x, double* y) {
  char text[2000];
  snprintf(text, sizeof text, "program f(%%x: f64[64]) { %s return %%y }", c->body);
  ricci_program* f = NULL;
  if (Failed(c->what, ricci_program_parse(ctx, text, strlen(text), "host", 4, &f))) return 1;
  ricci_compile_opts o = {{sizeof o, 0, NULL}};
  ricci_device* const on = ricci_device_find(ctx, device, strlen(device));
  o.devices = &on;
  o.n_devices = 1;
  ricci_executable* e = NULL;
  ricci_call* call = NULL;
  int bad = Failed(c->what, ricci_compile(f, &o, &e)) || Failed(c->what, ricci_call_create(e, &call)) ||
            Failed(c->what, ricci_call_bind(call, 0, x, kPoints * sizeof *x)) ||
            Failed(c->what, ricci_call_bind(call, 1, y, kPoints * sizeof *y)) || Failed(c->what, ricci_call_run(call));
  ricci_call_release(call);
  ricci_executable_release(e);
  ricci_program_release(f);
  return bad;
}

/* The number of cases that fail or differ between the backends. */
__attribute__((visibility("default"))) int ricci_local_host_run(void) {
  ricci_ctx* ctx = NULL;
  if (Failed("context", ricci_context_create(NULL, &ctx)) ||
      Failed("lax", ricci_context_add_plugin(ctx, ricci_plugin_query_lax)) ||
      Failed("cpu", ricci_context_add_plugin(ctx, ricci_plugin_query_cpu))) {
    return 1;
  }
  int bad = 0;
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    double x[kPoints], got[kPoints], want[kPoints];
    for (int k = 0; k < kPoints; ++k) x[k] = (k - 31) * 0.37 + 0.003;
    if (Run(ctx, &kCases[i], "cpu", x, got) || Run(ctx, &kCases[i], "ref", x, want)) {
      ++bad;
      continue;
    }
    for (int k = 0; k < kPoints; ++k) {
      if ((isnan(got[k]) && isnan(want[k])) || fabs(got[k] - want[k]) <= 1e-12 * fmax(1, fabs(want[k]))) continue;
      printf("%s: %.17g and %.17g of %.17g\n", kCases[i].what, got[k], want[k], x[k]);
      ++bad;
      break;
    }
  }
  ricci_context_release(ctx);
  return bad;
}
