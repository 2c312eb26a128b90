#include "conversion_codegen.h"

#include <cmath>
#include <iterator>

#include "ricci/base.h"
#include "scalar_codegen.h"

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
};
static_assert(std::size(kValueTypes) == RICCI_F64 + 1, "one for each dtype of kernels");

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

// Saturating, NaN to 0. Of vectors LLVM 19 does its own form of this one by one, which takes ten times as long.
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

}  // namespace

LLVMTypeRef ValueType(const LlvmBuilder& l, uint32_t dtype) {
  return dtype < std::size(kValueTypes) ? kValueTypes[dtype](l) : l.i64();
}

LLVMTypeRef MemoryType(const LlvmBuilder& l, uint32_t dtype) {
  return dtype == RICCI_BOOL ? l.i8() : ValueType(l, dtype);
}

// The fence hides the widening of f16: LLVM 19 would do a maximum of widened values in 16 bits, where its expansion
// loses NaN.
V EmitToF32(const LlvmBuilder& l, V v) {
  if (LLVMGetTypeKind(LlvmBuilder::ElementType(v)) == LLVMIntegerTypeKind) {
    const V bits = LLVMBuildZExt(l.b, v, Like(l, v, l.i32()), "");
    return LLVMBuildBitCast(l.b, LLVMBuildShl(l.b, bits, l.IntLike(bits, 16), ""), Like(l, v, l.f32()), "");
  }
  const V wide = LLVMBuildFPExt(l.b, v, Like(l, v, l.f32()), "");
  return l.Intrinsic("llvm.arithmetic.fence", {LLVMTypeOf(wide)}, {wide});
}

V EmitFromF32(const LlvmBuilder& l, V v, uint32_t dtype) {
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
  if (IsNarrow(from)) return EmitConvert(l, RICCI_F32, to, EmitToF32(l, v));
  if (to == RICCI_BOOL) {
    if (IsFloat(from)) return LLVMBuildFCmp(l.b, LLVMRealUNE, v, l.RealLike(v, 0), "");
    return LLVMBuildICmp(l.b, LLVMIntNE, v, l.IntLike(v, 0), "");
  }
  if (IsFloat(from) && IsFloat(to)) {
    // There is no instruction for it but with AVX512-FP16.
    if (from == RICCI_F64 && IsNarrow(to)) return EmitFromF32(l, ToF32Odd(l, v), to);
    if (from == RICCI_F32 && IsNarrow(to)) return EmitFromF32(l, v, to);
    return to == RICCI_F64 ? LLVMBuildFPExt(l.b, v, t, "") : LLVMBuildFPTrunc(l.b, v, t, "");
  }
  if (IsFloat(from)) return ToInteger(l, to, v);
  if (IsFloat(to)) {
    // One rounding: through a type that holds exactly what narrow formats can tell apart.
    const uint32_t wide = from == RICCI_BOOL ? RICCI_F32 : RICCI_F64;
    if (IsNarrow(to)) return EmitConvert(l, wide, to, EmitConvert(l, from, wide, v));
    return IsSigned(from) ? LLVMBuildSIToFP(l.b, v, t, "") : LLVMBuildUIToFP(l.b, v, t, "");
  }
  return LLVMBuildIntCast2(l.b, v, t, IsSigned(from), "");
}

}  // namespace ricci::cpu
