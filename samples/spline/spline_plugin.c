/* A plugin in C: periodic cubic splines on a uniform grid, with all rules.
 *
 *   spline.periodic(v, x)   the spline through values v at the knots 0, 1, ..., n - 1 of a period n, at points x
 *   spline.moments(v)       its second derivatives at the knots: a cyclic tridiagonal system, loops
 *   spline.blend(a, x)      what values or second derivatives at knots add at points: an expression, which fuses
 *   spline.spread(a, c, x)  the transpose of that: loops that update
 * The first is made of the others; derivatives, batches and code of it follow from theirs. A host that evaluates one
 * spline often computes the moments once and calls spline.blend.
 */
#include "spline.h"

static ricci_status* abstract_eval(void* self, ricci_builder* b, const ricci_op* op) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  spline_want_floats(&w, 2);
  spline_want_points(&w, 0, 1);
  if (!ricci_writer_failed(&w)) ricci_write_out_types(&w, &op->in_types[1], 1);
  return ricci_writer_finish(&w);
}

static ricci_status* decompose(void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in, ricci_val* out) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  const ricci_val moments[] = {ricci_write_emit1(&w, "spline.moments", in[0]), in[1]};
  const ricci_val of_values = spline_emit(&w, "spline.blend", 0, /*of_moments=*/0, in, 2);
  const ricci_val of_moments = spline_emit(&w, "spline.blend", 0, /*of_moments=*/1, moments, 2);
  *out = ricci_write_emit2(&w, "add", of_values, of_moments);
  return ricci_writer_finish(&w);
}

static ricci_status* register_periodic(ricci_ctx* ctx) {
  ricci_lowering parts = ricci_lowering_of(RICCI_LOWER_DECOMPOSE);
  parts.hdr.flags = RICCI_LOWERING_TRANSFORMABLE;
  parts.decompose = decompose;
  const ricci_lowering* const lowerings[] = {&parts};
  ricci_prim_def row = ricci_prim_def_of("spline.periodic");
  row.abstract_eval = abstract_eval;
  row.lowerings = lowerings;
  row.n_lowerings = 1;
  row.doc = ricci_str_of(
      "y = spline.periodic(v, x): at points x, the cubic spline through values v at 0, 1, ..., along the "
      "last dimension, which is the period");
  row.examples = ricci_str_of("(f64[5], f64[3] in 1.1..1.9); (f64[2,4], f64[2,3] in 2.1..2.9); (f32[6], f32[])");
  return ricci_prim_register(ctx, &row, NULL);
}

static ricci_status* attach(void* self, ricci_ctx* ctx) {
  (void)self;
  ricci_status* (*const all[])(ricci_ctx*) = {spline_register_moments, spline_register_blend, spline_register_spread,
                                              register_periodic};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    ricci_status* const failed = all[i](ctx);
    if (failed != NULL) return failed;
  }
  return NULL;
}

ricci_status* ricci_plugin_query_spline(const ricci_host_info* host, const ricci_plugin** out) {
  (void)host;
  static const ricci_plugin plugin = {.hdr = {.size = sizeof(ricci_plugin)},
                                      .abi_major = RICCI_ABI_MAJOR,
                                      .abi_minor = RICCI_ABI_MINOR,
                                      .name = {"spline", 6},
                                      .version = {"0.1.0", 5},
                                      .attach = attach};
  *out = &plugin;
  return NULL;
}
