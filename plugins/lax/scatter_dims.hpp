// Dimension numbers of the scatters: their attributes, the sizes of their windows and what these must fulfil.
#ifndef RICCI_LAX_SCATTER_DIMS_HPP_
#define RICCI_LAX_SCATTER_DIMS_HPP_
#include "window_dims.hpp"

namespace ricci { inline namespace v0 { namespace lax {

inline constexpr WindowDims::Names kScatterNames = {"update_window_dims", "inserted_window_dims",
                                                    "scatter_dims_to_operand_dims", "operand_batching_dims",
                                                    "scatter_indices_batching_dims"};

inline constexpr AttrSpec kScatterAttrs[] = {{"update_window_dims", AttrKind::kInts},
                                             {"inserted_window_dims", AttrKind::kInts},
                                             {"scatter_dims_to_operand_dims", AttrKind::kInts},
                                             {"operand_batching_dims", AttrKind::kInts, "[]"},
                                             {"scatter_indices_batching_dims", AttrKind::kInts, "[]"},
                                             {"indices_are_sorted", AttrKind::kBool, "false"},
                                             {"unique_indices", AttrKind::kBool, "false"},
                                             {"mode", AttrKind::kString}};

// Sizes of the window, of updates of that shape, in the dimensions of the operand.
inline Shape WindowSizes(const WindowDims& d, Dims updates) {
  Shape sizes(static_cast<size_t>(d.operand_rank), 1);
  const Shape window = d.WindowOfOperand();
  for (size_t i = 0; i < window.size(); ++i) {
    sizes[static_cast<size_t>(window[i])] = updates[static_cast<size_t>(d.window[i])];
  }
  return sizes;
}

// Fails unless windows of `updates`, a shape that messages call `shown`, are there for each position and fit into
// operand 0.
inline void CheckUpdates(const Eqn& e, const WindowDims& d, Dims updates, const std::string& shown) {
  const ArrayType x = e.in(0), indices = e.in(1);
  CheckWindowDims(e, d);
  WantMode(e);
  const size_t rank = d.window.size() + static_cast<size_t>(indices.rank() - 1);
  if (updates.size() != rank) e.Fail(shown, " must have rank ", rank);
  const Shape counting = d.Counting();
  for (size_t i = 0; i < counting.size(); ++i) {
    if (updates[static_cast<size_t>(counting[i])] != indices.shape()[i]) {
      e.Fail("dimension ", counting[i], " of ", shown, " and ", i, " of indices ", indices, " differ");
    }
  }
  const Shape sizes = WindowSizes(d, updates);
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (d.IsWindow(static_cast<int64_t>(i)) && sizes[i] > x.shape()[i]) {
      e.Fail("windows ", sizes, " of ", shown, " must fit into ", x);
    }
  }
}

// The same dimension numbers with a batch first in operand and updates. A batch of positions comes first in the indices
// too; without one, the batch is one more window dimension.
struct BatchedScatter {
  BatchedScatter(const Eqn& e, const Batched& positions) {
    const WindowDims d(e, kScatterNames);
    const bool has = positions.is_batched();
    indices = has ? rules::MoveDim(positions.value, positions.dim, 0) : positions.value;
    window = After(has ? Shape{} : Shape{0}, d.window);
    dropped = After({}, d.dropped);
    start_map = After({}, d.start_map);
    operand_batch = After(has ? Shape{0} : Shape{}, d.operand_batch);
    index_batch = has ? After({0}, d.index_batch) : Shape(d.index_batch.begin(), d.index_batch.end());
  }
  // `first`, then `dims` moved by one position.
  static Shape After(Shape first, Dims dims) {
    for (int64_t i : dims) first.push_back(i + 1);
    return first;
  }
  Value indices;
  Shape window, dropped, start_map, operand_batch, index_batch;
};

// Nothing can be written to an array without elements, even if positions are clipped.
inline bool WritesNothing(const Eqn& e) { return ElementCount(e.in(0).shape()) == 0; }

}}}  // namespace ricci::v0::lax
#endif
