// lu of matrices that are too large for the generated loops: by halves of the columns, as in Toledo, "Locality of
// reference in LU decomposition with partial pivoting" (1997). The left half is factorised, the right one takes over
// its swaps and what it takes away, a solution and a product (BlockAlgebra), and is factorised below. At the bottom are
// panels (lu_kernel.h). Pivots, NaN and zeros are as in the generated loops: nothing else is compared or skipped.
//
// A task is one matrix, so bits do not depend on the thread count.
//
// f64 of 1000 rows on one thread of a Xeon with AVX-512: 10 ms instead of 125 (JAX on two threads: 12); of 100 rows 37
// us. triangular_solve of the same matrices (blocked_triangular_solve.cc): 13 ms instead of 74 (JAX 14), and 20 us.
#include "cpu/library/blocked_lu.h"

#include <algorithm>

#include "cpu/library/block_algebra.h"

namespace ricci::cpu {
namespace {

// Columns to eliminate below which the generated kernel is as good and fuses.
constexpr int64_t kSmallestReal = 24, kSmallestComplex = 16;
constexpr int64_t kLargest = 1 << 20;  // rows and columns; far above any memory

struct Factor {
  BlockTools tools;
  int64_t rows = 0, columns = 0, steps = 0, batch = 1;
  int64_t panel_offset = 0, scratch_bytes = 0;
  LuPanelFn panel = nullptr;
};

bool Make(const ricci_op* op, Factor& f) {
  Array a;
  if (!ReadType(op, op->in_types[0], a) || a.dims.size() < 2) return false;
  f.columns = a.dims.back();
  f.rows = a.dims[a.dims.size() - 2];
  f.steps = std::min(f.rows, f.columns);
  if (!ToolsFor(a.dtype, std::max(f.rows, f.columns), f.tools)) return false;
  const int64_t smallest = f.tools.parts == 2 ? kSmallestComplex : kSmallestReal;
  if (f.steps < smallest || std::max(f.rows, f.columns) > kLargest) return false;
  for (size_t i = 0; i + 2 < a.dims.size(); ++i) f.batch *= a.dims[i];
  if (f.batch == 0) return false;
  f.panel_offset = (f.tools.scratch_bytes + 63) / 64 * 64;
  f.scratch_bytes = f.panel_offset + LuPanelElements(f.rows, std::min(f.steps, f.tools.width())) * f.tools.size();
  f.panel = BestLuPanel();
  return true;
}

// One matrix, given in `lu`, with its pivots and permutation.
template <typename T>
class Elimination {
 public:
  Elimination(const Factor& f, T* lu, int32_t* pivots, int32_t* permutation, char* scratch)
      : f_(f),
        algebra_(f.tools, scratch),
        lu_(lu),
        pivots_(pivots),
        permutation_(permutation),
        panel_scratch_(scratch + f.panel_offset) {}

  void Run() const {
    for (int64_t i = 0; i < f_.rows; ++i) permutation_[i] = static_cast<int32_t>(i);
    Factorise(0, f_.steps);
    for (int64_t i = 0; i < f_.steps; ++i) std::swap(permutation_[i], permutation_[pivots_[i]]);
    if (f_.columns > f_.steps) Continue(0, f_.steps, f_.columns);
  }

 private:
  T* At(int64_t i, int64_t j) const { return lu_ + i * f_.columns + j; }

  // Columns [first, end), from row `first` on.
  void Factorise(int64_t first, int64_t end) const {
    const int64_t width = end - first;
    if (width <= f_.tools.width()) {
      f_.panel({At(first, first), f_.columns, f_.rows - first, width, pivots_ + first, panel_scratch_, f_.tools.type,
                f_.tools.parts});
      for (int64_t i = first; i < end; ++i) pivots_[i] += static_cast<int32_t>(first);
      return;
    }
    const int64_t middle = first + f_.tools.HalfOf(width);
    Factorise(first, middle);
    Continue(first, middle, end);
    Factorise(middle, end);
    SwapRows(middle, end, first, middle);
  }
  // What the steps [first, middle) do to columns [middle, end).
  void Continue(int64_t first, int64_t middle, int64_t end) const {
    SwapRows(first, middle, middle, end);
    const int64_t steps = middle - first, n = f_.columns;
    T* top = At(first, middle);
    algebra_.Solve({At(first, first), n, 1, /*forward=*/true, /*unit=*/true, top, n, 1, steps, end - middle});
    if (middle == f_.rows) return;
    algebra_.Subtract(algebra_.View(At(middle, first), 0, n, 1), algebra_.View(top, 0, 1, n), At(middle, middle), n,
                      f_.rows - middle, end - middle, steps);
  }
  // Those of the steps [first, end), in columns [from, to).
  void SwapRows(int64_t first, int64_t end, int64_t from, int64_t to) const {
    for (int64_t i = first; i < end; ++i) {
      if (pivots_[i] != i) std::swap_ranges(At(i, from), At(i, to), At(pivots_[i], from));
    }
  }

  const Factor& f_;
  const BlockAlgebra algebra_;
  T* lu_;
  int32_t *pivots_, *permutation_;
  char* panel_scratch_;
};

template <typename T>
void RunTask(const Factor& f, const ricci_launch& l) {
  const int64_t size = f.rows * f.columns;
  const T* a = static_cast<const T*>(l.in[0]) + l.task * size;
  T* lu = static_cast<T*>(l.out[0]) + l.task * size;
  std::copy(a, a + size, lu);
  Elimination<T>(f, lu, static_cast<int32_t*>(l.out[1]) + l.task * f.steps,
                 static_cast<int32_t*>(l.out[2]) + l.task * f.rows, static_cast<char*>(l.scratch))
      .Run();
}

// ---- the lowering ----
// Multiplications and additions.
uint64_t FlopsOf(const Factor& f) {
  const auto steps = static_cast<uint64_t>(f.steps), more = static_cast<uint64_t>(std::max(f.rows, f.columns)) - steps;
  return static_cast<uint64_t>(f.batch) * steps * steps * (2 * steps / 3 + more) * f.tools.real_products();
}

void Describe(const Factor& f, ricci_library_plan& out) {
  out.tasks = f.batch;
  out.flops = FlopsOf(f);
  out.scratch_bytes = static_cast<uint64_t>(f.scratch_bytes);
}
void Run(const Factor& f, const ricci_launch& l) {
  ForNumbersOf(f.tools, [&]<typename T>(T) { RunTask<T>(f, l); });
}

}  // namespace

ricci_status* AddLu(ricci_ctx* ctx) { return PlannedLibrary<Factor, Make, Describe, Run>::Add(ctx, "lu"); }

}  // namespace ricci::cpu
