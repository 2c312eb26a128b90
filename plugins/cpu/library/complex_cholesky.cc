// cholesky of large complex matrices. For each block of columns, what those before it take away is subtracted as one
// product (BlockAlgebra), its diagonal block is factored by groups of rows, and the rows below are solved with that.
//
// A row x of l has x l^H = a: the conjugates of the rows above are the triangle of its system. They are entered as they
// are found, so that what is below is solved with exactly the factor that is the result.
//
// A task is one matrix, so bits do not depend on the thread count.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cpu/library/block_algebra.h"
#include "cpu/library/blocked_cholesky.h"

namespace ricci::cpu {
namespace {

constexpr int64_t kSmallest = 32;      // rows below which the generated kernel is as good and fuses,
constexpr int64_t kBatch = 8;          // with lanes over a batch of at least this size;
constexpr int64_t kSmallestAlone = 9;  // and without
constexpr int64_t kLargest = 1 << 19;  // far above any memory
constexpr int64_t kGroup = 8;          // rows of a diagonal block

struct Factor {
  BlockTools tools;
  int64_t n = 0, batch = 1;
};

bool Make(const ricci_op* op, Factor& f) {
  Array a;
  if (!ReadType(op, op->in_types[0], a) || a.dims.size() < 2) return false;
  f.n = a.dims.back();
  for (size_t i = 0; i + 2 < a.dims.size(); ++i) f.batch *= a.dims[i];
  if (f.n < (f.batch < kBatch ? kSmallestAlone : kSmallest) || f.n > kLargest) return false;
  return f.batch > 0 && ToolsFor(a.dtype, f.n, f.tools) && f.tools.parts == 2;
}

// One matrix, at `a`, and its factor; T is the type of the parts.
template <typename T>
class Factorization {
 public:
  using Complex = std::complex<T>;
  Factorization(const Factor& f, const Complex* a, Complex* l, void* scratch)
      : f_(f),
        n_(f.n),
        algebra_(f.tools, scratch),
        a_(a),
        l_(l),
        triangle_(static_cast<Complex*>(algebra_.Triangle())) {}

  void Run() const {
    constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
    const bool positive = Blocks();
    for (int64_t i = 0; i < n_; ++i) {
      if (!positive) std::fill(At(i, 0), At(i, i + 1), Complex{kNaN, kNaN});
      std::fill(At(i, i + 1), At(i, n_), Complex{});
    }
  }

 private:
  Complex* At(int64_t i, int64_t j) const { return l_ + i * n_ + j; }

  // False: the matrix is not positive definite.
  bool Blocks() const {
    for (int64_t k = 0; k < n_; k += f_.tools.width()) {
      const int64_t width = std::min(f_.tools.width(), n_ - k), below = k + width;
      Begin(k, width);
      if (!Diagonal(k, width)) return false;
      if (below < n_) SolveRows(At(below, k), width, n_ - below);
    }
    return true;
  }
  // The columns of a block, less what those before it take away. Above the diagonal nothing is read.
  void Begin(int64_t k, int64_t width) const {
    for (int64_t i = k; i < n_; ++i) {
      const int64_t columns = std::min(width, i - k + 1);
      std::copy_n(a_ + i * n_ + k, columns, At(i, k));
      std::fill(At(i, k + columns), At(i, k + width), Complex{});
    }
    TakeAway(k, 0, n_ - k, width);
  }
  // From `width` columns of rows from `at` on, what the columns [from, at) take away.
  void TakeAway(int64_t at, int64_t from, int64_t rows, int64_t width) const {
    if (from == at) return;
    const GemmMatrix left = algebra_.View(At(at, from), 0, n_, 1);
    GemmMatrix right = left;
    right.conjugate = true;
    algebra_.Subtract(left, right, At(at, at), n_, rows, width, at - from);
  }
  // False: a pivot is not positive.
  bool Diagonal(int64_t k, int64_t width) const {
    for (int64_t first = k; first < k + width; first += kGroup) {
      const int64_t rows = std::min(kGroup, k + width - first);
      if (first > k) SolveRows(At(first, k), first - k, rows);
      TakeAway(first, k, rows, rows);
      for (int64_t i = first; i < first + rows; ++i) {
        if (!Row(k, first, i)) return false;
      }
    }
    return true;
  }
  // Row i from column `first` on, and its position in the triangle.
  bool Row(int64_t k, int64_t first, int64_t i) const {
    Complex* row = At(i, 0);
    for (int64_t j = first; j <= i; ++j) {
      const Complex* above = At(j, 0);
      T re = row[j].real(), im = row[j].imag();
      for (int64_t m = first; m < j; ++m) {
        re -= row[m].real() * above[m].real() + row[m].imag() * above[m].imag();
        im -= row[m].imag() * above[m].real() - row[m].real() * above[m].imag();
      }
      if (j == i && !(re > 0)) return false;
      row[j] = j == i ? Complex{std::sqrt(re), 0} : Complex{re / above[j].real(), im / above[j].real()};
    }
    Complex* element = triangle_ + (i - k);
    for (int64_t j = k; j < i; ++j, element += f_.tools.width()) *element = std::conj(row[j]);
    triangle_[kTriangleDiagonal / 2 + i - k] = row[i];
    return true;
  }
  // The first n elements of rows, with those of the diagonal block that are found.
  void SolveRows(Complex* rows, int64_t n, int64_t count) const {
    algebra_.SolveBlock({.unit = false, .x = rows, .step = 1, .line = n_, .n = n, .lines = count});
  }

  const Factor& f_;
  const int64_t n_;
  const BlockAlgebra algebra_;
  const Complex* a_;
  Complex *l_, *triangle_;
};

template <typename T>
void RunTask(const Factor& f, const ricci_launch& l) {
  using Complex = std::complex<T>;
  const int64_t at = l.task * f.n * f.n;
  Factorization<T>(f, static_cast<const Complex*>(l.in[0]) + at, static_cast<Complex*>(l.out[0]) + at, l.scratch).Run();
}

// ---- the lowering ----
void Describe(const Factor& f, ricci_library_plan& out) {
  out.tasks = f.batch;
  out.flops = static_cast<uint64_t>(f.batch * f.n) * static_cast<uint64_t>(f.n * f.n) * f.tools.real_products() / 3;
  out.scratch_bytes = static_cast<uint64_t>(f.tools.scratch_bytes);
}
void Run(const Factor& f, const ricci_launch& l) {
  f.tools.type == GemmType::kF64 ? RunTask<double>(f, l) : RunTask<float>(f, l);
}

}  // namespace

ricci_status* AddComplexCholesky(ricci_ctx* ctx) {
  return PlannedLibrary<Factor, Make, Describe, Run>::Add(ctx, "cholesky");
}

}  // namespace ricci::cpu
