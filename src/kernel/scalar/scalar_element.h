// ElementOf<dtype>: the type T in which an element type is computed, and the conversions between T and bits.
//
// Integers are their own type, floats are computed in double. Included by the files that make tables over all dtypes.
#ifndef RICCI_KERNEL_SCALAR_ELEMENT_H_
#define RICCI_KERNEL_SCALAR_ELEMENT_H_
#include <type_traits>

#include "kernel/scalar/scalar_float.h"
#include "ricci/base.h"

namespace ricci { inline namespace v0 { namespace kernel {

template <uint32_t kDType, typename Native>
struct IntegerElement {
  using T = Native;
  static T Decode(uint64_t bits) { return static_cast<T>(bits); }
  static uint64_t Encode(T v) { return static_cast<std::make_unsigned_t<T>>(v); }
};
template <uint32_t kDType>
struct FloatElement : FloatBits<kDType> {
  using T = double;
  // A result of arithmetic. Of f8e8m0fnu it is one of f32 first, as in backends: what underflows there is 0, thus NaN.
  static uint64_t Rounded(double v) {
    if constexpr (kDType == RICCI_F8E8M0FNU) v = static_cast<double>(static_cast<float>(v));
    return FloatBits<kDType>::Encode(v);
  }
};
struct BoolElement {
  using T = bool;
  static T Decode(uint64_t bits) { return bits != 0; }
  static uint64_t Encode(T v) { return v; }
};

template <uint32_t kDType>
struct ElementOf;
// clang-format off
template <> struct ElementOf<RICCI_BOOL> : BoolElement {};
template <> struct ElementOf<RICCI_I8> : IntegerElement<RICCI_I8, int8_t> {};
template <> struct ElementOf<RICCI_I16> : IntegerElement<RICCI_I16, int16_t> {};
template <> struct ElementOf<RICCI_I32> : IntegerElement<RICCI_I32, int32_t> {};
template <> struct ElementOf<RICCI_I64> : IntegerElement<RICCI_I64, int64_t> {};
template <> struct ElementOf<RICCI_U8> : IntegerElement<RICCI_U8, uint8_t> {};
template <> struct ElementOf<RICCI_U16> : IntegerElement<RICCI_U16, uint16_t> {};
template <> struct ElementOf<RICCI_U32> : IntegerElement<RICCI_U32, uint32_t> {};
template <> struct ElementOf<RICCI_U64> : IntegerElement<RICCI_U64, uint64_t> {};
template <> struct ElementOf<RICCI_F16> : FloatElement<RICCI_F16> {};
template <> struct ElementOf<RICCI_BF16> : FloatElement<RICCI_BF16> {};
template <> struct ElementOf<RICCI_F32> : FloatElement<RICCI_F32> {};
template <> struct ElementOf<RICCI_F64> : FloatElement<RICCI_F64> {};
template <> struct ElementOf<RICCI_F8E4M3FN> : FloatElement<RICCI_F8E4M3FN> {};
template <> struct ElementOf<RICCI_F8E5M2> : FloatElement<RICCI_F8E5M2> {};
template <> struct ElementOf<RICCI_F8E8M0FNU> : FloatElement<RICCI_F8E8M0FNU> {};
template <> struct ElementOf<RICCI_F4E2M1FN> : FloatElement<RICCI_F4E2M1FN> {};
// clang-format on

}}}  // namespace ricci::v0::kernel
#endif
