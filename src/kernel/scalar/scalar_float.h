// Floating elements as the interpreter and folding compute with them: in double, to and from the bits of a dtype.
//
// The formats are rows of ricci/float_format.h. Each function here is made from one row, which is known at compile
// time.
#ifndef RICCI_KERNEL_SCALAR_FLOAT_H_
#define RICCI_KERNEL_SCALAR_FLOAT_H_
#include <cstdint>

#include "ricci/float_format.h"

namespace ricci { inline namespace v0 { namespace kernel {

// Of a floating dtype. The long functions are instantiated once, in scalar_float.cc.
template <uint32_t kDType>
struct FloatBits {
  static constexpr ricci_float_format kFormat = ricci_float_format_of(kDType);
  static double Decode(uint64_t bits) { return ricci_float_decode(kFormat, bits); }
  static uint64_t Encode(double v) { return ricci_float_encode(kFormat, v); }
};
extern template struct FloatBits<RICCI_F16>;
extern template struct FloatBits<RICCI_BF16>;
extern template struct FloatBits<RICCI_F8E4M3FN>;
extern template struct FloatBits<RICCI_F8E5M2>;
extern template struct FloatBits<RICCI_F8E8M0FNU>;
extern template struct FloatBits<RICCI_F4E2M1FN>;

// The value next to x towards y, as bits of the format.
uint64_t NextAfter(const ricci_float_format& f, uint64_t x, uint64_t y);
// v as a double whose lowest bit is set if bits were lost, so that rounding it again to a narrower format is correct.
double RoundToOdd(uint64_t v);

inline double DecodeFloat(uint32_t dtype, uint64_t bits) {
  switch (dtype) {
    case RICCI_F16:
      return FloatBits<RICCI_F16>::Decode(bits);
    case RICCI_BF16:
      return FloatBits<RICCI_BF16>::Decode(bits);
    case RICCI_F32:
      return FloatBits<RICCI_F32>::Decode(bits);
    case RICCI_F8E4M3FN:
      return FloatBits<RICCI_F8E4M3FN>::Decode(bits);
    case RICCI_F8E5M2:
      return FloatBits<RICCI_F8E5M2>::Decode(bits);
    case RICCI_F8E8M0FNU:
      return FloatBits<RICCI_F8E8M0FNU>::Decode(bits);
    case RICCI_F4E2M1FN:
      return FloatBits<RICCI_F4E2M1FN>::Decode(bits);
    default:
      return FloatBits<RICCI_F64>::Decode(bits);
  }
}

inline uint64_t EncodeFloat(uint32_t dtype, double v) {
  switch (dtype) {
    case RICCI_F16:
      return FloatBits<RICCI_F16>::Encode(v);
    case RICCI_BF16:
      return FloatBits<RICCI_BF16>::Encode(v);
    case RICCI_F32:
      return FloatBits<RICCI_F32>::Encode(v);
    case RICCI_F8E4M3FN:
      return FloatBits<RICCI_F8E4M3FN>::Encode(v);
    case RICCI_F8E5M2:
      return FloatBits<RICCI_F8E5M2>::Encode(v);
    case RICCI_F8E8M0FNU:
      return FloatBits<RICCI_F8E8M0FNU>::Encode(v);
    case RICCI_F4E2M1FN:
      return FloatBits<RICCI_F4E2M1FN>::Encode(v);
    default:
      return FloatBits<RICCI_F64>::Encode(v);
  }
}

}}}  // namespace ricci::v0::kernel
#endif
