// Quantization by blocks: the elements of a matrix in few bits, and a scale for each block of them along a row; the
// forms MXFP8 and NVFP4, found as jax.nn.scaled_dot_general finds them.
//
// Scales of MXFP8 are powers of two that are rounded up, so that the greatest element of a block fits. Those of NVFP4
// have a mantissa of three bits; what is then too large for f4 becomes the greatest number, and a number that all
// scales share, `global`, brings the elements into their range first.
#ifndef RICCI_NN_BLOCK_SCALES_HPP_
#define RICCI_NN_BLOCK_SCALES_HPP_
#include "along_axes.hpp"

namespace ricci { inline namespace v0 { namespace nn {

struct BlockFormat {
  std::string_view name;
  int64_t block;  // elements that share a scale
  DType elements, scales;
  bool has_global;
};
inline constexpr BlockFormat kBlockFormats[] = {
    {"mxfp8", 32, DType::kF8E4M3FN, DType::kF8E8M0FNU, false},
    {"nvfp4", 16, DType::kF4E2M1FN, DType::kF8E4M3FN, true},
};

// x [B,M,K] as elements [B,M,K] and scales [B,M,K / block].
struct Quantized {
  Value elements, scales;
};

// x between the two, NaN where it is NaN.
inline Value Clipped(const Value& x, double least, double greatest) {
  const Value most = lax::full_like(x, greatest);
  return lax::min(lax::max(x, lax::full_like(x, least)), most);
}
// The power of two that is not less than x, which is not negative, as f8e8m0fnu: by the exponent field of an f32. What
// is below 2^-127 becomes that.
inline Value PowerOfTwoAbove(const Value& x) {
  const Value bits = lax::bitcast_convert_type(lax::convert_element_type(x, DType::kF32), DType::kU32);
  const auto number = [&](int64_t v) { return lax::full_like(bits, v); };
  const Value exponent = lax::shift_right_logical(bits, number(23)),
              mantissa = lax::bitwise_and(bits, number(0x7fffff));
  const Value is_small = lax::le(mantissa, number(0x400000));
  const Value is_lowest = lax::bitwise_and(lax::eq(exponent, number(0)), is_small);
  const Value is_below_last = lax::ne(exponent, number(0xfe));
  const Value is_between = lax::bitwise_and(lax::gt(mantissa, number(0)), is_below_last);
  const Value goes_up = lax::bitwise_and(is_between, lax::bitwise_not(is_lowest));
  const Value rounded = lax::add(exponent, lax::convert_element_type(goes_up, DType::kU32));
  return lax::bitcast_convert_type(lax::convert_element_type(rounded, DType::kU8), DType::kF8E8M0FNU);
}
// Scales as divisors of `dtype`. f16 has no 2^-127, the scale of zeros: any number does.
inline Value AsDivisor(const Value& scales, DType dtype) {
  const Value wide = lax::convert_element_type(scales, DType::kF32);
  if (dtype != DType::kF16) return lax::convert_element_type(wide, dtype);
  const Value is_least = lax::le(wide, lax::full_like(wide, 0x1p-127));
  return lax::convert_element_type(lax::select(is_least, lax::full_like(wide, 0x1p-15), wide), dtype);
}
// `global`: a scalar, or none.
inline Quantized Quantize(const Value& given, const BlockFormat& format, const Value& global) {
  Value x = given;
  const double greatest = InfoOf(format.elements).max;
  if (format.has_global) {
    x = Widened(x);
    x = lax::div(x, lax::broadcast(lax::convert_element_type(global, x.dtype()), x.shape()));
  }
  const int64_t blocks = x.dim(2) / format.block, split[] = {x.dim(0), x.dim(1), blocks, format.block}, last[] = {3};
  x = lax::reshape(x, split);
  Value needed = lax::reduce_max(lax::abs(x), last);
  needed = lax::div(needed, lax::full_like(needed, greatest));
  const Value scales = format.has_global
                           ? lax::convert_element_type(Clipped(needed, 0, InfoOf(format.scales).max), format.scales)
                           : PowerOfTwoAbove(needed);
  const Value scaled = lax::div(x, SpreadAlong(AsDivisor(scales, x.dtype()), split, last));
  const Value elements = lax::convert_element_type(Clipped(scaled, -greatest, greatest), format.elements);
  return {lax::reshape(elements, given.shape()), scales};
}

}}}  // namespace ricci::v0::nn
#endif
