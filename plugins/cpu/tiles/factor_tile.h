// FactorRows, SolveBlock and LuPanel: what factors and solutions by blocks do beside products, in or next to a diagonal
// block.
//
// As with GemmTile, the code is templates (factor_kernel.h, solve_kernel.h, lu_kernel.h) compiled once per instruction
// set; bits depend on shapes and on the instruction set alone. Complex numbers are pairs of two `parts` of the type;
// all strides and sizes are in numbers.
#ifndef RICCI_CPU_FACTOR_TILE_H_
#define RICCI_CPU_FACTOR_TILE_H_
#include "cpu/tiles/gemm_tile.h"

namespace ricci::cpu {

// The width of diagonal blocks in parts of numbers, but for the last one.
inline constexpr int64_t kFactorBlock = 64;
// A triangular block as substitution reads it: element [i, j], j < i, at j * kFactorBlock + i * parts, so that a column
// is adjacent; its diagonal is the last row. kTriangleElements parts in all, aligned to 64.
inline constexpr int64_t kTriangleDiagonal = kFactorBlock * kFactorBlock;
inline constexpr int64_t kTriangleElements = kTriangleDiagonal + kFactorBlock;

// ---- rows of a Cholesky factor ----
// Elements l[i, k + j], j < width, of the factor l of a; both are square with one stride. Rows go from `first`; those
// of the diagonal block come first.
struct FactorRows {
  const void* a;
  void* l;
  const void* products;  // [rows, kFactorBlock]: what the columns before k take away; NULL: there are none
  void* block;           // the diagonal block as a triangle: zero before the first rows, filled by them
  int64_t stride, k, width, first, rows;
  GemmType type;  // kF32 or kF64
};
// False: a pivot is not positive.
using FactorRowsFn = bool (*)(const FactorRows& f);
bool FactorRowsAvx512(const FactorRows& f);
bool FactorRowsAvx2(const FactorRows& f);
bool FactorRowsSse2(const FactorRows& f);

// ---- solutions with one triangular block ----
// x = t^-1 x for `lines` columns x, n <= kFactorBlock / parts elements each: element i of line j is x[i * step + j *
// line]. One of the strides is 1, or -1 that of elements.
struct SolveBlock {
  const void* triangle;
  bool unit;  // the diagonal is ones, and not read
  void* x;
  int64_t step, line, n, lines;
  GemmType type;  // of the parts: kF32 or kF64
  int parts = 1;
};
using SolveBlockFn = void (*)(const SolveBlock& s);
void SolveBlockAvx512(const SolveBlock& s);
void SolveBlockAvx2(const SolveBlock& s);
void SolveBlockSse2(const SolveBlock& s);

// ---- some columns of an LU factorization ----
// p a = l u of a[rows, width] in place, width <= min(rows, kFactorBlock / parts), by the first largest pivots: step i
// swaps rows i and pivots[i].
struct LuPanel {
  void* a;
  int64_t stride, rows, width;
  int32_t* pivots;
  void* scratch;  // LuPanelElements(rows, width * parts), aligned to 64
  GemmType type;  // of the parts: kF32 or kF64
  int parts = 1;
};
// From column to column of the copy that is worked on: an odd number of lines of the cache, or all columns of many
// sizes would fall into the same ones; and one vector more than there are rows.
constexpr int64_t LuPanelStride(int64_t rows) { return ((rows + 31) / 16 | 1) * 16; }
constexpr int64_t LuPanelElements(int64_t rows, int64_t width) { return LuPanelStride(rows) * width; }
using LuPanelFn = void (*)(const LuPanel& p);
void LuPanelAvx512(const LuPanel& p);
void LuPanelAvx2(const LuPanel& p);
void LuPanelSse2(const LuPanel& p);

}  // namespace ricci::cpu
#endif
