/* A plugin in C with one primitive: demo.smooth_abs(x) = sqrt(x^2 + eps^2), elementwise, with the attribute eps.
 *
 * What a new primitive gives the core, and what it gets in return:
 *   abstract_eval  the type of the result, or an error for wrong operands
 *   jvp            the tangent, written with other primitives: gradients of any order follow, because those have rules
 *   batch_kind     elementwise, so vmap needs no code
 *   doc            what `ricci primitives NAME` prints, and the names that errors use
 *   examples       `ricci check --plugin FILE` checks the rules on them
 *   a SCALAR lowering: one expression per element, which fuses into generated code of every backend
 * The rules are written with a ricci_writer (ricci/writer.h): it keeps the first error, so one check at the end is
 * enough. The same source is linked statically or loaded at run time; see ricci_add_plugin.
 */
#include "ricci/writer.h"

static ricci_status* abstract_eval(void* self, ricci_builder* b, const ricci_op* op) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  const uint32_t dtype = ricci_write_operand_dtype(&w, 0);
  ricci_write_require(&w, op->n_in == 1, "takes one operand");
  ricci_write_require(&w, dtype == RICCI_F32 || dtype == RICCI_F64, "the operand must be f32 or f64");
  ricci_write_require(&w, ricci_op_float(op, "eps", 0) > 0, "eps must be positive");
  ricci_write_out_types(&w, op->in_types, 1);
  return ricci_writer_finish(&w);
}

/* d sqrt(x^2 + eps^2) = x / sqrt(x^2 + eps^2) dx */
static ricci_status* jvp(void* self, ricci_builder* b, const ricci_op* op, const ricci_jvp_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  ricci_write_same(&w, a->primals, a->out_primals);
  if (a->tangents[0] != RICCI_VAL_ZERO) {
    const ricci_val slope = ricci_write_emit2(&w, "div", a->primals[0], a->out_primals[0]);
    a->out_tangents[0] = ricci_write_emit2(&w, "mul", slope, a->tangents[0]);
  }
  return ricci_writer_finish(&w);
}

/* One element: three scalar operations. */
static ricci_status* scalar(void* self, ricci_kernel_builder* k, const ricci_op* op, const ricci_sval* in,
                            ricci_sval* out) {
  (void)self;
  ricci_writer w = ricci_writer_of_kernel(k);
  const double eps = ricci_op_float(op, "eps", 0);
  const ricci_sval square = ricci_write_binary(&w, RICCI_S_MUL, in[0], in[0]);
  const ricci_sval sum = ricci_write_binary(&w, RICCI_S_ADD, square, ricci_write_like(&w, in[0], eps * eps));
  *out = ricci_write_unary(&w, RICCI_S_SQRT, sum);
  return ricci_writer_finish(&w);
}

static ricci_status* attach(void* self, ricci_ctx* ctx) {
  (void)self;
  const ricci_attr_spec eps = ricci_attr_spec_of("eps", RICCI_ATTR_FLOAT, 0);
  ricci_lowering lowering = ricci_lowering_of(RICCI_LOWER_SCALAR);
  lowering.scalar = scalar;
  const ricci_lowering* const lowerings[] = {&lowering};
  ricci_prim_def row = ricci_prim_def_of("demo.smooth_abs"); /* copied by ricci_prim_register */
  row.attr_specs = &eps;
  row.n_attr_specs = 1;
  row.attr_spec_size = sizeof eps;
  row.batch_kind = RICCI_BATCH_ELEMENTWISE;
  row.abstract_eval = abstract_eval;
  row.jvp = jvp;
  row.doc = ricci_str_of("y = demo.smooth_abs(x): sqrt(x^2 + eps^2)");
  row.missing = ricci_str_of("transpose: not linear");
  row.lowerings = lowerings;
  row.n_lowerings = 1;
  row.examples = ricci_str_of("(f64[2,3]) eps=0.5; (f32[5]) eps=0.25");
  ricci_prim id;
  return ricci_prim_register(ctx, &row, &id);
}

ricci_status* ricci_plugin_query_smooth_abs(const ricci_host_info* host, const ricci_plugin** out) {
  (void)host;
  static const ricci_plugin plugin = {.hdr = {.size = sizeof(ricci_plugin)},
                                      .abi_major = RICCI_ABI_MAJOR,
                                      .abi_minor = RICCI_ABI_MINOR,
                                      .name = {"smooth_abs", 10},
                                      .version = {"0.1.0", 5},
                                      .attach = attach};
  *out = &plugin;
  return NULL;
}
