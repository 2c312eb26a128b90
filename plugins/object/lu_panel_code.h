// LuPanelCode: emits the factorisation of some columns of a matrix, with pivots, as a function.
#ifndef RICCI_OBJECT_LU_PANEL_CODE_H_
#define RICCI_OBJECT_LU_PANEL_CODE_H_
#include <string>

#include "tile_code.h"

namespace ricci::object {

inline constexpr int64_t kPanelColumns = 32;  // at most
// Elements of its scratch memory, whatever the processor.
constexpr int64_t PanelElements(int64_t rows) { return kPanelColumns * ((rows + 15) / 16 * 16 + 16); }

class LuPanelCode : protected TileCode {
 protected:
  using TileCode::TileCode;
  // void panel(a, stride, rows, width, pivots, scratch): factorises `width` columns of a; pivots are i32, from the
  // first of these rows on. For use in functions that begin later.
  void EmitPanel();
  V panel() const { return panel_; }

 private:
  V Transposition();
  void TransposeSquare(V from, V from_stride, V to, V to_stride);
  V Column(V j) { return At(data_, Mul(j, stride_)); }
  V FindPivot(V j);
  void SwapRows(V i, V k);
  void Eliminate(V j, V end);
  void EliminateTop(V first);
  void EliminateFew(V first);

  V panel_ = nullptr;
  V data_ = nullptr, stride_ = nullptr, height_ = nullptr, width_of_panel_ = nullptr;  // in the function
};

}  // namespace ricci::object
#endif
