/* A plugin in C with a row that has one lowering: LLVM assembly made from the shape of the operand. */
#include <inttypes.h>
#include <stdio.h>

#include "cpu/source_rows.h"
#include "ricci/attr.h"
#include "ricci/primitive.h"
#include "ricci/writer.h"

/* Each sum goes through the workspace, so that it is seen there too. */
static const char kText[] =
    "define void @sum(ptr %%args, ptr %%workspace, i64 %%task) {\n"
    "start:\n"
    "  %%x = load ptr, ptr %%args\n"
    "  %%result = getelementptr ptr, ptr %%args, i64 1\n"
    "  %%y = load ptr, ptr %%result\n"
    "  %%first = mul i64 %%task, %" PRId64
    "\n"
    "  %%end = add i64 %%first, %" PRId64
    "\n"
    "  %%partial = getelementptr double, ptr %%workspace, i64 %%task\n"
    "  store double 0.0, ptr %%partial\n"
    "  br label %%head\n"
    "head:\n"
    "  %%i = phi i64 [ %%first, %%start ], [ %%next, %%body ]\n"
    "  %%more = icmp slt i64 %%i, %%end\n"
    "  br i1 %%more, label %%body, label %%done\n"
    "body:\n"
    "  %%from = getelementptr double, ptr %%x, i64 %%i\n"
    "  %%v = load double, ptr %%from\n"
    "  %%old = load double, ptr %%partial\n"
    "  %%new = fadd double %%old, %%v\n"
    "  store double %%new, ptr %%partial\n"
    "  %%next = add i64 %%i, 1\n"
    "  br label %%head\n"
    "done:\n"
    "  %%total = load double, ptr %%partial\n"
    "  %%to = getelementptr double, ptr %%y, i64 %%task\n"
    "  store double %%total, ptr %%to\n"
    "  ret void\n"
    "}\n";

static ricci_status* sum_type(void* self, ricci_builder* b, const ricci_op* op) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  ricci_type_desc d = ricci_type_desc_default();
  ricci_type out = 0;
  ricci_write_require(&w, op->n_in == 1 && ricci_write_operand_dtype(&w, 0) == RICCI_F64, "takes one f64 array");
  if (!ricci_writer_failed(&w)) ricci_writer_keep(&w, ricci_type_get(op->ctx, op->in_types[0], &d));
  ricci_write_require(&w, d.rank >= 1, "takes at least one dimension");
  d.rank -= 1;
  if (!ricci_writer_failed(&w)) ricci_writer_keep(&w, ricci_type_make(op->ctx, &d, &out));
  ricci_write_out_types(&w, &out, 1);
  return ricci_writer_finish(&w);
}

/* The batch comes first. */
static ricci_status* sum_batch(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  ricci_type_desc d = ricci_type_desc_default();
  int64_t order[RICCI_MAX_RANK];
  ricci_val x = a->in[0];
  uint32_t i;
  ricci_writer_keep(&w, ricci_type_get(op->ctx, ricci_builder_type(b, x), &d));
  order[0] = a->in_dims[0];
  for (i = 1; i < d.rank; ++i) order[i] = (int64_t)i - ((int64_t)i <= order[0]);
  {
    const ricci_attr permutation = ricci_attr_ints("permutation", order, d.rank);
    if (order[0] != 0) ricci_write_emit(&w, "transpose", &permutation, 1, &a->in[0], 1, &x, 1);
  }
  ricci_write_same(&w, &x, a->out);
  a->out_dims[0] = 0;
  return ricci_writer_finish(&w);
}

static ricci_status* sum_source(void* self, const ricci_op* op, const ricci_source_args* a) {
  (void)self;
  ricci_source s = ricci_source_default();
  ricci_type_desc d = ricci_type_desc_default();
  char text[sizeof kText + 64];
  ricci_status* failed = ricci_type_get(op->ctx, op->in_types[0], &d);
  uint32_t i;
  if (failed != NULL) return failed;
  const int64_t n = d.dims[d.rank - 1];
  for (i = 0; i + 1 < d.rank; ++i) s.grid[i % 3] *= d.dims[i];
  s.text.ptr = text;
  s.text.len = (size_t)snprintf(text, sizeof text, kText, n, n);
  s.entry = ricci_str_of("sum");
  s.workspace_bytes = (uint64_t)(s.grid[0] * s.grid[1] * s.grid[2]) * sizeof(double);
  return a->give(a->sink, &s);
}

static ricci_status* attach(void* self, ricci_ctx* ctx) {
  (void)self;
  ricci_prim_def row = ricci_prim_def_of("test.sum_last");
  ricci_lowering source = ricci_lowering_of(RICCI_LOWER_SOURCE);
  const ricci_lowering* lowerings = &source;
  source.target = ricci_str_of("cpu");
  source.source = sum_source;
  row.abstract_eval = sum_type;
  row.batch = sum_batch;
  row.lowerings = &lowerings;
  row.n_lowerings = 1;
  row.missing = ricci_str_of("jvp, transpose: not of interest");
  return ricci_prim_register(ctx, &row, NULL);
}

ricci_status* query_source_row_in_c(const ricci_host_info* host, const ricci_plugin** out) {
  static const ricci_plugin plugin = {.hdr = {.size = sizeof(ricci_plugin)},
                                      .abi_major = RICCI_ABI_MAJOR,
                                      .abi_minor = RICCI_ABI_MINOR,
                                      .name = {"source", 6},
                                      .version = {"1", 1},
                                      .attach = attach};
  (void)host;
  *out = &plugin;
  return NULL;
}
