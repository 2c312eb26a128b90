/* spline: what the files of this plugin share: types and messages with values, rules, knots and weights of points.
 *
 * Everything is written with a ricci_writer, so a function here does nothing once the writer has an error.
 */
#ifndef SAMPLES_SPLINE_H_
#define SAMPLES_SPLINE_H_
#include "../batch_first.h"
#include "ricci/writer.h"

/* One row each, registered with `ctx`: see the file of that name. */
ricci_status* spline_register_moments(ricci_ctx* ctx);
ricci_status* spline_register_blend(ricci_ctx* ctx);
ricci_status* spline_register_spread(ricci_ctx* ctx);

/* Of operand i; rank 0 and dtype 0 after an error, or if there is none. */
ricci_type_desc spline_operand(ricci_writer* w, uint32_t i);
uint32_t spline_is_empty(ricci_type_desc d);
/* Fails unless the operation has `n` operands of one dtype, f32 or f64. */
void spline_want_floats(ricci_writer* w, uint32_t n);
/* Fails unless operand `knots` has knots as its last dimension, and its others are the first ones of operand `points`;
 * and unless `order` is one. */
void spline_want_points(ricci_writer* w, uint32_t knots, uint32_t points);
/* Fails `primitive: operands i and j are f64[3] and f64[4]; why` unless `holds`. */
void spline_want(ricci_writer* w, uint32_t holds, uint32_t i, uint32_t j, const char* why);

/* ---- rules ---- */
/* The two attributes of spline.blend and spline.spread. */
void spline_declare_attrs(ricci_prim_def* row);
int64_t spline_order(const ricci_op* op);
uint32_t spline_of_moments(const ricci_op* op);
/* prim(in) with one result and these attributes. */
ricci_val spline_emit(ricci_writer* w, const char* prim, int64_t order, uint32_t of_moments, const ricci_val* in,
                      uint32_t n);
/* `v`, or zeros of type `t` if it is the symbolic zero. */
ricci_val spline_instantiate(ricci_writer* w, ricci_val v, ricci_type t);
/* The factor text: the first dimensions are shared by operands and result; the last one of those in the mask `knots`
 * (bit i: operand i; the bit after the operands: the result) counts knots and is looked up; the others count points,
 * each by itself, or not if `points_whole`. */
void spline_write_factors(const ricci_op* op, uint32_t knots, uint32_t points_whole, void* sink,
                          void (*write)(void* sink, const char* p, size_t n));

/* ---- lowerings ---- */
/* Where a point lies among n knots, and with what weight the knots before and after it count. */
typedef struct spline_weights {
  ricci_sval knot[2];   /* i64, in [0, n) */
  ricci_sval weight[2]; /* of the dtype of x */
} spline_weights;
spline_weights spline_weights_at(ricci_writer* w, const ricci_op* op, ricci_sval x, int64_t n);
#endif
