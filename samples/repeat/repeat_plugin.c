/* A plugin in C whose primitive holds a program: ys = demo.repeat(cs..., xs...) n=3 body=...: `n` times, the body takes
 * all operands and gives new values of the last ones, as many as it has results; ys are those in the end.
 *
 * What a primitive that holds programs does, and how:
 *   abstract_eval  compares the signature of the body with the operands
 *   jvp, batch     transform the body (ricci_jvp_sparse, ricci_batch). Which values between two trips have tangents, or
 *                  a batch, is a fixpoint: what a trip gives is what the next one takes. The result is a repeat again
 *   decompose      a `scan`, which is lowered, scheduled and fused like any other
 *   partial_eval   splits the scan: half of it is known, half of it is transposed in reverse mode
 *   transpose      not here: the decomposition is TRANSFORMABLE, and a scan has one
 */
#include <stdlib.h>

#include "../batch_first.h"
#include "../type_text.h"
#include "ricci/transform.h"
#include "ricci/writer.h"

/* ---- the operation ---- */
static ricci_program* body_of(const ricci_op* op) { return *(ricci_program* const*)ricci_op_attr(op, "body")->data; }
/* `n` zeros of `size` bytes, for free(); never NULL unless the writer has an error. */
static void* room(ricci_writer* w, size_t n, size_t size) {
  void* const out = calloc(n + 1, size);
  static const char why[] = "demo.repeat: no memory for the values of a rule";
  if (out == NULL) ricci_writer_keep(w, ricci_status_make(RICCI_RESOURCE_EXHAUSTED, why, sizeof why - 1));
  return out;
}
static ricci_val* values(ricci_writer* w, size_t n) { return room(w, n, sizeof(ricci_val)); }
static uint8_t* flags(ricci_writer* w, size_t n) { return room(w, n, 1); }
static uint32_t count(const uint8_t* flag, uint32_t n) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < n; ++i) sum += flag[i] != 0;
  return sum;
}
/* The repeat of `op` with another body. */
static void emit_repeat(ricci_writer* w, const ricci_op* op, ricci_program* body, const ricci_val* in, uint32_t n_in,
                        ricci_val* out, uint32_t n_out) {
  const ricci_attr attrs[] = {ricci_attr_int("n", ricci_op_int(op, "n", 0)), ricci_attr_program("body", &body)};
  ricci_write_emit(w, "demo.repeat", attrs, 2, in, n_in, out, n_out);
}
static void emit_scan(ricci_writer* w, const ricci_op* op, uint32_t n_carry, const ricci_val* in, ricci_val* out) {
  ricci_program* const body = body_of(op);
  const ricci_attr attrs[] = {ricci_attr_int("length", ricci_op_int(op, "n", 0)),
                              ricci_attr_int("num_consts", (int64_t)op->n_in - n_carry),
                              ricci_attr_int("num_carry", n_carry), ricci_attr_program("body", &body)};
  ricci_write_emit(w, "scan", attrs, 4, in, op->n_in, out, n_carry);
}

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
  ricci_program_signature(body_of(op), &n_params, &params, &n_results, &results);
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

/* ---- jvp ---- */
/* The body with tangents: of the operands with active[i] != 0, and of each result that then has one. Sets active[i] for
 * the operands that get a tangent after some trip. */
static ricci_program* body_with_tangents(ricci_writer* w, const ricci_op* op, uint8_t* active) {
  uint8_t* const carried = active + op->n_in - op->n_out;
  uint8_t* const given = flags(w, op->n_out);
  ricci_program* out = NULL;
  for (uint32_t grew = 1; grew != 0 && !ricci_writer_failed(w);) {
    ricci_program_release(out);
    out = NULL;
    for (uint32_t i = 0; i < op->n_out; ++i) given[i] = carried[i];
    ricci_writer_keep(w, ricci_jvp_sparse(body_of(op), active, op->n_in, given, &out));
    grew = 0;
    for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(w); ++i) {
      grew |= given[i] && !carried[i];
      carried[i] |= given[i];
    }
  }
  free(given);
  return out;
}

/* Where each value is among: constants, their tangents, what is carried, its tangents. */
typedef struct layout {
  uint32_t consts, d_consts, carry, d_carry; /* how many */
} layout;
static layout layout_of(const ricci_op* op, const uint8_t* active) {
  const uint32_t consts = op->n_in - op->n_out;
  const layout l = {consts, count(active, consts), op->n_out, count(active + consts, op->n_out)};
  return l;
}
static uint32_t total(layout l) { return l.consts + l.d_consts + l.carry + l.d_carry; }
/* Value i of the program of ricci_jvp_sparse, all primals before all tangents, in that order. */
static uint32_t place_of(layout l, uint32_t i) {
  if (i < l.consts) return i;
  if (i < l.consts + l.carry) return i + l.d_consts;
  return i < l.consts + l.carry + l.d_consts ? i - l.carry : i;
}

/* The same program with its parameters in that order, as the body of a repeat must have them. */
static ricci_program* in_order(ricci_writer* w, layout l, const ricci_program* f) {
  const uint32_t n = total(l), n_results = l.carry + l.d_carry;
  ricci_val *const params = values(w, n), *const in = values(w, n), *const out = values(w, n_results);
  ricci_type* const types = room(w, n, sizeof(ricci_type));
  ricci_builder* nested = NULL;
  ricci_program* body = NULL;
  const ricci_type* given = NULL;
  if (!ricci_writer_failed(w)) {
    ricci_program_signature(f, NULL, &given, NULL, NULL);
    for (uint32_t i = 0; i < n; ++i) types[place_of(l, i)] = given[i];
    ricci_writer_keep(w, ricci_builder_nest(w->program, "body", 4, types, n, &nested, params));
  }
  if (!ricci_writer_failed(w)) {
    for (uint32_t i = 0; i < n; ++i) in[i] = params[place_of(l, i)];
    ricci_writer_keep(w, ricci_builder_inline(nested, f, in, n, out, n_results));
  }
  if (!ricci_writer_failed(w)) ricci_writer_keep(w, ricci_builder_finish(nested, out, n_results, &body));
  if (body == NULL) ricci_builder_abandon(nested);
  free(params), free(in), free(out), free(types);
  return body;
}

static ricci_status* jvp(void* self, ricci_builder* b, const ricci_op* op, const ricci_jvp_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  uint8_t* const active = flags(&w, op->n_in);
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(&w); ++i) active[i] = a->tangents[i] != RICCI_VAL_ZERO;
  ricci_program* const both = ricci_writer_failed(&w) ? NULL : body_with_tangents(&w, op, active);
  const layout l = ricci_writer_failed(&w) ? (layout){0, 0, 0, 0} : layout_of(op, active);
  ricci_program* const body = ricci_writer_failed(&w) ? NULL : in_order(&w, l, both);
  ricci_val *const in = values(&w, total(l)), *const out = values(&w, l.carry + l.d_carry);
  uint32_t next = op->n_in;
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(&w); ++i) {
    in[place_of(l, i)] = a->primals[i];
    if (!active[i]) continue;
    ricci_val tangent = a->tangents[i];
    if (tangent == RICCI_VAL_ZERO) ricci_writer_keep(&w, ricci_builder_zero(b, op->in_types[i], &tangent));
    in[place_of(l, next++)] = tangent;
  }
  if (!ricci_writer_failed(&w)) emit_repeat(&w, op, body, in, total(l), out, l.carry + l.d_carry);
  next = l.carry;
  for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(&w); ++i) {
    a->out_primals[i] = out[i];
    if (active[l.consts + i]) a->out_tangents[i] = out[next++];
  }
  ricci_program_release(both), ricci_program_release(body);
  free(active), free(in), free(out);
  return ricci_writer_finish(&w);
}

/* ---- batch ---- */
/* The body on batches: of the operands with batched[i] != 0, and of each result that then has one. Sets batched[i] as
 * body_with_tangents does. */
static ricci_program* body_on_batches(ricci_writer* w, const ricci_op* op, const ricci_batch_args* a,
                                      uint8_t* batched) {
  uint8_t* const carried = batched + op->n_in - op->n_out;
  uint8_t* const given = flags(w, op->n_out);
  ricci_batch_opts opts = ricci_batch_opts_default();
  opts.axis_name = a->axis_name;
  ricci_program* out = NULL;
  for (uint32_t grew = 1; grew != 0 && !ricci_writer_failed(w);) {
    ricci_program_release(out);
    out = NULL;
    for (uint32_t i = 0; i < op->n_out; ++i) given[i] = carried[i];
    ricci_writer_keep(w, ricci_batch(body_of(op), batched, op->n_in, a->axis_size, &opts, given, &out));
    grew = 0;
    for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(w); ++i) {
      grew |= given[i] && !carried[i];
      carried[i] |= given[i];
    }
  }
  free(given);
  return out;
}

static ricci_status* batch(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  uint8_t* const batched = flags(&w, op->n_in);
  ricci_val* const in = values(&w, op->n_in);
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(&w); ++i) batched[i] = a->in_dims[i] >= 0;
  ricci_program* const body = ricci_writer_failed(&w) ? NULL : body_on_batches(&w, op, a, batched);
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(&w); ++i) {
    in[i] = batched[i] ? batch_first(&w, a->in[i], op->in_types[i], a->in_dims[i], a->axis_size) : a->in[i];
  }
  if (!ricci_writer_failed(&w)) emit_repeat(&w, op, body, in, op->n_in, a->out, op->n_out);
  for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(&w); ++i) {
    a->out_dims[i] = batched[op->n_in - op->n_out + i] ? 0 : -1;
  }
  ricci_program_release(body);
  free(batched), free(in);
  return ricci_writer_finish(&w);
}

/* ---- partial evaluation ---- */
/* The operation as a program of its own, with the operands as parameters: a scan. */
static ricci_program* as_program(ricci_writer* w, const ricci_op* op) {
  ricci_val *const params = values(w, op->n_in), *const out = values(w, op->n_out);
  ricci_builder* own = NULL;
  ricci_program* f = NULL;
  if (!ricci_writer_failed(w)) {
    ricci_writer_keep(w, ricci_builder_create(op->ctx, "repeat", 6, op->in_types, op->n_in, &own, params));
  }
  if (!ricci_writer_failed(w)) {
    ricci_writer inner = ricci_writer_of_program(own, op);
    emit_scan(&inner, op, op->n_out, params, out);
    ricci_writer_keep(w, ricci_writer_finish(&inner));
  }
  if (!ricci_writer_failed(w)) ricci_writer_keep(w, ricci_builder_finish(own, out, op->n_out, &f));
  if (f == NULL) ricci_builder_abandon(own);
  free(params), free(out);
  return f;
}

/* Both halves put where they belong: `known` gives known results and residuals, `unknown` takes these. */
static void give_halves(ricci_writer* w, const ricci_op* op, const ricci_partial_eval_args* a, uint32_t n_residuals,
                        const ricci_program* known, const ricci_program* unknown) {
  const uint32_t n_known_in = count(a->is_known, op->n_in), n_known = count(a->out_is_known, op->n_out);
  ricci_val *const in = values(w, op->n_in), *const out = values(w, op->n_out + (size_t)n_residuals);
  ricci_val *const rest = values(w, op->n_in + (size_t)n_residuals), *const last = values(w, op->n_out);
  uint32_t next = 0, next_rest = n_residuals;
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(w); ++i) {
    if (a->is_known[i]) in[next++] = a->in[i];
    if (!a->is_known[i]) rest[next_rest++] = a->in[i];
  }
  if (!ricci_writer_failed(w)) {
    ricci_writer_keep(w, ricci_builder_inline(a->known, known, in, n_known_in, out, n_known + n_residuals));
  }
  for (uint32_t i = 0; i < n_residuals && !ricci_writer_failed(w); ++i) {
    ricci_writer_keep(w, a->residual(a->split, out[n_known + i], &rest[i]));
  }
  if (!ricci_writer_failed(w)) {
    ricci_writer_keep(w, ricci_builder_inline(a->unknown, unknown, rest, next_rest, last, op->n_out - n_known));
  }
  uint32_t next_known = 0, next_unknown = 0;
  for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(w); ++i) {
    a->out[i] = a->out_is_known[i] ? out[next_known++] : last[next_unknown++];
  }
  free(in), free(out), free(rest), free(last);
}

static ricci_status* partial_eval(void* self, const ricci_op* op, const ricci_partial_eval_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(a->known, op);
  ricci_program *known = NULL, *unknown = NULL, *const f = as_program(&w, op);
  ricci_partial_eval_opts opts = ricci_partial_eval_opts_default();
  opts.policy = a->policy;
  uint32_t n_residuals = 0;
  if (!ricci_writer_failed(&w)) {
    ricci_writer_keep(
        &w, ricci_partial_eval(f, a->is_known, op->n_in, &opts, a->out_is_known, &n_residuals, &known, &unknown));
  }
  if (!ricci_writer_failed(&w)) give_halves(&w, op, a, n_residuals, known, unknown);
  ricci_program_release(f), ricci_program_release(known), ricci_program_release(unknown);
  return ricci_writer_finish(&w);
}

/* ---- lowering ---- */
static ricci_status* decompose(void* self, ricci_builder* b, const ricci_op* op, const ricci_val* in, ricci_val* out) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  emit_scan(&w, op, op->n_out, in, out);
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
  row.jvp = jvp;
  row.batch = batch;
  row.partial_eval = partial_eval;
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
