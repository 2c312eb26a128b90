// The code of PlaneTile as a template over the vector's bytes; each instruction set's file instantiates its own.
//
// Sums of a block of features and adjacent positions (a map), or of features and shifts (runs that are summed), stay in
// registers. Nothing here may be an inline function outside a template on the vector's bytes: the linker would keep one
// copy for all instruction sets.
#ifndef RICCI_CPU_PLANE_KERNEL_H_
#define RICCI_CPU_PLANE_KERNEL_H_
#include <type_traits>
#include <utility>

#include "cpu/tiles/plane_tile.h"
#include "cpu/tiles/vector_kernel.h"

namespace ricci::cpu {

template <int kBytes>
struct PlaneKernel : VectorKernel<kBytes> {
  using Base = VectorKernel<kBytes>;
  template <typename T>
  using Vector = typename Base::template Vector<T>;
  template <typename T>
  static constexpr int kLanes = Base::template kLanes<T>;
  template <typename T>
  using Mask = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  using Base::Ceil, Base::Load, Base::Min, Base::Narrow, Base::Store, Base::Widen, Base::WithType;

  static constexpr int kSums = kBytes == 64 ? 24 : 12;  // vectors that stay in registers
  static constexpr int kMaxVectors = 4;
  static constexpr int kSumRows = 6, kMaxShifts = 6;  // of runs that are summed; rows are aligned, shifted runs not

  // ---- copies between arrays and planes ----
  template <typename T, int... kLane>
  static Vector<T> EveryOther(const T* p, std::integer_sequence<int, kLane...>) {
    return __builtin_shufflevector(Load(p), Load(p + kLanes<T>), (2 * kLane)...);
  }
  template <typename T, typename From>
  static void CopyLine(const From* from, int64_t step, int64_t count, T* to) {
    int64_t i = 0;
    if constexpr (std::is_same_v<T, From>) {
      if (step == 1) {
        for (; i + kLanes<T> <= count; i += kLanes<T>) Store(to + i, Load(from + i));
      } else if (step == 2) {  // the last vector would read an element too many
        for (; i + kLanes<T> < count; i += kLanes<T>) {
          Store(to + i, EveryOther(from + 2 * i, std::make_integer_sequence<int, kLanes<T>>()));
        }
      }
    }
    for (; i < count; ++i) to[i] = static_cast<T>(Widen(from[i * step]));
  }
  template <typename T, typename From>
  static void CopyLines(const PlaneLines& lines, const From* from, T* to) {
    for (int64_t i = 0; i < lines.count; ++i) {
      const PlaneLine& l = lines.at[i];
      CopyLine(from + l.array, lines.step, l.count, to + l.plane);
    }
  }
  template <typename T>
  static void Zero(T* to, int64_t n) {
    __builtin_memset(to, 0, static_cast<uint64_t>(n) * sizeof(T));
  }

  template <typename T>
  static void FillPlanes(const PlaneTile& t, T* planes) {
    Zero(planes, t.elements + kPlaneSlack);
    WithType(t.lhs_type, [&]<typename From>(From) {
      const auto* lhs = static_cast<const From*>(t.lhs);
      for (int64_t o = 0; o < t.others.count; ++o) {
        for (int64_t r = 0; r < t.run.count; ++r) {
          CopyLines(t.lines, lhs + o * t.others.lhs + r * t.run.lhs, planes + o * t.others.plane + r * t.run.plane);
        }
      }
    });
  }

  // ---- maps ----
  // sums[kRows][stride] of kVectors vectors: each row of weights, one for each meeting, times what it meets.
  template <typename T, int kRows, int kVectors>
  static void MapBlock(const PlanePhase& p, const T* planes, const T* weights, T* sums, int64_t stride) {
    constexpr int kL = kLanes<T>;
    Vector<T> sum[kRows][kVectors];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) sum[i][j] = Vector<T>{};
    }
    for (int64_t k = 0; k < p.meetings; ++k, weights += kRows) {
      const T* at = planes + p.from[k];
      Vector<T> right[kVectors];
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) right[j] = Load(at + j * kL);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        const Vector<T> left = weights[i] - Vector<T>{};
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) sum[i][j] += left * right[j];
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) Store(sums + i * stride + j * kL, sum[i][j]);
    }
  }
  template <typename T>
  using MapFn = void (*)(const PlanePhase& p, const T* planes, const T* weights, T* sums, int64_t stride);
  static constexpr int VectorsOf(int rows) { return kSums / rows < kMaxVectors ? kSums / rows : kMaxVectors; }
  template <typename T>
  struct MapBlocks {
    MapFn<T> at[kPlaneRows][kMaxVectors];
  };
  template <typename T, int kRows, int kVectors>
  static constexpr MapFn<T> MapOf() {
    if constexpr (kVectors <= VectorsOf(kRows)) return MapBlock<T, kRows, kVectors>;
    return nullptr;
  }
  template <typename T, int... kRow>
  static constexpr MapBlocks<T> MapBlocksOf(std::integer_sequence<int, kRow...>) {
    return {{{MapOf<T, kRow + 1, 1>(), MapOf<T, kRow + 1, 2>(), MapOf<T, kRow + 1, 3>(), MapOf<T, kRow + 1, 4>()}...}};
  }
  template <typename T>
  static constexpr MapBlocks<T> kMapBlocks = MapBlocksOf<T>(std::make_integer_sequence<int, kPlaneRows>());

  // Of some features: the weights of each meeting beside each other.
  template <typename T>
  static void PackWeights(const PlaneTile& t, const PlanePhase& p, int64_t first, int64_t rows, T* to) {
    WithType(t.rhs_type, [&]<typename From>(From) {
      const From* from = static_cast<const From*>(t.rhs) + first * t.feature_rhs;
      for (int64_t k = 0; k < p.meetings; ++k, to += rows) {
        for (int64_t i = 0; i < rows; ++i) to[i] = static_cast<T>(Widen(from[p.other[k] + i * t.feature_rhs]));
      }
    });
  }
  template <typename T>
  static void StoreRows(const PlaneTile& t, const PlanePhase& p, int64_t first, int64_t rows, const T* sums,
                        int64_t stride) {
    WithType(t.out_type, [&]<typename To>(To) {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t r = 0; r < t.run.count; ++r) {
          To* out = static_cast<To*>(t.out) + (first + i) * t.feature_out + r * t.run_stride;
          StoreLines(p.lines, sums + i * stride + r * t.run.plane, out);
        }
      }
    });
  }
  template <typename T, typename To>
  static void StoreLines(const PlaneLines& lines, const T* sums, To* to) {
    for (int64_t l = 0; l < lines.count; ++l) {
      const T* from = sums + lines.at[l].plane;
      To* out = to + lines.at[l].array;
      int64_t i = 0;
      if constexpr (std::is_same_v<T, To>) {
        for (; lines.step == 1 && i + kLanes<T> <= lines.at[l].count; i += kLanes<T>) Store(out + i, Load(from + i));
      }
      for (; i < lines.at[l].count; ++i) Narrow(from[i], out[i * lines.step]);
    }
  }
  // The run of all images, up to its last place.
  static int64_t Length(const PlaneTile& t, const PlanePhase& p) { return (t.run.count - 1) * t.run.plane + p.length; }
  // A line of positions, in whole vectors: the last one may overlap the one before it, with equal numbers.
  template <typename T>
  static void MapLine(const PlanePhase& p, const T* planes, const T* weights, int64_t rows, int64_t count, T* out,
                      int64_t stride) {
    constexpr int64_t kL = kLanes<T>;
    const int64_t vectors = VectorsOf(static_cast<int>(rows));
    for (int64_t at = 0; at < count;) {
      const int64_t left = (count - at) / kL, some = left == 0 ? 1 : Min(vectors, left);
      if (left == 0) at = count - kL;
      kMapBlocks<T>.at[rows - 1][some - 1](p, planes + at, weights, out + at, stride);
      at += some * kL;
    }
  }
  template <typename T>
  static void MapLines(const PlaneTile& t, const PlanePhase& p, int64_t first, int64_t rows, const T* planes,
                       const T* weights) {
    for (int64_t r = 0; r < t.run.count; ++r) {
      T* out = static_cast<T*>(t.out) + first * t.feature_out + r * t.run_stride;
      for (int64_t l = 0; l < p.lines.count; ++l) {
        const PlaneLine& line = p.lines.at[l];
        MapLine(p, planes + r * t.run.plane + line.plane, weights, rows, line.count, out + line.array, t.feature_out);
      }
    }
  }
  // The run of all images as one; elements between positions are computed too.
  template <typename T>
  static void MapRun(const PlaneTile& t, const PlanePhase& p, int64_t first, int64_t rows, const T* planes,
                     const T* weights, T* sums) {
    constexpr int64_t kL = kLanes<T>;
    const int64_t length = Length(t, p), stride = Ceil(length, kL) * kL, vectors = VectorsOf(static_cast<int>(rows));
    for (int64_t at = 0; at < length; at += vectors * kL) {
      const int64_t some = Min(vectors, Ceil(length - at, kL));
      kMapBlocks<T>.at[rows - 1][some - 1](p, planes + at, weights, sums + at, stride);
    }
    StoreRows(t, p, first, rows, sums, stride);
  }
  template <typename T>
  static void MapPhase(const PlaneTile& t, const PlanePhase& p, const T* planes, T* weights, T* sums) {
    const int64_t most = Min(kPlaneRows, kSums / 2), rows = Ceil(t.features, Ceil(t.features, most));
    for (int64_t first = 0; first < t.features; first += rows) {
      const int64_t count = Min(rows, t.features - first);
      PackWeights(t, p, first, count, weights);
      if (p.direct) {
        MapLines(t, p, first, count, planes, weights);
      } else {
        MapRun(t, p, first, count, planes, weights, sums);
      }
    }
  }

  // ---- sums along runs ----
  template <typename T>
  static Vector<T> Masked(Vector<T> v, const Mask<T>* mask) {
    return reinterpret_cast<Vector<T>>(reinterpret_cast<Vector<Mask<T>>>(v) & Load(mask));
  }
  template <typename T, int kHalf = kLanes<T> / 2>
  static T Across(Vector<T> v) {
    if constexpr (kHalf == 0) {
      return v[0];
    } else {
      return Across<T, kHalf / 2>(v + Rotated<T, kHalf>(v, std::make_integer_sequence<int, kLanes<T>>()));
    }
  }
  template <typename T, int kBy, int... kLane>
  static Vector<T> Rotated(Vector<T> v, std::integer_sequence<int, kLane...>) {
    return __builtin_shufflevector(v, v, ((kLane + kBy) % kLanes<T>)...);
  }
  // Adds to sums[i][which[j]] the products of row i of rhs and run j. What the mask leaves out of a run may be
  // an infinity, which zeros in rhs would not drop.
  template <typename T, int kRows, int kShifts>
  static void SumBlock(int64_t length, const T* rhs, int64_t rhs_stride, const Mask<T>* mask, const T* planes,
                       const int64_t* from, const int64_t* which, T* sums, int64_t sums_stride) {
    Vector<T> sum[kRows][kShifts];
    const T* at[kShifts];
#pragma GCC unroll 8
    for (int j = 0; j < kShifts; ++j) {
      at[j] = planes + from[j];
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) sum[i][j] = Vector<T>{};
    }
    for (int64_t q = 0; q < length; q += kLanes<T>) {
      Vector<T> left[kRows];
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) left[i] = Load(rhs + i * rhs_stride + q);
#pragma GCC unroll 8
      for (int j = 0; j < kShifts; ++j) {
        const Vector<T> right = Masked<T>(Load(at[j] + q), mask + q);
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) sum[i][j] += left[i] * right;
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
      for (int j = 0; j < kShifts; ++j) sums[i * sums_stride + which[j]] += Across<T>(sum[i][j]);
    }
  }
  template <typename T>
  using SumFn = void (*)(int64_t length, const T* rhs, int64_t rhs_stride, const Mask<T>* mask, const T* planes,
                         const int64_t* from, const int64_t* which, T* sums, int64_t sums_stride);
  template <typename T>
  struct SumBlocks {
    SumFn<T> at[kSumRows][kMaxShifts];
  };
  static constexpr int ShiftsOf(int rows) { return kSums / rows < kMaxShifts ? kSums / rows : kMaxShifts; }
  template <typename T, int kRows, int kShifts>
  static constexpr SumFn<T> SumOf() {
    if constexpr (kShifts <= ShiftsOf(kRows)) return SumBlock<T, kRows, kShifts>;
    return nullptr;
  }
  template <typename T, int... kRow>
  static constexpr SumBlocks<T> SumBlocksOf(std::integer_sequence<int, kRow...>) {
    return {{{SumOf<T, kRow + 1, 1>(), SumOf<T, kRow + 1, 2>(), SumOf<T, kRow + 1, 3>(), SumOf<T, kRow + 1, 4>(),
              SumOf<T, kRow + 1, 5>(), SumOf<T, kRow + 1, 6>()}...}};
  }
  template <typename T>
  static constexpr SumBlocks<T> kSumBlocks = SumBlocksOf<T>(std::make_integer_sequence<int, kSumRows>());

  // rhs as runs, `stride` apart, zeros outside of positions; and which of their elements are positions.
  template <typename T>
  static void FillRuns(const PlaneTile& t, const PlanePhase& p, int64_t stride, T* runs, Mask<T>* mask) {
    Zero(runs, t.features * stride);
    Zero(mask, stride);
    for (int64_t r = 0; r < t.run.count; ++r) {
      for (int64_t l = 0; l < p.lines.count; ++l) {
        Mask<T>* to = mask + r * t.run.plane + p.lines.at[l].plane;
        for (int64_t i = 0; i < p.lines.at[l].count; ++i) to[i] = -1;
      }
    }
    WithType(t.rhs_type, [&]<typename From>(From) {
      for (int64_t f = 0; f < t.features; ++f) {
        for (int64_t r = 0; r < t.run.count; ++r) {
          const From* rhs = static_cast<const From*>(t.rhs) + f * t.feature_rhs + r * t.run_stride;
          CopyLines(p.lines, rhs, runs + f * stride + r * t.run.plane);
        }
      }
    });
  }
  template <typename T>
  static void SumPhase(const PlaneTile& t, const PlanePhase& p, const T* planes, T* runs, Mask<T>* mask, T* sums) {
    const int64_t length = Ceil(Length(t, p), kLanes<T>) * kLanes<T>, n_sums = t.others.count * t.n_sums;
    const int64_t rows = Ceil(t.features, Ceil(t.features, kSumRows)), all = t.others.count * p.meetings;
    const int64_t shifts = Ceil(all, Ceil(all, ShiftsOf(static_cast<int>(rows))));
    FillRuns(t, p, length, runs, mask);
    for (int64_t j = 0; j < all; j += shifts) {
      for (int64_t i = 0; i < t.features; i += rows) {
        kSumBlocks<T>.at[Min(rows, t.features - i) - 1][Min(shifts, all - j) - 1](
            length, runs + i * length, length, mask, planes, p.from + j, p.other + j, sums + i * n_sums, n_sums);
      }
    }
  }
  template <typename T>
  static void StoreSums(const PlaneTile& t, const T* sums) {
    WithType(t.out_type, [&]<typename To>(To) {
      for (int64_t i = 0; i < t.features; ++i) {
        for (int64_t o = 0; o < t.others.count; ++o) {
          To* out = static_cast<To*>(t.out) + i * t.feature_out + o * t.others_out;
          for (int64_t s = 0; s < t.n_sums; ++s, ++sums) Narrow(*sums, out[t.sums_out[s]]);
        }
      }
    });
  }

  template <typename T>
  static void RunAs(const PlaneTile& t, const PlaneScratch& scratch) {
    T *planes = static_cast<T*>(scratch.planes), *rhs = static_cast<T*>(scratch.rhs),
      *sums = static_cast<T*>(scratch.sums);
    FillPlanes(t, planes);
    if (!t.map && t.first) Zero(sums, t.features * t.others.count * t.n_sums);
    for (int64_t i = 0; i < t.n_phases; ++i) {
      if (t.map) {
        MapPhase(t, t.phases[i], planes, rhs, sums);
      } else if (t.phases[i].meetings > 0) {
        SumPhase(t, t.phases[i], planes, rhs, static_cast<Mask<T>*>(scratch.mask), sums);
      }
    }
    if (!t.map && t.last) StoreSums(t, sums);
  }

  static void Run(const PlaneTile& t, const PlaneScratch& scratch) {
    if (t.sum == GemmType::kF64) return RunAs<double>(t, scratch);
    RunAs<float>(t, scratch);
  }
};

}  // namespace ricci::cpu
#endif
