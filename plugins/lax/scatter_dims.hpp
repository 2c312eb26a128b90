// Dimension numbers of the scatters: the names of the attributes that hold them, and the sizes of their windows.
#ifndef RICCI_LAX_SCATTER_DIMS_HPP_
#define RICCI_LAX_SCATTER_DIMS_HPP_
#include "window_dims.hpp"

namespace ricci { inline namespace v0 { namespace lax {

inline constexpr WindowDims::Names kScatterNames = {"update_window_dims", "inserted_window_dims",
                                                    "scatter_dims_to_operand_dims", "operand_batching_dims",
                                                    "scatter_indices_batching_dims"};

// Sizes of the window in the dimensions of the operand.
inline Shape WindowSizes(const Eqn& e, const WindowDims& d) {
  Shape sizes(static_cast<size_t>(d.operand_rank), 1);
  const Shape window = d.WindowOfOperand();
  for (size_t i = 0; i < window.size(); ++i) sizes[static_cast<size_t>(window[i])] = e.in(2).dim(d.window[i]);
  return sizes;
}

// Nothing can be written to an array without elements, even if positions are clipped.
inline bool WritesNothing(const Eqn& e) { return ElementCount(e.in(0).shape()) == 0; }

}}}  // namespace ricci::v0::lax
#endif
