/* Rows and programs in C11, written with only ricci/writer.h. */
#include "api/writer_in_c.h"

#include "ricci/writer.h"

/* ---- test.count_above: by rows, how many elements are above a limit ---- */
static ricci_status* count_type(void* self, ricci_builder* b, const ricci_op* op) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  ricci_type_desc matrix = ricci_type_desc_default(), rows;
  ricci_type out = 0;
  ricci_write_require(&w, op->n_in == 2, "takes a matrix and a limit");
  ricci_write_require(&w, ricci_write_operand_dtype(&w, 1) == RICCI_F64, "the limit must be f64");
  if (!ricci_writer_failed(&w)) ricci_writer_keep(&w, ricci_type_get(op->ctx, op->in_types[0], &matrix));
  ricci_write_require(&w, matrix.rank == 2, "the operand must be a matrix");
  rows = ricci_type_desc_of(RICCI_I32, 1, matrix.dims);
  if (!ricci_writer_failed(&w)) ricci_writer_keep(&w, ricci_type_make(op->ctx, &rows, &out));
  ricci_write_out_types(&w, &out, 1);
  return ricci_writer_finish(&w);
}

/* Even rows by a reduction, odd ones by a loop over a private counter: every function of the writer is used. */
static ricci_status* count_loops(void* self, ricci_kernel_builder* k, const ricci_op* op) {
  (void)self;
  ricci_writer w = ricci_writer_of_kernel(k);
  const ricci_karr x = ricci_kernel_operand(k, 0), result = ricci_kernel_result(k, 0);
  const int64_t* dims;
  const int64_t one = 1;
  ricci_type_desc matrix = ricci_type_desc_default();
  const ricci_type_desc counter = ricci_type_desc_of(RICCI_I32, 1, &one);
  ricci_type counter_type = 0;
  ricci_writer_keep(&w, ricci_type_get(op->ctx, op->in_types[0], &matrix));
  if (!ricci_writer_failed(&w)) ricci_writer_keep(&w, ricci_type_make(op->ctx, &counter, &counter_type));
  dims = matrix.dims;
  if (ricci_writer_failed(&w)) return ricci_writer_finish(&w);
  ricci_sval row;
  ricci_write_parallel(&w, dims, 1, &row);
  const ricci_sval zero = ricci_write_index(&w, 0), n = ricci_write_index(&w, dims[1]);
  const ricci_sval limit = ricci_write_load(&w, ricci_kernel_operand(k, 1), NULL, 0);
  ricci_write_check(&w, ricci_write_binary(&w, RICCI_S_EQ, limit, limit), RICCI_OUT_OF_RANGE,
                    "the limit is not a number");
  const ricci_karr line = ricci_write_view(&w, x, 0, row);
  const ricci_sval odd = ricci_write_binary(&w, RICCI_S_REM, row, ricci_write_index(&w, 2));
  ricci_write_if(&w, ricci_write_binary(&w, RICCI_S_EQ, odd, zero));
  {
    const ricci_sval at = ricci_write_reduce(&w, RICCI_S_ADD, zero, n);
    const ricci_sval above = ricci_write_binary(&w, RICCI_S_GT, ricci_write_load(&w, line, &at, 1), limit);
    const ricci_sval yes = ricci_write_number(&w, RICCI_I32, 1);
    const ricci_sval count = ricci_write_yield(&w, ricci_write_select(&w, above, yes, ricci_write_like(&w, yes, 0)));
    ricci_write_store(&w, result, &row, 1, count);
  }
  ricci_write_else(&w);
  {
    const ricci_karr counter = ricci_write_private(&w, counter_type);
    ricci_write_store(&w, counter, &zero, 1, ricci_write_number(&w, RICCI_I32, 0));
    const ricci_sval at = ricci_write_for(&w, zero, n);
    const ricci_sval above = ricci_write_binary(&w, RICCI_S_GT, ricci_write_load(&w, line, &at, 1), limit);
    const ricci_sval sum = ricci_write_binary(&w, RICCI_S_ADD, ricci_write_load(&w, counter, &zero, 1),
                                              ricci_write_convert(&w, RICCI_I32, above));
    ricci_write_store(&w, counter, &zero, 1, sum);
    ricci_write_end(&w);
    ricci_write_store(&w, result, &row, 1, ricci_write_load(&w, counter, &zero, 1));
  }
  ricci_write_end(&w);
  ricci_write_end(&w);
  return ricci_writer_finish(&w);
}

/* ---- test.narrow, test.broken: elementwise ---- */
static ricci_status* same_type(void* self, ricci_builder* b, const ricci_op* op) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  ricci_write_require(&w, op->n_in == 1, "takes one operand");
  ricci_write_out_types(&w, op->in_types, 1);
  return ricci_writer_finish(&w);
}
static ricci_status* narrow(void* self, ricci_kernel_builder* k, const ricci_op* op, const ricci_sval* in,
                            ricci_sval* out) {
  (void)self, (void)op;
  ricci_writer w = ricci_writer_of_kernel(k);
  const ricci_sval half = ricci_write_binary(&w, RICCI_S_MUL, in[0], ricci_write_like(&w, in[0], 0.5));
  *out = ricci_write_binary(&w, RICCI_S_ADD, half, ricci_write_like(&w, in[0], 2));
  return ricci_writer_finish(&w);
}
/* The first error is that of the sum of an i32 and the operand; the second one and what follows are ignored. */
static ricci_status* broken(void* self, ricci_kernel_builder* k, const ricci_op* op, const ricci_sval* in,
                            ricci_sval* out) {
  (void)self, (void)op;
  ricci_writer w = ricci_writer_of_kernel(k);
  const ricci_sval sum = ricci_write_binary(&w, RICCI_S_ADD, ricci_write_number(&w, RICCI_I32, 1), in[0]);
  const ricci_sval next = ricci_write_load(&w, 77, NULL, 0);
  ricci_write_end(&w);
  ricci_writer_keep(&w, ricci_kernel_end(k));
  *out = ricci_write_binary(&w, RICCI_S_ADD, sum, next);
  return ricci_writer_finish(&w);
}

static ricci_status* add_row(ricci_ctx* ctx, const char* name, const ricci_lowering* lowering,
                             ricci_status* (*type)(void*, ricci_builder*, const ricci_op*)) {
  ricci_prim_def row = ricci_prim_def_of(name);
  ricci_prim id;
  row.abstract_eval = type;
  row.lowerings = &lowering;
  row.n_lowerings = 1;
  row.missing = ricci_str_of("jvp, transpose, batch: not of interest");
  return ricci_prim_register(ctx, &row, &id);
}
static ricci_status* attach(void* self, ricci_ctx* ctx) {
  (void)self;
  ricci_lowering loops = ricci_lowering_of(RICCI_LOWER_LOOPS), element = ricci_lowering_of(RICCI_LOWER_SCALAR);
  ricci_status* s;
  loops.loops = count_loops;
  if ((s = add_row(ctx, "test.count_above", &loops, count_type)) != NULL) return s;
  element.scalar = narrow;
  if ((s = add_row(ctx, "test.narrow", &element, same_type)) != NULL) return s;
  element.scalar = broken;
  return add_row(ctx, "test.broken", &element, same_type);
}
ricci_status* query_written_in_c(const ricci_host_info* host, const ricci_plugin** out) {
  static const ricci_plugin plugin = {.hdr = {.size = sizeof(ricci_plugin)},
                                      .abi_major = RICCI_ABI_MAJOR,
                                      .abi_minor = RICCI_ABI_MINOR,
                                      .name = {"written", 7},
                                      .version = {"1", 1},
                                      .attach = attach};
  (void)host;
  *out = &plugin;
  return NULL;
}

/* ---- attributes and programs ---- */
void attributes_in_c(ricci_attr out[9]) {
  static const int64_t ints[2] = {3, -4};
  static const double floats[3] = {0.5, 1.5, 2.5};
  static ricci_program* const programs[2] = {NULL, NULL};
  out[0] = ricci_attr_int("int", -7);
  out[1] = ricci_attr_float("float", 0.25);
  out[2] = ricci_attr_bool("bool", 5);
  out[3] = ricci_attr_dtype("dtype", RICCI_BF16);
  out[4] = ricci_attr_string("string", "clip");
  out[5] = ricci_attr_ints("ints", ints, 2);
  out[6] = ricci_attr_floats("floats", floats, 3);
  out[7] = ricci_attr_program("program", programs);
  out[8] = ricci_attr_programs("programs", programs, 2);
}

ricci_status* program_in_c(ricci_ctx* ctx, uint32_t with_error, ricci_program** out) {
  const int64_t dim = 3;
  const ricci_attr to = ricci_attr_dtype("new_dtype", RICCI_F16), back = ricci_attr_dtype("new_dtype", RICCI_F64);
  ricci_type from = 0, half = 0;
  ricci_builder* b = NULL;
  ricci_val x, narrowed, y;
  const ricci_type_desc wide = ricci_type_desc_of(RICCI_F64, 1, &dim), narrow = ricci_type_desc_of(RICCI_F16, 1, &dim);
  ricci_status* s = ricci_type_make(ctx, &wide, &from);
  if (s == NULL) s = ricci_type_make(ctx, &narrow, &half);
  if (s == NULL) s = ricci_builder_create(ctx, "written", 7, &from, 1, &b, &x);
  if (s != NULL) return s;
  ricci_writer w = ricci_writer_of_program(b, NULL);
  if (with_error != 0) x = ricci_write_emit1(&w, "no_such_primitive", x);
  ricci_write_emit(&w, "convert_element_type", &to, 1, &x, 1, &narrowed, 1);
  narrowed = ricci_write_emit2(&w, "add", ricci_write_full(&w, half, 1), narrowed);
  ricci_write_emit(&w, "convert_element_type", &back, 1, &narrowed, 1, &y, 1);
  if (!ricci_writer_failed(&w)) ricci_writer_keep(&w, ricci_builder_finish(b, &y, 1, out));
  s = ricci_writer_finish(&w);
  if (s != NULL) ricci_builder_abandon(b);
  return s;
}

void element_in_c(uint32_t dtype, double v, char text[17]) {
  unsigned char bytes[8];
  const uint32_t n = ricci_element_of(dtype, v, bytes);
  uint32_t i;
  for (i = 0; i < n; ++i) {
    text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
    text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
  }
  text[2 * n] = '\0';
}
