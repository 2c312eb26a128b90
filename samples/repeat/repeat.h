/* repeat: the operation as its rules see it, and the operations that they emit. Each rule has a file of its own. */
#ifndef SAMPLES_REPEAT_H_
#define SAMPLES_REPEAT_H_
#include <stdlib.h>

#include "../batch_first.h"
#include "../type_text.h"
#include "ricci/transform.h"
#include "ricci/writer.h"

ricci_status* repeat_jvp(void* self, ricci_builder* b, const ricci_op* op, const ricci_jvp_args* a);
ricci_status* repeat_batch(void* self, ricci_builder* b, const ricci_op* op, const ricci_batch_args* a);
ricci_status* repeat_partial_eval(void* self, const ricci_op* op, const ricci_partial_eval_args* a);
/* Of repeat_partial_eval, where the halves cannot be repeats. */
void repeat_split_scan(ricci_writer* w, const ricci_op* op, const ricci_partial_eval_args* a);
ricci_status* repeat_dce(void* self, ricci_builder* b, const ricci_op* op, const ricci_dce_args* a);

static inline ricci_program* repeat_body(const ricci_op* op) {
  return *(ricci_program* const*)ricci_op_attr(op, "body")->data;
}
/* `n` zeros of `size` bytes, for free(); never NULL unless the writer has an error. */
static inline void* repeat_room(ricci_writer* w, size_t n, size_t size) {
  void* const out = calloc(n + 1, size);
  static const char why[] = "demo.repeat: no memory for the values of a rule";
  if (out == NULL) ricci_writer_keep(w, ricci_status_make(RICCI_RESOURCE_EXHAUSTED, why, sizeof why - 1));
  return out;
}
static inline ricci_val* repeat_values(ricci_writer* w, size_t n) { return repeat_room(w, n, sizeof(ricci_val)); }
static inline uint8_t* repeat_flags(ricci_writer* w, size_t n) { return repeat_room(w, n, 1); }
static inline uint32_t repeat_count(const uint8_t* flag, uint32_t n) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < n; ++i) sum += flag[i] != 0;
  return sum;
}
/* The repeat of `op` with another body. */
static inline void repeat_emit(ricci_writer* w, const ricci_op* op, ricci_program* body, const ricci_val* in,
                               uint32_t n_in, ricci_val* out, uint32_t n_out) {
  const ricci_attr attrs[] = {ricci_attr_int("n", ricci_op_int(op, "n", 0)), ricci_attr_program("body", &body)};
  ricci_write_emit(w, "demo.repeat", attrs, 2, in, n_in, out, n_out);
}
static inline void repeat_emit_scan(ricci_writer* w, const ricci_op* op, uint32_t n_carry, const ricci_val* in,
                                    ricci_val* out) {
  ricci_program* const body = repeat_body(op);
  const ricci_attr attrs[] = {ricci_attr_int("length", ricci_op_int(op, "n", 0)),
                              ricci_attr_int("num_consts", (int64_t)op->n_in - n_carry),
                              ricci_attr_int("num_carry", n_carry), ricci_attr_program("body", &body)};
  ricci_write_emit(w, "scan", attrs, 4, in, op->n_in, out, n_carry);
}
#endif
