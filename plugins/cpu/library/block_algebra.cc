// A system is solved by halves: the elements that are found first, then what they take away from the others as one
// product, then those. So nearly all of the work is in products, with as many steps as can be.
//
// Products of complex numbers are products of reals: rows of numbers in their memory order, by squares of reals, one
// for each number of the right operand. The tile makes the squares while it packs that operand.
//
// A number a + ib of the right operand is the square (a b; -b a). Only diagonal blocks and panels are split into real
// and imaginary vectors. Milliseconds, ours and JAX 0.10.2's, on one thread of a shared Xeon with AVX-512; solve is
// from the left, lower, for n and 16 columns:
//
//   rows |      lu c64 |     lu c128 | solve c64, n | solve c64, 16 | cholesky c64
//     64 | 0.030 0.059 | 0.040 0.073 |  0.022 0.054 |   0.013 0.022 |  0.026 0.033
//    256 |  0.52 0.99  |   1.0 1.5   |   0.57 1.39  |   0.053 0.13  |   0.34 0.54
//    512 |   3.3 6.3   |   7.0 9.7   |    4.3 7.8   |    0.17 0.60  |    2.3 3.7
#include "cpu/library/block_algebra.h"

#include <algorithm>

namespace ricci::cpu {
namespace {

constexpr int64_t kColumns = 512;  // of one product, in parts of numbers

struct Numbers {
  GemmType type;
  int parts;
};
bool NumbersOf(uint32_t dtype, Numbers& out) {
  if (dtype == RICCI_C64 || dtype == RICCI_C128) {
    out = {dtype == RICCI_C64 ? GemmType::kF32 : GemmType::kF64, 2};
    return true;
  }
  out.parts = 1;
  return TypeOf(dtype, out.type) && (out.type == GemmType::kF32 || out.type == GemmType::kF64);
}

}  // namespace

bool ToolsFor(uint32_t dtype, int64_t most, BlockTools& out) {
  Numbers numbers;
  if (!NumbersOf(dtype, numbers)) return false;
  const auto aligned = [&](int64_t parts) { return (parts * SizeOf(numbers.type) + 63) / 64 * 64; };
  out = {numbers.type, numbers.parts, BestTile(), BestSolveBlock()};
  out.b_offset = aligned(GemmPacked(std::min(most, kGemmRows)));
  out.triangle_offset = out.b_offset + aligned(GemmPacked(std::min(most * numbers.parts, kColumns)));
  out.scratch_bytes = out.triangle_offset + aligned(kTriangleElements);
  return true;
}

const void* BlockAlgebra::At(const void* data, int64_t at) const {
  return static_cast<const char*>(data) + at * tools_.size();
}

void BlockAlgebra::Subtract(const GemmMatrix& a, const GemmMatrix& b, void* c, int64_t c_stride, int64_t m, int64_t n,
                            int64_t k) const {
  const int64_t parts = tools_.parts, most = kColumns / parts;
  GemmMatrix rows = a, columns = b;
  rows.outer_stride *= parts;
  columns.squares = parts == 2;
  for (int64_t first = 0; first < n; first += most) {
    columns.data = At(b.data, first * b.outer_stride);
    tools_.tile({rows, columns, At(c, first), c_stride * parts, tools_.type, tools_.type, m,
                 std::min(most, n - first) * parts, k * parts, /*subtract=*/true},
                {scratch_, scratch_ + tools_.b_offset, nullptr});
  }
}

void BlockAlgebra::SolveElements(const TriangularSystem& s, int64_t first, int64_t end) const {
  if (end - first <= tools_.width()) return SolveDiagonal(s, first, end);
  const int64_t middle = first + tools_.HalfOf(end - first);
  if (s.forward) {
    SolveElements(s, first, middle);
    SubtractFound(s, {first, middle}, {middle, end});
    return SolveElements(s, middle, end);
  }
  SolveElements(s, middle, end);
  SubtractFound(s, {middle, end}, {first, middle});
  SolveElements(s, first, middle);
}

// Rows of a product are not adjacent: they are elements where lines are adjacent, else lines.
void BlockAlgebra::SubtractFound(const TriangularSystem& s, Elements found, Elements rest) const {
  const GemmMatrix t = View(s.t, rest.first * s.row + found.first * s.column, s.row, s.column);
  GemmMatrix x = View(s.x, found.first * s.step, s.line, s.step);
  x.shared = true;  // other lines are another task's
  void* c = At(s.x, rest.first * s.step);
  if (s.line == 1) return Subtract(t, x, c, s.step, rest.count(), s.lines, found.count());
  Subtract(x, t, c, s.line, s.lines, rest.count(), found.count());
}

void BlockAlgebra::SolveDiagonal(const TriangularSystem& s, int64_t first, int64_t end) const {
  ForNumbersOf(tools_, [&]<typename T>(T) { CopyTriangle<T>(s, first, end); });
  const int64_t begin = s.forward ? first : end - 1, step = s.forward ? s.step : -s.step;
  SolveBlock(
      {.unit = s.unit, .x = At(s.x, begin * s.step), .step = step, .line = s.line, .n = end - first, .lines = s.lines});
}

// In the order in which elements are found, so that it is lower. Nothing else of t is read. The copy goes by rows or by
// columns, whichever are adjacent in t.
template <typename T>
void BlockAlgebra::CopyTriangle(const TriangularSystem& s, int64_t first, int64_t end) const {
  const int64_t n = end - first, direction = s.forward ? 1 : -1, begin = s.forward ? first : end - 1;
  const T* t = static_cast<const T*>(s.t) + begin * (s.row + s.column);
  const int64_t row = direction * s.row, column = direction * s.column, width = tools_.width();
  T* to = static_cast<T*>(Triangle());
  T* diagonal = to + kTriangleDiagonal / tools_.parts;
  for (int64_t i = 0; !s.unit && i < n; ++i) diagonal[i] = t[i * (row + column)];
  for (int64_t i = 1; s.column == 1 && i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) to[j * width + i] = t[i * row + j * column];
  }
  for (int64_t j = 0; s.column != 1 && j < n; ++j) {
    for (int64_t i = j + 1; i < n; ++i) to[j * width + i] = t[i * row + j * column];
  }
}

}  // namespace ricci::cpu
