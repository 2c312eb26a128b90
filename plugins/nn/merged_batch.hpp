// A batch that becomes part of dimension 0, for operations that have a batch of their own there.
#ifndef RICCI_NN_MERGED_BATCH_HPP_
#define RICCI_NN_MERGED_BATCH_HPP_
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace nn {

// Operand `x` with its batch merged into dimension 0, which has `full` elements or, in an operand that broadcasts, 1.
inline Value Merged(const Batched& x, int64_t size, int64_t full) {
  Value v = rules::BatchFirst(x, size);
  Shape shape(v.shape().begin(), v.shape().end());
  if (shape[1] != full) {
    shape[1] = full;
    v = lax::broadcast_in_dim(v, shape, rules::Range(v.rank()));
  }
  shape.erase(shape.begin());
  shape[0] = AsDimension(Exact(size) * full, "batch ", size, " of ", full, ": dimension ");
  return lax::reshape(v, shape);
}
// The results of operation `e` with merged operands, with the batch as dimension 0.
inline void SetUnmerged(const Eqn& e, const Values& out, Batch& a) {
  for (size_t i = 0; i < out.size(); ++i) {
    Shape shape = {a.size};
    const Dims own = e.out(static_cast<uint32_t>(i)).shape();
    shape.insert(shape.end(), own.begin(), own.end());
    a.out[i] = {lax::reshape(out[i], shape), 0};
  }
}

}}}  // namespace ricci::v0::nn
#endif
