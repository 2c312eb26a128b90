// GemmTile: one rectangle of a matrix product, the unit of work of a task.
//
// Its code is one template (gemm_kernel.h), compiled once per instruction set; the widest that the processor has is
// chosen when the plugin is attached. Sums run over the contracted dimension in blocks of a fixed length, so the bits
// of a result depend only on shapes and on the instruction set.
#ifndef RICCI_CPU_GEMM_TILE_H_
#define RICCI_CPU_GEMM_TILE_H_
#include <cstdint>

namespace ricci::cpu {

enum class GemmType : uint8_t { kF32, kF64, kF16, kBF16 };

// A matrix of [outer, k]: rows of the left operand, columns of the right one. Strides give the positions of its
// elements or, where several dimensions that do not join are one here, a table of offsets; in elements.
struct GemmMatrix {
  const void* data;
  int64_t outer_stride, k_stride;
  const int64_t *outer_at, *k_at;  // NULL: use the stride
  GemmType type;
  bool shared = false;  // other threads write what lies beside its rows or columns: it must not be read
  bool outer_runs = false, k_runs = false;  // the offsets of that table increase, and many differ by 1
  // Of the right operand: each element is a complex number, re + i im, and stands for the square (re im; -im re) of
  // reals, or its transpose if `conjugate`; strides are in numbers. The product of rows of complex numbers, in their
  // memory order, with such a matrix has rows of complex numbers.
  bool squares = false, conjugate = false;

  bool outer_adjacent() const { return outer_at == nullptr && outer_stride == 1; }
  bool k_adjacent() const { return k_at == nullptr && k_stride == 1; }
};

// c[m, n] = sum over k of a[m, k] b[n, k]; c has columns at stride 1. Sums are in f64 if `sum` is, else in f32.
struct GemmTile {
  GemmMatrix a, b;
  void* c;
  int64_t c_stride;
  GemmType c_type, sum;
  int64_t m, n, k;
  bool subtract = false;  // the sum is taken away from c; c_type is `sum` then
};

// Sums over more steps than this are made block by block.
inline constexpr int64_t kGemmDepth = 256;
// At most this many rows are packed at a time: they stay in the second-level cache, with the columns they are
// multiplied by and the rows that are fetched meanwhile.
inline constexpr int64_t kGemmRows = 98;

// Memory for a tile, aligned to 64: of `a` and `b` GemmPacked(min(m, kGemmRows)) and GemmPacked(n) elements of the type
// of the sums, of `sums` m n if the result has another type.
struct GemmScratch {
  void *a, *b, *sums;
};
constexpr int64_t GemmPacked(int64_t outer) { return (outer * 4 / 3 + 32) * (kGemmDepth + 16); }

using GemmTileFn = void (*)(const GemmTile& tile, const GemmScratch& scratch);
void GemmTileAvx512(const GemmTile& tile, const GemmScratch& scratch);
// The same, with the same bits but for sums below the least normal number, on processors that multiply bf16 in pairs.
void GemmTileAvx512Bf16(const GemmTile& tile, const GemmScratch& scratch);
void GemmTileAvx2(const GemmTile& tile, const GemmScratch& scratch);
void GemmTileSse2(const GemmTile& tile, const GemmScratch& scratch);

}  // namespace ricci::cpu
#endif
