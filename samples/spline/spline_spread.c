/* spline.spread(a, c, x): a, with each c added to the knots before and after its point x, by the weights of
 * spline.blend: the transpose of that.
 *
 * Linear in a and c together, with spline.blend as its transpose. The loops write what changes into the memory of a
 * (RICCI_LOWERING_UPDATES); points that meet at a knot are combined in an order that depends on shapes alone.
 */
#include "spline.h"

static ricci_status* abstract_eval(void* self, ricci_builder* b, const ricci_op* op) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  spline_want_floats(&w, 3);
  spline_want(&w, op->in_types[1] == op->in_types[2], 1, 2, "they must have one type");
  spline_want_points(&w, 0, 2);
  ricci_write_out_types(&w, op->in_types, 1);
  return ricci_writer_finish(&w);
}

static ricci_status* jvp(void* self, ricci_builder* b, const ricci_op* op, const ricci_jvp_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  const ricci_val x = a->primals[2], dc = a->tangents[1], dx = a->tangents[2];
  ricci_val sum = a->tangents[0];
  ricci_write_same(&w, a->primals, a->out_primals);
  if (dc != RICCI_VAL_ZERO) {
    const ricci_val in[] = {spline_instantiate(&w, sum, op->in_types[0]), dc, x};
    ricci_write_same(&w, in, &sum);
  }
  if (dx != RICCI_VAL_ZERO && spline_order(op) < 3) {
    const ricci_val moved = ricci_write_emit2(&w, "mul", a->primals[1], dx);
    const ricci_val in[] = {spline_instantiate(&w, sum, op->in_types[0]), moved, x};
    sum = spline_emit(&w, "spline.spread", spline_order(op) + 1, spline_of_moments(op), in, 3);
  }
  a->out_tangents[0] = sum;
  return ricci_writer_finish(&w);
}

static ricci_status* transpose(void* self, ricci_builder* b, const ricci_op* op, const ricci_transpose_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  ricci_write_require(&w, !a->linear[2], "it is not linear in the points");
  if (a->linear[0]) a->in_cts[0] = a->cts[0];
  if (a->linear[1] && !a->linear[2]) {
    const ricci_val in[] = {a->cts[0], a->operands[2]};
    a->in_cts[1] = spline_emit(&w, "spline.blend", spline_order(op), spline_of_moments(op), in, 2);
  }
  return ricci_writer_finish(&w);
}

static ricci_status* batch(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  ricci_val in[3];
  for (uint32_t i = 0; i < 3; ++i) in[i] = batch_first(&w, a->in[i], op->in_types[i], a->in_dims[i], a->axis_size);
  ricci_write_same(&w, in, a->out);
  a->out_dims[0] = 0;
  return ricci_writer_finish(&w);
}

static ricci_status* factors(void* self, const ricci_op* op, void* sink,
                             void (*write)(void* sink, const char* p, size_t n)) {
  (void)self;
  spline_write_factors(op, 1 | 8, 1, sink, write);
  return NULL;
}

static ricci_status* loops(void* self, ricci_kernel_builder* k, const ricci_op* op) {
  (void)self;
  ricci_writer w = ricci_writer_of_kernel(k);
  w.op = op;
  const ricci_type_desc a = spline_operand(&w, 0), x = spline_operand(&w, 2);
  if (ricci_writer_failed(&w) || spline_is_empty(x)) return ricci_writer_finish(&w);
  ricci_sval point[RICCI_MAX_RANK], at[RICCI_MAX_RANK];
  if (x.rank != 0) ricci_write_parallel(&w, x.dims, x.rank, point);
  const ricci_sval c = ricci_write_load(&w, ricci_kernel_operand(k, 1), point, x.rank);
  const ricci_sval where = ricci_write_load(&w, ricci_kernel_operand(k, 2), point, x.rank);
  const spline_weights nearby = spline_weights_at(&w, op, where, a.dims[a.rank - 1]);
  for (uint32_t i = 0; i + 1 < a.rank; ++i) at[i] = point[i];
  for (uint32_t side = 0; side < 2; ++side) {
    at[a.rank - 1] = nearby.knot[side];
    const ricci_sval part = ricci_write_binary(&w, RICCI_S_MUL, nearby.weight[side], c);
    ricci_write_combine(&w, ricci_kernel_result(k, 0), at, a.rank, RICCI_S_ADD, part);
  }
  if (x.rank != 0) ricci_write_end(&w);
  return ricci_writer_finish(&w);
}

ricci_status* spline_register_spread(ricci_ctx* ctx) {
  ricci_lowering lowering = ricci_lowering_of(RICCI_LOWER_LOOPS);
  lowering.hdr.flags = RICCI_LOWERING_UPDATES;
  lowering.loops = loops;
  const ricci_lowering* const lowerings[] = {&lowering};
  ricci_prim_def row = ricci_prim_def_of("spline.spread");
  spline_declare_attrs(&row);
  row.abstract_eval = abstract_eval;
  row.jvp = jvp;
  row.transpose = transpose;
  row.batch = batch;
  row.factors_of = factors;
  row.lowerings = lowerings;
  row.n_lowerings = 1;
  row.doc = ricci_str_of(
      "b = spline.spread(a, c, x): a, with each c added to the knots before and after its point x, by "
      "the weights of spline.blend of the same `order` and `of_moments`");
  row.examples = ricci_str_of(
      "(f64[5], f64[3], f64[3] in 0.1..0.9); (f64[2,4], f64[2,3], f64[2,3] in 1.1..1.9) of_moments=true; "
      "(f64[3], f64[], f64[] in -0.9..-0.1) order=1; (f64[4], f64[2,3], f64[2,3] in 3.1..3.9) order=2 of_moments=true; "
      "(f64[4], f64[5], f64[5] in 0.1..0.9) order=3 of_moments=true; (f32[5], f32[7], f32[7] "
      "in -6..6)");
  return ricci_prim_register(ctx, &row, NULL);
}
