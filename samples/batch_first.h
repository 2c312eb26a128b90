/* batch_first: what batching rules in C need most: an operand with its batch as dimension 0. */
#ifndef SAMPLES_BATCH_FIRST_H_
#define SAMPLES_BATCH_FIRST_H_
#include "ricci/writer.h"

/* `v`, of type `t` without its batch: with the batch, at `dim`, moved to dimension 0; repeated `size` times if `dim` is
 * negative. */
static inline ricci_val batch_first(ricci_writer* w, ricci_val v, ricci_type t, int32_t dim, int64_t size) {
  ricci_type_desc d = ricci_type_desc_default();
  int64_t sizes[RICCI_MAX_RANK], order[RICCI_MAX_RANK];
  ricci_val out;
  if (dim == 0 || ricci_writer_failed(w)) return v;
  ricci_writer_keep(w, ricci_type_get(ricci_builder_context(w->program), t, &d));
  ricci_write_require(w, d.rank < RICCI_MAX_RANK,
                      "with its batch an operand would have more dimensions than any array");
  if (ricci_writer_failed(w)) return RICCI_VAL_NONE;
  sizes[0] = size;
  order[0] = dim;
  for (uint32_t k = 0; k < d.rank; ++k) {
    sizes[k + 1] = d.dims[k];
    order[k + 1] = (int32_t)k < dim ? k : k + 1; /* where dimension k + 1 comes from */
  }
  if (dim > 0) {
    const ricci_attr permutation = ricci_attr_ints("permutation", order, d.rank + 1);
    ricci_write_emit(w, "transpose", &permutation, 1, &v, 1, &out, 1);
    return out;
  }
  const ricci_attr attrs[] = {ricci_attr_ints("shape", sizes, d.rank + 1),
                              ricci_attr_ints("broadcast_dimensions", order + 1, d.rank)};
  ricci_write_emit(w, "broadcast_in_dim", attrs, 2, &v, 1, &out, 1);
  return out;
}
#endif
