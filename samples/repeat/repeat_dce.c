/* repeat: without what is carried for unused results. What a used result is made of must be carried, so which
 * operands are needed is a fixpoint.
 */
#include "repeat.h"

/* The body without what no kept result needs. Sets keep[i] for what is carried and needed by what is kept; used[i]: the
 * parameters that are read. */
static ricci_program* pruned_body(ricci_writer* w, const ricci_op* op, uint8_t* keep, uint8_t* used) {
  const uint8_t* const carried = used + op->n_in - op->n_out;
  ricci_program* out = NULL;
  for (uint32_t grew = 1; grew != 0 && !ricci_writer_failed(w);) {
    ricci_program_release(out);
    out = NULL;
    ricci_writer_keep(w, ricci_dce(repeat_body(op), keep, op->n_out, used, &out));
    grew = 0;
    for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(w); ++i) {
      grew |= carried[i] && !keep[i];
      keep[i] |= carried[i];
    }
  }
  return out;
}

/* f with only the parameters in `needed`; it reads no other. */
static ricci_program* with_params(ricci_writer* w, const ricci_op* op, const ricci_program* f, const uint8_t* needed,
                                  uint32_t n_results) {
  const uint32_t n = repeat_count(needed, op->n_in);
  ricci_val *const params = repeat_values(w, n), *const in = repeat_values(w, op->n_in);
  ricci_val* const out = repeat_values(w, n_results);
  ricci_type* const types = repeat_room(w, n, sizeof(ricci_type));
  ricci_builder* nested = NULL;
  ricci_program* body = NULL;
  uint32_t next = 0;
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(w); ++i) {
    if (needed[i]) types[next++] = op->in_types[i];
  }
  if (!ricci_writer_failed(w)) {
    ricci_writer_keep(w, ricci_builder_nest(w->program, "body", 4, types, n, &nested, params));
  }
  next = 0;
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(w); ++i) {
    if (needed[i]) in[i] = params[next++];
    if (!needed[i]) ricci_writer_keep(w, ricci_builder_zero(nested, op->in_types[i], &in[i]));
  }
  if (!ricci_writer_failed(w)) ricci_writer_keep(w, ricci_builder_inline(nested, f, in, op->n_in, out, n_results));
  if (!ricci_writer_failed(w)) ricci_writer_keep(w, ricci_builder_finish(nested, out, n_results, &body));
  if (body == NULL) ricci_builder_abandon(nested);
  free(params), free(in), free(out), free(types);
  return body;
}

static void emit_smaller(ricci_writer* w, const ricci_op* op, const ricci_dce_args* a, const ricci_program* f,
                         const uint8_t* keep) {
  const uint32_t n_in = repeat_count(a->used_in, op->n_in), n_out = repeat_count(keep, op->n_out);
  ricci_program* const body = with_params(w, op, f, a->used_in, n_out);
  ricci_val *const in = repeat_values(w, n_in), *const out = repeat_values(w, n_out);
  uint32_t next = 0;
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(w); ++i) {
    if (a->used_in[i]) in[next++] = a->in[i];
  }
  if (!ricci_writer_failed(w)) repeat_emit(w, op, body, in, n_in, out, n_out);
  next = 0;
  for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(w); ++i) {
    if (!keep[i]) continue;
    if (a->used_out[i]) a->out[i] = out[next];
    ++next;
  }
  ricci_program_release(body);
  free(in), free(out);
}

ricci_status* repeat_dce(void* self, ricci_builder* b, const ricci_op* op, const ricci_dce_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  const uint32_t consts = op->n_in - op->n_out;
  uint8_t *const keep = repeat_flags(&w, op->n_out), *const used = repeat_flags(&w, op->n_in);
  for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(&w); ++i) keep[i] = a->used_out[i];
  ricci_program* const f = ricci_writer_failed(&w) ? NULL : pruned_body(&w, op, keep, used);
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(&w); ++i) {
    a->used_in[i] = i < consts ? used[i] : keep[i - consts];
  }
  if (!ricci_writer_failed(&w) && a->in != NULL) emit_smaller(&w, op, a, f, keep);
  ricci_program_release(f);
  free(keep), free(used);
  return ricci_writer_finish(&w);
}
