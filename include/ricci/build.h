/* ricci/build.h: types, attributes, and programs built, printed, parsed and inspected.
 *
 * A builder appends equations one at a time; each is checked and typed at once (abstract_eval of its primitive). The
 * same functions serve hosts and the rules of primitives: a rule gets a builder. Values belong to their builder; using
 * one elsewhere is an error. Nested programs are closed: outer values are passed as operands.
 */
#ifndef RICCI_BUILD_H_
#define RICCI_BUILD_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

/* ---- types ---- */
typedef struct ricci_type_desc { /* what an array type is made of */
  ricci_hdr hdr;
  uint32_t dtype; /* RICCI_F32, ... */
  uint32_t rank;
  const int64_t* dims; /* [rank], NULL only if that is 0 */
} ricci_type_desc;
static inline ricci_type_desc ricci_type_desc_default(void) { /* without a dtype */
  ricci_type_desc d = {{sizeof(ricci_type_desc), 0, NULL}, 0, 0, NULL};
  return d;
}
static inline ricci_type_desc ricci_type_desc_of(uint32_t dtype, uint32_t rank, const int64_t* dims) {
  ricci_type_desc d = ricci_type_desc_default();
  d.dtype = dtype;
  d.rank = rank;
  d.dims = dims;
  return d;
}
/* Equal descriptions give the same id. `d` and its dims are copied. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_type_make(ricci_ctx* c, const ricci_type_desc* d,
                                                        ricci_type* out) RICCI_ANY_THREAD;
/* Fills `out`; out->hdr.size must be set. The dims are borrowed for the life of the context. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_type_get(const ricci_ctx* c, ricci_type t,
                                                       ricci_type_desc* out RICCI_BORROWED(c));

/* ---- attributes: plain data, copied on emit ---- */
enum {
  RICCI_ATTR_INT = 1,     /* i */
  RICCI_ATTR_FLOAT = 2,   /* f */
  RICCI_ATTR_BOOL = 3,    /* i: 0 or 1 */
  RICCI_ATTR_DTYPE = 4,   /* i: RICCI_F32, ... */
  RICCI_ATTR_STRING = 5,  /* data: char[count] */
  RICCI_ATTR_INTS = 6,    /* data: int64_t[count] */
  RICCI_ATTR_FLOATS = 7,  /* data: double[count] */
  RICCI_ATTR_PROGRAM = 8, /* data: ricci_program *const[1]; retained on emit */
  RICCI_ATTR_PROGRAMS = 9 /* data: ricci_program *const[count] */
};
typedef struct ricci_attr {
  ricci_str name;
  uint32_t kind;
  uint32_t count; /* elements that data points to, 1 for scalars */
  int64_t i;
  double f;
  const void* data;
} ricci_attr;

/* One equation, as rules and readers see it. */
typedef struct ricci_op {
  ricci_hdr hdr;
  ricci_ctx* ctx;
  ricci_prim prim;
  uint32_t n_in, n_out; /* n_out = 0 and out_types = NULL while abstract_eval is running */
  uint32_t n_attrs;
  const ricci_type* in_types;
  const ricci_type* out_types;
  const ricci_attr* attrs; /* in the order of the primitive's attr_specs; absent optional ones are left out */
  uint64_t location;       /* id for ricci_location_get; 0 = unknown */
} ricci_op;

RICCI_API RICCI_NODISCARD ricci_status* ricci_prim_find(const ricci_ctx* c, const char* name RICCI_LEN(len), size_t len,
                                                        ricci_prim* out);
/* Borrowed for the life of the context; empty for an unknown id. */
RICCI_API void ricci_prim_name(const ricci_ctx* c RICCI_NULLABLE, ricci_prim p,
                               ricci_str* out RICCI_NULLABLE RICCI_BORROWED(c));

/* ---- builder ---- */
/* New builder with `n` parameters; their values are written to vals[n]. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_builder_create(ricci_ctx* c, const char* name RICCI_LEN(name_len),
                                                             size_t name_len, const ricci_type* params RICCI_LEN(n),
                                                             uint32_t n, ricci_builder** out RICCI_OWNED,
                                                             ricci_val* vals RICCI_LEN(n)) RICCI_ANY_THREAD;
/* Adds one more parameter at the end. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_builder_param(ricci_builder* b, ricci_type t, ricci_val* out);
/* Source location of the equations that follow; texts are copied. file = NULL clears it. */
RICCI_API void ricci_builder_set_location(ricci_builder* b RICCI_NULLABLE, const char* file RICCI_NULLABLE RICCI_TEXT,
                                          uint32_t line, const char* func RICCI_NULLABLE RICCI_TEXT);
/* Appends one equation and writes the values of its results; `n_out` must be the number of results of the primitive. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_builder_emit(ricci_builder* b, ricci_prim p,
                                                           const ricci_attr* attrs RICCI_LEN(n_attrs), uint32_t n_attrs,
                                                           const ricci_val* in RICCI_LEN(n_in), uint32_t n_in,
                                                           ricci_val* out RICCI_LEN(n_out), uint32_t n_out);
/* How many results such an equation would have, and their types (up to `capacity` are written). Appends nothing. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_builder_infer(ricci_builder* b, ricci_prim p,
                                                            const ricci_attr* attrs RICCI_LEN(n_attrs),
                                                            uint32_t n_attrs, const ricci_val* in RICCI_LEN(n_in),
                                                            uint32_t n_in, ricci_type* out RICCI_LEN(capacity),
                                                            uint32_t capacity, uint32_t* n_out);
/* A constant: `data` holds all elements row-major, or one element for all (bytes = size of one element). */
RICCI_API RICCI_NODISCARD ricci_status* ricci_builder_const(ricci_builder* b, ricci_type t,
                                                            const void* data RICCI_LEN(bytes), size_t bytes,
                                                            ricci_val* out);
/* Zeros of type `t` (false for bool). */
RICCI_API RICCI_NODISCARD ricci_status* ricci_builder_zero(ricci_builder* b, ricci_type t, ricci_val* out);
/* Appends the equations of `f` in place, its parameters replaced by `in`. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_builder_inline(ricci_builder* b, const ricci_program* f,
                                                             const ricci_val* in RICCI_LEN(n_in), uint32_t n_in,
                                                             ricci_val* out RICCI_LEN(n_out), uint32_t n_out);
/* Type of a value; 0 for a value of another builder. */
RICCI_API ricci_type ricci_builder_type(const ricci_builder* b RICCI_NULLABLE, ricci_val v);
/* The constant that a value is, borrowed while the builder lives: *data = NULL if it is none. A splat has one element.
 */
RICCI_API void ricci_builder_constant(const ricci_builder* b RICCI_NULLABLE, ricci_val v,
                                      const void** data RICCI_NULLABLE RICCI_BORROWED(b) RICCI_LEN(bytes),
                                      uint64_t* bytes RICCI_NULLABLE);
/* The equation that defines a value: its primitive, attributes (borrowed while the builder lives), number of operands,
 * and which of its results the value is; every out pointer may be NULL. Returns 0, and writes nothing, for parameters,
 * constants and values of other builders. */
RICCI_API uint32_t ricci_builder_definition(const ricci_builder* b RICCI_NULLABLE, ricci_val v,
                                            ricci_prim* prim RICCI_NULLABLE,
                                            const ricci_attr** attrs RICCI_NULLABLE RICCI_BORROWED(b)
                                                RICCI_LEN(n_attrs),
                                            uint32_t* n_attrs RICCI_NULLABLE, uint32_t* n_operands RICCI_NULLABLE,
                                            uint32_t* result RICCI_NULLABLE);
/* Operand `i` of the equation that defines `v`; RICCI_VAL_NONE if there is none. */
RICCI_API ricci_val ricci_builder_operand(const ricci_builder* b RICCI_NULLABLE, ricci_val v, uint32_t i);
RICCI_API ricci_ctx* ricci_builder_context(const ricci_builder* b RICCI_NULLABLE) RICCI_BORROWED(b);
/* A builder for a program nested in `b` (a body, a branch): same context, location and limits. Finish or abandon it. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_builder_nest(ricci_builder* b, const char* name RICCI_LEN(name_len),
                                                           size_t name_len, const ricci_type* params RICCI_LEN(n),
                                                           uint32_t n, ricci_builder** out RICCI_OWNED,
                                                           ricci_val* vals RICCI_LEN(n));
/* Consumes `b` on success. A rule may neither finish nor abandon the builder that it got, nor add parameters to it:
 * INVALID_ARGUMENT. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_builder_finish(ricci_builder* b RICCI_OWNED,
                                                             const ricci_val* results RICCI_LEN(n), uint32_t n,
                                                             ricci_program** out RICCI_OWNED);
RICCI_API void ricci_builder_abandon(ricci_builder* b RICCI_NULLABLE RICCI_OWNED);
/* Results of abstract_eval; only there. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_builder_set_out_types(ricci_builder* b, const ricci_type* t RICCI_LEN(n),
                                                                    uint32_t n);

/* ---- programs ---- */
RICCI_API ricci_program* ricci_program_retain(ricci_program* f RICCI_NULLABLE) RICCI_OWNED RICCI_ANY_THREAD;
RICCI_API void ricci_program_release(ricci_program* f RICCI_NULLABLE RICCI_OWNED) RICCI_ANY_THREAD;
RICCI_API void ricci_program_signature(const ricci_program* f RICCI_NULLABLE, uint32_t* n_params RICCI_NULLABLE,
                                       const ricci_type** params RICCI_NULLABLE RICCI_BORROWED(f) RICCI_LEN(n_params),
                                       uint32_t* n_results RICCI_NULLABLE,
                                       const ricci_type** results RICCI_NULLABLE RICCI_BORROWED(f)
                                           RICCI_LEN(n_results));
RICCI_API void ricci_program_name(const ricci_program* f RICCI_NULLABLE,
                                  ricci_str* out RICCI_NULLABLE RICCI_BORROWED(f));
/* Of this level, nested ones not counted. */
RICCI_API uint32_t ricci_program_equation_count(const ricci_program* f RICCI_NULLABLE);
/* The parameter that result `i` is, unchanged; -1 if it is computed, or a constant. */
RICCI_API int32_t ricci_program_result_param(const ricci_program* f RICCI_NULLABLE, uint32_t i);
/* Equation `i`; pointers are borrowed from `f`. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_program_equation(const ricci_program* f, uint32_t i,
                                                               ricci_op* out RICCI_BORROWED(f));
/* Structural, stable. */
RICCI_API uint64_t ricci_program_hash(const ricci_program* f RICCI_NULLABLE);
/* Structural, 1 or 0. */
RICCI_API uint32_t ricci_program_equal(const ricci_program* a RICCI_NULLABLE, const ricci_program* b RICCI_NULLABLE);
RICCI_API RICCI_NODISCARD ricci_status* ricci_program_print(const ricci_program* f, void* sink RICCI_NULLABLE,
                                                            void (*write)(void* sink, const char* p RICCI_LEN(n),
                                                                          size_t n));
/* Text form; `origin` names the file in messages (`origin:line:column: ...`) and may be empty. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_program_parse(ricci_ctx* c, const char* text RICCI_LEN(len), size_t len,
                                                            const char* origin RICCI_LEN(origin_len), size_t origin_len,
                                                            ricci_program** out RICCI_OWNED) RICCI_ANY_THREAD;
RICCI_API RICCI_NODISCARD ricci_status* ricci_program_verify(const ricci_program* f);
/* The source location that ricci_op.location is the id of. */
RICCI_API void ricci_location_get(const ricci_ctx* c RICCI_NULLABLE, uint64_t location,
                                  ricci_str* file RICCI_NULLABLE RICCI_BORROWED(c), uint32_t* line RICCI_NULLABLE,
                                  ricci_str* func RICCI_NULLABLE RICCI_BORROWED(c));

#ifdef __cplusplus
}
#endif
#endif
