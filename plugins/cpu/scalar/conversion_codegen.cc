#include "cpu/scalar/conversion_codegen.h"

#include <cmath>
#include <iterator>

#include "cpu/scalar/scalar_codegen.h"
#include "ricci/float_format.h"

namespace ricci::cpu {
namespace {

LLVMTypeRef Like(const LlvmBuilder& l, V v, LLVMTypeRef t) { return LlvmBuilder::IsVector(v) ? l.vec(t) : t; }

// ---- types ----
template <unsigned kBits>
LLVMTypeRef IntegerType(const LlvmBuilder& l) {
  return LLVMIntTypeInContext(l.ctx, kBits);
}
constexpr LLVMTypeRef (*kValueTypes[])(const LlvmBuilder& l) = {
    IntegerType<64>,  // none
    IntegerType<1>,   // bool
    IntegerType<8>,   // i8
    IntegerType<16>,  // i16
    IntegerType<32>,  // i32
    IntegerType<64>,  // i64
    IntegerType<8>,   // u8
    IntegerType<16>,  // u16
    IntegerType<32>,  // u32
    IntegerType<64>,  // u64
    [](const LlvmBuilder& l) { return LLVMHalfTypeInContext(l.ctx); },
    IntegerType<16>,  // bf16
    [](const LlvmBuilder& l) { return l.f32(); },
    [](const LlvmBuilder& l) { return l.f64(); },
    IntegerType<64>,  // c64 and c128: two values
    IntegerType<64>,
    IntegerType<8>,  // f8e4m3fn, f8e5m2, f8e8m0fnu, f4e2m1fn
    IntegerType<8>,
    IntegerType<8>,
    IntegerType<8>,
};
static_assert(std::size(kValueTypes) == RICCI_KEY, "one for each dtype of kernels but keys");

// ---- from type to type ----
// f64 to f32 rounded to odd: what comes after may round once more to fewer bits without rounding twice.
V ToF32Odd(const LlvmBuilder& l, V v) {
  const V nearest = LLVMBuildFPTrunc(l.b, v, Like(l, v, l.f32()), "");
  const V back = LLVMBuildFPExt(l.b, nearest, LLVMTypeOf(v), "");
  const V bits = LLVMBuildBitCast(l.b, nearest, Like(l, v, l.i32()), "");
  const V beyond = LLVMBuildFCmp(l.b, LLVMRealOGT, l.Fn("llvm.fabs", back), l.Fn("llvm.fabs", v), "");
  const V truncated = LLVMBuildSelect(l.b, beyond, LLVMBuildSub(l.b, bits, l.IntLike(bits, 1), ""), bits, "");
  const V odd = LLVMBuildOr(l.b, truncated, l.IntLike(bits, 1), "");
  const V inexact = LLVMBuildFCmp(l.b, LLVMRealONE, back, v, "");
  return LLVMBuildBitCast(l.b, LLVMBuildSelect(l.b, inexact, odd, bits, ""), LLVMTypeOf(nearest), "");
}

// Saturating, NaN to 0. LLVM 19 converts vectors in its own form element by element, which takes ten times as long.
V ToInteger(const LlvmBuilder& l, uint32_t to, V v) {
  const LLVMTypeRef one = ValueType(l, to), t = Like(l, v, one);
  const bool is_signed = IsSigned(to);
  if (!LlvmBuilder::IsVector(v)) {
    return l.Intrinsic(is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", {t, LLVMTypeOf(v)}, {v});
  }
  const int bits = static_cast<int>(LLVMGetIntTypeWidth(one));
  const V least = l.RealLike(v, is_signed ? -std::ldexp(1, bits - 1) : 0);
  const V end = l.RealLike(v, std::ldexp(1, is_signed ? bits - 1 : bits));
  const V above = LLVMBuildFCmp(l.b, LLVMRealOGE, v, least, ""), below = LLVMBuildFCmp(l.b, LLVMRealOLT, v, end, "");
  const V inside = LLVMBuildSelect(l.b, LLVMBuildAnd(l.b, above, below, ""), v, l.RealLike(v, 0), "");
  V r = is_signed ? LLVMBuildFPToSI(l.b, inside, t, "") : LLVMBuildFPToUI(l.b, inside, t, "");
  const uint64_t top = uint64_t{1} << (bits - 1);
  r = LLVMBuildSelect(l.b, LLVMBuildFCmp(l.b, LLVMRealOGE, v, end, ""), l.IntLike(r, is_signed ? top - 1 : 2 * top - 1),
                      r, "");
  if (!is_signed) return r;
  return LLVMBuildSelect(l.b, LLVMBuildFCmp(l.b, LLVMRealOLT, v, least, ""), l.IntLike(r, top), r, "");
}

// ---- floats of 8 and 4 bits: ricci_float_decode and ricci_float_encode, in 32 bits ----
V TinyToF32(const LlvmBuilder& l, V v, const ricci_float_format& f) {
  const V bits = LLVMBuildZExt(l.b, v, Like(l, v, l.i32()), "");
  const auto number = [&](uint64_t i) { return l.IntLike(bits, i); };
  const int to_top = 23 - f.mantissa_bits;
  const uint64_t hidden = uint64_t{1} << f.mantissa_bits, all = (hidden << f.exponent_bits) - 1;
  const V magnitude = LLVMBuildAnd(l.b, bits, number(all), "");
  V r = LLVMBuildAdd(l.b, LLVMBuildShl(l.b, magnitude, number(static_cast<uint64_t>(to_top)), ""),
                     number(static_cast<uint64_t>(127 - f.bias) << 23), "");
  V below = number(0x00400000);  // 2^-127, of the format without a zero
  if (f.has_zero != 0) {
    const V count = LLVMBuildSIToFP(l.b, magnitude, Like(l, v, l.f32()), "");
    below = LLVMBuildFMul(l.b, count, l.RealLike(count, std::ldexp(1, 1 - f.bias - f.mantissa_bits)), "");
    below = LLVMBuildBitCast(l.b, below, LLVMTypeOf(bits), "");
  }
  r = LLVMBuildSelect(l.b, LLVMBuildICmp(l.b, LLVMIntULT, magnitude, number(hidden), ""), below, r, "");
  if (f.largest != all) {
    V payload = LLVMBuildAnd(l.b, LLVMBuildXor(l.b, magnitude, number(f.nan), ""), number(hidden - 1), "");
    payload = LLVMBuildShl(l.b, payload, number(static_cast<uint64_t>(to_top)), "");
    V special = LLVMBuildOr(l.b, payload, number(0x7fc00000), "");
    const V infinite = LLVMBuildICmp(l.b, LLVMIntEQ, magnitude, number(f.infinity), "");
    if (f.infinity != 0) special = LLVMBuildSelect(l.b, infinite, number(0x7f800000), special, "");
    r = LLVMBuildSelect(l.b, LLVMBuildICmp(l.b, LLVMIntUGT, magnitude, number(f.largest), ""), special, r, "");
  }
  const V sign = LLVMBuildAnd(l.b, bits, number(f.sign), "");
  const V moved = LLVMBuildShl(l.b, sign, number(static_cast<uint64_t>(31 - f.exponent_bits - f.mantissa_bits)), "");
  return LLVMBuildBitCast(l.b, LLVMBuildOr(l.b, r, moved, ""), Like(l, v, l.f32()), "");
}

// The magnitude nearest to a number, given as bits of an f32 without sign, as if the format had no largest magnitude.
V RoundedToTiny(const LlvmBuilder& l, V size, const ricci_float_format& f) {
  const auto number = [&](uint64_t i) { return l.IntLike(size, i); };
  const uint64_t dropped = 23 - static_cast<uint64_t>(f.mantissa_bits), half = uint64_t{1} << (dropped - 1);
  const V steps = LLVMBuildSub(l.b, size, number(static_cast<uint64_t>(127 - f.bias) << 23), "");
  // Without mantissa bits the last digit is the hidden one, which is odd.
  const V odd = f.mantissa_bits == 0 ? number(1)
                                     : LLVMBuildAnd(l.b, LLVMBuildLShr(l.b, steps, number(dropped), ""), number(1), "");
  V normal = LLVMBuildAdd(l.b, LLVMBuildAdd(l.b, steps, odd, ""), number(half - 1), "");
  normal = LLVMBuildLShr(l.b, normal, number(dropped), "");
  // Added to a number whose last bit is the smallest step, what is below the normal numbers is rounded to steps.
  const V x = LLVMBuildBitCast(l.b, size, Like(l, size, l.f32()), "");
  const V anchor = l.RealLike(x, std::ldexp(1, 24 - f.bias - f.mantissa_bits));
  const V sum = LLVMBuildBitCast(l.b, LLVMBuildFAdd(l.b, x, anchor, ""), LLVMTypeOf(size), "");
  const V below = LLVMBuildSub(l.b, sum, LLVMBuildBitCast(l.b, anchor, LLVMTypeOf(size), ""), "");
  const V is_below = LLVMBuildICmp(l.b, LLVMIntULT, size, number(static_cast<uint64_t>(128 - f.bias) << 23), "");
  return LLVMBuildSelect(l.b, is_below, below, normal, "");
}

V TinyFromF32(const LlvmBuilder& l, V v, const ricci_float_format& f) {
  const V bits = LLVMBuildBitCast(l.b, v, Like(l, v, l.i32()), "");
  const auto number = [&](uint64_t i) { return l.IntLike(bits, i); };
  const V size = LLVMBuildAnd(l.b, bits, number(0x7fffffff), "");
  V r = RoundedToTiny(l, size, f);
  r = LLVMBuildSelect(l.b, LLVMBuildICmp(l.b, LLVMIntUGT, r, number(f.largest), ""), number(f.overflow), r, "");
  r = LLVMBuildSelect(l.b, LLVMBuildICmp(l.b, LLVMIntUGT, size, number(0x7f800000), ""), number(f.nan), r, "");
  const V negative = LLVMBuildICmp(l.b, LLVMIntSLT, bits, number(0), "");
  if (f.sign != 0) {
    r = LLVMBuildXor(l.b, r, LLVMBuildSelect(l.b, negative, number(f.sign), number(0), ""), "");
  } else {
    r = LLVMBuildSelect(l.b, negative, number(f.nan), r, "");
  }
  if (f.has_zero == 0) {
    r = LLVMBuildSelect(l.b, LLVMBuildICmp(l.b, LLVMIntEQ, size, number(0), ""), number(f.nan), r, "");
  }
  return LLVMBuildTrunc(l.b, r, Like(l, v, LLVMInt8TypeInContext(l.ctx)), "");
}

// A 64-bit integer that f64 holds exactly and that rounds to fewer than 40 bits as `v` does: of a large one, the bits
// that cannot matter become one.
V ForOneRounding(const LlvmBuilder& l, uint32_t dtype, V v) {
  const auto number = [&](uint64_t i) { return l.IntLike(v, i); };
  constexpr uint64_t kExact = uint64_t{1} << 53, kLow = 0xfff;
  const V low = LLVMBuildAnd(l.b, v, number(kLow), "");
  const V rest = LLVMBuildICmp(l.b, LLVMIntNE, low, number(0), "");
  const V high = LLVMBuildXor(l.b, v, low, "");
  const V sticky = LLVMBuildOr(l.b, high, LLVMBuildSelect(l.b, rest, number((kLow + 1) / 2), number(0), ""), "");
  const V from_least = IsSigned(dtype) ? LLVMBuildAdd(l.b, v, number(kExact), "") : v;
  const V large = LLVMBuildICmp(l.b, LLVMIntUGT, from_least, number(IsSigned(dtype) ? 2 * kExact : kExact), "");
  return LLVMBuildSelect(l.b, large, sticky, v, "");
}

}  // namespace

LLVMTypeRef ValueType(const LlvmBuilder& l, uint32_t dtype) {
  return dtype < std::size(kValueTypes) ? kValueTypes[dtype](l) : l.i64();
}

LLVMTypeRef MemoryType(const LlvmBuilder& l, uint32_t dtype) {
  return dtype == RICCI_BOOL ? l.i8() : ValueType(l, dtype);
}

// The fence hides the widening of f16: LLVM 19 would do a maximum of widened values in 16 bits, where its expansion
// loses NaN.
V EmitToF32(const LlvmBuilder& l, V v, uint32_t dtype) {
  if (IsTiny(dtype)) return TinyToF32(l, v, ricci_float_format_of(dtype));
  if (dtype == RICCI_BF16) {
    const V bits = LLVMBuildZExt(l.b, v, Like(l, v, l.i32()), "");
    return LLVMBuildBitCast(l.b, LLVMBuildShl(l.b, bits, l.IntLike(bits, 16), ""), Like(l, v, l.f32()), "");
  }
  const V wide = LLVMBuildFPExt(l.b, v, Like(l, v, l.f32()), "");
  return l.Intrinsic("llvm.arithmetic.fence", {LLVMTypeOf(wide)}, {wide});
}

V EmitFromF32(const LlvmBuilder& l, V v, uint32_t dtype) {
  if (IsTiny(dtype)) return TinyFromF32(l, v, ricci_float_format_of(dtype));
  const LLVMTypeRef to = Like(l, v, ValueType(l, dtype));
  if (dtype == RICCI_F16) return LLVMBuildFPTrunc(l.b, v, to, "");
  const V bits = LLVMBuildBitCast(l.b, v, Like(l, v, l.i32()), "");
  const V high = LLVMBuildLShr(l.b, bits, l.IntLike(bits, 16), "");
  const V odd = LLVMBuildAnd(l.b, high, l.IntLike(bits, 1), "");
  V rounded = LLVMBuildAdd(l.b, LLVMBuildAdd(l.b, bits, odd, ""), l.IntLike(bits, 0x7fff), "");  // ties to even
  rounded = LLVMBuildLShr(l.b, rounded, l.IntLike(bits, 16), "");
  const V quiet = LLVMBuildOr(l.b, high, l.IntLike(bits, 0x40), "");
  const V r = LLVMBuildSelect(l.b, LLVMBuildFCmp(l.b, LLVMRealUNO, v, v, ""), quiet, rounded, "");
  return LLVMBuildTrunc(l.b, r, to, "");
}

V EmitConvert(const LlvmBuilder& l, uint32_t from, uint32_t to, V v) {
  if (from == to) return v;
  const LLVMTypeRef t = Like(l, v, ValueType(l, to));
  if (IsNarrow(from)) return EmitConvert(l, RICCI_F32, to, EmitToF32(l, v, from));
  if (to == RICCI_BOOL) {
    if (IsFloat(from)) return LLVMBuildFCmp(l.b, LLVMRealUNE, v, l.RealLike(v, 0), "");
    return LLVMBuildICmp(l.b, LLVMIntNE, v, l.IntLike(v, 0), "");
  }
  if (IsFloat(from) && IsFloat(to)) {
    // Only AVX512-FP16 has an instruction for it.
    if (from == RICCI_F64 && IsNarrow(to)) return EmitFromF32(l, ToF32Odd(l, v), to);
    if (from == RICCI_F32 && IsNarrow(to)) return EmitFromF32(l, v, to);
    return to == RICCI_F64 ? LLVMBuildFPExt(l.b, v, t, "") : LLVMBuildFPTrunc(l.b, v, t, "");
  }
  if (IsFloat(from)) return ToInteger(l, to, v);
  if (IsFloat(to)) {
    // One rounding: through a type that holds exactly what narrow formats can tell apart.
    const uint32_t wide = from == RICCI_BOOL ? RICCI_F32 : RICCI_F64;
    if (IsNarrow(to)) {
      const bool is_long = from == RICCI_I64 || from == RICCI_U64;
      return EmitConvert(l, wide, to, EmitConvert(l, from, wide, is_long ? ForOneRounding(l, from, v) : v));
    }
    return IsSigned(from) ? LLVMBuildSIToFP(l.b, v, t, "") : LLVMBuildUIToFP(l.b, v, t, "");
  }
  return LLVMBuildIntCast2(l.b, v, t, IsSigned(from), "");
}

}  // namespace ricci::cpu
