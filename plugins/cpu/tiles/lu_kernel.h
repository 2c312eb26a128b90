// The code of LuPanel as a template over the vector's bytes; each instruction set's file instantiates its own, as with
// gemm_kernel.h.
//
// A copy of the panel has its columns adjacent, and lanes over rows: pivots are searched for along columns. A column of
// complex numbers is two, one of each part. Some columns are eliminated in sequence, then taken away from all columns
// after them at once. The rows of zeros below the last one, up to a whole vector, compute too; they are zero or NaN,
// and never the first largest.
#ifndef RICCI_CPU_LU_KERNEL_H_
#define RICCI_CPU_LU_KERNEL_H_
#include <type_traits>

#include "cpu/tiles/factor_tile.h"
#include "cpu/tiles/number_kernel.h"
#include "cpu/tiles/transpose_kernel.h"

namespace ricci::cpu {

template <int kBytes>
struct LuKernel {
  using Gemm = GemmKernel<kBytes>;

  // N is the NumberKernel of its numbers.
  template <typename N>
  struct Panel {
    using T = typename N::T;
    static constexpr int kFew = 8 / N::kParts;  // columns whose factors stay in registers
    T* at;                                      // part p of element [i, j] at (j * kParts + p) * stride + i
    int64_t stride, rows, width;
    int32_t* pivots;
    T* Column(int64_t j) const { return at + j * N::kParts * stride; }
    typename N::Lanes Load(const T* p) const { return N::Load(p, stride); }
    void Store(T* p, const typename N::Lanes& v) const { N::Store(p, stride, v); }
    typename N::Lanes Spread(const T* p) const { return N::Spread(p, stride); }
  };

  // ---- pivots ----
  // The first row of column `j`, from its diagonal down, of the largest size. NaN is larger than nothing, and nothing
  // than NaN.
  template <typename N>
  static int64_t FindPivot(const Panel<N>& p, int64_t j) {
    using T = typename N::T;
    using Int = std::conditional_t<sizeof(T) == sizeof(int64_t), int64_t, int32_t>;
    typedef Int Ints __attribute__((vector_size(kBytes)));
    const T* column = p.Column(j);
    const auto of_diagonal = N::SizeOf(p.Load(column + j));
    if (of_diagonal[0] != of_diagonal[0]) return j;
    typename N::Vector largest = typename N::Vector{} - 1;
    Ints at{}, now{};
    for (int lane = 0; lane < N::kLanes; ++lane) now[lane] = static_cast<Int>(j + lane);
    for (int64_t i = j; i < p.rows; i += N::kLanes, now += N::kLanes) {
      const auto size = N::SizeOf(p.Load(column + i));
      const auto larger = size > largest;
      largest = larger ? size : largest;
      at = larger ? now : at;
    }
    T most = -1;
    int64_t pivot = j;
    for (int lane = 0; lane < N::kLanes; ++lane) {
      if (largest[lane] > most || (largest[lane] == most && at[lane] < pivot)) {
        most = largest[lane];
        pivot = at[lane];
      }
    }
    return pivot;
  }
  template <typename N>
  static void SwapRows(const Panel<N>& p, int64_t i, int64_t k) {
    for (int64_t j = 0; j < p.width * N::kParts; ++j) {
      auto* column = p.at + j * p.stride;
      const auto v = column[i];
      column[i] = column[k];
      column[k] = v;
    }
  }

  // ---- elimination ----
  // With column j, in those of [j + 1, end). A pivot of zero divides nothing.
  template <typename N>
  static void Eliminate(const Panel<N>& p, int64_t j, int64_t end) {
    auto* column = p.Column(j);
    const auto pivot = N::LoadOne(column + j, p.stride);
    const bool divides = !N::IsZero(pivot);
    const auto divisor = N::DivisorOf(pivot);
    for (int64_t i = j + 1; i < p.rows; i += N::kLanes) {
      auto factor = p.Load(column + i);
      if (divides) {
        N::Divide(factor, divisor);
        p.Store(column + i, factor);
      }
      for (int64_t k = j + 1; k < end; ++k) {
        auto* to = p.Column(k);
        auto rest = p.Load(to + i);
        N::SubtractProduct(rest, factor, p.Spread(to + j));
        p.Store(to + i, rest);
      }
    }
  }
  // With the columns [j, j + kFew), in all after them.
  template <typename N>
  static void EliminateFew(const Panel<N>& p, int64_t j) {
    constexpr int kFew = Panel<N>::kFew;
    EliminateTop(p, j);
    for (int64_t i = j + kFew; i < p.rows; i += N::kLanes) {
      typename N::Lanes factors[kFew];
#pragma GCC unroll 8
      for (int t = 0; t < kFew; ++t) factors[t] = p.Load(p.Column(j + t) + i);
      for (int64_t k = j + kFew; k < p.width; ++k) {
        auto* to = p.Column(k);
        auto rest = p.Load(to + i);
#pragma GCC unroll 8
        for (int t = 0; t < kFew; ++t) N::SubtractProduct(rest, factors[t], p.Spread(to + j + t));
        p.Store(to + i, rest);
      }
    }
  }
  // Their own rows of the columns after them.
  template <typename N>
  static void EliminateTop(const Panel<N>& p, int64_t j) {
    constexpr int kFew = Panel<N>::kFew;
    for (int64_t k = j + kFew; k < p.width; ++k) {
      auto* top = p.Column(k) + j;
      for (int t = 0; t < kFew; ++t) {
        const auto* factors = p.Column(j + t) + j;
        const auto found = N::LoadOne(top + t, p.stride);
        for (int s = t + 1; s < kFew; ++s) {
          auto rest = N::LoadOne(top + s, p.stride);
          N::SubtractProduct(rest, N::LoadOne(factors + s, p.stride), found);
          N::StoreOne(top + s, p.stride, rest);
        }
      }
    }
  }
  template <typename N>
  static void Factorise(const Panel<N>& p) {
    for (int64_t first = 0; first < p.width; first += Panel<N>::kFew) {
      const int64_t end = Gemm::Min(first + Panel<N>::kFew, p.width);
      for (int64_t j = first; j < end; ++j) {
        const int64_t pivot = FindPivot(p, j);
        p.pivots[j] = static_cast<int32_t>(pivot);
        if (pivot != j) SwapRows(p, j, pivot);
        Eliminate(p, j, end);
      }
      if (end < p.width) EliminateFew(p, first);
    }
  }

  template <typename N>
  static void RunOn(const LuPanel& l) {
    using T = typename N::T;
    const Panel<N> p{static_cast<T*>(l.scratch), LuPanelStride(l.rows), l.rows, l.width, l.pivots};
    T* a = static_cast<T*>(l.a);
    const int64_t stride = l.stride * N::kParts, columns = l.width * N::kParts;
    TransposeKernel<kBytes>::Copy(a, stride, l.rows, columns, p.at, p.stride);
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = p.rows; i < p.stride; ++i) p.at[j * p.stride + i] = 0;
    }
    Factorise(p);
    TransposeKernel<kBytes>::Copy(p.at, p.stride, columns, l.rows, a, stride);
  }
  template <typename T>
  static void RunAs(const LuPanel& l) {
    if (l.parts == 2) return RunOn<NumberKernel<kBytes, T, 2>>(l);
    RunOn<NumberKernel<kBytes, T, 1>>(l);
  }
  static void Run(const LuPanel& l) {
    if (l.type == GemmType::kF64) return RunAs<double>(l);
    RunAs<float>(l);
  }
};

}  // namespace ricci::cpu
#endif
