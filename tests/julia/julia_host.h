/* julia_host: what the Julia package does with the library, call for call, as functions of C.
 *
 * Each function here has the name and the order of calls of one in bindings/julia/src. Mistakes end the process: the
 * scenarios that want one call the library themselves.
 */
#ifndef RICCI_TESTS_JULIA_HOST_H_
#define RICCI_TESTS_JULIA_HOST_H_
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ricci/attr.h"
#include "ricci/ricci.h"

#define MOST 16 /* parameters, results or dimensions of a program here */

typedef struct julia_type { /* ArrayType: dimensions in Julia's order */
  uint32_t dtype, rank;
  int64_t dims[4];
} julia_type;
typedef struct julia_builder { /* Builder */
  ricci_builder* raw;
  ricci_ctx* context;
  ricci_val params[MOST];
} julia_builder;
typedef struct julia_code { /* Compiled */
  ricci_executable* raw;
  ricci_call* call;
} julia_code;

#define FAIL(...) (fprintf(stderr, "%s:%d: ", __FILE__, __LINE__), fprintf(stderr, __VA_ARGS__), exit(1))
#define EXPECT(is, ...)           \
  do {                            \
    if (!(is)) FAIL(__VA_ARGS__); \
  } while (0)

/* failures.jl: check */
static inline void check(ricci_status* status) {
  if (status == NULL) return;
  ricci_str message, operation, rule, file;
  uint32_t line = 0;
  ricci_status_message(status, &message);
  ricci_status_site(status, &operation, &rule, &file, &line);
  fprintf(stderr, "status %u: %.*s\n", ricci_status_code(status), (int)message.len, message.ptr);
  ricci_status_free(status);
  exit(1);
}

static inline julia_type type_f32(uint32_t rank, int64_t m, int64_t n) {
  const julia_type t = {RICCI_F32, rank, {m, n, 0, 0}};
  return t;
}
static inline julia_type flipped(julia_type t) {
  julia_type out = t;
  for (uint32_t i = 0; i < t.rank; ++i) out.dims[i] = t.dims[t.rank - 1 - i];
  return out;
}

/* contexts.jl: type_id, type_of */
static inline ricci_type type_id(ricci_ctx* c, julia_type t) {
  const ricci_type_desc desc = ricci_type_desc_of(t.dtype, t.rank, t.dims);
  ricci_type id = 0;
  check(ricci_type_make(c, &desc, &id));
  return id;
}
static inline julia_type type_of(const ricci_ctx* c, ricci_type id) {
  ricci_type_desc desc = ricci_type_desc_default();
  check(ricci_type_get(c, id, &desc));
  julia_type t = {desc.dtype, desc.rank, {0, 0, 0, 0}};
  for (uint32_t i = 0; i < desc.rank; ++i) t.dims[i] = desc.dims[i];
  return t;
}

/* tracing.jl: new_program, emit, inline, finish!, reversed */
static inline julia_builder new_program(ricci_ctx* c, julia_builder* outer, const char* name, const julia_type* types,
                                        uint32_t n) {
  julia_builder b = {NULL, c, {0}};
  ricci_type ids[MOST];
  for (uint32_t i = 0; i < n; ++i) ids[i] = type_id(c, types[i]);
  if (outer == NULL) {
    check(ricci_builder_create(c, name, strlen(name), ids, n, &b.raw, b.params));
  } else {
    check(ricci_builder_nest(outer->raw, name, strlen(name), ids, n, &b.raw, b.params));
  }
  return b;
}
static inline ricci_status* try_emit(julia_builder* b, const char* operation, const ricci_attr* attrs, uint32_t n_attrs,
                                     const ricci_val* in, uint32_t n_in, ricci_val* out, uint32_t n_out) {
  ricci_prim prim = 0;
  ricci_builder_set_location(b->raw, "runtests.jl", 7, NULL);
  check(ricci_prim_find(b->context, operation, strlen(operation), &prim));
  return ricci_builder_emit(b->raw, prim, attrs, n_attrs, in, n_in, out, n_out);
}
static inline ricci_val emit(julia_builder* b, const char* operation, const ricci_attr* attrs, uint32_t n_attrs,
                             const ricci_val* in, uint32_t n_in) {
  ricci_val out = 0;
  check(try_emit(b, operation, attrs, n_attrs, in, n_in, &out, 1));
  EXPECT(ricci_builder_type(b->raw, out) != 0, "%s gave a value without a type", operation);
  return out;
}
static inline ricci_val unary(julia_builder* b, const char* operation, ricci_val x) {
  return emit(b, operation, NULL, 0, &x, 1);
}
static inline ricci_val binary(julia_builder* b, const char* operation, ricci_val x, ricci_val y) {
  const ricci_val in[] = {x, y};
  return emit(b, operation, NULL, 0, in, 2);
}
static inline ricci_val transposed(julia_builder* b, ricci_val x, const int64_t* permutation, uint32_t rank) {
  const ricci_attr order = ricci_attr_ints("permutation", permutation, rank);
  return rank < 2 ? x : emit(b, "transpose", &order, 1, &x, 1);
}
static inline ricci_val reversed(julia_builder* b, ricci_val x) {
  const uint32_t rank = type_of(b->context, ricci_builder_type(b->raw, x)).rank;
  int64_t order[4];
  for (uint32_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  return transposed(b, x, order, rank);
}
static inline void inline_program(julia_builder* b, const ricci_program* f, const ricci_val* in, uint32_t n_in,
                                  ricci_val* out) {
  uint32_t n_out = 0;
  ricci_program_signature(f, NULL, NULL, &n_out, NULL);
  ricci_builder_set_location(b->raw, "runtests.jl", 7, NULL);
  check(ricci_builder_inline(b->raw, f, in, n_in, out, n_out));
}
static inline ricci_program* finish(julia_builder* b, const ricci_val* results, uint32_t n) {
  ricci_program* f = NULL;
  check(ricci_builder_finish(b->raw, results, n, &f));
  b->raw = NULL;
  return f;
}
static inline ricci_val splat(julia_builder* b, julia_type t, float x) {
  ricci_val out = 0;
  check(ricci_builder_const(b->raw, type_id(b->context, t), &x, sizeof x, &out));
  return out;
}

/* compiled.jl: by_columns, compile, run_bound! */
static inline ricci_program* by_columns(ricci_ctx* c, const ricci_program* f) {
  uint32_t n_params = 0, n_results = 0;
  const ricci_type *params = NULL, *results = NULL;
  ricci_program_signature(f, &n_params, &params, &n_results, &results);
  julia_type types[MOST];
  for (uint32_t i = 0; i < n_params; ++i) types[i] = flipped(type_of(c, params[i]));
  julia_builder b = new_program(c, NULL, "by_columns", types, n_params);
  ricci_val in[MOST], out[MOST];
  for (uint32_t i = 0; i < n_params; ++i) in[i] = reversed(&b, b.params[i]);
  inline_program(&b, f, in, n_params, out);
  for (uint32_t i = 0; i < n_results; ++i) out[i] = reversed(&b, out[i]);
  return finish(&b, out, n_results);
}
static inline julia_code compile(ricci_ctx* c, const ricci_program* f, ricci_device* device) {
  ricci_program* columns = by_columns(c, f);
  julia_code code = {NULL, NULL};
  ricci_compile_opts options;
  memset(&options, 0, sizeof options);
  options.hdr.size = sizeof options;
  ricci_device* const devices[] = {device};
  options.devices = devices;
  options.n_devices = 1;
  check(ricci_compile(columns, &options, &code.raw));
  check(ricci_call_create(code.raw, &code.call));
  ricci_program_release(columns);
  return code;
}
static inline void run_bound(julia_code code, void* const* pointers, size_t n) {
  check(ricci_call_run_at(code.call, pointers, n, -1));
}
static inline void drop(julia_code code) {
  ricci_call_release(code.call);
  ricci_executable_release(code.raw);
}
/* Compiles, runs on the pointers of arguments and results, and drops the code and `f`. */
static inline void run_once(ricci_ctx* c, ricci_program* f, ricci_device* device, void* const* pointers, size_t n) {
  const julia_code code = compile(c, f, device);
  run_bound(code, pointers, n);
  drop(code);
  ricci_program_release(f);
}

static inline void expect_near(const char* what, const float* got, const float* wanted, int n) {
  for (int i = 0; i < n; ++i) {
    EXPECT(fabsf(got[i] - wanted[i]) <= 1e-5f * (1 + fabsf(wanted[i])), "%s: element %d is %g, not %g\n", what, i,
           got[i], wanted[i]);
  }
}
#endif
