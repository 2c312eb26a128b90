/* ricci/attr.h: attributes and rows made from C strings, and attributes of an operation found by name.
 *
 * Inline functions for C and C++ that call nothing of the core, so hosts and both forms of plugins can use them. Texts
 * and data are borrowed, as in the structs that they fill: they must live until the call that takes the struct returns.
 */
#ifndef RICCI_ATTR_H_
#define RICCI_ATTR_H_
#include "ricci/primitive.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The text up to its NUL. */
static inline ricci_str ricci_str_of(const char* text) {
  ricci_str s;
  s.ptr = text;
  s.len = 0;
  while (text[s.len] != '\0') ++s.len;
  return s;
}

/* ---- one attribute, for ricci_builder_emit and ricci_check_example ---- */
static inline ricci_attr ricci_attr_of(const char* name, uint32_t kind, int64_t i, double f, const void* data,
                                       uint32_t count) {
  ricci_attr a;
  a.name = ricci_str_of(name);
  a.kind = kind;
  a.count = count;
  a.i = i;
  a.f = f;
  a.data = data;
  return a;
}
static inline ricci_attr ricci_attr_int(const char* name, int64_t v) {
  return ricci_attr_of(name, RICCI_ATTR_INT, v, 0, NULL, 1);
}
static inline ricci_attr ricci_attr_float(const char* name, double v) {
  return ricci_attr_of(name, RICCI_ATTR_FLOAT, 0, v, NULL, 1);
}
/* Any `v` but 0 is true. */
static inline ricci_attr ricci_attr_bool(const char* name, uint32_t v) {
  return ricci_attr_of(name, RICCI_ATTR_BOOL, v != 0, 0, NULL, 1);
}
/* RICCI_F32, ... */
static inline ricci_attr ricci_attr_dtype(const char* name, uint32_t dtype) {
  return ricci_attr_of(name, RICCI_ATTR_DTYPE, dtype, 0, NULL, 1);
}
/* `text` up to its NUL. */
static inline ricci_attr ricci_attr_string(const char* name, const char* text) {
  return ricci_attr_of(name, RICCI_ATTR_STRING, 0, 0, text, (uint32_t)ricci_str_of(text).len);
}
static inline ricci_attr ricci_attr_ints(const char* name, const int64_t* v, uint32_t n) {
  return ricci_attr_of(name, RICCI_ATTR_INTS, 0, 0, v, n);
}
static inline ricci_attr ricci_attr_floats(const char* name, const double* v, uint32_t n) {
  return ricci_attr_of(name, RICCI_ATTR_FLOATS, 0, 0, v, n);
}
/* `f` points to the handle. */
static inline ricci_attr ricci_attr_program(const char* name, ricci_program* const* f) {
  return ricci_attr_of(name, RICCI_ATTR_PROGRAM, 0, 0, f, 1);
}
static inline ricci_attr ricci_attr_programs(const char* name, ricci_program* const* f, uint32_t n) {
  return ricci_attr_of(name, RICCI_ATTR_PROGRAMS, 0, 0, f, n);
}

/* ---- attributes of an operation, found by name: absent optional ones are left out, so positions vary ---- */
/* NULL if there is none with that name. Borrowed from `op`. */
static inline const ricci_attr* ricci_op_attr(const ricci_op* op, const char* name) {
  const ricci_str wanted = ricci_str_of(name);
  uint32_t i;
  for (i = 0; i < op->n_attrs; ++i) {
    const ricci_str own = op->attrs[i].name;
    size_t at = 0;
    if (own.len != wanted.len) continue;
    while (at < own.len && own.ptr[at] == wanted.ptr[at]) ++at;
    if (at == own.len) return &op->attrs[i];
  }
  return NULL;
}
/* An INT, BOOL or DTYPE; `absent` if there is none with that name. */
static inline int64_t ricci_op_int(const ricci_op* op, const char* name, int64_t absent) {
  const ricci_attr* a = ricci_op_attr(op, name);
  return a == NULL ? absent : a->i;
}
static inline double ricci_op_float(const ricci_op* op, const char* name, double absent) {
  const ricci_attr* a = ricci_op_attr(op, name);
  return a == NULL ? absent : a->f;
}

/* ---- structs with all zero except what is given; set further members before use ---- */
static inline void ricci_clear(void* p, size_t bytes) {
  unsigned char* to = (unsigned char*)p;
  while (bytes-- > 0) *to++ = 0;
}
/* `kind`: RICCI_ATTR_*; `flags`: RICCI_ATTR_OPTIONAL or 0. */
static inline ricci_attr_spec ricci_attr_spec_of(const char* name, uint32_t kind, uint32_t flags) {
  ricci_attr_spec s;
  ricci_clear(&s, sizeof s);
  s.name = ricci_str_of(name);
  s.kind = kind;
  s.flags = flags;
  return s;
}
static inline ricci_prim_def ricci_prim_def_of(const char* name) {
  ricci_prim_def d;
  ricci_clear(&d, sizeof d);
  d.hdr.size = (uint32_t)sizeof d;
  d.name = ricci_str_of(name);
  return d;
}
/* `kind`: RICCI_LOWER_*, for every backend. The caller sets its callback. */
static inline ricci_lowering ricci_lowering_of(uint32_t kind) {
  ricci_lowering l;
  ricci_clear(&l, sizeof l);
  l.hdr.size = (uint32_t)sizeof l;
  l.kind = kind;
  l.target = ricci_str_of("*");
  return l;
}

#ifdef __cplusplus
}
#endif
#endif
