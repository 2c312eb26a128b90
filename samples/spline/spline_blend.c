/* spline.blend(a, x): between the knots before and after each point x, what the values a of both (or, `of_moments`,
 * their second derivatives) give there; `order`: the derivative of that by x of order 0 to 3.
 *
 * Knot i is at x = i, and again every a.shape[-1]. The first dimensions of a, all but the last, are also those of x:
 * each has points of its own. Linear in a, with spline.spread as its transpose; the derivative by x is the operation
 * itself of the next order. One element is one expression (INDEX), so it fuses into what reads it.
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

static ricci_status* jvp(void* self, ricci_builder* b, const ricci_op* op, const ricci_jvp_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  const ricci_val da = a->tangents[0], dx = a->tangents[1];
  ricci_val sum = RICCI_VAL_ZERO;
  ricci_write_same(&w, a->primals, a->out_primals);
  if (da != RICCI_VAL_ZERO) {
    const ricci_val in[] = {da, a->primals[1]};
    ricci_write_same(&w, in, &sum);
  }
  if (dx != RICCI_VAL_ZERO && spline_order(op) < 3) {
    const ricci_val slope = spline_emit(&w, "spline.blend", spline_order(op) + 1, spline_of_moments(op), a->primals, 2);
    const ricci_val part = ricci_write_emit2(&w, "mul", slope, dx);
    sum = sum == RICCI_VAL_ZERO ? part : ricci_write_emit2(&w, "add", sum, part);
  }
  a->out_tangents[0] = sum;
  return ricci_writer_finish(&w);
}

static ricci_status* transpose(void* self, ricci_builder* b, const ricci_op* op, const ricci_transpose_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  ricci_write_require(&w, !a->linear[1], "it is not linear in the points");
  const ricci_val nothing = spline_instantiate(&w, RICCI_VAL_ZERO, op->in_types[0]);
  const ricci_val in[] = {nothing, a->cts[0], a->operands[1]};
  a->in_cts[0] = spline_emit(&w, "spline.spread", spline_order(op), spline_of_moments(op), in, 3);
  return ricci_writer_finish(&w);
}

/* A batch of points of the same knots stays where it is, if it does not separate the shared dimensions. */
static ricci_status* batch(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  const int32_t shared = (int32_t)spline_operand(&w, 0).rank - 1;
  const uint32_t stays = a->in_dims[0] < 0 && a->in_dims[1] >= shared;
  ricci_val in[] = {a->in[0], a->in[1]};
  for (uint32_t i = 0; i < 2 && !stays; ++i)
    in[i] = batch_first(&w, in[i], op->in_types[i], a->in_dims[i], a->axis_size);
  ricci_write_same(&w, in, a->out);
  a->out_dims[0] = stays ? a->in_dims[1] : 0;
  return ricci_writer_finish(&w);
}

static ricci_status* factors(void* self, const ricci_op* op, void* sink,
                             void (*write)(void* sink, const char* p, size_t n)) {
  (void)self;
  spline_write_factors(op, 1, 0, sink, write);
  return NULL;
}

static ricci_status* element(void* self, ricci_kernel_builder* k, const ricci_op* op, uint32_t result,
                             const ricci_sval* index, ricci_sval* out) {
  (void)self;
  (void)result;
  ricci_writer w = ricci_writer_of_kernel(k);
  w.op = op;
  const ricci_type_desc a = spline_operand(&w, 0), x = spline_operand(&w, 1);
  if (ricci_writer_failed(&w)) return ricci_writer_finish(&w);
  if (spline_is_empty(x)) { /* there is no element to compute, nor perhaps one to load */
    *out = ricci_write_number(&w, x.dtype, 0);
    return ricci_writer_finish(&w);
  }
  const ricci_sval point = ricci_write_load(&w, ricci_kernel_operand(k, 1), index, x.rank);
  const spline_weights nearby = spline_weights_at(&w, op, point, a.dims[a.rank - 1]);
  ricci_sval at[RICCI_MAX_RANK], part[2];
  for (uint32_t i = 0; i + 1 < a.rank; ++i) at[i] = index[i];
  for (uint32_t side = 0; side < 2; ++side) {
    at[a.rank - 1] = nearby.knot[side];
    const ricci_sval value = ricci_write_load(&w, ricci_kernel_operand(k, 0), at, a.rank);
    part[side] = ricci_write_binary(&w, RICCI_S_MUL, nearby.weight[side], value);
  }
  *out = ricci_write_binary(&w, RICCI_S_ADD, part[0], part[1]);
  return ricci_writer_finish(&w);
}

ricci_status* spline_register_blend(ricci_ctx* ctx) {
  ricci_lowering lowering = ricci_lowering_of(RICCI_LOWER_INDEX);
  lowering.index = element;
  const ricci_lowering* const lowerings[] = {&lowering};
  ricci_prim_def row = ricci_prim_def_of("spline.blend");
  spline_declare_attrs(&row);
  row.abstract_eval = abstract_eval;
  row.jvp = jvp;
  row.transpose = transpose;
  row.batch = batch;
  row.factors_of = factors;
  row.lowerings = lowerings;
  row.n_lowerings = 1;
  row.doc = ricci_str_of(
      "y = spline.blend(a, x): at points x, what the values a at the knots before and after (second "
      "derivatives if `of_moments`) add to a cubic spline, or to its derivative of that `order`");
  row.examples = ricci_str_of(
      "(f64[5], f64[3] in 0.1..0.9); (f64[5], f64[2,3] in 1.1..1.9) of_moments=true; (f64[2,4], f64[2,3] in "
      "-0.9..-0.1); "
      "(f64[4], f64[] in 2.1..2.9) order=1; (f64[2,4], f64[2] in 3.1..3.9) order=1 of_moments=true; "
      "(f64[3], f64[4] in 7.1..7.9) order=2 of_moments=true; (f64[3], f64[4] in 0.1..0.9) order=3 of_moments=true; "
      "(f64[5], f64[0]); (f64[0,5], f64[0,2]); (f64[1], f64[2] in 0.1..0.9); (f32[5], f32[3] in -6..6); (f32[2,5], "
      "f32[2,2,3]) order=1 of_moments=true");
  return ricci_prim_register(ctx, &row, NULL);
}
