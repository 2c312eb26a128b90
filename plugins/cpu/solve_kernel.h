// The code of SolveBlock as a template over the vector's bytes; each instruction set's file instantiates its own, as
// with gemm_kernel.h.
//
// Lanes are over lines, some vectors of them at a time, and so many elements that what is left of them stays in
// registers while all that was found before is taken away. Lines that are not adjacent are transposed on the stack.
#ifndef RICCI_CPU_SOLVE_KERNEL_H_
#define RICCI_CPU_SOLVE_KERNEL_H_
#include "factor_tile.h"
#include "transpose_kernel.h"

namespace ricci::cpu {

template <int kBytes>
struct SolveKernel {
  using Gemm = GemmKernel<kBytes>;
  template <typename T>
  using Vector = typename Gemm::template Vector<T>;
  static constexpr int kRows = 4, kMaxVectors = kBytes == 64 ? 4 : 2;

  // Elements [i, i + kCount) of kVectors vectors of lines; those before are found.
  template <typename T, int kCount, int kVectors>
  static void Elements(const T* triangle, bool unit, int64_t i, T* x, int64_t step) {
    constexpr int kLanes = Gemm::template kLanes<T>;
    Vector<T> rest[kCount][kVectors];
#pragma GCC unroll 4
    for (int r = 0; r < kCount; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) rest[r][v] = Gemm::Load(x + (i + r) * step + v * kLanes);
    }
    for (int64_t j = 0; j < i; ++j) {
      Vector<T> found[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) found[v] = Gemm::Load(x + j * step + v * kLanes);
      const T* column = triangle + j * kFactorBlock + i;
#pragma GCC unroll 4
      for (int r = 0; r < kCount; ++r) {
        const Vector<T> factor = column[r] - Vector<T>{};
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) rest[r][v] -= factor * found[v];
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kCount; ++r) {
      const Vector<T> diagonal = triangle[kTriangleDiagonal + i + r] - Vector<T>{};
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        if (!unit) rest[r][v] /= diagonal;
        Gemm::Store(x + (i + r) * step + v * kLanes, rest[r][v]);
      }
      const T* column = triangle + (i + r) * kFactorBlock + i;
#pragma GCC unroll 4
      for (int q = r + 1; q < kCount; ++q) {
        const Vector<T> factor = column[q] - Vector<T>{};
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) rest[q][v] -= factor * rest[r][v];
      }
    }
  }
  template <typename T, int kVectors>
  static void Lines(const SolveBlock& s, T* x, int64_t step) {
    const T* triangle = static_cast<const T*>(s.triangle);
    int64_t i = 0;
    for (; i + kRows <= s.n; i += kRows) Elements<T, kRows, kVectors>(triangle, s.unit, i, x, step);
    for (; i < s.n; ++i) Elements<T, 1, kVectors>(triangle, s.unit, i, x, step);
  }

  // At most kVectors vectors of lines at `x`, by way of a block on the stack.
  template <typename T, int kVectors>
  static void Apart(const SolveBlock& s, T* x, int64_t lines) {
    constexpr int kWidth = kVectors * Gemm::template kLanes<T>;
    alignas(kBytes) T block[kFactorBlock * kWidth];
    for (int64_t i = 0; lines < kWidth && i < s.n * kWidth; ++i) block[i] = 0;
    // Elements in the order of addresses.
    T* first = s.step < 0 ? x + (s.n - 1) * s.step : x;
    const int64_t step = s.step < 0 ? -s.step : s.step;
    if (s.line == 1) {
      Move(first, step, s.n, lines, block, kWidth);
    } else {
      TransposeKernel<kBytes>::Copy(first, s.line, lines, s.n, block, kWidth);
    }
    Lines<T, kVectors>(s, s.step < 0 ? block + (s.n - 1) * kWidth : block, s.step < 0 ? -kWidth : kWidth);
    if (s.line == 1) {
      Move(block, kWidth, s.n, lines, first, step);
    } else {
      TransposeKernel<kBytes>::Copy(block, kWidth, s.n, lines, first, s.line);
    }
  }
  template <typename T>
  static void Move(const T* from, int64_t from_stride, int64_t rows, int64_t columns, T* to, int64_t to_stride) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) to[i * to_stride + j] = from[i * from_stride + j];
    }
  }

  template <typename T, int kVectors>
  static int64_t Some(const SolveBlock& s, int64_t done) {
    constexpr int64_t kWidth = kVectors * Gemm::template kLanes<T>;
    const int64_t lines = Gemm::Min(kWidth, s.lines - done);
    T* x = static_cast<T*>(s.x) + done * s.line;
    if (s.line == 1 && lines == kWidth) {
      Lines<T, kVectors>(s, x, s.step);
    } else {
      Apart<T, kVectors>(s, x, lines);
    }
    return done + lines;
  }
  template <typename T>
  static void RunAs(const SolveBlock& s) {
    constexpr int64_t kWidth = kMaxVectors * Gemm::template kLanes<T>;
    int64_t done = 0;
    while (done + kWidth <= s.lines) done = Some<T, kMaxVectors>(s, done);
    while (done < s.lines) done = Some<T, 1>(s, done);
  }
  static void Run(const SolveBlock& s) {
    if (s.type == GemmType::kF64) return RunAs<double>(s);
    RunAs<float>(s);
  }
};

}  // namespace ricci::cpu
#endif
