// cholesky of matrices that are too large for the generated loops, or too few for its lanes. For each block of columns,
// those before it are subtracted as one product (tiles of gemm_tile.h), then the block is factored row by row
// (factor_kernel.h).
//
// A task is one matrix, so bits do not depend on the thread count.
#include "cpu/library/blocked_cholesky.h"

#include <algorithm>
#include <limits>

#include "cpu/library/library_op.h"

namespace ricci::cpu {
namespace {

constexpr int64_t kSmallest = 48;      // rows below which the generated kernel is as good and fuses,
constexpr int64_t kBatch = 8;          // with lanes over a batch of at least this size;
constexpr int64_t kSmallestAlone = 9;  // and without (fewer stay in registers)
constexpr int64_t kLargest = 1 << 20;  // rows; far above any memory
constexpr int64_t kRows = 512;         // of one product

struct Factor {
  GemmType type{};
  int64_t n = 0, batch = 1;
  int64_t b_offset = 0, products_offset = 0, block_offset = 0, scratch_bytes = 0;
  GemmTileFn tile = nullptr;
  FactorRowsFn rows = nullptr;
};

void LayOutScratch(Factor& f) {
  const auto aligned = [&](int64_t elements) { return (elements * SizeOf(f.type) + 63) / 64 * 64; };
  f.b_offset = aligned(GemmPacked(std::min(kRows, kGemmRows)));
  f.products_offset = f.b_offset + aligned(GemmPacked(kFactorBlock));
  f.block_offset = f.products_offset + aligned(kRows * kFactorBlock);
  f.scratch_bytes = f.block_offset + aligned(kTriangleElements);
}

bool Make(const ricci_op* op, Factor& f) {
  Array a;
  if (!ReadType(op, op->in_types[0], a) || !TypeOf(a.dtype, f.type) || a.dims.size() < 2) return false;
  if (f.type != GemmType::kF32 && f.type != GemmType::kF64) return false;
  f.n = a.dims.back();
  for (size_t i = 0; i + 2 < a.dims.size(); ++i) f.batch *= a.dims[i];
  if (f.n < (f.batch < kBatch ? kSmallestAlone : kSmallest) || f.n > kLargest || f.batch == 0) return false;
  LayOutScratch(f);
  f.tile = BestTile();
  f.rows = BestFactorRows();
  return true;
}

// One matrix, at `a`, and its factor.
template <typename T>
class Factorization {
 public:
  Factorization(const Factor& f, const T* a, T* l, char* scratch) : f_(f), a_(a), l_(l), scratch_(scratch) {}

  void Run() const {
    const bool positive = Blocks();
    for (int64_t i = 0; i < f_.n; ++i) {
      T* row = l_ + i * f_.n;
      if (!positive) std::fill(row, row + i + 1, std::numeric_limits<T>::quiet_NaN());
      std::fill(row + i + 1, row + f_.n, T{0});
    }
  }

 private:
  // False: the matrix is not positive definite.
  bool Blocks() const {
    T* block = reinterpret_cast<T*>(scratch_ + f_.block_offset);
    for (int64_t k = 0; k < f_.n; k += kFactorBlock) {
      const int64_t width = std::min(kFactorBlock, f_.n - k);
      std::fill_n(block, kTriangleElements, T{0});
      for (int64_t first = k; first < f_.n; first += kRows) {
        const int64_t rows = std::min(kRows, f_.n - first);
        void* products = k == 0 ? nullptr : Products(first, rows, k, width);
        if (!f_.rows({a_, l_, products, block, f_.n, k, width, first, rows, f_.type})) return false;
      }
    }
    return true;
  }
  // The product of `rows` rows with the `width` rows from k on, over the columns before k.
  void* Products(int64_t first, int64_t rows, int64_t k, int64_t width) const {
    void* products = scratch_ + f_.products_offset;
    const auto rows_from = [&](int64_t i) { return GemmMatrix{l_ + i * f_.n, f_.n, 1, nullptr, nullptr, f_.type}; };
    f_.tile({rows_from(first), rows_from(k), products, kFactorBlock, f_.type, f_.type, rows, width, k},
            {scratch_, scratch_ + f_.b_offset, nullptr});
    return products;
  }

  const Factor& f_;
  const T* a_;
  T* l_;
  char* scratch_;
};

template <typename T>
void RunTask(const Factor& f, const ricci_launch& l) {
  const int64_t at = l.task * f.n * f.n;
  Factorization<T>(f, static_cast<const T*>(l.in[0]) + at, static_cast<T*>(l.out[0]) + at,
                   static_cast<char*>(l.scratch))
      .Run();
}

// ---- the lowering ----
void Describe(const Factor& f, ricci_library_plan& out) {
  out.tasks = f.batch;
  out.flops = static_cast<uint64_t>(f.batch * f.n) * static_cast<uint64_t>(f.n * f.n) / 3;
  out.scratch_bytes = static_cast<uint64_t>(f.scratch_bytes);
}
void Run(const Factor& f, const ricci_launch& l) {
  f.type == GemmType::kF64 ? RunTask<double>(f, l) : RunTask<float>(f, l);
}

}  // namespace

ricci_status* AddCholesky(ricci_ctx* ctx) { return PlannedLibrary<Factor, Make, Describe, Run>::Add(ctx, "cholesky"); }

}  // namespace ricci::cpu
