/* demo.cube(x) = x^3: a type and a decomposition; derivatives, batches and code follow from these. */
#include "ricci/writer.h"

static ricci_status* abstract_eval(void* self, ricci_builder* b, const ricci_op* op) {
  (void)self;
  return ricci_builder_set_out_types(b, op->in_types, 1);
}

static ricci_status* decompose(void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in, ricci_val* out) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  *out = ricci_write_emit2(&w, "mul", ricci_write_emit2(&w, "mul", in[0], in[0]), in[0]);
  return ricci_writer_finish(&w);
}

static ricci_status* attach(void* self, ricci_ctx* ctx) {
  (void)self;
  ricci_lowering parts = ricci_lowering_of(RICCI_LOWER_DECOMPOSE);
  parts.hdr.flags = RICCI_LOWERING_TRANSFORMABLE; /* supplies every rule that the row lacks */
  parts.decompose = decompose;
  const ricci_lowering* const lowerings[] = {&parts};
  ricci_prim_def row = ricci_prim_def_of("demo.cube");
  row.abstract_eval = abstract_eval;
  row.lowerings = lowerings;
  row.n_lowerings = 1;
  row.doc = ricci_str_of("y = demo.cube(x): x^3");
  row.examples = ricci_str_of("(f64[2,3]); (f32[4])");
  return ricci_prim_register(ctx, &row, NULL);
}

ricci_status* ricci_plugin_query_cube(const ricci_host_info* host, const ricci_plugin** out) {
  (void)host;
  static const ricci_plugin cube = {
      {sizeof cube, 0, NULL}, RICCI_ABI_MAJOR, RICCI_ABI_MINOR, {0}, {"cube", 4}, {"0.1.0", 5}, NULL, attach, NULL};
  *out = &cube;
  return NULL;
}
