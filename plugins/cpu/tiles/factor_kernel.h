// The code of FactorRows as a template over the vector's bytes; each instruction set's file instantiates its own, as
// with gemm_kernel.h.
//
// What the columns before take away is subtracted first. Rows are lines of solve_kernel.h, with what is found of the
// diagonal block as their triangle: those below it all together; its own in groups, whose last elements, up to the
// diagonal, are found one row after the other.
#ifndef RICCI_CPU_FACTOR_KERNEL_H_
#define RICCI_CPU_FACTOR_KERNEL_H_
#include "cpu/tiles/factor_tile.h"
#include "cpu/tiles/solve_kernel.h"

namespace ricci::cpu {

template <int kBytes>
struct FactorKernel {
  using Gemm = GemmKernel<kBytes>;
  static constexpr int64_t kGroup = 16;

  // The first `n` elements of row `i`, less what the columns before take away.
  template <typename T>
  static void Load(const FactorRows& f, int64_t i, int64_t n, T* x) {
    const T* a = static_cast<const T*>(f.a) + i * f.stride + f.k;
    const T* taken = static_cast<const T*>(f.products) + (f.products == nullptr ? 0 : (i - f.first) * kFactorBlock);
    for (int64_t j = 0; j < n; ++j) x[j] = f.products == nullptr ? a[j] : a[j] - taken[j];
  }

  // The rows of the diagonal block: all are in one call, which begins with them.
  template <typename T>
  static bool Inside(const FactorRows& f) {
    const int64_t end = Gemm::Min(f.k + f.width, f.first + f.rows);
    for (int64_t i = f.first; i < end; i += kGroup) {
      if (!Group<T>(f, i, Gemm::Min(kGroup, end - i))) return false;
    }
    return true;
  }
  template <typename T>
  static bool Group(const FactorRows& f, int64_t first, int64_t rows) {
    T *block = static_cast<T*>(f.block), *l = static_cast<T*>(f.l) + first * f.stride + f.k;
    const int64_t found = first - f.k;
    for (int64_t i = 0; i < rows; ++i) Load(f, first + i, found + i + 1, l + i * f.stride);
    SolveKernel<kBytes>::Run({block, /*unit=*/false, l, 1, f.stride, found, rows, f.type});
    TransposeKernel<kBytes>::Copy(l, f.stride, rows, found, block + found, kFactorBlock);
    for (int64_t i = 0; i < rows; ++i) {
      if (!Row(block, found, found + i, l + i * f.stride)) return false;
    }
    return true;
  }
  // The row with the diagonal at `at`. Its first `found` elements are found, and in the block.
  template <typename T>
  static bool Row(T* block, int64_t found, int64_t at, T* l) {
    alignas(64) T x[kGroup] = {};  // from `found` on; elements after the diagonal are unused
    for (int64_t j = found; j <= at; ++j) x[j - found] = l[j];
    for (int64_t j = 0; j < found; ++j) TakeAway(l[j], block + j * kFactorBlock + found, x);
    T* diagonal = block + kTriangleDiagonal;
    for (int64_t j = found; j < at; ++j) {
      const T v = x[j - found] / diagonal[j];
      TakeAway(v, block + j * kFactorBlock + found, x);
      l[j] = block[j * kFactorBlock + at] = v;
      x[at - found] -= v * v;
    }
    if (!(x[at - found] > 0)) return false;
    l[at] = diagonal[at] = Root(x[at - found]);
    return true;
  }
  template <typename T>
  static void TakeAway(T factor, const T* column, T* x) {
    constexpr int kLanes = Gemm::template kLanes<T>;
#pragma GCC unroll 8
    for (int m = 0; m < kGroup; m += kLanes) Gemm::Store(x + m, Gemm::Load(x + m) - factor * Gemm::Load(column + m));
  }
  template <typename T>
  static void Below(const FactorRows& f) {
    const int64_t end = f.first + f.rows, first = f.first < f.k + f.width ? f.k + f.width : f.first;
    if (first >= end) return;
    T* l = static_cast<T*>(f.l) + f.k;
    for (int64_t i = first; i < end; ++i) Load(f, i, f.width, l + i * f.stride);
    SolveKernel<kBytes>::Run(
        {f.block, /*unit=*/false, l + first * f.stride, 1, f.stride, f.width, end - first, f.type});
  }
  static float Root(float v) { return __builtin_sqrtf(v); }
  static double Root(double v) { return __builtin_sqrt(v); }

  template <typename T>
  static bool RunAs(const FactorRows& f) {
    if (!Inside<T>(f)) return false;
    Below<T>(f);
    return true;
  }
  static bool Run(const FactorRows& f) { return f.type == GemmType::kF64 ? RunAs<double>(f) : RunAs<float>(f); }
};

}  // namespace ricci::cpu
#endif
