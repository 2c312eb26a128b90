// triangular_solve of systems that are too large for the generated loops: by halves of the elements, nearly all of it
// products (BlockAlgebra).
//
// A task is so many lines of one right side, columns or, from the right, rows: each line's bits depend on shapes alone.
// Products of complex numbers need the matrix on the left with its rows adjacent, or else on the right, and there they
// want it with the columns of that adjacent. So right sides are turned in scratch memory if the matrix is transposed.
// With its conjugate, the conjugates of the lines are solved for.
#include "cpu/library/blocked_triangular_solve.h"

#include <algorithm>

#include "cpu/library/block_algebra.h"

namespace ricci::cpu {
namespace {

// Below so many lines, elements of a line, and of all lines, the generated kernel is as good and fuses. From the right
// it has lines that are not adjacent; of complex numbers it is slow, but for one line and adjacent rows of a, which it
// reads at the speed of memory.
struct Least {
  int64_t lines, elements, all;
};
constexpr Least kFromLeft = {2, 64, 2000}, kFromRight = {2, 32, 256}, kComplex = {2, 16, 0},
                kComplexColumns = {1, 64, 0};  // a has adjacent columns
constexpr int64_t kLargest = 1 << 20;          // far above any memory
constexpr int64_t kLines = 256;                // of one task

struct Solution {
  BlockTools tools;
  TriangularSystem system{};  // but for its matrices; of the lines of one right side
  bool turned = false, conjugate = false;
  int64_t batch = 1, tasks_each = 0, turned_offset = 0, scratch_bytes = 0;
};

bool Has(const ricci_op* op, std::string_view name) {
  const ricci_attr* a = FindAttr(op, name);
  return a != nullptr && a->i != 0;
}

// The rows of x op(a) = b are the columns of op(a)^T x^T = b^T.
TriangularSystem SystemOf(const ricci_op* op, int64_t n, int64_t lines) {
  const bool left = Has(op, "left_side"), swapped = Has(op, "transpose_a") == left;
  TriangularSystem s{};
  s.row = swapped ? 1 : n;
  s.column = swapped ? n : 1;
  s.forward = Has(op, "lower") != swapped;
  s.unit = Has(op, "unit_diagonal");
  s.step = left ? lines : 1;
  s.line = left ? 1 : n;
  s.n = n;
  s.lines = lines;
  return s;
}

bool IsWorthBlocks(const Solution& s, bool left) {
  const TriangularSystem& t = s.system;
  const Least& least = s.tools.parts == 1           ? left ? kFromLeft : kFromRight
                       : t.row == 1 && t.lines == 1 ? kComplexColumns
                                                    : kComplex;
  return t.lines >= least.lines && t.n >= least.elements && t.n * t.lines >= least.all && t.n <= kLargest;
}

bool Make(const ricci_op* op, Solution& s) {
  Array a, b;
  if (!ReadType(op, op->in_types[0], a) || !ReadType(op, op->in_types[1], b)) return false;
  const bool left = Has(op, "left_side");
  const int64_t n = a.dims.back(), lines = b.dims[b.dims.size() - (left ? 1 : 2)], most = std::min(lines, kLines);
  if (!ToolsFor(a.dtype, std::max(n, most), s.tools)) return false;
  s.system = SystemOf(op, n, lines);
  for (size_t i = 0; i + 2 < a.dims.size(); ++i) s.batch *= a.dims[i];
  if (s.batch == 0 || !IsWorthBlocks(s, left)) return false;
  s.tasks_each = (lines + kLines - 1) / kLines;
  s.conjugate = s.tools.parts == 2 && Has(op, "conjugate_a");
  s.turned = s.tools.parts == 2 && Has(op, "transpose_a");
  s.turned_offset = (s.tools.scratch_bytes + 63) / 64 * 64;
  s.scratch_bytes = s.turned_offset + (s.turned ? n * most * s.tools.size() : 0);
  return true;
}

// ---- right sides ----
// Element i of line j is at i * step + j * line; one of them is 1.
template <typename T>
struct Lines {
  T* at;
  int64_t step, line;
};
template <typename T>
T Conjugate(T v) {
  return v;
}
template <typename T>
std::complex<T> Conjugate(std::complex<T> v) {
  return std::conj(v);
}
// All elements of `lines` lines, in runs that are adjacent in `to`: short ones if they are not in `from`.
template <typename T>
void Copy(const Lines<const T>& from, const Lines<T>& to, int64_t n, int64_t lines, bool conjugate) {
  constexpr int64_t kShort = 16;
  const bool across = to.line == 1, same = (from.line == 1) == across;
  const int64_t runs = across ? n : lines, length = across ? lines : n, most = same ? length : kShort;
  const int64_t from_run = across ? from.step : from.line, to_run = across ? to.step : to.line;
  const int64_t from_next = across ? from.line : from.step;
  if (same && !conjugate) {
    for (int64_t i = 0; i < runs; ++i) std::copy_n(from.at + i * from_run, length, to.at + i * to_run);
    return;
  }
  for (int64_t first = 0; first < length; first += most) {
    const int64_t end = std::min(length, first + most);
    for (int64_t i = 0; i < runs; ++i) {
      const T* run = from.at + i * from_run;
      T* out = to.at + i * to_run;
      for (int64_t j = first; j < end; ++j) out[j] = conjugate ? Conjugate(run[j * from_next]) : run[j * from_next];
    }
  }
}

template <typename T>
void RunTask(const Solution& s, const ricci_launch& l) {
  const int64_t batch = l.task / s.tasks_each, first = l.task % s.tasks_each * kLines;
  TriangularSystem system = s.system;
  const int64_t n = system.n, lines = std::min(kLines, s.system.lines - first);
  system.lines = lines;
  system.t = static_cast<const T*>(l.in[0]) + batch * n * n;
  const int64_t at = batch * n * s.system.lines + first * system.line;
  const Lines<const T> b{static_cast<const T*>(l.in[1]) + at, system.step, system.line};
  const Lines<T> x{static_cast<T*>(l.out[0]) + at, system.step, system.line};
  Lines<T> solved = x;
  if (s.turned) {
    const bool across = x.line != 1;
    solved = {reinterpret_cast<T*>(static_cast<char*>(l.scratch) + s.turned_offset), across ? lines : 1,
              across ? 1 : n};
  }
  Copy(b, solved, n, lines, s.conjugate);
  system.x = solved.at, system.step = solved.step, system.line = solved.line;
  BlockAlgebra(s.tools, l.scratch).Solve(system);
  if (s.turned || s.conjugate) Copy<T>({solved.at, solved.step, solved.line}, x, n, lines, s.conjugate);
}

// ---- the lowering ----
void Describe(const Solution& s, ricci_library_plan& out) {
  out.tasks = s.batch * s.tasks_each;
  out.flops = static_cast<uint64_t>(s.batch * s.system.lines) * static_cast<uint64_t>(s.system.n * s.system.n) *
              s.tools.real_products();
  out.scratch_bytes = static_cast<uint64_t>(s.scratch_bytes);
}
void Run(const Solution& s, const ricci_launch& l) {
  ForNumbersOf(s.tools, [&]<typename T>(T) { RunTask<T>(s, l); });
}

}  // namespace

ricci_status* AddTriangularSolve(ricci_ctx* ctx) {
  return PlannedLibrary<Solution, Make, Describe, Run>::Add(ctx, "triangular_solve");
}

}  // namespace ricci::cpu
