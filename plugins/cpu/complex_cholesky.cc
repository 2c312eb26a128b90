// cholesky of large complex matrices, by products and substitutions of real numbers.
//
// A complex number a + ib is the real matrix E = (a b; -b a), and so is a complex matrix one of twice the size, whose
// even rows are the complex rows as they lie in memory. With l its factor has E(l) E(l)^T = E(l l^H), and E(l) is lower
// triangular, because the diagonal of l is real. So the blocks of blocked_cholesky.cc do, with the even rows alone: the
// product of these with all rows of E, the odd ones written into scratch memory, has the parts of the complex product
// beside each other. A row of a diagonal block is entered as both of its rows of E when it is known, so that what is
// below is solved with exactly the factor that is the result.
//
// A task is one matrix, so bits do not depend on the thread count.
#include <algorithm>
#include <cmath>
#include <limits>

#include "blocked_cholesky.h"
#include "library_op.h"

namespace ricci::cpu {
namespace {

constexpr int64_t kSmallest = 32;      // rows below which the generated kernel is as good and fuses
constexpr int64_t kLargest = 1 << 19;  // rows; far above any memory
constexpr int64_t kRows = 512;         // of one product
constexpr int64_t kColumns = kFactorBlock / 2;

struct Factor {
  GemmType type{};  // of the parts
  int64_t n = 0, batch = 1;
  int64_t b_offset = 0, products_offset = 0, embedded_offset = 0, block_offset = 0, scratch_bytes = 0;
  GemmTileFn tile = nullptr;
  SolveBlockFn solve = nullptr;
};

void LayOutScratch(Factor& f) {
  const auto aligned = [&](int64_t elements) { return (elements * SizeOf(f.type) + 63) / 64 * 64; };
  f.b_offset = aligned(GemmPacked(std::min(kRows, kGemmRows)));
  f.products_offset = f.b_offset + aligned(GemmPacked(kFactorBlock));
  f.embedded_offset = f.products_offset + aligned(kRows * kFactorBlock);
  f.block_offset = f.embedded_offset + aligned(kFactorBlock * 2 * f.n);
  f.scratch_bytes = f.block_offset + aligned(kTriangleElements);
}

bool Make(const ricci_op* op, Factor& f) {
  Array a;
  if (!ReadType(op, op->in_types[0], a) || a.dims.size() < 2) return false;
  if (a.dtype != RICCI_C64 && a.dtype != RICCI_C128) return false;
  f.type = a.dtype == RICCI_C64 ? GemmType::kF32 : GemmType::kF64;
  f.n = a.dims.back();
  if (f.n < kSmallest || f.n > kLargest) return false;
  for (size_t i = 0; i + 2 < a.dims.size(); ++i) f.batch *= a.dims[i];
  if (f.batch == 0) return false;
  LayOutScratch(f);
  f.tile = BestTile();
  f.solve = BestSolveBlock();
  return true;
}

// One matrix, at `a`, and its factor: rows of 2n parts.
template <typename T>
class Factorization {
 public:
  Factorization(const Factor& f, const T* a, T* l, char* scratch)
      : f_(f),
        n_(f.n),
        stride_(2 * f.n),
        a_(a),
        l_(l),
        scratch_(scratch),
        products_(reinterpret_cast<T*>(scratch + f.products_offset)),
        embedded_(reinterpret_cast<T*>(scratch + f.embedded_offset)),
        block_(reinterpret_cast<T*>(scratch + f.block_offset)) {}

  void Run() const {
    const bool positive = Blocks();
    for (int64_t i = 0; i < n_; ++i) {
      T* row = l_ + i * stride_;
      if (!positive) std::fill(row, row + 2 * (i + 1), std::numeric_limits<T>::quiet_NaN());
      std::fill(row + 2 * (i + 1), row + stride_, T{0});
    }
  }

 private:
  // False: the matrix is not positive definite.
  bool Blocks() const {
    for (int64_t k = 0; k < n_; k += kColumns) {
      const int64_t width = std::min(kColumns, n_ - k);
      Embed(k, width);
      for (int64_t first = k; first < n_; first += kRows) {
        const int64_t rows = std::min(kRows, n_ - first);
        Rest(first, rows, k, width);
        if (first == k && !Diagonal(k, width)) return false;
        const int64_t below = first == k ? width : 0;
        Solve(first + below, rows - below, k, width);
      }
    }
    return true;
  }
  // Both rows of E of each of the `width` rows from k on, over the columns before k.
  void Embed(int64_t k, int64_t width) const {
    for (int64_t i = 0; i < width; ++i) {
      const T* row = l_ + (k + i) * stride_;
      T *even = embedded_ + 2 * i * 2 * k, *odd = even + 2 * k;
      std::copy(row, row + 2 * k, even);
      for (int64_t j = 0; j < 2 * k; j += 2) odd[j] = -row[j + 1], odd[j + 1] = row[j];
    }
  }
  // The elements of `rows` rows in the columns of the block, less what the columns before it take away.
  void Rest(int64_t first, int64_t rows, int64_t k, int64_t width) const {
    if (k > 0) {
      const GemmMatrix left{l_ + first * stride_, stride_, 1, nullptr, nullptr, f_.type};
      const GemmMatrix right{embedded_, 2 * k, 1, nullptr, nullptr, f_.type};
      f_.tile({left, right, products_, kFactorBlock, f_.type, f_.type, rows, 2 * width, 2 * k},
              {scratch_, scratch_ + f_.b_offset, nullptr});
    }
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = (first + i) * stride_ + 2 * k;
      const int64_t columns = 2 * std::min(width, first + i - k + 1);  // those above the diagonal are not read
      for (int64_t j = 0; j < columns; ++j)
        l_[at + j] = k == 0 ? a_[at + j] : a_[at + j] - products_[i * kFactorBlock + j];
    }
  }
  // Row by row. False: a pivot is not positive.
  bool Diagonal(int64_t k, int64_t width) const {
    std::fill_n(block_, kTriangleElements, T{0});
    for (int64_t i = 0; i < width; ++i) {
      T* row = l_ + (k + i) * stride_ + 2 * k;
      if (i > 0) f_.solve({block_, /*unit=*/false, row, 1, stride_, 2 * i, 1, f_.type});
      T square = row[2 * i];
      for (int64_t j = 0; j < 2 * i; ++j) square -= row[j] * row[j];
      if (!(square > 0)) return false;
      row[2 * i] = std::sqrt(square);
      row[2 * i + 1] = 0;
      Enter(i, row);
    }
    return true;
  }
  // Row i of the diagonal block as rows 2i and 2i + 1 of the triangle.
  void Enter(int64_t i, const T* row) const {
    for (int64_t j = 0; j < i; ++j) {
      T *even = block_ + 2 * j * kFactorBlock + 2 * i, *odd = even + kFactorBlock;
      even[0] = odd[1] = row[2 * j];
      odd[0] = row[2 * j + 1];
      even[1] = -row[2 * j + 1];
    }
    block_[kTriangleDiagonal + 2 * i] = block_[kTriangleDiagonal + 2 * i + 1] = row[2 * i];
  }
  void Solve(int64_t first, int64_t rows, int64_t k, int64_t width) const {
    if (rows > 0)
      f_.solve({block_, /*unit=*/false, l_ + first * stride_ + 2 * k, 1, stride_, 2 * width, rows, f_.type});
  }

  const Factor& f_;
  const int64_t n_, stride_;
  const T* a_;
  T* l_;
  char* scratch_;
  T *products_, *embedded_, *block_;
};

template <typename T>
void RunTask(const Factor& f, const ricci_launch& l) {
  const int64_t at = l.task * f.n * f.n * 2;
  Factorization<T>(f, static_cast<const T*>(l.in[0]) + at, static_cast<T*>(l.out[0]) + at,
                   static_cast<char*>(l.scratch))
      .Run();
}

// ---- the lowering ----
void Describe(const Factor& f, ricci_library_plan& out) {
  out.tasks = f.batch;
  out.flops = static_cast<uint64_t>(f.batch * f.n) * static_cast<uint64_t>(f.n * f.n) * 4 / 3;
  out.scratch_bytes = static_cast<uint64_t>(f.scratch_bytes);
}
void Run(const Factor& f, const ricci_launch& l) {
  f.type == GemmType::kF64 ? RunTask<double>(f, l) : RunTask<float>(f, l);
}

}  // namespace

ricci_status* AddComplexCholesky(ricci_ctx* ctx) {
  return PlannedLibrary<Factor, Make, Describe, Run>::Add(ctx, "cholesky");
}

}  // namespace ricci::cpu
