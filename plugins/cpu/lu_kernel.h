// The code of LuPanel as a template over the vector's bytes; each instruction set's file instantiates its own, as with
// gemm_kernel.h.
//
// A copy of the panel has its columns adjacent, and lanes over rows: pivots are searched for along columns. kFew
// columns are eliminated one after the other, then taken away from all columns after them at once. The rows of zeros
// below the last one, up to a whole vector, compute too; they are zero or NaN, and never the first largest.
#ifndef RICCI_CPU_LU_KERNEL_H_
#define RICCI_CPU_LU_KERNEL_H_
#include <type_traits>

#include "factor_tile.h"
#include "transpose_kernel.h"

namespace ricci::cpu {

template <int kBytes>
struct LuKernel {
  using Gemm = GemmKernel<kBytes>;
  template <typename T>
  using Vector = typename Gemm::template Vector<T>;
  template <typename T>
  static constexpr int kLanes = Gemm::template kLanes<T>;
  static constexpr int kFew = 8;

  template <typename T>
  struct Panel {
    T* at;  // element [i, j] at j * stride + i
    int64_t stride, rows, width;
    int32_t* pivots;
    T* Column(int64_t j) const { return at + j * stride; }
  };

  // ---- pivots ----
  // The first row from `first` on with the largest magnitude. NaN is larger than nothing, and nothing than NaN.
  template <typename T>
  static int64_t FindPivot(const T* column, int64_t first, int64_t rows) {
    using Int = std::conditional_t<sizeof(T) == sizeof(int64_t), int64_t, int32_t>;
    typedef Int Ints __attribute__((vector_size(kBytes)));
    if (column[first] != column[first]) return first;
    Vector<T> largest = Vector<T>{} - 1;
    Ints at{}, now{};
    for (int lane = 0; lane < kLanes<T>; ++lane) now[lane] = static_cast<Int>(first + lane);
    for (int64_t i = first; i < rows; i += kLanes<T>, now += kLanes<T>) {
      const Vector<T> v = Gemm::Load(column + i), magnitude = v < 0 ? -v : v;
      const auto larger = magnitude > largest;
      largest = larger ? magnitude : largest;
      at = larger ? now : at;
    }
    T most = -1;
    int64_t pivot = first;
    for (int lane = 0; lane < kLanes<T>; ++lane) {
      if (largest[lane] > most || (largest[lane] == most && at[lane] < pivot)) {
        most = largest[lane];
        pivot = at[lane];
      }
    }
    return pivot;
  }
  template <typename T>
  static void SwapRows(const Panel<T>& p, int64_t i, int64_t k) {
    for (int64_t j = 0; j < p.width; ++j) {
      T* column = p.Column(j);
      const T v = column[i];
      column[i] = column[k];
      column[k] = v;
    }
  }

  // ---- elimination ----
  // With column j, in those of [j + 1, end). A pivot of zero divides nothing.
  template <typename T>
  static void Eliminate(const Panel<T>& p, int64_t j, int64_t end) {
    T* column = p.Column(j);
    const T pivot = column[j];
    for (int64_t i = j + 1; i < p.rows; i += kLanes<T>) {
      Vector<T> factor = Gemm::Load(column + i);
      if (pivot != 0) Gemm::Store(column + i, factor /= pivot - Vector<T>{});
      for (int64_t k = j + 1; k < end; ++k) {
        T* to = p.Column(k);
        Gemm::Store(to + i, Gemm::Load(to + i) - factor * (to[j] - Vector<T>{}));
      }
    }
  }
  // With the columns [j, j + kFew), in all after them.
  template <typename T>
  static void EliminateFew(const Panel<T>& p, int64_t j) {
    for (int64_t k = j + kFew; k < p.width; ++k) {
      T* top = p.Column(k) + j;
      for (int t = 0; t < kFew; ++t) {
        const T* factors = p.Column(j + t) + j;
        for (int s = t + 1; s < kFew; ++s) top[s] -= factors[s] * top[t];
      }
    }
    for (int64_t i = j + kFew; i < p.rows; i += kLanes<T>) {
      Vector<T> factors[kFew];
#pragma GCC unroll 8
      for (int t = 0; t < kFew; ++t) factors[t] = Gemm::Load(p.Column(j + t) + i);
      for (int64_t k = j + kFew; k < p.width; ++k) {
        T* to = p.Column(k);
        Vector<T> rest = Gemm::Load(to + i);
#pragma GCC unroll 8
        for (int t = 0; t < kFew; ++t) rest -= factors[t] * (to[j + t] - Vector<T>{});
        Gemm::Store(to + i, rest);
      }
    }
  }
  template <typename T>
  static void Factorise(const Panel<T>& p) {
    for (int64_t first = 0; first < p.width; first += kFew) {
      const int64_t end = Gemm::Min(first + kFew, p.width);
      for (int64_t j = first; j < end; ++j) {
        const int64_t pivot = FindPivot(p.Column(j), j, p.rows);
        p.pivots[j] = static_cast<int32_t>(pivot);
        if (pivot != j) SwapRows(p, j, pivot);
        Eliminate(p, j, end);
      }
      if (end < p.width) EliminateFew(p, first);
    }
  }

  template <typename T>
  static void RunAs(const LuPanel& l) {
    const Panel<T> p{static_cast<T*>(l.scratch), LuPanelStride(l.rows), l.rows, l.width, l.pivots};
    T* a = static_cast<T*>(l.a);
    TransposeKernel<kBytes>::Copy(a, l.stride, l.rows, l.width, p.at, p.stride);
    for (int64_t j = 0; j < p.width; ++j) {
      for (int64_t i = p.rows; i < p.stride; ++i) p.Column(j)[i] = 0;
    }
    Factorise(p);
    TransposeKernel<kBytes>::Copy(p.at, p.stride, l.width, l.rows, a, l.stride);
  }
  static void Run(const LuPanel& l) {
    if (l.type == GemmType::kF64) return RunAs<double>(l);
    RunAs<float>(l);
  }
};

}  // namespace ricci::cpu
#endif
