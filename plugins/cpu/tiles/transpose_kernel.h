// Transposed copies as a template over the vector's bytes, as in gemm_kernel.h: squares go through registers.
#ifndef RICCI_CPU_TRANSPOSE_KERNEL_H_
#define RICCI_CPU_TRANSPOSE_KERNEL_H_
#include "cpu/tiles/gemm_kernel.h"

namespace ricci::cpu {

template <int kBytes>
struct TransposeKernel {
  using Gemm = GemmKernel<kBytes>;

  // Column j of from[rows, columns] becomes row j of `to`.
  template <typename T>
  static void Copy(const T* from, int64_t from_stride, int64_t rows, int64_t columns, T* to, int64_t to_stride) {
    constexpr int kLanes = Gemm::template kLanes<T>;
    const int64_t whole_rows = rows / kLanes * kLanes, whole_columns = columns / kLanes * kLanes;
    for (int64_t i = 0; i < whole_rows; i += kLanes) {
      for (int64_t j = 0; j < whole_columns; j += kLanes) {
        Square(from + i * from_stride + j, from_stride, to + j * to_stride + i, to_stride);
      }
      for (int64_t j = whole_columns; j < columns; ++j) {
        for (int64_t k = i; k < i + kLanes; ++k) to[j * to_stride + k] = from[k * from_stride + j];
      }
    }
    for (int64_t i = whole_rows; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) to[j * to_stride + i] = from[i * from_stride + j];
    }
  }

 private:
  template <typename T>
  static void Square(const T* from, int64_t from_stride, T* to, int64_t to_stride) {
    constexpr int kLanes = Gemm::template kLanes<T>;
    typename Gemm::template Vector<T> rows[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) rows[i] = Gemm::Load(from + i * from_stride);
    Gemm::template Transpose<T>(rows);
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) Gemm::Store(to + i * to_stride, rows[i]);
  }
};

}  // namespace ricci::cpu
#endif
