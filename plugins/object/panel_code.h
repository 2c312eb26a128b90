// PanelCode: emits functions that factorise some columns of a matrix, and what factorisations by such panels share.
#ifndef RICCI_OBJECT_PANEL_CODE_H_
#define RICCI_OBJECT_PANEL_CODE_H_
#include <string>

#include "tile_code.h"

namespace ricci::object {

inline constexpr int64_t kPanelColumns = 32;  // at most
inline constexpr int64_t kFew = 8;            // columns whose factors stay in registers

// Scratch memory of a factorisation, in elements, whatever the processor: panels of columns, packed rows, a triangle,
// and the panel, each of whose columns has room for whole panels of columns after its last row.
inline constexpr int64_t kPackedAt = kPanelColumns * kColumns, kTriangleAt = kPackedAt + kPackedRows,
                         kPanelAt = kTriangleAt + kPanelColumns * kPanelColumns;
constexpr int64_t PanelStride(int64_t rows) { return (rows + 15) / 16 * 16 + 32; }
constexpr int64_t FactorElements(int64_t rows) { return kPanelAt + kPanelColumns * PanelStride(rows); }

class PanelCode : protected TileCode {
 protected:
  // `symmetric`: the elements of a column are the factors of its row too.
  PanelCode(const cpu::LlvmBuilder& l, cpu::GemmType type, bool symmetric, const Processor& processor)
      : TileCode(l, type, /*by_rows=*/true, processor), symmetric_(symmetric) {}

  // void name(a, stride, rows, width, pivots, scratch), where `steps` emits what is done to the copy of the panel in
  // the scratch memory: element [i, j] is at Column(j) + i. A name always has the same code.
  template <typename Steps>
  V Panel(const std::string& name, Steps steps) {
    if (V known = LLVMGetNamedFunction(l_.module, name.c_str())) return known;
    V transposition = Transposition();
    LLVMTypeRef n = l_.i64(), at = l_.ptr();
    V f = Begin(name, {at, n, n, n, at, at});
    BeginPanel(f, transposition);
    steps();
    EndPanel(f, transposition);
    return f;
  }
  V Column(V j) { return At(data_, Mul(j, stride_)); }
  // Element [j, k] of the factor that takes column j away from column k.
  V Top(V j, V k) { return symmetric_ ? At(Column(j), k) : At(Column(k), j); }
  V StrideOf(V rows) { return Add(Whole(Add(rows, l_.I64(15)), 16), l_.I64(32)); }
  // Column j, below its diagonal, divided by `divisor` if `divides`, and taken away from the columns (j, end).
  void Eliminate(V j, V divisor, V divides, V end);
  // Columns [first, first + kFew) taken away from the rows below them of all columns after them.
  void EliminateFew(V first);
  // `m` rows from `row` on of the columns [first, first + width) of a matrix with their signs changed, since cells add,
  // up to a whole cell of them; past the last of all rows, that one again.
  struct Rows {
    V matrix;
    int64_t stride, all;
  };
  void PackNegative(const Rows& a, V row, V m, V first, V width, V to);

  const bool symmetric_;
  V data_ = nullptr, stride_ = nullptr, height_ = nullptr, panel_width_ = nullptr, pivots_of_panel_ = nullptr;

 private:
  void BeginPanel(V f, V transposition);
  void EndPanel(V f, V transposition);
  V Transposition();
  void TransposeSquare(V from, V from_stride, V to, V to_stride);
};

}  // namespace ricci::object
#endif
