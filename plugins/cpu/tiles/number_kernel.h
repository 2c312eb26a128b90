// Real and complex numbers in lanes, as a template over the vector's bytes, as in gemm_kernel.h: what solve_kernel.h
// and lu_kernel.h compute with.
//
// Lanes of a complex number are two vectors, one of each part, so that no operation moves anything from lane to lane.
#ifndef RICCI_CPU_NUMBER_KERNEL_H_
#define RICCI_CPU_NUMBER_KERNEL_H_
#include "cpu/tiles/vector_kernel.h"

namespace ricci::cpu {

// `kNumberParts`: 2 for complex numbers, whose parts are of type `Part`.
template <int kBytes, typename Part, int kNumberParts>
struct NumberKernel {
  using T = Part;
  using Vectors = VectorKernel<kBytes>;
  using Vector = typename Vectors::template Vector<T>;
  static constexpr int kParts = kNumberParts, kLanes = Vectors::template kLanes<T>;

  // Of V = T one number, of V = Vector one in each lane.
  template <typename V>
  struct Number {
    V part[kParts];
  };
  using One = Number<T>;
  using Lanes = Number<Vector>;

  // ---- memory, where the parts of a number are `next` apart ----
  static One LoadOne(const T* p, int64_t next) {
    One v;
    for (int i = 0; i < kParts; ++i) v.part[i] = p[i * next];
    return v;
  }
  static void StoreOne(T* p, int64_t next, const One& v) {
    for (int i = 0; i < kParts; ++i) p[i * next] = v.part[i];
  }
  static Lanes Load(const T* p, int64_t next) {
    Lanes v;
    for (int i = 0; i < kParts; ++i) v.part[i] = Vectors::Load(p + i * next);
    return v;
  }
  static void Store(T* p, int64_t next, const Lanes& v) {
    for (int i = 0; i < kParts; ++i) Vectors::Store(p + i * next, v.part[i]);
  }
  // One number in all lanes.
  static Lanes Spread(const T* p, int64_t next) {
    Lanes v;
    for (int i = 0; i < kParts; ++i) v.part[i] = p[i * next] - Vector{};
    return v;
  }

  // ---- arithmetic ----
  template <typename V>
  static void SubtractProduct(Number<V>& rest, const Number<V>& a, const Number<V>& b) {
    rest.part[0] -= a.part[0] * b.part[0];
    if constexpr (kParts == 2) {
      rest.part[0] += a.part[1] * b.part[1];
      rest.part[1] -= a.part[0] * b.part[1];
      rest.part[1] -= a.part[1] * b.part[0];
    }
  }
  // |re| + |im|, by which LAPACK compares complex numbers.
  static Vector SizeOf(const Lanes& v) {
    Vector size = v.part[0] < 0 ? -v.part[0] : v.part[0];
    if constexpr (kParts == 2) size += v.part[1] < 0 ? -v.part[1] : v.part[1];
    return size;
  }
  static bool IsZero(const One& v) {
    for (int i = 0; i < kParts; ++i) {
      if (v.part[i] != 0) return false;
    }
    return true;
  }

  // What divides by y: x / y is re u + im v and im u - re v, over `scale` (R. L. Smith, "Algorithm 116: Complex
  // division", CACM 1962), so that nothing overflows without need.
  struct Divisor {
    T u, v, scale;
  };
  static Divisor DivisorOf(const One& y) {
    if constexpr (kParts == 1) return {1, 0, y.part[0]};
    const T re = y.part[0], im = y.part[kParts - 1];
    if ((re < 0 ? -re : re) >= (im < 0 ? -im : im)) return {1, im / re, re + im * (im / re)};
    return {re / im, 1, im + re * (re / im)};
  }
  static void Divide(Lanes& x, const Divisor& y) {
    const Vector scale = y.scale - Vector{};
    if constexpr (kParts == 1) {
      x.part[0] /= scale;
    } else {
      const Vector re = x.part[0], im = x.part[1], u = y.u - Vector{}, v = y.v - Vector{};
      x.part[0] = (re * u + im * v) / scale;
      x.part[1] = (im * u - re * v) / scale;
    }
  }
};

}  // namespace ricci::cpu
#endif
