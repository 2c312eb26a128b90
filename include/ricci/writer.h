/* ricci/writer.h: rules and kernels written as expressions: the first error is kept, and nothing is done after it.
 *
 * Functions that emit return a status (kernel.h, build.h), so in C each call would need a test of its own. A writer
 * makes one test of them: its functions return values; after the first error they do nothing and return 0
 * (RICCI_VAL_NONE), and ricci_writer_finish returns that error. A rule then looks like this:
 *
 *   ricci_writer w = ricci_writer_of_kernel(k);
 *   ricci_sval square = ricci_write_binary(&w, RICCI_S_MUL, in[0], in[0]);
 *   ricci_sval one = ricci_write_like(&w, in[0], 1);
 *   *out = ricci_write_unary(&w, RICCI_S_SQRT, ricci_write_binary(&w, RICCI_S_ADD, square, one));
 *   return ricci_writer_finish(&w);
 *
 * Inline functions for C and C++. A writer is a value on the stack of one rule, for one thread; it owns the kept error
 * alone, so every writer ends with ricci_writer_finish. A function that has no counterpart here is called directly, if
 * ricci_writer_failed is 0, and its status passed to ricci_writer_keep. Plugins that are shared objects use it too:
 * api_table.h is included first.
 */
#ifndef RICCI_WRITER_H_
#define RICCI_WRITER_H_
#include "ricci/api_table.h"
#include "ricci/attr.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct ricci_writer {
  ricci_kernel_builder* kernel; /* NULL where a program is written */
  ricci_builder* program;       /* NULL where a kernel is written */
  const ricci_op* op;           /* the operation of the rule; may be NULL */
  ricci_status* status;         /* the first error */
} ricci_writer;

/* For the callbacks `scalar`, `index` and `loops` of a lowering. */
static inline ricci_writer ricci_writer_of_kernel(ricci_kernel_builder* k) {
  ricci_writer w;
  w.kernel = k;
  w.program = NULL;
  w.op = NULL;
  w.status = NULL;
  return w;
}
/* For rules and for hosts that build a program; `op` names the primitive in messages of ricci_write_require. */
static inline ricci_writer ricci_writer_of_program(ricci_builder* b, const ricci_op* op) {
  ricci_writer w;
  w.kernel = NULL;
  w.program = b;
  w.op = op;
  w.status = NULL;
  return w;
}
static inline uint32_t ricci_writer_failed(const ricci_writer* w) { return w->status != NULL; }
/* Takes `s`: kept if it is the first error. */
static inline void ricci_writer_keep(ricci_writer* w, ricci_status* s) {
  if (w->status == NULL) {
    w->status = s;
  } else {
    ricci_status_free(s);
  }
}
/* The first error, owned by the caller, or NULL. The writer is as new. */
static inline RICCI_NODISCARD ricci_status* ricci_writer_finish(ricci_writer* w) {
  ricci_status* s = w->status;
  w->status = NULL;
  return s;
}

/* ---- errors of the rule ---- */
/* INVALID_ARGUMENT `primitive: why` unless `holds`; cut to 240 bytes. */
static inline void ricci_write_require(ricci_writer* w, uint32_t holds, const char* why) {
  char text[240];
  size_t n = 0, i;
  ricci_str name = ricci_str_of("");
  if (holds != 0 || ricci_writer_failed(w)) return;
  if (w->op != NULL) ricci_prim_name(w->op->ctx, w->op->prim, &name);
  for (i = 0; i < name.len && n < sizeof text; ++i) text[n++] = name.ptr[i];
  for (i = 0; i < 2 && name.len != 0 && n < sizeof text; ++i) text[n++] = ": "[i];
  for (i = 0; why[i] != '\0' && n < sizeof text; ++i) text[n++] = why[i];
  w->status = ricci_status_make(RICCI_INVALID_ARGUMENT, text, n);
}
/* The dtype of operand `i` of the operation, 0 if there is no such operand. */
static inline uint32_t ricci_write_operand_dtype(ricci_writer* w, uint32_t i) {
  ricci_type_desc d = ricci_type_desc_default();
  if (ricci_writer_failed(w) || w->op == NULL || i >= w->op->n_in) return 0;
  w->status = ricci_type_get(w->op->ctx, w->op->in_types[i], &d);
  return d.dtype;
}

/* ---- programs: rules of a row, and hosts ---- */
/* The bytes of `v` as an element; returns how many, 0 for dtypes other than bool, integers, f32 and f64. For integers
 * `v` is rounded towards zero and clamped to the range of the type. */
static inline uint32_t ricci_element_of(uint32_t dtype, double v, unsigned char bytes[8]) {
  const uint32_t size = ricci_dtype_size(dtype);
  const double two64 = 18446744073709551616.0;
  const unsigned char* from = NULL;
  const float narrow = (float)v;
  const unsigned char truth = v != 0;
  uint64_t word = 0;
  uint32_t i;
  if (dtype == RICCI_BOOL) from = &truth;
  if (dtype == RICCI_F32) from = (const unsigned char*)&narrow;
  if (dtype == RICCI_F64) from = (const unsigned char*)&v;
  if (dtype >= RICCI_I8 && dtype <= RICCI_I64) {
    const double top = two64 / 2 / (double)((uint64_t)1 << (64 - 8 * size));
    const int64_t most = (int64_t)(((uint64_t)1 << (8 * size - 1)) - 1);
    word = (uint64_t)(!(v == v) ? 0 : v >= top ? most : v < -top ? -most - 1 : (int64_t)v);
    from = (const unsigned char*)&word;
  }
  if (dtype >= RICCI_U8 && dtype <= RICCI_U64) {
    const double top = two64 / (double)((uint64_t)1 << (64 - 8 * size));
    word = !(v > 0) ? 0 : v >= top ? ~(uint64_t)0 : (uint64_t)v;
    from = (const unsigned char*)&word;
  }
  for (i = 0; from != NULL && i < size; ++i) bytes[i] = from[i];
  return from == NULL ? 0 : size;
}

/* prim(in) with `n_out` results, which are NONE after an error. */
static inline void ricci_write_emit(ricci_writer* w, const char* prim, const ricci_attr* attrs, uint32_t n_attrs,
                                    const ricci_val* in, uint32_t n_in, ricci_val* out, uint32_t n_out) {
  const ricci_str name = ricci_str_of(prim);
  ricci_prim id = 0;
  uint32_t i;
  for (i = 0; i < n_out; ++i) out[i] = RICCI_VAL_NONE;
  if (!ricci_writer_failed(w)) {
    w->status = ricci_prim_find(ricci_builder_context(w->program), name.ptr, name.len, &id);
  }
  if (!ricci_writer_failed(w)) {
    w->status = ricci_builder_emit(w->program, id, attrs, n_attrs, in, n_in, out, n_out);
  }
}
/* With one result and without attributes. */
static inline ricci_val ricci_write_emit1(ricci_writer* w, const char* prim, ricci_val x) {
  ricci_val out;
  ricci_write_emit(w, prim, NULL, 0, &x, 1, &out, 1);
  return out;
}
static inline ricci_val ricci_write_emit2(ricci_writer* w, const char* prim, ricci_val x, ricci_val y) {
  ricci_val out, in[2];
  in[0] = x;
  in[1] = y;
  ricci_write_emit(w, prim, NULL, 0, in, 2, &out, 1);
  return out;
}
/* The operation of the rule again, on operands `in`; out[n_out of the operation]. */
static inline void ricci_write_same(ricci_writer* w, const ricci_val* in, ricci_val* out) {
  if (ricci_writer_failed(w)) return;
  w->status =
      ricci_builder_emit(w->program, w->op->prim, w->op->attrs, w->op->n_attrs, in, w->op->n_in, out, w->op->n_out);
}
/* A constant of type `t`, every element `v`. Narrow floats are converted by convert_element_type. */
static inline ricci_val ricci_write_full(ricci_writer* w, ricci_type t, double v) {
  unsigned char bytes[8];
  ricci_type_desc of_t = ricci_type_desc_default(), of_wide;
  uint32_t size;
  ricci_val out = RICCI_VAL_NONE, wide = RICCI_VAL_NONE;
  ricci_type wide_type = 0;
  if (ricci_writer_failed(w)) return out;
  w->status = ricci_type_get(ricci_builder_context(w->program), t, &of_t);
  if (ricci_writer_failed(w)) return out;
  size = ricci_element_of(of_t.dtype, v, bytes);
  if (size != 0) {
    w->status = ricci_builder_const(w->program, t, bytes, size, &out);
    return out;
  }
  of_wide = ricci_type_desc_of(RICCI_F64, of_t.rank, of_t.dims);
  w->status = ricci_type_make(ricci_builder_context(w->program), &of_wide, &wide_type);
  if (!ricci_writer_failed(w)) w->status = ricci_builder_const(w->program, wide_type, &v, sizeof v, &wide);
  {
    const ricci_attr to = ricci_attr_dtype("new_dtype", of_t.dtype);
    ricci_write_emit(w, "convert_element_type", &to, 1, &wide, 1, &out, 1);
  }
  return out;
}
/* The results' types, in abstract_eval. */
static inline void ricci_write_out_types(ricci_writer* w, const ricci_type* t, uint32_t n) {
  if (!ricci_writer_failed(w)) w->status = ricci_builder_set_out_types(w->program, t, n);
}

/* ---- kernels: scalars ---- */
static inline ricci_sval ricci_write_scalar(ricci_writer* w, uint32_t op, uint32_t dtype, const ricci_sval* in,
                                            uint32_t n) {
  ricci_sval out = 0;
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_scalar(w->kernel, op, dtype, in, n, &out);
  return out;
}
/* `op`: RICCI_S_SQRT, ... */
static inline ricci_sval ricci_write_unary(ricci_writer* w, uint32_t op, ricci_sval x) {
  return ricci_write_scalar(w, op, 0, &x, 1);
}
/* `op`: RICCI_S_ADD, ... */
static inline ricci_sval ricci_write_binary(ricci_writer* w, uint32_t op, ricci_sval x, ricci_sval y) {
  ricci_sval in[2];
  in[0] = x;
  in[1] = y;
  return ricci_write_scalar(w, op, 0, in, 2);
}
static inline ricci_sval ricci_write_select(ricci_writer* w, ricci_sval pred, ricci_sval on_true, ricci_sval on_false) {
  ricci_sval in[3];
  in[0] = pred;
  in[1] = on_true;
  in[2] = on_false;
  return ricci_write_scalar(w, RICCI_S_SELECT, 0, in, 3);
}
static inline ricci_sval ricci_write_convert(ricci_writer* w, uint32_t dtype, ricci_sval x) {
  return ricci_write_scalar(w, RICCI_S_CONVERT, dtype, &x, 1);
}
/* A constant. */
static inline ricci_sval ricci_write_number(ricci_writer* w, uint32_t dtype, double v) {
  unsigned char bytes[8];
  ricci_sval out = 0;
  if (ricci_writer_failed(w)) return 0;
  if (ricci_element_of(dtype, v, bytes) != 0) {
    w->status = ricci_kernel_const(w->kernel, dtype, bytes, &out);
    return out;
  }
  w->status = ricci_kernel_const(w->kernel, RICCI_F64, &v, &out);
  return ricci_write_convert(w, dtype, out);
}
/* A constant of the dtype of `x`. */
static inline ricci_sval ricci_write_like(ricci_writer* w, ricci_sval x, double v) {
  return ricci_writer_failed(w) ? 0 : ricci_write_number(w, ricci_kernel_dtype(w->kernel, x), v);
}
static inline ricci_sval ricci_write_index(ricci_writer* w, int64_t v) {
  ricci_sval out = 0;
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_const_index(w->kernel, v, &out);
  return out;
}

/* ---- kernels: arrays ---- */
static inline ricci_sval ricci_write_load(ricci_writer* w, ricci_karr a, const ricci_sval* index, uint32_t n) {
  ricci_sval out = 0;
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_load(w->kernel, a, index, n, &out);
  return out;
}
static inline void ricci_write_store(ricci_writer* w, ricci_karr a, const ricci_sval* index, uint32_t n, ricci_sval v) {
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_store(w->kernel, a, index, n, v);
}
static inline void ricci_write_combine(ricci_writer* w, ricci_karr a, const ricci_sval* index, uint32_t n,
                                       uint32_t combiner, ricci_sval v) {
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_combine(w->kernel, a, index, n, combiner, v);
}
static inline ricci_karr ricci_write_private(ricci_writer* w, ricci_type t) {
  ricci_karr out = 0;
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_private(w->kernel, t, &out);
  return out;
}
static inline ricci_karr ricci_write_view(ricci_writer* w, ricci_karr a, uint32_t axis, ricci_sval index) {
  ricci_karr out = 0;
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_view(w->kernel, a, axis, index, &out);
  return out;
}
static inline void ricci_write_copy(ricci_writer* w, ricci_karr dst, ricci_karr src) {
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_copy(w->kernel, dst, src);
}

/* ---- kernels: loops and branches, each closed by ricci_write_end (a reduction by ricci_write_yield) ---- */
/* index[n], all 0 after an error. */
static inline void ricci_write_parallel(ricci_writer* w, const int64_t* extents, uint32_t n, ricci_sval* index) {
  uint32_t i;
  for (i = 0; i < n; ++i) index[i] = 0;
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_parallel(w->kernel, extents, n, index);
}
static inline ricci_sval ricci_write_for(ricci_writer* w, ricci_sval lo, ricci_sval hi) {
  ricci_sval index = 0;
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_for(w->kernel, lo, hi, &index);
  return index;
}
static inline void ricci_write_while(ricci_writer* w) {
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_while(w->kernel);
}
static inline void ricci_write_cond(ricci_writer* w, ricci_sval pred) {
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_cond(w->kernel, pred);
}
static inline void ricci_write_if(ricci_writer* w, ricci_sval pred) {
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_if(w->kernel, pred);
}
static inline void ricci_write_else(ricci_writer* w) {
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_else(w->kernel);
}
static inline void ricci_write_end(ricci_writer* w) {
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_end(w->kernel);
}
/* `combiner`: RICCI_S_ADD, ... */
static inline ricci_sval ricci_write_reduce(ricci_writer* w, uint32_t combiner, ricci_sval lo, ricci_sval hi) {
  ricci_sval index = 0;
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_reduce(w->kernel, combiner, lo, hi, &index);
  return index;
}
static inline ricci_sval ricci_write_yield(ricci_writer* w, ricci_sval v) {
  ricci_sval out = 0;
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_yield(w->kernel, v, &out);
  return out;
}
/* `n` states; `left`, `right`, `prefix`: room for n. */
static inline void ricci_write_scan(ricci_writer* w, ricci_sval lo, ricci_sval hi, const ricci_sval* identity,
                                    uint32_t n, ricci_sval* left, ricci_sval* right) {
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_scan(w->kernel, lo, hi, identity, n, left, right);
}
static inline ricci_sval ricci_write_combiner(ricci_writer* w, const ricci_sval* result, uint32_t n) {
  ricci_sval index = 0;
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_combiner(w->kernel, result, n, &index);
  return index;
}
static inline void ricci_write_prefix(ricci_writer* w, const ricci_sval* element, uint32_t n, ricci_sval* prefix) {
  if (!ricci_writer_failed(w)) w->status = ricci_kernel_prefix(w->kernel, element, n, prefix);
}
/* `msg` up to its NUL. */
static inline void ricci_write_check(ricci_writer* w, ricci_sval pred, uint32_t code, const char* msg) {
  if (!ricci_writer_failed(w)) {
    w->status = ricci_kernel_check(w->kernel, pred, code, msg, ricci_str_of(msg).len);
  }
}

#ifdef __cplusplus
}
#endif
#endif
