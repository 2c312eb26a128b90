// Dimension numbers of gather and scatter, and the checks they share.
//
// Both move windows to or from positions of an array that are listed in an index array: its last dimension holds one
// position, its others count the windows. A dimension of the array is a window dimension, or it is dropped from the
// window (size 1), or it is paired with a dimension of the index array (a batching dimension).
#ifndef RICCI_LAX_WINDOW_DIMS_HPP_
#define RICCI_LAX_WINDOW_DIMS_HPP_
#include "factor_text.hpp"
#include "start_index.hpp"

namespace ricci { inline namespace v0 { namespace lax {

struct WindowDims {
  // Names of the attributes, for messages.
  struct Names {
    std::string_view window, dropped, start_map, operand_batch, index_batch;
  };
  const Names& names;
  Dims window;         // window dimensions of the windows' array (result of gather, updates of scatter)
  Dims dropped;        // dimensions of the operand that the window does not have
  Dims start_map;      // entry j of a position is along this dimension of the operand
  Dims operand_batch;  // dimensions of the operand paired with
  Dims index_batch;    // these of the index array
  int64_t operand_rank, index_rank;

  WindowDims(const Eqn& e, const Names& n)
      : names(n),
        window(e.ints(n.window)),
        dropped(e.ints(n.dropped)),
        start_map(e.ints(n.start_map)),
        operand_batch(e.ints(n.operand_batch)),
        index_batch(e.ints(n.index_batch)),
        operand_rank(e.in(0).rank()),
        index_rank(e.in(1).rank()) {}

  bool IsWindow(int64_t operand_dim) const {
    return !rules::Contains(dropped, operand_dim) && !rules::Contains(operand_batch, operand_dim);
  }
  // The window dimensions of the operand, in the order of `window`.
  Shape WindowOfOperand() const {
    Shape out;
    for (int64_t d = 0; d < operand_rank; ++d) {
      if (IsWindow(d)) out.push_back(d);
    }
    return out;
  }
  // Dimensions of the windows' array that count windows, in the order of the index array's.
  Shape Counting() const { return rules::Complement(window, static_cast<int64_t>(window.size()) + index_rank - 1); }
};

// ---- checks ----
inline void WantSortedDims(const Eqn& e, std::string_view name, Dims dims, int64_t rank) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= rank || (i > 0 && dims[i] <= dims[i - 1])) {
      e.Fail(name, " ", dims, " must increase and be less than ", rank);
    }
  }
}
inline void WantDistinctDims(const Eqn& e, std::string_view name, Dims dims, int64_t rank) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || dims[i] >= rank)
      e.Fail(name, " ", dims, " is out of range; each must be from 0 to less than ", rank);
    if (rules::Contains(dims.first(i), dims[i])) e.Fail(name, " ", dims, " names ", dims[i], " twice");
  }
}
inline void WantDisjointDims(const Eqn& e, std::string_view a, Dims x, std::string_view b, Dims y) {
  for (int64_t d : x) {
    if (rules::Contains(y, d)) e.Fail(a, " ", x, " and ", b, " ", y, " both name dimension ", d);
  }
}
// All requirements on operand and index array.
inline void CheckWindowDims(const Eqn& e, const WindowDims& d) {
  const ArrayType x = e.in(0), indices = e.in(1);
  const WindowDims::Names& n = d.names;
  if (!IsInt(indices.dtype()) || indices.rank() == 0)
    e.Fail("indices are ", indices, "; they must be integers of rank 1 or more");
  const int64_t position = indices.dim(indices.rank() - 1);
  WantSortedDims(e, n.window, d.window, static_cast<int64_t>(d.window.size()) + indices.rank() - 1);
  WantSortedDims(e, n.dropped, d.dropped, x.rank());
  WantSortedDims(e, n.operand_batch, d.operand_batch, x.rank());
  WantDistinctDims(e, n.index_batch, d.index_batch, indices.rank() - 1);
  WantDistinctDims(e, n.start_map, d.start_map, x.rank());
  WantDisjointDims(e, n.dropped, d.dropped, n.operand_batch, d.operand_batch);
  WantDisjointDims(e, n.start_map, d.start_map, n.operand_batch, d.operand_batch);
  if (static_cast<int64_t>(d.start_map.size()) != position) {
    e.Fail(n.start_map, " ", d.start_map, " has ", d.start_map.size(), " entries, a position in ", indices, " has ",
           position);
  }
  if (d.operand_batch.size() != d.index_batch.size()) {
    e.Fail(n.operand_batch, " ", d.operand_batch, " and ", n.index_batch, " ", d.index_batch, " must pair up");
  }
  for (size_t i = 0; i < d.operand_batch.size(); ++i) {
    const int64_t a = x.dim(d.operand_batch[i]), b = indices.dim(d.index_batch[i]);
    if (a != b)
      e.Fail("batching dimensions ", d.operand_batch[i], " of ", x, " and ", d.index_batch[i], " of ", indices,
             " differ");
  }
  if (d.window.size() + d.dropped.size() + d.operand_batch.size() != static_cast<size_t>(x.rank())) {
    e.Fail(n.window, " ", d.window, ", ", n.dropped, " ", d.dropped, " and ", n.operand_batch, " ", d.operand_batch,
           " must cover the dimensions of ", x);
  }
}
inline void WantMode(const Eqn& e) {
  const std::string_view mode = e.str("mode");
  if (mode != "fill" && mode != "clip" && mode != "promise_in_bounds") {
    e.Fail("mode ", mode, " must be fill, clip or promise_in_bounds");
  }
}

// ---- factors ----
// `sizes`: of the window in operand dimensions. Adds the factors of operand, index array and windows' array.
struct WindowFactors {
  Shape operand, indices, windows;
};
inline WindowFactors FactorsOfWindows(FactorText& text, const Eqn& e, const WindowDims& d, Dims sizes) {
  const ArrayType x = e.in(0), indices = e.in(1);
  WindowFactors out;
  for (int64_t i = 0; i + 1 < indices.rank(); ++i) out.indices.push_back(text.Shared());
  out.windows.assign(d.window.size() + out.indices.size(), 0);
  const Shape counting = d.Counting();
  for (size_t i = 0; i < counting.size(); ++i) out.windows[static_cast<size_t>(counting[i])] = out.indices[i];
  out.indices.push_back(text.Whole());
  size_t next = 0;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (d.IsWindow(i)) {
      const bool passes = sizes[static_cast<size_t>(i)] == x.dim(i);
      out.operand.push_back(passes ? text.Shared() : text.Whole());
      out.windows[static_cast<size_t>(d.window[next++])] = passes ? out.operand.back() : text.Whole();
      continue;
    }
    const auto pair = std::find(d.operand_batch.begin(), d.operand_batch.end(), i);
    const bool is_paired = pair != d.operand_batch.end();
    out.operand.push_back(
        is_paired ? out.indices[static_cast<size_t>(d.index_batch[static_cast<size_t>(pair - d.operand_batch.begin())])]
                  : text.Whole());
  }
  return out;
}

}}}  // namespace ricci::v0::lax
#endif
