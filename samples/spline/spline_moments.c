/* spline.moments(v): the second derivatives at the knots of the periodic cubic spline through v, in units of the
 * distance between knots.
 *
 * With m before and after the ends continued periodically, m[i-1] + 4 m[i] + m[i+1] = 6 (v[i-1] - 2 v[i] + v[i+1]) (de
 * Boor, "A Practical Guide to Splines", 1978, ch. 4). On a uniform grid this cyclic tridiagonal matrix is a product of
 * two cyclic bidiagonal ones, -1/z (1 - z P)(1 - z P^-1), where P shifts by one knot and z = sqrt(3) - 2 (Unser,
 * "Splines: A Perfect Fit", 1999): two recursions of n steps, whose first element is a sum over the period. Because |z|
 * < 0.27 they are stable for every n, and nothing is divided.
 *
 * Both matrices are symmetric and circulant, so they commute, and the operation is linear and its own transpose.
 */
#include "spline.h"

static ricci_status* abstract_eval(void* self, ricci_builder* b, const ricci_op* op) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  const ricci_type_desc v = spline_operand(&w, 0);
  spline_want_floats(&w, 1);
  spline_want(&w, v.rank >= 1 && v.dims[v.rank - 1] >= 1, 0, 0, "its last dimension must be knots, at least 1");
  ricci_write_out_types(&w, op->in_types, 1);
  return ricci_writer_finish(&w);
}

static ricci_status* transpose(void* self, ricci_builder* b, const ricci_op* op, const ricci_transpose_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  ricci_write_same(&w, a->cts, a->in_cts);
  return ricci_writer_finish(&w);
}

/* A batch may be anywhere but last. */
static ricci_status* batch(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  const uint32_t last = spline_operand(&w, 0).rank;
  const uint32_t moves = (uint32_t)a->in_dims[0] == last;
  const ricci_val v = moves ? batch_first(&w, a->in[0], op->in_types[0], a->in_dims[0], a->axis_size) : a->in[0];
  ricci_write_same(&w, &v, a->out);
  a->out_dims[0] = moves ? 0 : a->in_dims[0];
  return ricci_writer_finish(&w);
}

static ricci_status* factors(void* self, const ricci_op* op, void* sink,
                             void (*write)(void* sink, const char* p, size_t n)) {
  (void)self;
  spline_write_factors(op, 3, 0, sink, write);
  return NULL;
}

/* ---- lowering: one period, kept in the result from the first recursion on ---- */
static const double kZ = -0.26794919243112270647; /* sqrt(3) - 2 */

typedef struct period {
  ricci_writer* w;
  ricci_karr v, m, carry; /* knots; the result; an element between iterations */
  uint32_t dtype;
  int64_t n;
} period;

static ricci_sval plus(const period* p, ricci_sval a, ricci_sval b) {
  return ricci_write_binary(p->w, RICCI_S_ADD, a, b);
}
static ricci_sval times(const period* p, double factor, ricci_sval a) {
  return ricci_write_binary(p->w, RICCI_S_MUL, ricci_write_number(p->w, p->dtype, factor), a);
}
/* `i` + `by` modulo n, where by >= 0 and the sum is not negative. */
static ricci_sval shifted(const period* p, ricci_sval i, int64_t by) {
  const ricci_sval sum = plus(p, i, ricci_write_index(p->w, by));
  return ricci_write_binary(p->w, RICCI_S_REM, sum, ricci_write_index(p->w, p->n));
}
/* 6 times the second difference at knot i. */
static ricci_sval second_difference(const period* p, ricci_sval i) {
  const ricci_sval before = shifted(p, i, p->n - 1), after = shifted(p, i, 1);
  const ricci_sval sides = plus(p, ricci_write_load(p->w, p->v, &before, 1), ricci_write_load(p->w, p->v, &after, 1));
  return times(p, 6, plus(p, sides, times(p, -2, ricci_write_load(p->w, p->v, &i, 1))));
}
/* carry = z carry + x, and its new value. */
static ricci_sval step(const period* p, ricci_sval x) {
  const ricci_sval next = plus(p, x, times(p, kZ, ricci_write_load(p->w, p->carry, NULL, 0)));
  ricci_write_store(p->w, p->carry, NULL, 0, next);
  return next;
}
/* The carry at the beginning of a recursion: the elements of a whole period, divided by 1 - z^n. */
static void close_period(const period* p) {
  double power = 1;
  for (int64_t i = 0; i < p->n && power != 0; ++i) power *= kZ;
  ricci_write_store(p->w, p->carry, NULL, 0, times(p, 1 / (1 - power), ricci_write_load(p->w, p->carry, NULL, 0)));
}
static ricci_sval all_knots(const period* p) {
  return ricci_write_for(p->w, ricci_write_index(p->w, 0), ricci_write_index(p->w, p->n));
}
/* Knot i counted from the end. */
static ricci_sval from_end(const period* p, ricci_sval i) {
  return ricci_write_binary(p->w, RICCI_S_SUB, ricci_write_index(p->w, p->n - 1), i);
}

/* c[i] = d[i] + z c[i-1], with c in the result. */
static void run_forward(const period* p) {
  ricci_write_store(p->w, p->carry, NULL, 0, ricci_write_number(p->w, p->dtype, 0));
  ricci_sval i = all_knots(p); /* ends at the last knot, which comes before knot 0 */
  step(p, second_difference(p, i));
  ricci_write_end(p->w);
  close_period(p);
  i = all_knots(p);
  ricci_write_store(p->w, p->m, &i, 1, step(p, second_difference(p, i)));
  ricci_write_end(p->w);
}
/* e[i] = c[i] + z e[i+1], and m = -z e. */
static void run_backward(const period* p) {
  ricci_write_store(p->w, p->carry, NULL, 0, ricci_write_number(p->w, p->dtype, 0));
  ricci_sval i = all_knots(p);
  ricci_sval at = from_end(p, i);
  step(p, ricci_write_load(p->w, p->m, &at, 1));
  ricci_write_end(p->w);
  close_period(p);
  i = all_knots(p);
  at = from_end(p, i);
  ricci_write_store(p->w, p->m, &at, 1, times(p, -kZ, step(p, ricci_write_load(p->w, p->m, &at, 1))));
  ricci_write_end(p->w);
}

static ricci_status* loops(void* self, ricci_kernel_builder* k, const ricci_op* op) {
  (void)self;
  ricci_writer w = ricci_writer_of_kernel(k);
  w.op = op;
  const ricci_type_desc v = spline_operand(&w, 0);
  const ricci_type_desc scalar = ricci_type_desc_of(v.dtype, 0, NULL);
  ricci_type scalar_type = 0;
  if (!ricci_writer_failed(&w)) ricci_writer_keep(&w, ricci_type_make(op->ctx, &scalar, &scalar_type));
  if (ricci_writer_failed(&w) || spline_is_empty(v)) return ricci_writer_finish(&w);
  period p = {&w, ricci_kernel_operand(k, 0), ricci_kernel_result(k, 0), 0, v.dtype, v.dims[v.rank - 1]};
  ricci_sval line[RICCI_MAX_RANK];
  const uint32_t lines = v.rank - 1;
  if (lines != 0) ricci_write_parallel(&w, v.dims, lines, line);
  for (uint32_t i = 0; i < lines; ++i) {
    p.v = ricci_write_view(&w, p.v, 0, line[i]);
    p.m = ricci_write_view(&w, p.m, 0, line[i]);
  }
  p.carry = ricci_write_private(&w, scalar_type);
  run_forward(&p);
  run_backward(&p);
  if (lines != 0) ricci_write_end(&w);
  return ricci_writer_finish(&w);
}

ricci_status* spline_register_moments(ricci_ctx* ctx) {
  ricci_lowering lowering = ricci_lowering_of(RICCI_LOWER_LOOPS);
  lowering.loops = loops;
  const ricci_lowering* const lowerings[] = {&lowering};
  ricci_prim_def row = ricci_prim_def_of("spline.moments");
  row.hdr.flags = RICCI_PRIM_LINEAR;
  row.abstract_eval = abstract_eval;
  row.transpose = transpose;
  row.batch = batch;
  row.factors_of = factors;
  row.lowerings = lowerings;
  row.n_lowerings = 1;
  row.doc = ricci_str_of(
      "m = spline.moments(v): the second derivatives at the knots of the periodic cubic spline through "
      "v, along the last dimension, for knots at distance 1");
  row.examples =
      ricci_str_of("(f64[5]); (f64[2,3]); (f64[1]); (f64[2]); (f64[0,4]); (f64[2,2,40]); (f32[7]); (f32[3,4])");
  return ricci_prim_register(ctx, &row, NULL);
}
