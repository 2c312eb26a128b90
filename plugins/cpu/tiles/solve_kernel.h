// The code of SolveBlock as a template over the vector's bytes; each instruction set's file instantiates its own, as
// with gemm_kernel.h.
//
// Lanes are over lines, some vectors of them at a time, and so many elements that what is left of them stays in
// registers while all that was found before is taken away. Lines that are not adjacent are transposed on the stack, and
// complex numbers taken apart there: the parts of an element are two rows.
#ifndef RICCI_CPU_SOLVE_KERNEL_H_
#define RICCI_CPU_SOLVE_KERNEL_H_
#include "cpu/tiles/factor_tile.h"
#include "cpu/tiles/number_kernel.h"
#include "cpu/tiles/transpose_kernel.h"

namespace ricci::cpu {

template <int kBytes>
struct SolveKernel {
  using Gemm = GemmKernel<kBytes>;
  static constexpr int kRows = 4, kMaxVectors = kBytes == 64 ? 4 : 2;

  // Lines in lanes: element i at i * step, its parts `next` apart. N is the NumberKernel of their numbers.
  template <typename N>
  struct Lines {
    typename N::T* x;
    int64_t step, next;
    typename N::T* At(int64_t i, int v) const { return x + i * step + v * N::kLanes; }
  };

  // Elements [i, i + kCount) of kVectors vectors of lines; those before are found.
  template <typename N, int kCount, int kVectors>
  static void Elements(const typename N::T* triangle, bool unit, int64_t i, Lines<N> x) {
    typename N::Lanes rest[kCount][kVectors];
#pragma GCC unroll 4
    for (int r = 0; r < kCount; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) rest[r][v] = N::Load(x.At(i + r, v), x.next);
    }
    for (int64_t j = 0; j < i; ++j) {
      typename N::Lanes found[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) found[v] = N::Load(x.At(j, v), x.next);
      const auto* column = triangle + j * kFactorBlock + i * N::kParts;
#pragma GCC unroll 4
      for (int r = 0; r < kCount; ++r) {
        const typename N::Lanes factor = N::Spread(column + r * N::kParts, 1);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) N::SubtractProduct(rest[r][v], factor, found[v]);
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kCount; ++r) {
      if (!unit) {
        const auto diagonal = N::DivisorOf(N::LoadOne(triangle + kTriangleDiagonal + (i + r) * N::kParts, 1));
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) N::Divide(rest[r][v], diagonal);
      }
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) N::Store(x.At(i + r, v), x.next, rest[r][v]);
      const auto* column = triangle + (i + r) * kFactorBlock + i * N::kParts;
#pragma GCC unroll 4
      for (int q = r + 1; q < kCount; ++q) {
        const typename N::Lanes factor = N::Spread(column + q * N::kParts, 1);
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) N::SubtractProduct(rest[q][v], factor, rest[r][v]);
      }
    }
  }
  template <typename N, int kVectors>
  static void SolveLines(const SolveBlock& s, Lines<N> x) {
    const auto* triangle = static_cast<const typename N::T*>(s.triangle);
    int64_t i = 0;
    for (; i + kRows <= s.n; i += kRows) Elements<N, kRows, kVectors>(triangle, s.unit, i, x);
    for (; i < s.n; ++i) Elements<N, 1, kVectors>(triangle, s.unit, i, x);
  }

  // At most kVectors vectors of lines at `x`, by way of a block on the stack.
  template <typename N, int kVectors>
  static void Apart(const SolveBlock& s, typename N::T* x, int64_t lines) {
    constexpr int kParts = N::kParts, kWidth = kVectors * N::kLanes;
    alignas(kBytes) typename N::T block[kFactorBlock * kWidth];
    const int64_t rows = s.n * kParts;
    for (int64_t i = 0; lines < kWidth && i < rows * kWidth; ++i) block[i] = 0;
    // Elements in the order of addresses.
    auto* first = s.step < 0 ? x + (s.n - 1) * s.step * kParts : x;
    const int64_t step = (s.step < 0 ? -s.step : s.step) * kParts;
    if (s.line == 1) {
      for (int64_t i = 0; i < s.n; ++i) TakeApart<N>(first + i * step, lines, block + i * kParts * kWidth, kWidth);
    } else {
      TransposeKernel<kBytes>::Copy(first, s.line * kParts, lines, rows, block, kWidth);
    }
    auto* begin = s.step < 0 ? block + (rows - kParts) * kWidth : block;
    SolveLines<N, kVectors>(s, {begin, (s.step < 0 ? -kWidth : kWidth) * kParts, kWidth});
    if (s.line == 1) {
      for (int64_t i = 0; i < s.n; ++i) PutTogether<N>(block + i * kParts * kWidth, kWidth, lines, first + i * step);
    } else {
      TransposeKernel<kBytes>::Copy(block, kWidth, rows, lines, first, s.line * kParts);
    }
  }
  // One element of adjacent lines, and the parts of all, `next` apart.
  template <typename N, typename T>
  static void TakeApart(const T* x, int64_t lines, T* parts, int64_t next) {
    for (int64_t j = 0; j < lines; ++j) {
      for (int p = 0; p < N::kParts; ++p) parts[p * next + j] = x[j * N::kParts + p];
    }
  }
  template <typename N, typename T>
  static void PutTogether(const T* parts, int64_t next, int64_t lines, T* x) {
    for (int64_t j = 0; j < lines; ++j) {
      for (int p = 0; p < N::kParts; ++p) x[j * N::kParts + p] = parts[p * next + j];
    }
  }

  template <typename N, int kVectors>
  static int64_t Some(const SolveBlock& s, int64_t done) {
    constexpr int64_t kWidth = kVectors * N::kLanes;
    const int64_t lines = Gemm::Min(kWidth, s.lines - done);
    auto* x = static_cast<typename N::T*>(s.x) + done * s.line * N::kParts;
    if (N::kParts == 1 && s.line == 1 && lines == kWidth) {
      SolveLines<N, kVectors>(s, {x, s.step, 0});
    } else {
      Apart<N, kVectors>(s, x, lines);
    }
    return done + lines;
  }
  template <typename N>
  static void RunOn(const SolveBlock& s) {
    constexpr int kMost = kMaxVectors / N::kParts;
    int64_t done = 0;
    while (done + kMost * N::kLanes <= s.lines) done = Some<N, kMost>(s, done);
    while (done < s.lines) done = Some<N, 1>(s, done);
  }
  template <typename T>
  static void RunAs(const SolveBlock& s) {
    if (s.parts == 2) return RunOn<NumberKernel<kBytes, T, 2>>(s);
    RunOn<NumberKernel<kBytes, T, 1>>(s);
  }
  static void Run(const SolveBlock& s) {
    if (s.type == GemmType::kF64) return RunAs<double>(s);
    RunAs<float>(s);
  }
};

}  // namespace ricci::cpu
#endif
