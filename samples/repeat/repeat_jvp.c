/* repeat: its derivative is a repeat of the derivative of the body, which carries tangents along.
 *
 * Which values between two trips have a tangent is a fixpoint: a flag once set stays set.
 */
#include "repeat.h"

/* The body with tangents: of the operands with active[i] != 0, and of each result that then has one. Sets active[i] for
 * the operands that get a tangent after some trip. */
static ricci_program* body_with_tangents(ricci_writer* w, const ricci_op* op, uint8_t* active) {
  uint8_t* const carried = active + op->n_in - op->n_out;
  uint8_t* const given = repeat_flags(w, op->n_out);
  ricci_program* out = NULL;
  for (uint32_t grew = 1; grew != 0 && !ricci_writer_failed(w);) {
    ricci_program_release(out);
    out = NULL;
    for (uint32_t i = 0; i < op->n_out; ++i) given[i] = carried[i];
    ricci_writer_keep(w, ricci_jvp_sparse(repeat_body(op), active, op->n_in, given, &out));
    grew = 0;
    for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(w); ++i) {
      grew |= given[i] && !carried[i];
      carried[i] |= given[i];
    }
  }
  free(given);
  return out;
}

/* Where each value is among: constants, their tangents, what is carried, its tangents. */
typedef struct layout {
  uint32_t consts, d_consts, carry, d_carry; /* how many */
} layout;
static layout layout_of(const ricci_op* op, const uint8_t* active) {
  const uint32_t consts = op->n_in - op->n_out;
  const layout l = {consts, repeat_count(active, consts), op->n_out, repeat_count(active + consts, op->n_out)};
  return l;
}
static uint32_t total(layout l) { return l.consts + l.d_consts + l.carry + l.d_carry; }
/* Value i of the program of ricci_jvp_sparse, all primals before all tangents, in that order. */
static uint32_t place_of(layout l, uint32_t i) {
  if (i < l.consts) return i;
  if (i < l.consts + l.carry) return i + l.d_consts;
  return i < l.consts + l.carry + l.d_consts ? i - l.carry : i;
}

/* The same program with its parameters in that order, as the body of a repeat must have them. */
static ricci_program* in_order(ricci_writer* w, layout l, const ricci_program* f) {
  const uint32_t n = total(l), n_results = l.carry + l.d_carry;
  ricci_val *const params = repeat_values(w, n), *const in = repeat_values(w, n),
                   *const out = repeat_values(w, n_results);
  ricci_type* const types = repeat_room(w, n, sizeof(ricci_type));
  ricci_builder* nested = NULL;
  ricci_program* body = NULL;
  const ricci_type* given = NULL;
  if (!ricci_writer_failed(w)) {
    ricci_program_signature(f, NULL, &given, NULL, NULL);
    for (uint32_t i = 0; i < n; ++i) types[place_of(l, i)] = given[i];
    ricci_writer_keep(w, ricci_builder_nest(w->program, "body", 4, types, n, &nested, params));
  }
  if (!ricci_writer_failed(w)) {
    for (uint32_t i = 0; i < n; ++i) in[i] = params[place_of(l, i)];
    ricci_writer_keep(w, ricci_builder_inline(nested, f, in, n, out, n_results));
  }
  if (!ricci_writer_failed(w)) ricci_writer_keep(w, ricci_builder_finish(nested, out, n_results, &body));
  if (body == NULL) ricci_builder_abandon(nested);
  free(params), free(in), free(out), free(types);
  return body;
}

ricci_status* repeat_jvp(void* self, ricci_builder* b, const ricci_op* op, const ricci_jvp_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  uint8_t* const active = repeat_flags(&w, op->n_in);
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(&w); ++i) active[i] = a->tangents[i] != RICCI_VAL_ZERO;
  ricci_program* const both = ricci_writer_failed(&w) ? NULL : body_with_tangents(&w, op, active);
  const layout l = ricci_writer_failed(&w) ? (layout){0, 0, 0, 0} : layout_of(op, active);
  ricci_program* const body = ricci_writer_failed(&w) ? NULL : in_order(&w, l, both);
  ricci_val *const in = repeat_values(&w, total(l)), *const out = repeat_values(&w, l.carry + l.d_carry);
  uint32_t next = op->n_in;
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(&w); ++i) {
    in[place_of(l, i)] = a->primals[i];
    if (!active[i]) continue;
    ricci_val tangent = a->tangents[i];
    if (tangent == RICCI_VAL_ZERO) ricci_writer_keep(&w, ricci_builder_zero(b, op->in_types[i], &tangent));
    in[place_of(l, next++)] = tangent;
  }
  if (!ricci_writer_failed(&w)) repeat_emit(&w, op, body, in, total(l), out, l.carry + l.d_carry);
  next = l.carry;
  for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(&w); ++i) {
    a->out_primals[i] = out[i];
    if (active[l.consts + i]) a->out_tangents[i] = out[next++];
  }
  ricci_program_release(both), ricci_program_release(body);
  free(active), free(in), free(out);
  return ricci_writer_finish(&w);
}
