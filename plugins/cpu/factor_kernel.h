// The code of FactorRows as a template over the vector's bytes; each instruction set's file instantiates its own, as
// with gemm_kernel.h.
//
// One row after the other: what the columns before take away is subtracted, then each of its elements is divided by
// that of the diagonal and taken away, in proportion, from those behind it. The diagonal comes last: it is a column
// that is not in the block yet.
#ifndef RICCI_CPU_FACTOR_KERNEL_H_
#define RICCI_CPU_FACTOR_KERNEL_H_
#include "gemm_tile.h"

namespace ricci::cpu {

template <int kBytes>
struct FactorKernel {
  template <typename T>
  struct VectorOf {
    typedef T Type __attribute__((vector_size(kBytes), may_alias));
  };

  // `x` has the elements of row `i` up to the diagonal, and zeros.
  template <typename T>
  static void Load(const FactorRows& f, int64_t i, int64_t n, T* x) {
    const T* a = static_cast<const T*>(f.a) + i * f.stride + f.k;
    const T* taken = static_cast<const T*>(f.products) + (f.products == nullptr ? 0 : (i - f.first) * kFactorBlock);
    for (int64_t j = 0; j < n; ++j) x[j] = f.products == nullptr ? a[j] : a[j] - taken[j];
    for (int64_t j = n; j < kFactorBlock; ++j) x[j] = 0;
  }

  // The first `n` elements of `x` are found.
  template <typename T>
  static void Substitute(const T* block, int64_t n, T* x) {
    using V = typename VectorOf<T>::Type;
    constexpr int64_t kLanes = kBytes / static_cast<int64_t>(sizeof(T));
    const T* diagonal = block + kFactorBlock * kFactorBlock;
    for (int64_t j = 0; j < n; ++j) {
      const T found = x[j] = x[j] / diagonal[j];
      const T* column = block + j * kFactorBlock;
      for (int64_t m = j / kLanes * kLanes; m < kFactorBlock; m += kLanes) {
        *reinterpret_cast<V*>(x + m) -= found * *reinterpret_cast<const V*>(column + m);
      }
    }
  }

  template <typename T>
  static bool Run(const FactorRows& f) {
    T* block = static_cast<T*>(f.block);
    alignas(64) T x[kFactorBlock];
    for (int64_t i = f.first; i < f.first + f.rows; ++i) {
      const int64_t at = i - f.k;  // of the diagonal
      const bool inside = at < f.width;
      const int64_t n = inside ? at : f.width;
      Load(f, i, inside ? at + 1 : n, x);
      Substitute(block, n, x);
      if (inside) {
        for (int64_t j = 0; j < at; ++j) x[at] -= x[j] * x[j];
        if (!(x[at] > 0)) return false;
        x[at] = block[kFactorBlock * kFactorBlock + at] = Root(x[at]);
        for (int64_t j = 0; j < at; ++j) block[j * kFactorBlock + at] = x[j];
      }
      T* l = static_cast<T*>(f.l) + i * f.stride + f.k;
      for (int64_t j = 0; j < (inside ? at + 1 : n); ++j) l[j] = x[j];
    }
    return true;
  }
  static float Root(float v) { return __builtin_sqrtf(v); }
  static double Root(double v) { return __builtin_sqrt(v); }

  static bool Run(const FactorRows& f) { return f.type == GemmType::kF64 ? Run<double>(f) : Run<float>(f); }
};

}  // namespace ricci::cpu
#endif
