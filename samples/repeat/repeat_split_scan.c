/* repeat: split into what is known and what is not as the scan that it is; both halves are scans. */
#include "repeat.h"

/* The operation as a program of its own, with the operands as parameters: a scan. */
static ricci_program* as_program(ricci_writer* w, const ricci_op* op) {
  ricci_val *const params = repeat_values(w, op->n_in), *const out = repeat_values(w, op->n_out);
  ricci_builder* own = NULL;
  ricci_program* f = NULL;
  if (!ricci_writer_failed(w)) {
    ricci_writer_keep(w, ricci_builder_create(op->ctx, "repeat", 6, op->in_types, op->n_in, &own, params));
  }
  if (!ricci_writer_failed(w)) {
    ricci_writer inner = ricci_writer_of_program(own, op);
    repeat_emit_scan(&inner, op, op->n_out, params, out);
    ricci_writer_keep(w, ricci_writer_finish(&inner));
  }
  if (!ricci_writer_failed(w)) ricci_writer_keep(w, ricci_builder_finish(own, out, op->n_out, &f));
  if (f == NULL) ricci_builder_abandon(own);
  free(params), free(out);
  return f;
}

/* Both halves put where they belong: `known` gives known results and residuals, `unknown` takes these. */
static void give_halves(ricci_writer* w, const ricci_op* op, const ricci_partial_eval_args* a, uint32_t n_residuals,
                        const ricci_program* known, const ricci_program* unknown) {
  const uint32_t n_known_in = repeat_count(a->is_known, op->n_in), n_known = repeat_count(a->out_is_known, op->n_out);
  ricci_val *const in = repeat_values(w, op->n_in), *const out = repeat_values(w, op->n_out + (size_t)n_residuals);
  ricci_val *const rest = repeat_values(w, op->n_in + (size_t)n_residuals), *const last = repeat_values(w, op->n_out);
  uint32_t next = 0, next_rest = n_residuals;
  for (uint32_t i = 0; i < op->n_in && !ricci_writer_failed(w); ++i) {
    if (a->is_known[i]) in[next++] = a->in[i];
    if (!a->is_known[i]) rest[next_rest++] = a->in[i];
  }
  if (!ricci_writer_failed(w)) {
    ricci_writer_keep(w, ricci_builder_inline(a->known, known, in, n_known_in, out, n_known + n_residuals));
  }
  for (uint32_t i = 0; i < n_residuals && !ricci_writer_failed(w); ++i) {
    ricci_writer_keep(w, a->residual(a->split, out[n_known + i], &rest[i]));
  }
  if (!ricci_writer_failed(w)) {
    ricci_writer_keep(w, ricci_builder_inline(a->unknown, unknown, rest, next_rest, last, op->n_out - n_known));
  }
  uint32_t next_known = 0, next_unknown = 0;
  for (uint32_t i = 0; i < op->n_out && !ricci_writer_failed(w); ++i) {
    a->out[i] = a->out_is_known[i] ? out[next_known++] : last[next_unknown++];
  }
  free(in), free(out), free(rest), free(last);
}

void repeat_split_scan(ricci_writer* w, const ricci_op* op, const ricci_partial_eval_args* a) {
  ricci_program *known = NULL, *unknown = NULL, *const f = as_program(w, op);
  ricci_partial_eval_opts opts = ricci_partial_eval_opts_default();
  opts.hdr.flags = a->hdr.flags & RICCI_PARTIAL_EVAL_APART;
  opts.policy = a->policy;
  uint32_t n_residuals = 0;
  if (!ricci_writer_failed(w)) {
    ricci_writer_keep(
        w, ricci_partial_eval(f, a->is_known, op->n_in, &opts, a->out_is_known, &n_residuals, &known, &unknown));
  }
  if (!ricci_writer_failed(w)) give_halves(w, op, a, n_residuals, known, unknown);
  ricci_program_release(f), ricci_program_release(known), ricci_program_release(unknown);
}
