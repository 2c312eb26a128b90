/* spline: where a point is between two knots, and the weights of their values or moments there.
 *
 * Between the knots i and i + 1, with t = x - i and u = 1 - t, the spline is
 *   u v[i] + t v[i+1] + (u^3 - u)/6 m[i] + (t^3 - t)/6 m[i+1],
 * and its derivatives of order 1 to 3 are those of the weights. The third ones are constants, so there is nothing
 * beyond.
 */
#include "spline.h"

typedef struct weights_of {
  ricci_writer* w;
  ricci_sval x; /* for constants of its dtype */
} weights_of;

static ricci_sval number(const weights_of* f, double v) { return ricci_write_like(f->w, f->x, v); }
static ricci_sval binary(const weights_of* f, uint32_t op, ricci_sval a, ricci_sval b) {
  return ricci_write_binary(f->w, op, a, b);
}

/* The weight of a value at distance `far` from the other knot; `sign`: the derivative of that distance by x. */
static ricci_sval value_weight(const weights_of* f, int64_t order, ricci_sval far, double sign) {
  if (order == 0) return far;
  return number(f, order == 1 ? sign : 0);
}
static ricci_sval moment_weight(const weights_of* f, int64_t order, ricci_sval far, double sign) {
  const ricci_sval square = binary(f, RICCI_S_MUL, far, far);
  if (order == 0) {
    const ricci_sval less_one = binary(f, RICCI_S_SUB, square, number(f, 1));
    return binary(f, RICCI_S_MUL, binary(f, RICCI_S_MUL, far, less_one), number(f, 1.0 / 6));
  }
  if (order == 1) {
    const ricci_sval half = binary(f, RICCI_S_MUL, square, number(f, sign / 2));
    return binary(f, RICCI_S_SUB, half, number(f, sign / 6));
  }
  return order == 2 ? far : number(f, sign);
}

spline_weights spline_weights_at(ricci_writer* w, const ricci_op* op, ricci_sval x, int64_t n) {
  const weights_of f = {w, x};
  const int64_t order = spline_order(op);
  const ricci_sval floor = ricci_write_unary(w, RICCI_S_FLOOR, x);
  const ricci_sval t = binary(&f, RICCI_S_SUB, x, floor), u = binary(&f, RICCI_S_SUB, number(&f, 1), t);
  /* A remainder has the sign of what is divided. Every number is in a period, so points that are not finite read
   * within bounds; their t is not a number. */
  const ricci_sval period = ricci_write_index(w, n);
  const ricci_sval remainder = binary(&f, RICCI_S_REM, ricci_write_convert(w, RICCI_I64, floor), period);
  const ricci_sval is_negative = binary(&f, RICCI_S_LT, remainder, ricci_write_index(w, 0));
  const ricci_sval wrapped = binary(&f, RICCI_S_ADD, remainder, period);
  const ricci_sval knot = ricci_write_select(w, is_negative, wrapped, remainder);
  const ricci_sval next = binary(&f, RICCI_S_ADD, knot, ricci_write_index(w, 1));
  const ricci_sval is_end = binary(&f, RICCI_S_EQ, next, period);
  spline_weights nearby;
  nearby.knot[0] = knot;
  nearby.knot[1] = ricci_write_select(w, is_end, ricci_write_index(w, 0), next);
  nearby.weight[0] = spline_of_moments(op) ? moment_weight(&f, order, u, -1) : value_weight(&f, order, u, -1);
  nearby.weight[1] = spline_of_moments(op) ? moment_weight(&f, order, t, 1) : value_weight(&f, order, t, 1);
  return nearby;
}
