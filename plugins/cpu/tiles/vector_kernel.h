// Vectors of kBytes and the 16-bit floats that become their elements, as a template for each instruction set: `Own` is
// a type of a file whose instructions are more than those of that width.
//
// As in all of these files nothing may be an inline function outside a template on the vector's bytes: the linker would
// keep one copy for all instruction sets.
#ifndef RICCI_CPU_VECTOR_KERNEL_H_
#define RICCI_CPU_VECTOR_KERNEL_H_
#include <cstdint>
#include <utility>

namespace ricci::cpu {

template <int kBytes, typename Own = void>
struct VectorKernel {
  // ---- vectors ----
  template <typename T>
  struct VectorOf {
    typedef T Type __attribute__((vector_size(kBytes)));
    typedef T Loose __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias));
  };
  template <typename T>
  using Vector = typename VectorOf<T>::Type;
  template <typename T>
  static constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));

  template <typename T>
  static Vector<T> Load(const T* p) {
    return *reinterpret_cast<const typename VectorOf<T>::Loose*>(p);
  }
  template <typename T>
  static void Store(T* p, Vector<T> v) {
    *reinterpret_cast<typename VectorOf<T>::Loose*>(p) = v;
  }
  // ---- squares of kLanes rows ----
  // One stage of a transposition: exchanges the off-diagonal squares of side kSide of all squares of side 2 kSide.
  template <typename T, int kSide, int... kLane>
  static void Exchange(Vector<T>* rows, std::integer_sequence<int, kLane...>) {
    constexpr int kL = kLanes<T>;
#pragma GCC unroll 16
    for (int i = 0; i < kL; ++i) {
      if ((i & kSide) != 0) continue;
      const Vector<T> x = rows[i], y = rows[i + kSide];
      rows[i] = __builtin_shufflevector(x, y, ((kLane & kSide) == 0 ? kLane : kL + kLane - kSide)...);
      rows[i + kSide] = __builtin_shufflevector(x, y, ((kLane & kSide) == 0 ? kLane + kSide : kL + kLane)...);
    }
  }
  template <typename T, int kSide = kLanes<T> / 2>
  static void Transpose(Vector<T>* rows) {
    Exchange<T, kSide>(rows, std::make_integer_sequence<int, kLanes<T>>());
    if constexpr (kSide > 1) Transpose<T, kSide / 2>(rows);
  }

  static int64_t Min(int64_t a, int64_t b) { return a < b ? a : b; }
  static int64_t Ceil(int64_t a, int64_t b) { return (a + b - 1) / b; }

  // ---- 16-bit floats: as bits, since not every compiler has them as types ----
  struct F16 {
    uint16_t bits;
  };
  struct BF16 {
    uint16_t bits;
  };
  // body(a number of the type): of an enumeration of kF32, kF64, kF16 and kBF16.
  template <typename Type, typename Body>
  static void WithType(Type type, Body body) {
    switch (type) {
      case Type::kF32:
        return body(float{});
      case Type::kF64:
        return body(double{});
      case Type::kF16:
        return body(F16{});
      case Type::kBF16:
        return body(BF16{});
    }
  }
  static float FloatOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }
  static uint32_t BitsOf(float v) { return __builtin_bit_cast(uint32_t, v); }

  static float Widen(float v) { return v; }
  static double Widen(double v) { return v; }
  static float Widen(BF16 v) { return FloatOf(static_cast<uint32_t>(v.bits) << 16); }
  static float Widen(F16 v) {
    const uint32_t h = v.bits, magnitude = BitsOf(FloatOf((h & 0x7fff) << 13) * 0x1p112f);
    return FloatOf((h & 0x8000) << 16 | ((h & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000 : magnitude));
  }
  static void Narrow(float v, float& out) { out = v; }
  static void Narrow(double v, double& out) { out = v; }
  static void Narrow(float v, double& out) { out = v; }
  static void Narrow(double v, float& out) { out = static_cast<float>(v); }
  static void Narrow(float v, BF16& out) {
    const uint32_t bits = BitsOf(v);
    const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    out.bits = static_cast<uint16_t>(v != v ? bits >> 16 | 0x40 : rounded);
  }
  static void Narrow(double v, BF16& out) { Narrow(static_cast<float>(v), out); }
  static void Narrow(double v, F16& out) { Narrow(static_cast<float>(v), out); }
  // Rounds in one addition whose sum has the wanted digits in its low bits.
  static void Narrow(float v, F16& out) {
    const uint32_t bits = BitsOf(v), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    uint32_t half;
    if (magnitude >= 0x47800000) {  // 2^16 and above, infinities, NaN
      half = magnitude > 0x7f800000 ? 0x7e00 | (magnitude >> 13 & 0x3ff) : 0x7c00;
    } else if (magnitude < 0x38800000) {  // below the least normal one
      half = BitsOf(FloatOf(magnitude) + 0.5f) - BitsOf(0.5f);
    } else {
      half = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
    }
    out.bits = static_cast<uint16_t>(sign | half);
  }
};

}  // namespace ricci::cpu
#endif
