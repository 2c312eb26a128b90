/* sample_checks: what the hosts that try the plugins of this folder share: programs as text, runs, refusals, counts.
 *
 * A failed call prints its message and ends the process; a wrong number is counted, so that a run prints all of them.
 */
#ifndef SAMPLES_SAMPLE_CHECKS_H_
#define SAMPLES_SAMPLE_CHECKS_H_
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ricci/ricci.h"

static int sample_faults = 0;

static inline void check(ricci_status* status) {
  if (status == NULL) return;
  ricci_str message;
  ricci_status_message(status, &message);
  fprintf(stderr, "%.*s\n", (int)message.len, message.ptr);
  ricci_status_free(status);
  exit(1);
}
static inline void expect(int holds, const char* what) {
  printf("%s: %s\n", holds ? "ok" : "WRONG", what);
  sample_faults += !holds;
}
static inline void expect_close(const char* what, const double* got, const double* expected, size_t n, double within) {
  double worst = 0;
  for (size_t i = 0; i < n; ++i) {
    const double error = fabs(got[i] - expected[i]);
    if (!(error <= worst)) worst = error; /* a NaN counts */
  }
  printf("%s: %s, largest error %.1e\n", worst <= within ? "ok" : "WRONG", what, worst);
  sample_faults += !(worst <= within);
}

/* ---- contexts and programs ---- */
/* With the built-in primitives, the CPU backend and the plugin at `path`. */
static inline ricci_ctx* context_with(const char* path) {
  ricci_ctx* ctx;
  check(ricci_context_create(NULL, &ctx));
  check(ricci_context_add_plugin(ctx, ricci_plugin_query_lax));
  check(ricci_context_add_plugin(ctx, ricci_plugin_query_cpu));
  if (path != NULL) check(ricci_context_load_plugin(ctx, path, strlen(path)));
  return ctx;
}
static inline ricci_program* parsed(ricci_ctx* ctx, const char* text) {
  ricci_program* f;
  check(ricci_program_parse(ctx, text, strlen(text), "", 0, &f));
  return f;
}
/* The gradient by parameter `by`; takes f over. */
static inline ricci_program* grad_of(ricci_program* f, uint32_t by) {
  ricci_program* out;
  check(ricci_grad(f, &by, 1, 0, &out));
  ricci_program_release(f);
  return out;
}
/* f with its last parameter mapped over `size` values, and its only result; takes f over. */
static inline ricci_program* mapped_over_last(ricci_program* f, int64_t size) {
  int32_t axes[16];
  uint32_t n;
  const int32_t out_axis = 0;
  ricci_program* out;
  ricci_program_signature(f, &n, NULL, NULL, NULL);
  for (uint32_t i = 0; i < n; ++i) axes[i] = i + 1 == n ? 0 : -1;
  check(ricci_vmap(f, axes, n, &out_axis, 1, size, NULL, &out));
  ricci_program_release(f);
  return out;
}
/* The text is refused, with a message that has `message` in it. */
static inline void expect_refused(ricci_ctx* ctx, const char* text, const char* message) {
  ricci_program* f = NULL;
  ricci_status* const refused = ricci_program_parse(ctx, text, strlen(text), "", 0, &f);
  char said[512] = "nothing";
  if (refused != NULL) {
    ricci_str m;
    ricci_status_message(refused, &m);
    snprintf(said, sizeof said, "%.*s", (int)m.len, m.ptr);
  }
  expect(strstr(said, message) != NULL, message);
  if (strstr(said, message) == NULL) printf("  said: %s\n", said);
  ricci_status_free(refused);
  ricci_program_release(f);
}

/* ---- runs ---- */
static inline ricci_executable* compiled(const ricci_program* f) {
  ricci_executable* x;
  check(ricci_compile(f, NULL, &x));
  return x;
}
static inline uint64_t bytes_of(ricci_ctx* ctx, ricci_type t) {
  ricci_type_desc d = ricci_type_desc_default();
  check(ricci_type_get(ctx, t, &d));
  uint64_t bytes = ricci_dtype_size(d.dtype);
  for (uint32_t i = 0; i < d.rank; ++i) bytes *= (uint64_t)d.dims[i];
  return bytes;
}
/* Compiles f and runs it once; slots: the arrays of all parameters, then of all results. Takes f over. */
static inline void run_once(ricci_ctx* ctx, ricci_program* f, void* const* slots) {
  ricci_executable* const x = compiled(f);
  uint32_t n_in, n_out;
  const ricci_type *in, *out;
  ricci_call* call;
  ricci_executable_signature(x, &n_in, &in, &n_out, &out);
  check(ricci_call_create(x, &call));
  for (uint32_t i = 0; i < n_in + n_out; ++i) {
    check(ricci_call_bind(call, i, slots[i], bytes_of(ctx, i < n_in ? in[i] : out[i - n_in])));
  }
  check(ricci_call_run(call));
  ricci_call_release(call), ricci_executable_release(x), ricci_program_release(f);
}

/* ---- kernels ---- */
typedef struct kernel_text {
  uint32_t kernels, lines; /* lines of text: one for each instruction, and a few for each kernel */
  int has_word;
  const char* word; /* looked for; may be NULL */
} kernel_text;
static inline void count_lines(void* sink, const char* p, size_t n) {
  kernel_text* const t = sink;
  for (size_t i = 0; i < n; ++i) {
    t->lines += p[i] == '\n';
    const size_t length = t->word == NULL ? 0 : strlen(t->word);
    t->has_word |= length != 0 && length <= n - i && memcmp(p + i, t->word, length) == 0;
  }
}
/* Of the compiled f, which it takes over. */
static inline kernel_text kernels_of(ricci_program* f, const char* word) {
  kernel_text t = {0, 0, 0, word};
  ricci_executable* const x = compiled(f);
  ricci_executable_stats stats = {.hdr = {.size = sizeof stats}};
  ricci_executable_info(x, &stats);
  t.kernels = stats.kernels;
  check(ricci_executable_dump(x, "kernels", 7, &t, count_lines));
  ricci_executable_release(x), ricci_program_release(f);
  return t;
}
/* Both are one kernel, and that with the row has at most 5 % more lines than the one by hand. */
static inline void expect_as_by_hand(const char* what, ricci_program* with_row, ricci_program* by_hand) {
  const kernel_text row = kernels_of(with_row, NULL), hand = kernels_of(by_hand, NULL);
  printf("%s: %u kernel of %u lines; by hand %u of %u\n", what, row.kernels, row.lines, hand.kernels, hand.lines);
  expect(row.kernels == 1 && hand.kernels == 1, "one kernel");
  expect(row.lines * 20 <= hand.lines * 21, "at most 5 % more than the formula by hand");
}
#endif
