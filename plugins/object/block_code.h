// BlockCode: emits what factorisations and triangular solutions of matrices by blocks of rows or columns do in place.
//
// Panels have 32 columns. The code of one factorisation is 4 to 9 KB, for any size. Complex matrices are generated
// loops instead: lu of c64[64,64] and c64[256,256] takes 6 and 13 times as long as in a host. Bits differ from a host's
// where that takes a library routine.
#ifndef RICCI_OBJECT_BLOCK_CODE_H_
#define RICCI_OBJECT_BLOCK_CODE_H_
#include <vector>

#include "panel_code.h"
#include "tile_code.h"

namespace ricci::object {

// Scratch memory, in elements: panels of columns, packed rows, a triangle; then what its user wants.
inline constexpr int64_t kPackedAt = kPanelColumns * kColumns, kTriangleAt = kPackedAt + kPackedRows,
                         kBlockElements = kTriangleAt + kPanelColumns * kPanelColumns;

class BlockCode : TileCode {
 public:
  using TileCode::Block, TileCode::Cells, TileCode::Transpose;
  // Emits the functions that it calls, so before the function that it is for begins; `Begin` gives it its memory.
  BlockCode(const cpu::LlvmBuilder& l, cpu::GemmType type, const Processor& processor);
  void Begin(V scratch) { scratch_ = scratch; }

  // A matrix in memory; `stride` from row to row.
  struct Matrix {
    V at;
    int64_t stride, rows;
    bool turned = false;  // what is meant is its transpose
  };
  V panels() const { return scratch_; }
  V packed() { return At(scratch_, l_.I64(kPackedAt)); }
  V scratch(int64_t at) { return At(scratch_, l_.I64(at)); }
  // `m` rows from `row` on of the columns [first, first + width), up to a whole cell of them, as rows for cells; past
  // the last of all rows, that one again.
  void PackRows(const Matrix& a, V row, V m, V first, V width);
  // The diagonal block [first, first + width), for `SolveTop`.
  void CopyTriangle(const Matrix& a, V first, V width);
  // In rows [first, first + width) and columns [n0, n0 + n) of x, at most as many as panels hold: the solution of the
  // system of that block. Its negative is then in the panels: cells add.
  struct System {
    bool forward, unit;  // the block is lower; its diagonal is ones, which are not read
  };
  void SolveTop(const System& s, const Matrix& x, V first, V width, V n0, V n);

 private:
  V Element(const Matrix& a, V i, V j) { return At(a.at, Add(Mul(i, l_.I64(a.stride)), j)); }
  void CopyTop(const Matrix& x, V row, V width, V column, V count, V panel, bool back);
  void Solve(const System& s, V panel, V width);
  void SolveRows(const System& s, V panel, V row, V width, int64_t n);

  V scratch_ = nullptr;
};

}  // namespace ricci::object
#endif
