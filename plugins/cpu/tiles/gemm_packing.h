// Packing of the operands of a matrix product into panels, as a template over the vector's bytes (gemm_kernel.h).
//
// Packing reads any stride, so transposed operands and heads of attention are read in place; it also widens 16-bit
// floats. Each tile packs for itself: shared packing needs a barrier, and costs less than a tenth even for tiles of 64
// x 64.
//
// 1024 x 1024 in eight tiles on two cores of a Zen 5: nine tenths of the time are the inner loop at the processor's
// peak. A tenth is packing each operand two or four times. XLA packs once for all threads; our time is 1.0 to 1.1 of
// its. Prefetching of rows while rows are packed, and blocks of 98 rows, gave 2 % and stay. Tried and slower: columns
// or rows packed panel by panel when needed, or beside the products before (3 to 10 %: power-of-two strides and a
// second buffer evict panels from the second-level cache); tiles of 256 columns (2 %).
#ifndef RICCI_CPU_GEMM_PACKING_H_
#define RICCI_CPU_GEMM_PACKING_H_
#include <type_traits>
#include <utility>

#include "cpu/tiles/gemm_pairs.h"

namespace ricci::cpu {

template <int kBytes, typename Own = void>
struct GemmPacking : VectorKernel<kBytes, Own> {
  using Base = VectorKernel<kBytes, Own>;
  template <typename T>
  using Vector = typename Base::template Vector<T>;
  template <typename T>
  static constexpr int kLanes = Base::template kLanes<T>;
  using Base::Ceil, Base::Load, Base::Min, Base::Store, Base::Widen, Base::WithType;

  static constexpr int kPanelRows = kBytes == 64 ? 16 : 8;  // of the left operand
  static constexpr int64_t kRowStride = kGemmDepth + 16;    // no power of two

  // What panels hold: elements of the type of the sums or, of bf16, pairs of steps, if the file has `Own::Add` for
  // them.
  template <typename P>
  using SumOf = std::conditional_t<std::is_same_v<P, Pair>, float, P>;
  template <typename P>
  static constexpr int64_t kSteps = std::is_same_v<P, Pair> ? 2 : 1;
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
  // The part that PackAlong can do. It reads whole vectors; elements read in excess are not used, but must belong to
  // the matrix and to no other thread, so steps at the end may be left over, or a panel.
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
  // `width` parts of numbers, and their positions in the next row.
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
    WithType(m.type, [&]<typename From>(From) {
      if (panel == 0) return PackRows<T, From>(m, outer, k0, k, to);
      PackFrom<T, From>(m, outer, panel, padded, k0, k, to);
    });
  }
};

}  // namespace ricci::cpu
#endif
