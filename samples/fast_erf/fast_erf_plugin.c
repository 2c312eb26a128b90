/* A plugin in C that adds no primitive: it gives erf of f32, a row of another plugin, a lowering of its own.
 *
 * erf(x) = 1 - (a1 t + ... + a5 t^5) exp(-x^2) for x >= 0, with t = 1 / (1 + p x), within 1.5e-7, and odd in x
 * (Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 7.1.26). That is an absolute error: near 0 the
 * result has fewer right digits than that of the lowering it replaces. Types, derivatives and batches stay those of the
 * row.
 *
 * Of the lowerings of a row that match an operation and a target, the one with the highest priority is used; those of
 * built-in rows have priority 0. `match` leaves every other type to the row's own. This one names no target, so the
 * formula becomes part of kernels on the CPU and on GPUs alike; one for GPUs only would say
 * `lowering.target = ricci_str_of("cuda")`. A library's function is a lowering of the kind LIBRARY.
 */
#include "ricci/writer.h"

static ricci_status* match(void* self, const ricci_op* op, uint32_t* accept) {
  (void)self;
  ricci_type_desc x = ricci_type_desc_default();
  ricci_status* const failed = ricci_type_get(op->ctx, op->in_types[0], &x);
  if (failed == NULL) *accept = x.dtype == RICCI_F32;
  return failed;
}

static ricci_sval times(ricci_writer* w, ricci_sval a, ricci_sval b) {
  return ricci_write_binary(w, RICCI_S_MUL, a, b);
}
static ricci_sval minus(ricci_writer* w, ricci_sval a, ricci_sval b) {
  return ricci_write_binary(w, RICCI_S_SUB, a, b);
}

/* c[0] t + c[1] t^2 + ... of n terms. */
static ricci_sval polynomial(ricci_writer* w, const double* c, int n, ricci_sval t) {
  ricci_sval sum = ricci_write_like(w, t, c[n - 1]);
  for (int i = n - 2; i >= 0; --i) {
    const ricci_sval in[] = {sum, t, ricci_write_like(w, t, c[i])};
    sum = ricci_write_scalar(w, RICCI_S_FMA, 0, in, 3);
  }
  return times(w, sum, t);
}

static ricci_status* scalar(void* self, ricci_kernel_builder* k, const ricci_op* op, const ricci_sval* in,
                            ricci_sval* out) {
  (void)self;
  (void)op;
  static const double kA[] = {0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429};
  ricci_writer w = ricci_writer_of_kernel(k);
  const ricci_sval x = ricci_write_unary(&w, RICCI_S_ABS, in[0]), one = ricci_write_like(&w, x, 1);
  const ricci_sval px = times(&w, x, ricci_write_like(&w, x, 0.3275911));
  const ricci_sval t = ricci_write_binary(&w, RICCI_S_DIV, one, ricci_write_binary(&w, RICCI_S_ADD, one, px));
  const ricci_sval minus_square = ricci_write_unary(&w, RICCI_S_NEG, times(&w, x, x));
  const ricci_sval rest = times(&w, polynomial(&w, kA, 5, t), ricci_write_unary(&w, RICCI_S_EXP, minus_square));
  const ricci_sval magnitude = minus(&w, one, rest);
  const ricci_sval is_negative = ricci_write_binary(&w, RICCI_S_LT, in[0], ricci_write_like(&w, x, 0));
  *out = ricci_write_select(&w, is_negative, ricci_write_unary(&w, RICCI_S_NEG, magnitude), magnitude);
  return ricci_writer_finish(&w);
}

static ricci_status* attach(void* self, ricci_ctx* ctx) {
  (void)self;
  ricci_prim erf;
  ricci_status* const missing = ricci_prim_find(ctx, "erf", 3, &erf);
  if (missing != NULL) return missing;
  ricci_lowering lowering = ricci_lowering_of(RICCI_LOWER_SCALAR);
  lowering.match = match;
  lowering.scalar = scalar;
  lowering.priority = 1;
  return ricci_prim_add_lowering(ctx, erf, &lowering); /* copied */
}

ricci_status* ricci_plugin_query_fast_erf(const ricci_host_info* host, const ricci_plugin** out) {
  (void)host;
  static const ricci_plugin plugin = {.hdr = {.size = sizeof(ricci_plugin)},
                                      .abi_major = RICCI_ABI_MAJOR,
                                      .abi_minor = RICCI_ABI_MINOR,
                                      .name = {"fast_erf", 8},
                                      .version = {"0.1.0", 5},
                                      .attach = attach};
  *out = &plugin;
  return NULL;
}
