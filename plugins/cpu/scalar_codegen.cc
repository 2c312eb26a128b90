#include "scalar_codegen.h"

#include <cmath>

#include "ricci/kernel.h"

namespace ricci::cpu {
namespace {

using V = LLVMValueRef;

bool IsSigned(uint32_t d) { return d >= RICCI_I8 && d <= RICCI_I64; }
bool IsFloat(uint32_t d) { return d >= RICCI_F16 && d <= RICCI_F64; }
bool IsNarrow(uint32_t d) { return d == RICCI_F16 || d == RICCI_BF16; }

LLVMTypeRef Like(const LlvmBuilder& l, V v, LLVMTypeRef t) { return LlvmBuilder::IsVector(v) ? l.vec(t) : t; }

V Less(const LlvmBuilder& l, uint32_t d, V a, V b) {
  if (IsFloat(d)) return LLVMBuildFCmp(l.b, LLVMRealOLT, a, b, "");
  return LLVMBuildICmp(l.b, IsSigned(d) ? LLVMIntSLT : LLVMIntULT, a, b, "");
}

V Compare(const LlvmBuilder& l, uint32_t op, uint32_t d, V a, V b) {
  if (IsFloat(d)) {
    constexpr LLVMRealPredicate kReal[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
                                           LLVMRealOLE, LLVMRealOGT, LLVMRealOGE};
    return LLVMBuildFCmp(l.b, kReal[op - RICCI_S_EQ], a, b, "");
  }
  constexpr LLVMIntPredicate kS[] = {LLVMIntEQ, LLVMIntNE, LLVMIntSLT, LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
  constexpr LLVMIntPredicate kU[] = {LLVMIntEQ, LLVMIntNE, LLVMIntULT, LLVMIntULE, LLVMIntUGT, LLVMIntUGE};
  return LLVMBuildICmp(l.b, (IsSigned(d) ? kS : kU)[op - RICCI_S_EQ], a, b, "");
}

// x / 0 = -1, x % 0 = x, MIN / -1 = MIN: the divisor is replaced where the hardware would trap.
V IntDivRem(const LlvmBuilder& l, bool rem, uint32_t d, V a, V b) {
  const V zero = l.IntLike(b, 0), one = l.IntLike(b, 1), ones = l.IntLike(b, ~0ull);
  const V by_zero = LLVMBuildICmp(l.b, LLVMIntEQ, b, zero, "");
  V bad = by_zero;
  V minus_one = nullptr;
  if (IsSigned(d)) {
    minus_one = LLVMBuildICmp(l.b, LLVMIntEQ, b, ones, "");
    bad = LLVMBuildOr(l.b, by_zero, minus_one, "");
  }
  const V safe = LLVMBuildSelect(l.b, bad, one, b, "");
  if (rem) {
    V r = IsSigned(d) ? LLVMBuildSRem(l.b, a, safe, "") : LLVMBuildURem(l.b, a, safe, "");
    return LLVMBuildSelect(l.b, by_zero, a, r, "");
  }
  V q = IsSigned(d) ? LLVMBuildSDiv(l.b, a, safe, "") : LLVMBuildUDiv(l.b, a, safe, "");
  if (minus_one != nullptr) q = LLVMBuildSelect(l.b, minus_one, LLVMBuildNeg(l.b, a, ""), q, "");
  return LLVMBuildSelect(l.b, by_zero, ones, q, "");
}

V Shift(const LlvmBuilder& l, uint32_t op, V a, V n) {
  const unsigned width = LLVMGetIntTypeWidth(LlvmBuilder::ElementType(a));
  const V limit = l.IntLike(n, width);
  const V in_range = LLVMBuildICmp(l.b, LLVMIntULT, n, limit, "");
  if (op == RICCI_S_SAR) {
    return LLVMBuildAShr(l.b, a, LLVMBuildSelect(l.b, in_range, n, l.IntLike(n, width - 1), ""), "");
  }
  const V safe = LLVMBuildSelect(l.b, in_range, n, l.IntLike(n, 0), "");
  const V r = op == RICCI_S_SHL ? LLVMBuildShl(l.b, a, safe, "") : LLVMBuildLShr(l.b, a, safe, "");
  return LLVMBuildSelect(l.b, in_range, r, l.IntLike(a, 0), "");
}

// f16 or bf16 in f32. bf16 are the upper 16 bits of an f32, and are carried as such: with LLVM's own type a mere copy
// goes through vcvtneps2bf16, which turns subnormal numbers into zero. The fence hides the widening of f16: LLVM 19
// would do a maximum of widened values in 16 bits, where its expansion loses NaN.
V ToF32(const LlvmBuilder& l, V v) {
  if (LLVMGetTypeKind(LlvmBuilder::ElementType(v)) == LLVMIntegerTypeKind) {
    const V bits = LLVMBuildZExt(l.b, v, Like(l, v, l.i32()), "");
    return LLVMBuildBitCast(l.b, LLVMBuildShl(l.b, bits, l.IntLike(bits, 16), ""), Like(l, v, l.f32()), "");
  }
  const V wide = LLVMBuildFPExt(l.b, v, Like(l, v, l.f32()), "");
  return l.Intrinsic("llvm.arithmetic.fence", {LLVMTypeOf(wide)}, {wide});
}

// f32 rounded to `dtype`, f16 or bf16.
V FromF32(const LlvmBuilder& l, V v, uint32_t dtype) {
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

V Convert(const LlvmBuilder& l, uint32_t from, uint32_t to, V v) {
  if (from == to) return v;
  const LLVMTypeRef t = Like(l, v, ValueType(l, to));
  if (IsNarrow(from)) return Convert(l, RICCI_F32, to, ToF32(l, v));
  if (to == RICCI_BOOL) {
    if (IsFloat(from)) return LLVMBuildFCmp(l.b, LLVMRealUNE, v, l.RealLike(v, 0), "");
    return LLVMBuildICmp(l.b, LLVMIntNE, v, l.IntLike(v, 0), "");
  }
  if (IsFloat(from) && IsFloat(to)) {
    // There is no instruction for it but with AVX512-FP16.
    if (from == RICCI_F64 && IsNarrow(to)) return FromF32(l, ToF32Odd(l, v), to);
    if (from == RICCI_F32 && IsNarrow(to)) return FromF32(l, v, to);
    return to == RICCI_F64 ? LLVMBuildFPExt(l.b, v, t, "") : LLVMBuildFPTrunc(l.b, v, t, "");
  }
  if (IsFloat(from)) return ToInteger(l, to, v);
  if (IsFloat(to)) {
    // One rounding: through a type that holds exactly what narrow formats can tell apart.
    const uint32_t wide = from == RICCI_BOOL ? RICCI_F32 : RICCI_F64;
    if (IsNarrow(to)) return Convert(l, wide, to, Convert(l, from, wide, v));
    return IsSigned(from) ? LLVMBuildSIToFP(l.b, v, t, "") : LLVMBuildUIToFP(l.b, v, t, "");
  }
  return LLVMBuildIntCast2(l.b, v, t, IsSigned(from), "");
}

V MulHigh(const LlvmBuilder& l, uint32_t d, V a, V b) {
  const unsigned width = LLVMGetIntTypeWidth(LlvmBuilder::ElementType(a));
  const LLVMTypeRef wide = Like(l, a, LLVMIntTypeInContext(l.ctx, 2 * width));
  const bool s = IsSigned(d);
  V x = s ? LLVMBuildSExt(l.b, a, wide, "") : LLVMBuildZExt(l.b, a, wide, "");
  V y = s ? LLVMBuildSExt(l.b, b, wide, "") : LLVMBuildZExt(l.b, b, wide, "");
  V p = LLVMBuildMul(l.b, x, y, "");
  return LLVMBuildTrunc(l.b, LLVMBuildLShr(l.b, p, l.IntLike(p, width), ""), LLVMTypeOf(a), "");
}

V SignOfFloat(const LlvmBuilder& l, V x) {
  const V one = l.Fn("llvm.copysign", l.RealLike(x, 1), x);
  const V special = LLVMBuildFCmp(l.b, LLVMRealUEQ, x, l.RealLike(x, 0), "");  // zero or NaN: itself
  return LLVMBuildSelect(l.b, special, x, one, "");
}

V SignOfInteger(const LlvmBuilder& l, uint32_t d, V x) {
  const V zero = l.IntLike(x, 0);
  const V not_zero = LLVMBuildSelect(l.b, LLVMBuildICmp(l.b, LLVMIntEQ, x, zero, ""), zero, l.IntLike(x, 1), "");
  if (!IsSigned(d)) return not_zero;
  return LLVMBuildSelect(l.b, LLVMBuildICmp(l.b, LLVMIntSLT, x, zero, ""), l.IntLike(x, ~0ull), not_zero, "");
}

// Of dtype `d`; `wide_x` and `wide_y` are the operands in a width that has arithmetic: themselves, or in f32.
V NextAfter(const LlvmBuilder& l, uint32_t d, V x, V y, V wide_x, V wide_y) {
  const unsigned width = d == RICCI_F64 ? 64 : d == RICCI_F32 ? 32 : 16;
  const LLVMTypeRef bits = Like(l, x, LLVMIntTypeInContext(l.ctx, width));
  V xi = LLVMBuildBitCast(l.b, x, bits, ""), yi = LLVMBuildBitCast(l.b, y, bits, "");
  const V negative = LLVMBuildICmp(l.b, LLVMIntSLT, xi, l.IntLike(xi, 0), "");
  const V shrinks = LLVMBuildXor(l.b, LLVMBuildFCmp(l.b, LLVMRealOGT, wide_x, wide_y, ""), negative, "");
  V next = LLVMBuildSelect(l.b, shrinks, LLVMBuildSub(l.b, xi, l.IntLike(xi, 1), ""),
                           LLVMBuildAdd(l.b, xi, l.IntLike(xi, 1), ""), "");
  const V is_zero = LLVMBuildFCmp(l.b, LLVMRealOEQ, wide_x, l.RealLike(wide_x, 0), "");
  V tiny = LLVMBuildOr(l.b, LLVMBuildAnd(l.b, yi, l.IntLike(yi, 1ull << (width - 1)), ""), l.IntLike(yi, 1), "");
  next = LLVMBuildSelect(l.b, is_zero, tiny, next, "");
  next = LLVMBuildSelect(l.b, LLVMBuildFCmp(l.b, LLVMRealOEQ, wide_x, wide_y, ""), yi, next, "");
  V nan = LLVMBuildFAdd(l.b, wide_x, wide_y, "");
  if (IsNarrow(d)) nan = FromF32(l, nan, d);
  const V unordered = LLVMBuildFCmp(l.b, LLVMRealUNO, wide_x, wide_y, "");
  return LLVMBuildSelect(l.b, unordered, nan, LLVMBuildBitCast(l.b, next, LLVMTypeOf(x), ""), "");
}

V Floating(const LlvmBuilder& l, uint32_t op, uint32_t d, std::span<const V> in) {
  const V a = in[0], b = in.size() > 1 ? in[1] : nullptr;
  switch (op) {
    case RICCI_S_ADD:
      return LLVMBuildFAdd(l.b, a, b, "");
    case RICCI_S_SUB:
      return LLVMBuildFSub(l.b, a, b, "");
    case RICCI_S_MUL:
      return LLVMBuildFMul(l.b, a, b, "");
    case RICCI_S_DIV:
      return LLVMBuildFDiv(l.b, a, b, "");
    case RICCI_S_NEG:
      return LLVMBuildFNeg(l.b, a, "");
    case RICCI_S_ABS:
      return l.Fn("llvm.fabs", a);
    case RICCI_S_MIN:
      return l.Fn("llvm.minimum", a, b);
    case RICCI_S_MAX:
      return l.Fn("llvm.maximum", a, b);
    case RICCI_S_FMA:
      return l.Intrinsic("llvm.fma", {LLVMTypeOf(a)}, {a, b, in[2]});
    case RICCI_S_SQRT:
      return l.Fn("llvm.sqrt", a);
    case RICCI_S_RSQRT:
      return LLVMBuildFDiv(l.b, l.RealLike(a, 1), l.Fn("llvm.sqrt", a), "");
    case RICCI_S_FLOOR:
      return l.Fn("llvm.floor", a);
    case RICCI_S_CEIL:
      return l.Fn("llvm.ceil", a);
    case RICCI_S_TRUNC:
      return l.Fn("llvm.trunc", a);
    case RICCI_S_ROUND:
      return l.Fn("llvm.round", a);
    case RICCI_S_ROUND_EVEN:
      return l.Fn("llvm.roundeven", a);
    case RICCI_S_NEXTAFTER:
      return NextAfter(l, d, a, b, a, b);
    case RICCI_S_SIGN:
      return SignOfFloat(l, a);
    case RICCI_S_IS_FINITE:
      return LLVMBuildFCmp(l.b, LLVMRealONE, l.Fn("llvm.fabs", a), l.RealLike(a, __builtin_inf()), "");
    default:
      return EmitMath(l, op, in);
  }
}

V Integer(const LlvmBuilder& l, uint32_t op, uint32_t d, std::span<const V> in) {
  const V a = in[0], b = in.size() > 1 ? in[1] : nullptr;
  switch (op) {
    case RICCI_S_ADD:
      return LLVMBuildAdd(l.b, a, b, "");
    case RICCI_S_SUB:
      return LLVMBuildSub(l.b, a, b, "");
    case RICCI_S_MUL:
      return LLVMBuildMul(l.b, a, b, "");
    case RICCI_S_FMA:
      return LLVMBuildAdd(l.b, LLVMBuildMul(l.b, a, b, ""), in[2], "");
    case RICCI_S_DIV:
      return IntDivRem(l, false, d, a, b);
    case RICCI_S_REM:
      return IntDivRem(l, true, d, a, b);
    case RICCI_S_NEG:
      return LLVMBuildNeg(l.b, a, "");
    case RICCI_S_SIGN:
      return SignOfInteger(l, d, a);
    case RICCI_S_ABS: {
      if (!IsSigned(d)) return a;
      return LLVMBuildSelect(l.b, LLVMBuildICmp(l.b, LLVMIntSLT, a, l.IntLike(a, 0), ""), LLVMBuildNeg(l.b, a, ""), a,
                             "");
    }
    case RICCI_S_MIN:
      return LLVMBuildSelect(l.b, Less(l, d, b, a), b, a, "");
    case RICCI_S_MAX:
      return LLVMBuildSelect(l.b, Less(l, d, a, b), b, a, "");
    case RICCI_S_SHL:
    case RICCI_S_SHR:
    case RICCI_S_SAR:
      return Shift(l, op, a, b);
    case RICCI_S_POPCOUNT:
      return l.Fn("llvm.ctpop", a);
    case RICCI_S_CLZ:
      return l.Intrinsic("llvm.ctlz", {LLVMTypeOf(a)}, {a, LLVMConstInt(l.i1(), 0, 0)});
    case RICCI_S_MULHI:
      return MulHigh(l, d, a, b);
    default:
      return nullptr;
  }
}

// f16 and bf16: computed in f32, rounded once per operation.
V Narrow(const LlvmBuilder& l, uint32_t op, uint32_t from, uint32_t to, std::span<const V> in) {
  std::vector<V> wide;
  for (V v : in) wide.push_back(ToF32(l, v));
  if (op == RICCI_S_NEXTAFTER) return NextAfter(l, from, in[0], in[1], wide[0], wide[1]);
  if (op >= RICCI_S_EQ && op <= RICCI_S_GE) return Compare(l, op, RICCI_F32, wide[0], wide[1]);
  const V r = Floating(l, op, RICCI_F32, wide);
  return r == nullptr || to == RICCI_BOOL ? r : FromF32(l, r, to);
}

}  // namespace

LLVMTypeRef ValueType(const LlvmBuilder& l, uint32_t dtype) {
  switch (dtype) {
    case RICCI_BOOL:
      return l.i1();
    case RICCI_I8:
    case RICCI_U8:
      return l.i8();
    case RICCI_I16:
    case RICCI_U16:
    case RICCI_BF16:
      return LLVMInt16TypeInContext(l.ctx);
    case RICCI_I32:
    case RICCI_U32:
      return l.i32();
    case RICCI_F16:
      return LLVMHalfTypeInContext(l.ctx);
    case RICCI_F32:
      return l.f32();
    case RICCI_F64:
      return l.f64();
    default:
      return l.i64();
  }
}

LLVMTypeRef MemoryType(const LlvmBuilder& l, uint32_t dtype) {
  return dtype == RICCI_BOOL ? l.i8() : ValueType(l, dtype);
}

LLVMValueRef EmitScalar(const LlvmBuilder& l, uint32_t op, uint32_t from, uint32_t to,
                        std::span<const LLVMValueRef> in) {
  const V a = in[0], b = in.size() > 1 ? in[1] : nullptr;
  switch (op) {
    case RICCI_S_SELECT:
      return LLVMBuildSelect(l.b, a, b, in[2], "");
    case RICCI_S_CONVERT:
      return Convert(l, from, to, a);
    case RICCI_S_BITCAST:
      if (from == RICCI_BOOL && to != from) return Convert(l, from, to, a);  // a bool is one bit here, 0 or 1 in memory
      return from == to ? a : LLVMBuildBitCast(l.b, a, Like(l, a, ValueType(l, to)), "");
    case RICCI_S_AND:
      return LLVMBuildAnd(l.b, a, b, "");
    case RICCI_S_OR:
      return LLVMBuildOr(l.b, a, b, "");
    case RICCI_S_XOR:
      return LLVMBuildXor(l.b, a, b, "");
    case RICCI_S_NOT:
      return LLVMBuildNot(l.b, a, "");
    default:
      break;
  }
  if (IsNarrow(from)) return Narrow(l, op, from, to, in);
  if (op >= RICCI_S_EQ && op <= RICCI_S_GE) return Compare(l, op, from, a, b);
  return IsFloat(from) ? Floating(l, op, from, in) : Integer(l, op, from, in);
}

}  // namespace ricci::cpu
