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

#include "add_device.h"
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
/* For the words NAME PLUGIN [--device cpu|cuda] [--config KEY=VALUE]..., which it leaves as they are: a context with
 * the built-in primitives, the device and, if `with_plugin`, the plugin. Other words end the process. */
static inline ricci_ctx* context_of(int argc, char** argv, int with_plugin) {
  ricci_ctx* ctx;
  check(ricci_context_create(NULL, &ctx));
  check(ricci_context_add_plugin(ctx, ricci_plugin_query_lax));
  char** const words = malloc((size_t)argc * sizeof *words); /* add_device takes its own out */
  memcpy(words, argv, (size_t)argc * sizeof *words);
  check(add_device(ctx, &argc, words));
  if (argc != 2) {
    fprintf(stderr, "usage: %s PLUGIN [--device cpu|cuda] [--config KEY=VALUE]...\n", words[0]);
    exit(2);
  }
  if (with_plugin) check(ricci_context_load_plugin(ctx, words[1], strlen(words[1])));
  free(words);
  ricci_device_desc d = {{sizeof d, 0, NULL}};
  ricci_device_info(ricci_device_get(ctx, 0), &d);
  printf("device: %.*s\n", (int)d.kind.len, d.kind.ptr);
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
/* Compiles f and runs it once. slots: where the numbers of all parameters lie, and where those of all results go; at
 * most 16 of each. On a GPU they are copied to its memory and back. Takes f over. */
static inline void run_once(ricci_ctx* ctx, ricci_program* f, void* const* slots) {
  ricci_executable* const x = compiled(f);
  uint32_t n_in, n_out;
  const ricci_type* types;
  ricci_array *in[16], *out[16];
  ricci_executable_signature(x, &n_in, &types, &n_out, NULL);
  for (uint32_t i = 0; i < n_in; ++i) {
    check(ricci_array_from_host(ricci_device_get(ctx, 0), types[i], slots[i], NULL, &in[i]));
  }
  check(ricci_executable_run(x, in, n_in, out, n_out, NULL));
  for (uint32_t i = 0; i < n_out; ++i) {
    check(ricci_array_copy_to_host(out[i], slots[n_in + i], ricci_array_bytes(out[i])));
    ricci_array_release(out[i]);
  }
  for (uint32_t i = 0; i < n_in; ++i) ricci_array_release(in[i]);
  ricci_executable_release(x), ricci_program_release(f);
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
