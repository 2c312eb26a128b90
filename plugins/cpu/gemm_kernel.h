// The code of GemmTile as a template over the vector's bytes; each instruction set's file instantiates its own.
//
// After Goto and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008): both operands are packed
// into panels [k][width] that are as wide as a block of registers, whatever their strides; a block of sums stays in
// registers over a whole panel. Rows that are left over have their own instances of the inner loop, columns that are
// left over are computed in full and stored in part. Nothing here may be an inline function outside a template on the
// vector's bytes: the linker would keep one copy for all instruction sets.
#ifndef RICCI_CPU_GEMM_KERNEL_H_
#define RICCI_CPU_GEMM_KERNEL_H_
#include <type_traits>
#include <utility>

#include "gemm_pairs.h"

namespace ricci::cpu {

template <int kBytes, typename Own = void>
struct GemmKernel : VectorKernel<kBytes, Own> {
  using Base = VectorKernel<kBytes, Own>;
  template <typename T>
  using Vector = typename Base::template Vector<T>;
  template <typename T>
  static constexpr int kLanes = Base::template kLanes<T>;
  using Base::Ceil, Base::Load, Base::Min, Base::Narrow, Base::Store, Base::Widen;
  using typename Base::BF16;
  using typename Base::F16;

  // ---- the inner loop: kRows x kVectors vectors of sums stay in registers ----
  static constexpr int kMaxRows = kBytes == 64 ? 14 : 6, kMaxVectors = 2;
  static constexpr int kPanelRows = kBytes == 64 ? 16 : 8;  // as packed
  static constexpr int64_t kRowStride = kGemmDepth + 16;    // no power of two

  // What panels hold: elements of the type of the sums or, of bf16, pairs of steps, if the file has `Own::Add` for
  // them.
  template <typename P>
  using SumOf = std::conditional_t<std::is_same_v<P, Pair>, float, P>;
  template <typename P>
  static constexpr int64_t kSteps = std::is_same_v<P, Pair> ? 2 : 1;
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

  // ---- packing ----
  // Reads kLanes adjacent elements of another type.
  template <typename T, typename From>
  static Vector<T> LoadAs(const From* p) {
    if constexpr (std::is_same_v<T, From>) {
      return Load(p);
    } else {
      Vector<T> v;
      for (int i = 0; i < kLanes<T>; ++i) v[i] = static_cast<T>(Widen(p[i]));
      return v;
    }
  }

  // Where row or column i begins, and what step k adds to that.
  static int64_t Row(const GemmMatrix& m, int64_t i) {
    return m.outer_at != nullptr ? m.outer_at[i] : i * m.outer_stride;
  }
  static int64_t Step(const GemmMatrix& m, int64_t k) { return m.k_at != nullptr ? m.k_at[k] : k * m.k_stride; }

  // A panel from rows [first, first + width) of adjacent k: a square at a time, transposed in registers.
  template <typename T, typename From>
  static int64_t PackAcross(const From* from, const GemmMatrix& m, int64_t first, int64_t width, int64_t k,
                            int64_t padded, T* to) {
    constexpr int kL = kLanes<T>;
    const int64_t whole = k / kL * kL;
    for (int64_t w = 0; w < padded; w += kL) {
      for (int64_t step = 0; step < whole; step += kL) {
        Vector<T> rows[kL];
#pragma GCC unroll 16
        for (int i = 0; i < kL; ++i) {
          rows[i] = w + i < width ? LoadAs<T>(from + Row(m, first + w + i) + step) : Vector<T>{};
        }
        Base::template Transpose<T>(rows);
#pragma GCC unroll 16
        for (int i = 0; i < kL; ++i) Store(to + (step + i) * padded + w, rows[i]);
      }
    }
    return whole;
  }
  // The first panels and steps of all.
  struct Part {
    int64_t panels, steps;
  };
  // The part that PackAlong can do. It reads whole vectors; what it reads in excess is not used, but must be of the
  // matrix and nobody else's, so steps at the end may be left over, or a panel.
  static Part Along(const GemmMatrix& m, int64_t outer, int64_t panel, int64_t padded, int64_t k) {
    if (!m.outer_adjacent() || m.k_at != nullptr) return {0, 0};
    if (m.shared) return {outer < padded ? 0 : (outer - padded) / panel + 1, k};
    const int64_t panels = Ceil(outer, panel), last = outer - (panels - 1) * panel;
    return {panels, k - Min(k, 1 + Ceil(padded - last, m.k_stride))};
  }
  // That part from rows of adjacent elements, row by row, the best order for memory; rows to come are fetched.
  template <typename T, typename From>
  static void PackAlong(const From* from, int64_t stride, const Part& part, int64_t panel, int64_t padded, int64_t k,
                        T* to) {
    constexpr int64_t kAhead = 4, kLine = 64 / sizeof(From);
    const int64_t panel_stride = PanelStride(k, padded);
    for (int64_t step = 0; step < part.steps; ++step, from += stride, to += padded) {
      for (int64_t i = 0; i < part.panels; ++i) {
        const From* const row = from + i * panel;
        T* const at = to + i * panel_stride;
        for (int64_t w = 0; w < padded; w += kLine) __builtin_prefetch(row + kAhead * stride + w, 0, 3);
        for (int64_t w = 0; w < padded; w += kLanes<T>) Store(at + w, LoadAs<T>(row + w));
      }
    }
  }
  // Copies from[at[i]] to to[i], i < n, vectors where offsets that increase are adjacent.
  template <typename T, typename From>
  static void Gather(const From* from, const int64_t* at, int64_t n, T* to) {
    constexpr int kL = kLanes<T>;
    for (int64_t i = 0; i < n;) {
      if (i + kL <= n && at[i + kL - 1] - at[i] == kL - 1) {
        Store(to + i, LoadAs<T>(from + at[i]));
        i += kL;
      } else if (i + 4 <= n && at[i + 3] - at[i] == 3) {
        for (int64_t j = 0; j < 4; ++j) to[i + j] = static_cast<T>(Widen(from[at[i] + j]));
        i += 4;
      } else {
        to[i] = static_cast<T>(Widen(from[at[i]]));
        ++i;
      }
    }
  }
  // A panel [k][padded] of rows or columns [first, first + width) from step `done` on. The rest is zeros or, if there
  // are `all` more from `first` on, may be some of those.
  template <typename T, typename From>
  static void PackRest(const From* from, const GemmMatrix& m, int64_t first, int64_t width, int64_t all, int64_t done,
                       int64_t k0, int64_t k, int64_t padded, T* to) {
    if (m.outer_runs) width = Min(padded, all);  // whole vectors
    for (int64_t step = done; step < k; ++step) {
      const From* at = from + Step(m, k0 + step);
      T* row = to + step * padded;
      if (m.outer_runs) {
        Gather(at, m.outer_at + first, width, row);
      } else if (m.outer_adjacent()) {
        for (int64_t w = 0; w < width; ++w) row[w] = static_cast<T>(Widen(at[first + w]));
      } else {
        for (int64_t w = 0; w < width; ++w) row[w] = static_cast<T>(Widen(at[Row(m, first + w)]));
      }
      for (int64_t w = width; w < padded; ++w) row[w] = T{};
    }
  }
  // From one panel to the next: not a power of two, or all would fall into the same lines of the cache.
  static int64_t PanelStride(int64_t k, int64_t padded) { return (k + 1) * padded; }

  // All panels of rows or columns [0, outer) and steps [k0, k0 + k).
  template <typename T, typename From>
  static void PackFrom(const GemmMatrix& m, int64_t outer, int64_t panel, int64_t padded, int64_t k0, int64_t k,
                       T* to) {
    const auto* data = static_cast<const From*>(m.data);
    const auto* from = data + k0 * m.k_stride;  // where k has a stride
    const Part along = Along(m, outer, panel, padded, k);
    PackAlong(from, m.k_stride, along, panel, padded, k, to);
    for (int64_t w = 0; w < outer; w += panel, to += PanelStride(k, padded)) {
      const int64_t width = Min(panel, outer - w);
      const bool across = m.k_adjacent() && !m.outer_adjacent();
      const int64_t done = across                     ? PackAcross(from, m, w, width, k, padded, to)
                           : w < along.panels * panel ? along.steps
                                                      : 0;
      PackRest(data, m, w, width, outer - w, done, k0, k, padded, to);
    }
  }
  // Panels of the squares that complex numbers stand for: a step of numbers is two. Row by row, as PackAlong.
  template <typename T>
  static void PackSquares(const GemmMatrix& m, int64_t outer, int64_t padded, int64_t k0, int64_t k, T* to) {
    for (int64_t step = 0; step < k; step += 2) {
      const T* from = static_cast<const T*>(m.data) + (k0 + step) * m.k_stride;
      for (int64_t w = 0; w < outer; w += padded) {
        T* even = to + w / padded * PanelStride(k, padded) + step * padded;
        PackSquareRow(m, from + w * m.outer_stride, Min(padded, outer - w), padded, even);
      }
    }
  }
  // `width` parts of numbers, and their places in the next row.
  template <typename T>
  static void PackSquareRow(const GemmMatrix& m, const T* from, int64_t width, int64_t padded, T* even) {
    T* const odd = even + padded;
    for (int64_t v = width / kLanes<T> * kLanes<T>; v < padded; v += kLanes<T>) {
      Store(even + v, Vector<T>{});
      Store(odd + v, Vector<T>{});
    }
    int64_t w = 0;
    for (; m.outer_stride == 1 && !m.conjugate && w + kLanes<T> <= width; w += kLanes<T>) {
      const Vector<T> parts = Load(from + w);
      Store(even + w, parts);
      Store(odd + w, Turned<T>(parts, std::make_integer_sequence<int, kLanes<T>>()));
    }
    for (; w < width; w += 2) {
      const T re = from[w * m.outer_stride], im = from[w * m.outer_stride + 1];
      even[w] = odd[w + 1] = re;
      even[w + 1] = m.conjugate ? -im : im;
      odd[w] = m.conjugate ? im : -im;
    }
  }
  // Complex numbers times i.
  template <typename T, int... kLane>
  static Vector<T> Turned(Vector<T> v, std::integer_sequence<int, kLane...>) {
    return __builtin_shufflevector(v, -v, ((kLane & 1) == 0 ? kLanes<T> + kLane + 1 : kLane - 1)...);
  }

  // Rows of adjacent k are only copied: the inner loop reads their single elements just as fast.
  static bool ByRows(const GemmMatrix& m) { return m.k_adjacent() || m.k_runs; }
  template <typename T, typename From>
  static void PackRows(const GemmMatrix& m, int64_t outer, int64_t k0, int64_t k, T* to) {
    for (int64_t i = 0; i < outer; ++i, to += kRowStride) {
      if (m.k_runs) {
        Gather(static_cast<const From*>(m.data) + Row(m, i), m.k_at + k0, k, to);
        continue;
      }
      const auto* from = static_cast<const From*>(m.data) + Row(m, i) + k0;
      int64_t step = 0;
      for (; step + kLanes<T> <= k; step += kLanes<T>) Store(to + step, LoadAs<T>(from + step));
      for (; step < k; ++step) to[step] = static_cast<T>(Widen(from[step]));
    }
  }

  // Steps [k0, k0 + k) in panels of `panel` each, or as rows if that is 0. False: the matrix has elements that pairs
  // are not made for.
  template <typename P>
  static bool Pack(const GemmMatrix& m, int64_t outer, int64_t panel, int64_t padded, int64_t k0, int64_t k, P* to) {
    if constexpr (std::is_same_v<P, Pair>) {
      PairPacker<kBytes, Own> packer(m, k0, k);
      if (panel == 0) {
        packer.Rows(outer, kRowStride, to);
      } else {
        packer.Panels(outer, panel, padded, PanelStride(Ceil(k, kSteps<P>), padded), to);
      }
      return !packer.has_subnormal();
    } else {
      PackSteps(m, outer, panel, padded, k0, k, to);
      return true;
    }
  }
  template <typename T>
  static void PackSteps(const GemmMatrix& m, int64_t outer, int64_t panel, int64_t padded, int64_t k0, int64_t k,
                        T* to) {
    if (m.squares) return PackSquares(m, outer, padded, k0, k, to);
    const auto pack = [&]<typename From>(From) {
      if (panel == 0) return PackRows<T, From>(m, outer, k0, k, to);
      PackFrom<T, From>(m, outer, panel, padded, k0, k, to);
    };
    switch (m.type) {
      case GemmType::kF32:
        return pack(float{});
      case GemmType::kF64:
        return pack(double{});
      case GemmType::kF16:
        return pack(F16{});
      case GemmType::kBF16:
        return pack(BF16{});
    }
  }

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
    switch (t.c_type) {
      case GemmType::kF32:
        return ConvertTo<float>(t, sums, first, n);
      case GemmType::kF64:
        return ConvertTo<double>(t, sums, first, n);
      case GemmType::kF16:
        return ConvertTo<F16>(t, sums, first, n);
      case GemmType::kBF16:
        return ConvertTo<BF16>(t, sums, first, n);
    }
  }

  static void Run(const GemmTile& t, const GemmScratch& scratch) {
    if (t.sum == GemmType::kF64) {
      Sum<double>(t, scratch);
    } else {
      Sum<float>(t, scratch);
    }
  }
  // Operands in bf16 at strides. False: they have elements that pairs are not made for, and nothing is done.
  static bool RunPairs(const GemmTile& t, const GemmScratch& scratch) {
    const auto fits = [](const GemmMatrix& m) {
      return m.type == GemmType::kBF16 && m.outer_at == nullptr && m.k_at == nullptr;
    };
    return fits(t.a) && fits(t.b) && t.sum == GemmType::kF32 && !t.subtract && Sum<Pair>(t, scratch);
  }
};

}  // namespace ricci::cpu
#endif
