/* A plugin in C whose primitive holds a program: ys = demo.repeat(cs..., xs...) n=3 body=...: `n` times, the body takes
 * all operands and gives new values of the last ones, as many as it has results; ys are those in the end.
 *
 * What a primitive that holds programs does, and how:
 *   abstract_eval  compares the signature of the body with the operands
 *   jvp, batch     transform the body (ricci_jvp_sparse, ricci_batch). Which values between two trips have tangents, or
 *                  a batch, is a fixpoint: what a trip gives is what the next one takes. The result is a repeat again
 *   decompose      a `scan`, which is lowered, scheduled and fused like any other
 *   partial_eval   splits the scan: half of it is known, half of it is transposed in reverse mode
 *   dce            drops what is carried for unused results: a fixpoint, too
 *   transpose      not here: the decomposition is TRANSFORMABLE, and a scan has one
 */
#include "repeat.h"

/* ---- types ---- */
static void want(ricci_writer* w, uint32_t holds, const char* format, long long a, long long b) {
  char text[200];
  snprintf(text, sizeof text, format, a, b);
  ricci_write_require(w, holds, text);
}

static void want_type(ricci_writer* w, const char* what, uint32_t i, ricci_type is, ricci_type wanted, uint32_t param) {
  char text[320];
  if (is == wanted) return;
  snprintf(text, sizeof text, "%s %u is %s, parameter %u of body is %s; they must be equal", what, i,
           type_text(w->op->ctx, is).text, param, type_text(w->op->ctx, wanted).text);
  ricci_write_require(w, 0, text);
}

static ricci_status* abstract_eval(void* self, ricci_builder* b, const ricci_op* op) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  uint32_t n_params, n_results;
  const ricci_type *params, *results;
  ricci_program_signature(repeat_body(op), &n_params, &params, &n_results, &results);
  const int64_t n = ricci_op_int(op, "n", 0);
  want(&w, n >= 0, "n is %lld; it must be %lld or more", n, 0);
  want(&w, n_params == op->n_in, "body takes %lld values, but there are %lld operands", n_params, op->n_in);
  want(&w, n_results <= n_params, "body gives %lld values, but takes only %lld", n_results, n_params);
  for (uint32_t i = 0; i < n_params && !ricci_writer_failed(&w); ++i) {
    want_type(&w, "operand", i, op->in_types[i], params[i], i);
  }
  for (uint32_t i = 0; i < n_results && !ricci_writer_failed(&w); ++i) {
    want_type(&w, "result of body", i, results[i], params[n_params - n_results + i], n_params - n_results + i);
  }
  ricci_write_out_types(&w, results, n_results);
  return ricci_writer_finish(&w);
}

/* ---- lowering ---- */
static ricci_status* decompose(void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in, ricci_val* out) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  repeat_emit_scan(&w, op, op->n_out, in, out);
  return ricci_writer_finish(&w);
}

static ricci_status* attach(void* self, ricci_ctx* ctx) {
  (void)self;
  const ricci_attr_spec attrs[] = {ricci_attr_spec_of("n", RICCI_ATTR_INT, 0),
                                   ricci_attr_spec_of("body", RICCI_ATTR_PROGRAM, 0)};
  ricci_lowering parts = ricci_lowering_of(RICCI_LOWER_DECOMPOSE);
  parts.hdr.flags = RICCI_LOWERING_TRANSFORMABLE;
  parts.decompose = decompose;
  const ricci_lowering* const lowerings[] = {&parts};
  ricci_prim_def row = ricci_prim_def_of("demo.repeat");
  row.attr_specs = attrs;
  row.n_attr_specs = 2;
  row.attr_spec_size = sizeof attrs[0];
  row.abstract_eval = abstract_eval;
  row.jvp = repeat_jvp;
  row.batch = repeat_batch;
  row.partial_eval = repeat_partial_eval;
  row.dce = repeat_dce;
  row.lowerings = lowerings;
  row.n_lowerings = 1;
  row.doc = ricci_str_of(
      "ys... = demo.repeat(xs...): `body`, `n` times: it takes all operands and gives new values of the "
      "last ones, as many as it has results");
  row.examples = ricci_str_of(
      "(f64[3], f64[3]) n=3 body=program(%c: f64[3], %x: f64[3]) {"
      "  %p: f64[3] = mul(%c, %x)  %s: f64[3] = sin(%p)  return %s }; "
      "(f64[2], f64[2] in 0.5..1, i32[2]) n=2 body=program(%a: f64[2], %b: f64[2], %i: i32[2]) {"
      "  %p: f64[2] = mul(%a, %b)  return %b, %p, %i }; "
      "(f64[2]) n=0 body=program(%a: f64[2]) { %s: f64[2] = sin(%a)  return %s }");
  return ricci_prim_register(ctx, &row, NULL);
}

ricci_status* ricci_plugin_query_repeat(const ricci_host_info* host, const ricci_plugin** out) {
  (void)host;
  static const ricci_plugin plugin = {.hdr = {.size = sizeof(ricci_plugin)},
                                      .abi_major = RICCI_ABI_MAJOR,
                                      .abi_minor = RICCI_ABI_MINOR,
                                      .name = {"repeat", 6},
                                      .version = {"0.1.0", 5},
                                      .attach = attach};
  *out = &plugin;
  return NULL;
}
