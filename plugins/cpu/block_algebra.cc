// A system is solved by halves: the elements that are found first, then what they take away from the others as one
// product, then those. So nearly all of the work is in products, with as many steps as can be.
#include "block_algebra.h"

#include <algorithm>

#include "library_op.h"

namespace ricci::cpu {
namespace {

constexpr int64_t kColumns = 512;  // of one product

int64_t HalfOf(int64_t n) { return (n / 2 + kFactorBlock - 1) / kFactorBlock * kFactorBlock; }

}  // namespace

BlockTools ToolsFor(GemmType type, int64_t most) {
  const auto aligned = [&](int64_t elements) { return (elements * SizeOf(type) + 63) / 64 * 64; };
  BlockTools t{type, BestTile(), BestSolveBlock(), 0, 0, 0};
  t.b_offset = aligned(GemmPacked(std::min(most, kGemmRows)));
  t.triangle_offset = t.b_offset + aligned(GemmPacked(std::min(most, kColumns)));
  t.scratch_bytes = t.triangle_offset + aligned(kTriangleElements);
  return t;
}

const void* BlockAlgebra::At(const void* data, int64_t at) const {
  return static_cast<const char*>(data) + at * SizeOf(tools_.type);
}

void BlockAlgebra::Subtract(const GemmMatrix& a, const GemmMatrix& b, void* c, int64_t c_stride, int64_t m, int64_t n,
                            int64_t k) const {
  for (int64_t first = 0; first < n; first += kColumns) {
    GemmMatrix columns = b;
    columns.data = At(b.data, first * b.outer_stride);
    tools_.tile({a, columns, At(c, first), c_stride, tools_.type, tools_.type, m, std::min(kColumns, n - first), k,
                 /*subtract=*/true},
                {scratch_, scratch_ + tools_.b_offset, nullptr});
  }
}

void BlockAlgebra::SolveElements(const TriangularSystem& s, int64_t first, int64_t end) const {
  if (end - first <= kFactorBlock) return SolveDiagonal(s, first, end);
  const int64_t middle = first + HalfOf(end - first);
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
  tools_.type == GemmType::kF64 ? CopyTriangle<double>(s, first, end) : CopyTriangle<float>(s, first, end);
  const int64_t begin = s.forward ? first : end - 1, step = s.forward ? s.step : -s.step;
  tools_.solve({scratch_ + tools_.triangle_offset, s.unit, At(s.x, begin * s.step), step, s.line, end - first, s.lines,
                tools_.type});
}

// In the order in which elements are found, so that it is lower. Nothing else of t is read.
template <typename T>
void BlockAlgebra::CopyTriangle(const TriangularSystem& s, int64_t first, int64_t end) const {
  const T* t = static_cast<const T*>(s.t);
  T* to = reinterpret_cast<T*>(scratch_ + tools_.triangle_offset);
  const int64_t n = end - first, direction = s.forward ? 1 : -1, begin = s.forward ? first : end - 1;
  for (int64_t j = 0; j < n; ++j) {
    const T* column = t + (begin + direction * j) * s.column;
    for (int64_t i = j + 1; i < n; ++i) to[j * kFactorBlock + i] = column[(begin + direction * i) * s.row];
    if (!s.unit) to[kTriangleDiagonal + j] = column[(begin + direction * j) * s.row];
  }
}

}  // namespace ricci::cpu
