/* spline: the functions of spline.h with which types, derivatives and batches are written. */
#include "../type_text.h"
#include "spline.h"

ricci_type_desc spline_operand(ricci_writer* w, uint32_t i) {
  ricci_type_desc d = ricci_type_desc_default();
  if (ricci_writer_failed(w) || i >= w->op->n_in) return d;
  ricci_writer_keep(w, ricci_type_get(w->op->ctx, w->op->in_types[i], &d));
  return d;
}

uint32_t spline_is_empty(ricci_type_desc d) {
  uint32_t empty = 0;
  for (uint32_t i = 0; i < d.rank; ++i) empty |= d.dims[i] == 0;
  return empty;
}

/* ---- messages ---- */
void spline_want(ricci_writer* w, uint32_t holds, uint32_t i, uint32_t j, const char* why) {
  char text[320];
  if (holds || ricci_writer_failed(w)) return;
  const type_words a = type_text(w->op->ctx, w->op->in_types[i]), b = type_text(w->op->ctx, w->op->in_types[j]);
  if (i == j) snprintf(text, sizeof text, "operand %u is %s; %s", i, a.text, why);
  if (i != j) snprintf(text, sizeof text, "operands %u and %u are %s and %s; %s", i, j, a.text, b.text, why);
  ricci_write_require(w, 0, text);
}

void spline_want_floats(ricci_writer* w, uint32_t n) {
  const uint32_t first = spline_operand(w, 0).dtype;
  spline_want(w, first == RICCI_F32 || first == RICCI_F64, 0, 0, "it must be f32 or f64");
  for (uint32_t i = 1; i < n; ++i) {
    spline_want(w, spline_operand(w, i).dtype == first, 0, i, "they must have one dtype");
  }
}

void spline_want_points(ricci_writer* w, uint32_t knots, uint32_t points) {
  const ricci_type_desc a = spline_operand(w, knots), x = spline_operand(w, points);
  spline_want(w, a.rank >= 1 && a.dims[a.rank - 1] >= 1, knots, knots, "its last dimension must be knots, at least 1");
  uint32_t fits = x.rank + 1 >= a.rank;
  for (uint32_t i = 0; fits && i + 1 < a.rank; ++i) fits = a.dims[i] == x.dims[i];
  spline_want(w, fits, knots, points, "the dimensions before the knots must also be the first ones of the points");
  if (ricci_writer_failed(w)) return;
  char text[64];
  snprintf(text, sizeof text, "order is %lld; it must be 0, 1, 2 or 3", (long long)spline_order(w->op));
  ricci_write_require(w, spline_order(w->op) >= 0 && spline_order(w->op) <= 3, text);
}

/* ---- attributes ---- */
void spline_declare_attrs(ricci_prim_def* row) {
  static const ricci_attr_spec attrs[] = {{{"order", 5}, RICCI_ATTR_INT, RICCI_ATTR_OPTIONAL, {"0", 1}},
                                          {{"of_moments", 10}, RICCI_ATTR_BOOL, RICCI_ATTR_OPTIONAL, {"false", 5}}};
  row->attr_specs = attrs;
  row->n_attr_specs = 2;
  row->attr_spec_size = sizeof attrs[0];
}
int64_t spline_order(const ricci_op* op) { return ricci_op_int(op, "order", 0); }
uint32_t spline_of_moments(const ricci_op* op) { return ricci_op_int(op, "of_moments", 0) != 0; }

/* ---- derivatives ---- */
ricci_val spline_emit(ricci_writer* w, const char* prim, int64_t order, uint32_t of_moments, const ricci_val* in,
                      uint32_t n) {
  const ricci_attr attrs[] = {ricci_attr_int("order", order), ricci_attr_bool("of_moments", of_moments)};
  ricci_val out;
  ricci_write_emit(w, prim, attrs, 2, in, n, &out, 1);
  return out;
}

ricci_val spline_instantiate(ricci_writer* w, ricci_val v, ricci_type t) {
  if (v == RICCI_VAL_ZERO && !ricci_writer_failed(w)) ricci_writer_keep(w, ricci_builder_zero(w->program, t, &v));
  return v;
}

/* ---- factors ---- */
typedef struct factor_text {
  void* sink;
  void (*write)(void* sink, const char* p, size_t n);
} factor_text;
/* ` a0 a1 p2`: the dimensions from `first` to `limit`, named by a letter and their position. */
static void write_names(const factor_text* t, char letter, uint32_t first, uint32_t limit) {
  for (uint32_t k = first; k < limit; ++k) {
    char name[16];
    t->write(t->sink, name, (size_t)snprintf(name, sizeof name, " %c%u", letter, k));
  }
}
static uint32_t rank_of(const ricci_op* op, ricci_type type) {
  ricci_type_desc d = ricci_type_desc_default();
  ricci_status_free(ricci_type_get(op->ctx, type, &d));
  return d.rank;
}

void spline_write_factors(const ricci_op* op, uint32_t knots, uint32_t points_whole, void* sink,
                          void (*write)(void* sink, const char* p, size_t n)) {
  const factor_text t = {sink, write};
  const uint32_t shared = rank_of(op, op->in_types[0]) - 1;
  uint32_t most = shared;
  for (uint32_t i = 0; i <= op->n_in; ++i) {
    const uint32_t rank = rank_of(op, i < op->n_in ? op->in_types[i] : op->out_types[0]);
    if (i != 0) write(sink, i < op->n_in ? ", " : " -> ", i < op->n_in ? 2 : 4);
    write_names(&t, 'a', 0, shared);
    const uint32_t has_knots = knots >> i & 1;
    write_names(&t, has_knots ? 'k' : 'p', shared, rank);
    if (!has_knots && rank > most) most = rank;
  }
  write(sink, "; whole", 7);
  write_names(&t, 'k', shared, shared + 1);
  if (points_whole) write_names(&t, 'p', shared, most);
}
