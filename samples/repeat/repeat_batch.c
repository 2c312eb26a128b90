/* repeat: a batch of it is a repeat of the batch of the body. Which values between two trips are batched is a fixpoint.
 */
#include "repeat.h"

/* The body on batches: of the operands with batched[i] != 0, and of each result that then has one. Sets batched[i] as
 * body_with_tangents does. */
static ricci_program* body_on_batches(ricci_writer* w, const ricci_op* op, const ricci_batch_args* a,
                                      uint8_t* batched) {
  uint8_t* const carried = batched + op->n_in - op->n_out;
  uint8_t* const given = repeat_flags(w, op->n_out);
  ricci_batch_opts opts = ricci_batch_opts_default();
  opts.axis_name = a->axis_name;
  ricci_program* out = NULL;
  for (uint32_t grew = 1; grew != 0 && !ricci_writer_failed(w);) {
    ricci_program_release(out);
    out = NULL;
    for (uint32_t i = 0; i < op->n_out; ++i) given[i] = carried[i];
    ricci_writer_keep(w, ricci_batch(repeat_body(op), batched, op->n_in, a->axis_size, &opts, given, &out));
    grew = 0;
    for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(w); ++i) {
      grew |= given[i] && !carried[i];
      carried[i] |= given[i];
    }
  }
  free(given);
  return out;
}

ricci_status* repeat_batch(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(b, op);
  uint8_t* const batched = repeat_flags(&w, op->n_in);
  ricci_val* const in = repeat_values(&w, op->n_in);
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(&w); ++i) batched[i] = a->in_dims[i] >= 0;
  ricci_program* const body = ricci_writer_failed(&w) ? NULL : body_on_batches(&w, op, a, batched);
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(&w); ++i) {
    in[i] = batched[i] ? batch_first(&w, a->in[i], op->in_types[i], a->in_dims[i], a->axis_size) : a->in[i];
  }
  if (!ricci_writer_failed(&w)) repeat_emit(&w, op, body, in, op->n_in, a->out, op->n_out);
  for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(&w); ++i) {
    a->out_dims[i] = batched[op->n_in - op->n_out + i] ? 0 : -1;
  }
  ricci_program_release(body);
  free(batched), free(in);
  return ricci_writer_finish(&w);
}
