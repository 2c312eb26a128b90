// The code of GemmTile as a template over the vector's bytes; each instruction set's file instantiates its own.
//
// After Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008): both operands are packed
// into panels [k][width] that are as wide as a block of registers, whatever their strides; a block of sums stays in
// registers over a whole panel. Rows that are left over have their own instances of the inner loop, columns that are
// left over are computed in full and stored in part. Nothing here may be an inline function outside a template on the
// vector's bytes: the linker would keep one copy for all instruction sets.
//
// Twice as fast as OpenBLAS's AVX2 code on a processor with AVX-512, about as fast without.
#ifndef RICCI_CPU_GEMM_KERNEL_H_
#define RICCI_CPU_GEMM_KERNEL_H_
#include <type_traits>
#include <utility>

#include "cpu/tiles/gemm_packing.h"

namespace ricci::cpu {

template <int kBytes, typename Own = void>
struct GemmKernel : GemmPacking<kBytes, Own> {
  using Base = GemmPacking<kBytes, Own>;
  template <typename T>
  using Vector = typename Base::template Vector<T>;
  template <typename T>
  static constexpr int kLanes = Base::template kLanes<T>;
  template <typename P>
  using SumOf = typename Base::template SumOf<P>;
  template <typename P>
  static constexpr int64_t kSteps = Base::template kSteps<P>;
  using Base::ByRows, Base::Ceil, Base::kPanelRows, Base::kRowStride, Base::Load, Base::Min, Base::Narrow, Base::Pack,
      Base::PanelStride, Base::Row, Base::Store, Base::WithType;

  // ---- the inner loop: kRows x kVectors vectors of sums stay in registers ----
  static constexpr int kMaxRows = kBytes == 64 ? 14 : 6, kMaxVectors = 2;

  template <typename P>
  static Vector<SumOf<P>> MultiplyAdd(Vector<P> left, Vector<P> right, Vector<SumOf<P>> sum) {
    if constexpr (std::is_same_v<P, Pair>) {
      return Own::Add(sum, left, right);
    } else {
      return sum + left * right;
    }
  }

  enum class Write { kSet, kAdd, kSubtract };
  template <typename V>
  static V Added(V to, V sum, Write write) {
    return write == Write::kAdd ? to + sum : to - sum;
  }

  // Writes a b, of `k` elements of panels, to c. b is a panel; a is one too or, `kByRows`, rows kRowStride apart, each
  // element in one column.
  template <typename P, bool kByRows, int kRows, int kVectors>
  static void Block(int64_t k, const P* a, const P* b, SumOf<P>* c, int64_t c_stride, Write write) {
    using T = SumOf<P>;
    constexpr int kL = kLanes<T>;
    Vector<T> sum[kRows][kVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) sum[i][j] = Vector<T>{};
    }
    for (int64_t step = 0; step < k; ++step, a += kByRows ? 1 : kPanelRows, b += kMaxVectors * kL) {
      Vector<P> right[kVectors];
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) right[j] = Load(b + j * kL);
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        const Vector<P> left = a[kByRows ? i * kRowStride : i] - Vector<P>{};
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) sum[i][j] = MultiplyAdd<P>(left, right[j], sum[i][j]);
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        T* to = c + i * c_stride + j * kL;
        Store(to, write == Write::kSet ? sum[i][j] : Added(Load(to), sum[i][j], write));
      }
    }
  }

  template <typename P>
  using BlockFn = void (*)(int64_t k, const P* a, const P* b, SumOf<P>* c, int64_t c_stride, Write write);
  template <typename P>
  struct Blocks {
    BlockFn<P> at[2][kMaxVectors][kMaxRows];
  };
  template <typename P, int... kRow>
  static constexpr Blocks<P> BlocksOf(std::integer_sequence<int, kRow...>) {
    return {{{{Block<P, false, kRow + 1, 1>...}, {Block<P, false, kRow + 1, 2>...}},
             {{Block<P, true, kRow + 1, 1>...}, {Block<P, true, kRow + 1, 2>...}}}};
  }
  template <typename P>
  static constexpr Blocks<P> kBlocks = BlocksOf<P>(std::make_integer_sequence<int, kMaxRows>());

  // ---- the tile ----
  // One block of rows and columns; columns that fill no vector go through a block on the stack.
  template <typename P>
  static void Cell(bool by_rows, int64_t rows, int64_t columns, int64_t k, const P* a, const P* b, SumOf<P>* c,
                   int64_t c_stride, Write write) {
    using T = SumOf<P>;
    constexpr int kL = kLanes<T>;
    const int64_t vectors = Ceil(columns, kL);
    const BlockFn<P> block = kBlocks<P>.at[by_rows][vectors - 1][rows - 1];
    if (columns % kL == 0) return block(k, a, b, c, c_stride, write);
    alignas(kBytes) T part[kMaxRows * kMaxVectors * kL];
    block(k, a, b, part, vectors * kL, Write::kSet);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        T& to = c[i * c_stride + j];
        const T sum = part[i * vectors * kL + j];
        to = write == Write::kSet ? sum : Added(to, sum, write);
      }
    }
  }

  // The sums in `c` or, if the result has another type, in scratch, converted as soon as they are complete: those of a
  // single block of steps do not leave the cache. False: panels of P cannot hold the operands.
  template <typename P>
  static bool Sum(const GemmTile& t, const GemmScratch& scratch) {
    using T = SumOf<P>;
    P *a_panels = static_cast<P*>(scratch.a), *b_panels = static_cast<P*>(scratch.b);
    const bool converts = t.c_type != t.sum;
    const int64_t depth = Ceil(Ceil(t.k, Ceil(t.k, kGemmDepth)), 16) * 16;
    const int64_t block = Ceil(t.m, Ceil(t.m, kGemmRows));
    const int64_t stride = converts ? t.n : t.c_stride;
    const auto part = [&](int64_t m0, int64_t k0) {
      return Rows{From(t.a, m0), Min(block, t.m - m0), k0, Min(depth, t.k - k0)};
    };
    for (int64_t k0 = 0; k0 < t.k; k0 += depth) {
      const bool is_last = k0 + depth >= t.k;
      if (!Pack(t.b, t.n, kWidth<T>, kWidth<T>, k0, Min(depth, t.k - k0), b_panels)) return false;
      for (int64_t m0 = 0; m0 < t.m; m0 += block) {
        const Rows now = part(m0, k0), next = m0 + block < t.m ? part(m0 + block, k0)
                                              : is_last        ? Rows{}
                                                               : part(0, k0 + depth);
        const Write write = t.subtract ? Write::kSubtract : k0 != 0 ? Write::kAdd : Write::kSet;
        T* const all = static_cast<T*>(converts ? scratch.sums : t.c);
        T* const to = all + (converts && t.k <= depth ? 0 : m0 * stride);
        if (!SumRows(now, next, t.n, a_panels, b_panels, to, stride, write)) return false;
        if (converts && is_last) ConvertRows(t, to, m0, now.m);
      }
    }
    return true;
  }

  template <typename T>
  static constexpr int64_t kWidth = kMaxVectors* kLanes<T>;
  // Some rows and steps of an operand.
  struct Rows {
    GemmMatrix a;
    int64_t m, k0, k;
  };
  static int64_t Size(GemmType type) { return type == GemmType::kF64 ? 8 : type == GemmType::kF32 ? 4 : 2; }
  static GemmMatrix From(GemmMatrix m, int64_t first) {
    if (m.outer_at != nullptr) {
      m.outer_at += first;
    } else {
      m.data = static_cast<const char*>(m.data) + first * m.outer_stride * Size(m.type);
    }
    return m;
  }
  // Asks for row `i`, so that it is in the cache when it is packed.
  static void Prefetch(const Rows& rows, int64_t i) {
    if (i >= rows.m || !rows.a.k_adjacent()) return;
    const char* from = static_cast<const char*>(rows.a.data) + (Row(rows.a, i) + rows.k0) * Size(rows.a.type);
    for (int64_t at = 0; at < rows.k * Size(rows.a.type); at += 64) __builtin_prefetch(from + at, 0, 2);
  }
  // Packs rows and adds their products with all columns; those that come `next` are fetched meanwhile.
  template <typename P>
  static bool SumRows(const Rows& now, const Rows& next, int64_t n, P* a_panels, const P* b_panels, SumOf<P>* c,
                      int64_t c_stride, Write write) {
    constexpr int64_t kColumns = kWidth<SumOf<P>>;
    const int64_t rows = Ceil(now.m, Ceil(now.m, kMaxRows));  // of each panel, as even as can be
    const int64_t k = Ceil(now.k, kSteps<P>);
    const bool by_rows = ByRows(now.a);
    if (!Pack(now.a, now.m, by_rows ? 0 : rows, kPanelRows, now.k0, now.k, a_panels)) return false;
    const int64_t cells = Ceil(n, kColumns) * Ceil(now.m, rows), each = Ceil(next.m, cells);
    int64_t fetched = 0;
    for (int64_t j = 0; j < n; j += kColumns) {
      for (int64_t i = 0; i < now.m; i += rows) {
        for (int64_t last = fetched + each; fetched < last; ++fetched) Prefetch(next, fetched);
        const int64_t at = by_rows ? i * kRowStride : i / rows * PanelStride(k, kPanelRows);
        Cell(by_rows, Min(rows, now.m - i), Min(kColumns, n - j), k, a_panels + at,
             b_panels + j / kColumns * PanelStride(k, kColumns), c + i * c_stride + j, c_stride, write);
      }
    }
    return true;
  }

  // Rows [first, first + n) of the result.
  template <typename To, typename T>
  static void ConvertTo(const GemmTile& t, const T* sums, int64_t first, int64_t n) {
    To* c = static_cast<To*>(t.c) + first * t.c_stride;
    for (int64_t i = 0; i < n; ++i, c += t.c_stride, sums += t.n) {
      for (int64_t j = 0; j < t.n; ++j) Narrow(sums[j], c[j]);
    }
  }
  template <typename T>
  static void ConvertRows(const GemmTile& t, const T* sums, int64_t first, int64_t n) {
    WithType(t.c_type, [&]<typename To>(To) { ConvertTo<To>(t, sums, first, n); });
  }

  static void Run(const GemmTile& t, const GemmScratch& scratch) {
    if (t.sum == GemmType::kF64) {
      Sum<double>(t, scratch);
    } else {
      Sum<float>(t, scratch);
    }
  }
  // Operands in bf16 at strides. False: they have elements that pairs are not made for, and the result is not there.
  static bool RunPairs(const GemmTile& t, const GemmScratch& scratch) {
    const auto fits = [](const GemmMatrix& m) {
      return m.type == GemmType::kBF16 && m.outer_at == nullptr && m.k_at == nullptr;
    };
    return fits(t.a) && fits(t.b) && t.sum == GemmType::kF32 && !t.subtract && Sum<Pair>(t, scratch);
  }
};

}  // namespace ricci::cpu
#endif
