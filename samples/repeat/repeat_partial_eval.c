/* repeat: split into what is known and what is not.
 *
 * Both halves are repeats where the unknown one needs, of what the known one has, only operands that stay the same in
 * all trips. If it needs what differs from trip to trip, the scan that a repeat is gets split: its halves can hand over
 * a value for each trip. That works for every row whose decomposition can be split.
 */
#include "repeat.h"

/* A body in halves; known[i]: operand i is known in every trip. */
typedef struct halves {
  uint8_t* known;
  ricci_program *of_known, *of_unknown;
  uint32_t n_residuals;
} halves;

/* A flag of h->known once cleared stays cleared. */
static void split_body(ricci_writer* w, const ricci_op* op, const ricci_partial_eval_args* a, halves* h) {
  uint8_t* const carried = h->known + op->n_in - op->n_out;
  uint8_t *const unknown = repeat_flags(w, op->n_out), *const out_known = repeat_flags(w, op->n_out);
  ricci_partial_eval_opts opts = ricci_partial_eval_opts_default();
  opts.hdr.flags = RICCI_PARTIAL_EVAL_APART; /* two loops */
  opts.policy = a->policy;
  opts.force_unknown = unknown;
  for (uint32_t shrank = 1; shrank != 0 && !ricci_writer_failed(w);) {
    ricci_program_release(h->of_known), ricci_program_release(h->of_unknown);
    h->of_known = h->of_unknown = NULL;
    for (uint32_t i = 0; i < op->n_out; ++i) unknown[i] = !carried[i];
    ricci_writer_keep(w, ricci_partial_eval(repeat_body(op), h->known, op->n_in, &opts, out_known, &h->n_residuals,
                                            &h->of_known, &h->of_unknown));
    shrank = 0;
    for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(w); ++i) {
      shrank |= carried[i] && !out_known[i];
      carried[i] &= out_known[i];
    }
  }
  free(unknown), free(out_known);
}

/* The constant operand that residual `r` is; n_in if it is something else. */
static uint32_t constant_of(const ricci_op* op, const halves* h, uint32_t r) {
  const uint32_t consts = op->n_in - op->n_out, n_known = repeat_count(h->known + consts, op->n_out);
  int32_t left = ricci_program_result_param(h->of_known, n_known + r);
  for (uint32_t i = 0; left >= 0 && i < consts; ++i) {
    if (h->known[i] && left-- == 0) return i;
  }
  return op->n_in;
}
static uint32_t are_repeats(const ricci_op* op, const halves* h) {
  for (uint32_t r = 0; r < h->n_residuals; ++r) {
    if (constant_of(op, h, r) == op->n_in) return 0;
  }
  return 1;
}

/* Results of f that are carried, without the residuals behind them. */
static ricci_program* without_residuals(ricci_writer* w, const ricci_program* f, uint32_t n_results) {
  uint32_t n = 0, n_all = 0;
  const ricci_type* types = NULL;
  ricci_builder* nested = NULL;
  ricci_program* body = NULL;
  ricci_program_signature(f, &n, &types, &n_all, NULL);
  ricci_val *const params = repeat_values(w, n), *const out = repeat_values(w, n_all);
  if (!ricci_writer_failed(w)) {
    ricci_writer_keep(w, ricci_builder_nest(w->program, "body", 4, types, n, &nested, params));
  }
  if (!ricci_writer_failed(w)) ricci_writer_keep(w, ricci_builder_inline(nested, f, params, n, out, n_all));
  if (!ricci_writer_failed(w)) ricci_writer_keep(w, ricci_builder_finish(nested, out, n_results, &body));
  if (body == NULL) ricci_builder_abandon(nested);
  free(params), free(out);
  return body;
}

/* The half of what is known, or not, as a repeat with these operands. */
static void give_half(ricci_writer* w, const ricci_op* op, const ricci_partial_eval_args* a, const halves* h,
                      uint8_t known, ricci_program* body, const ricci_val* in, uint32_t n_in) {
  const uint8_t* const carried = h->known + op->n_in - op->n_out;
  const uint32_t n_known = repeat_count(carried, op->n_out), n_out = known ? n_known : op->n_out - n_known;
  ricci_val* const out = repeat_values(w, n_out);
  uint32_t next = 0;
  if (n_out != 0 && !ricci_writer_failed(w)) repeat_emit(w, op, body, in, n_in, out, n_out);
  for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(w); ++i) {
    if (carried[i] != known) continue;
    a->out[i] = out[next++];
    a->out_is_known[i] = known;
  }
  free(out);
}

static void give_repeats(ricci_writer* w, const ricci_op* op, const ricci_partial_eval_args* a, const halves* h) {
  ricci_val *const known = repeat_values(w, op->n_in), *const unknown = repeat_values(w, h->n_residuals + op->n_in);
  ricci_writer after = ricci_writer_of_program(a->unknown, op);
  uint32_t n_known = 0, n_unknown = 0;
  for (uint32_t r = 0; r < h->n_residuals && !ricci_writer_failed(w); ++r) {
    ricci_writer_keep(w, a->residual(a->split, a->in[constant_of(op, h, r)], &unknown[n_unknown++]));
  }
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(w); ++i) {
    if (h->known[i]) known[n_known++] = a->in[i];
    if (h->known[i]) continue;
    unknown[n_unknown] = a->in[i];
    if (a->is_known[i]) ricci_writer_keep(w, a->residual(a->split, a->in[i], &unknown[n_unknown])); /* at first */
    ++n_unknown;
  }
  ricci_program* const body =
      ricci_writer_failed(w)
          ? NULL
          : without_residuals(w, h->of_known, repeat_count(h->known + op->n_in - op->n_out, op->n_out));
  if (!ricci_writer_failed(w)) give_half(w, op, a, h, 1, body, known, n_known);
  if (!ricci_writer_failed(w)) give_half(&after, op, a, h, 0, h->of_unknown, unknown, n_unknown);
  ricci_writer_keep(w, ricci_writer_finish(&after));
  ricci_program_release(body);
  free(known), free(unknown);
}

ricci_status* repeat_partial_eval(void* self, const ricci_op* op, const ricci_partial_eval_args* a) {
  (void)self;
  ricci_writer w = ricci_writer_of_program(a->known, op);
  halves h = {repeat_flags(&w, op->n_in), NULL, NULL, 0};
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(&w); ++i) h.known[i] = a->is_known[i];
  if (!ricci_writer_failed(&w)) split_body(&w, op, a, &h);
  if (!ricci_writer_failed(&w)) {
    are_repeats(op, &h) ? give_repeats(&w, op, a, &h) : repeat_split_scan(&w, op, a);
  }
  ricci_program_release(h.of_known), ricci_program_release(h.of_unknown);
  free(h.known);
  return ricci_writer_finish(&w);
}
