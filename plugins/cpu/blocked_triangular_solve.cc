// triangular_solve of systems that are too large for the generated loops: by halves of the elements, nearly all of it
// products (BlockAlgebra).
//
// A task is so many lines of one right side, columns or, from the right, rows: each line's bits depend on shapes alone.
#include "blocked_triangular_solve.h"

#include <algorithm>

#include "block_algebra.h"
#include "library_op.h"

namespace ricci::cpu {
namespace {

// Below so many elements of a line, and of all lines, the generated kernel is as good and fuses. From the right it has
// lines that are not adjacent.
struct Least {
  int64_t elements, all;
};
constexpr Least kFromLeft = {64, 2000}, kFromRight = {32, 256};
constexpr int64_t kFewestLines = 2;    // of one the generated kernel reads a at the speed of memory
constexpr int64_t kLargest = 1 << 20;  // far above any memory
constexpr int64_t kLines = 256;        // of one task

struct Solution {
  BlockTools tools;
  TriangularSystem system{};  // but for its matrices; of the lines of one right side
  int64_t batch = 1, tasks_each = 0;
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

bool Make(const ricci_op* op, Solution& s) {
  Array a, b;
  GemmType type;
  if (!ReadType(op, op->in_types[0], a) || !ReadType(op, op->in_types[1], b)) return false;
  if (!TypeOf(a.dtype, type) || (type != GemmType::kF32 && type != GemmType::kF64)) return false;
  const bool left = Has(op, "left_side");
  const int64_t n = a.dims.back(), lines = b.dims[b.dims.size() - (left ? 1 : 2)];
  const Least least = left ? kFromLeft : kFromRight;
  if (n < least.elements || n > kLargest || lines < std::max(kFewestLines, (least.all + n - 1) / n)) return false;
  for (size_t i = 0; i + 2 < a.dims.size(); ++i) s.batch *= a.dims[i];
  if (s.batch == 0) return false;
  s.tools = ToolsFor(type, std::max(n, std::min(lines, kLines)));
  s.system = SystemOf(op, n, lines);
  s.tasks_each = (lines + kLines - 1) / kLines;
  return true;
}

template <typename T>
void RunTask(const Solution& s, const ricci_launch& l) {
  const int64_t batch = l.task / s.tasks_each, first = l.task % s.tasks_each * kLines;
  TriangularSystem system = s.system;
  system.lines = std::min(kLines, s.system.lines - first);
  system.t = static_cast<const T*>(l.in[0]) + batch * system.n * system.n;
  const int64_t at = batch * system.n * s.system.lines + first * system.line;
  const T* b = static_cast<const T*>(l.in[1]) + at;
  T* x = static_cast<T*>(l.out[0]) + at;
  system.x = x;
  // In runs of adjacent elements.
  const bool lines_adjacent = system.line == 1;
  const int64_t runs = lines_adjacent ? system.n : system.lines, length = lines_adjacent ? system.lines : system.n,
                stride = lines_adjacent ? system.step : system.line;
  for (int64_t i = 0; i < runs; ++i) std::copy_n(b + i * stride, length, x + i * stride);
  BlockAlgebra(s.tools, l.scratch).Solve(system);
}

// ---- the lowering ----
void Describe(const Solution& s, ricci_library_plan& out) {
  out.tasks = s.batch * s.tasks_each;
  out.flops = static_cast<uint64_t>(s.batch * s.system.lines) * static_cast<uint64_t>(s.system.n * s.system.n);
  out.scratch_bytes = static_cast<uint64_t>(s.tools.scratch_bytes);
}
void Run(const Solution& s, const ricci_launch& l) {
  s.tools.type == GemmType::kF64 ? RunTask<double>(s, l) : RunTask<float>(s, l);
}

}  // namespace

ricci_status* AddTriangularSolve(ricci_ctx* ctx) {
  return PlannedLibrary<Solution, Make, Describe, Run>::Add(ctx, "triangular_solve");
}

}  // namespace ricci::cpu
