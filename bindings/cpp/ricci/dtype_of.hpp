// ricci/dtype_of.hpp: which element type a C++ type is.
//
// Floats of 16 bits and less are raw structs: arithmetic on them happens in programs, so a host only stores their bits.
#ifndef RICCI_DTYPE_OF_HPP_
#define RICCI_DTYPE_OF_HPP_
#include <bit>
#include <complex>
#include <concepts>
#include <type_traits>

#include "ricci/dtype.hpp"

namespace ricci { inline namespace v0 {

struct Float16 {
  uint16_t bits = 0;
};
struct BFloat16 {
  uint16_t bits = 0;
};
struct Float8E4M3FN {
  uint8_t bits = 0;
};
struct Float8E5M2 {
  uint8_t bits = 0;
};
struct Float8E8M0FNU {
  uint8_t bits = 0;
};
struct Float4E2M1FN {
  uint8_t bits = 0;  // the low four
};

// The dtype with the layout of T; kNone if there is none.
template <typename T>
consteval DType DTypeOfType() {
  if constexpr (std::same_as<T, bool>) return DType::kBool;
  if constexpr (std::same_as<T, Float16>) return DType::kF16;
  if constexpr (std::same_as<T, BFloat16>) return DType::kBF16;
  if constexpr (std::same_as<T, Float8E4M3FN>) return DType::kF8E4M3FN;
  if constexpr (std::same_as<T, Float8E5M2>) return DType::kF8E5M2;
  if constexpr (std::same_as<T, Float8E8M0FNU>) return DType::kF8E8M0FNU;
  if constexpr (std::same_as<T, Float4E2M1FN>) return DType::kF4E2M1FN;
  if constexpr (std::same_as<T, float>) return DType::kF32;
  if constexpr (std::same_as<T, double>) return DType::kF64;
  if constexpr (std::same_as<T, std::complex<float>>) return DType::kC64;
  if constexpr (std::same_as<T, std::complex<double>>) return DType::kC128;
  if constexpr (std::is_integral_v<T> && !std::same_as<T, bool>) {
    constexpr DType kIntsBySize[2][4] = {{DType::kI8, DType::kI16, DType::kI32, DType::kI64},
                                         {DType::kU8, DType::kU16, DType::kU32, DType::kU64}};
    return kIntsBySize[std::is_unsigned_v<T>][std::bit_width(sizeof(T)) - 1];
  }
  return DType::kNone;
}
template <typename T>
inline constexpr DType kDTypeOf = DTypeOfType<T>();

template <typename T>
concept ElementType = kDTypeOf<T>
!= DType::kNone;
template <typename T>
inline constexpr bool kIsComplexNumber = false;
template <typename T>
inline constexpr bool kIsComplexNumber<std::complex<T>> = true;
// The types of a plain number in an expression or argument; as in JAX it takes the dtype of the other operands.
template <typename T>
concept Number = std::is_arithmetic_v<T> || kIsComplexNumber<T>;

// The dtype of a number without other operands: bool, i32, f32 or c64.
template <Number T>
inline constexpr DType kDefaultDType = std::same_as<T, bool>         ? DType::kBool
                                       : std::is_floating_point_v<T> ? DType::kF32
                                       : kIsComplexNumber<T>         ? DType::kC64
                                                                     : DType::kI32;

}}  // namespace ricci::v0
#endif
