// Operations of integers that are more than one instruction of LLVM.
#include "cpu/scalar/scalar_operation.h"
#include "ricci/kernel.h"

namespace ricci::cpu {
namespace {

LLVMTypeRef WideLike(const LlvmBuilder& l, V v, unsigned bits) {
  const LLVMTypeRef t = LLVMIntTypeInContext(l.ctx, bits);
  return LlvmBuilder::IsVector(v) ? l.vec(t) : t;
}

V Less(const Operation& o, V a, V b) {
  return LLVMBuildICmp(o.l.b, IsSigned(o.from) ? LLVMIntSLT : LLVMIntULT, a, b, "");
}

// The divisor is replaced where the hardware would trap.
V QuotientOrRemainder(const Operation& o, bool rem) {
  const LlvmBuilder& l = o.l;
  const uint32_t d = o.from;
  const V a = o.a(), b = o.b();
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

}  // namespace

V IntegerQuotient(const Operation& o) { return QuotientOrRemainder(o, /*rem=*/false); }
V IntegerRemainder(const Operation& o) { return QuotientOrRemainder(o, /*rem=*/true); }

V IntegerMin(const Operation& o) { return LLVMBuildSelect(o.l.b, Less(o, o.b(), o.a()), o.b(), o.a(), ""); }
V IntegerMax(const Operation& o) { return LLVMBuildSelect(o.l.b, Less(o, o.a(), o.b()), o.b(), o.a(), ""); }

V IntegerMultiplyAdd(const Operation& o) {
  return LLVMBuildAdd(o.l.b, LLVMBuildMul(o.l.b, o.a(), o.b(), ""), o.c(), "");
}

V IntegerMagnitude(const Operation& o) {
  const V a = o.a();
  if (!IsSigned(o.from)) return a;
  const V negative = LLVMBuildICmp(o.l.b, LLVMIntSLT, a, o.l.IntLike(a, 0), "");
  return LLVMBuildSelect(o.l.b, negative, LLVMBuildNeg(o.l.b, a, ""), a, "");
}

V IntegerSign(const Operation& o) {
  const LlvmBuilder& l = o.l;
  const V x = o.a();
  const V zero = l.IntLike(x, 0);
  const V not_zero = LLVMBuildSelect(l.b, LLVMBuildICmp(l.b, LLVMIntEQ, x, zero, ""), zero, l.IntLike(x, 1), "");
  if (!IsSigned(o.from)) return not_zero;
  return LLVMBuildSelect(l.b, LLVMBuildICmp(l.b, LLVMIntSLT, x, zero, ""), l.IntLike(x, ~0ull), not_zero, "");
}

V IntegerShift(const Operation& o) {
  const LlvmBuilder& l = o.l;
  const V a = o.a(), n = o.b();
  const unsigned width = LLVMGetIntTypeWidth(LlvmBuilder::ElementType(a));
  const V limit = l.IntLike(n, width);
  const V in_range = LLVMBuildICmp(l.b, LLVMIntULT, n, limit, "");
  if (o.op == RICCI_S_SAR) {
    return LLVMBuildAShr(l.b, a, LLVMBuildSelect(l.b, in_range, n, l.IntLike(n, width - 1), ""), "");
  }
  const V safe = LLVMBuildSelect(l.b, in_range, n, l.IntLike(n, 0), "");
  const V r = o.op == RICCI_S_SHL ? LLVMBuildShl(l.b, a, safe, "") : LLVMBuildLShr(l.b, a, safe, "");
  return LLVMBuildSelect(l.b, in_range, r, l.IntLike(a, 0), "");
}

V IntegerComparison(const Operation& o) {
  constexpr LLVMIntPredicate kSigned[] = {LLVMIntEQ, LLVMIntNE, LLVMIntSLT, LLVMIntSLE, LLVMIntSGT, LLVMIntSGE};
  constexpr LLVMIntPredicate kUnsigned[] = {LLVMIntEQ, LLVMIntNE, LLVMIntULT, LLVMIntULE, LLVMIntUGT, LLVMIntUGE};
  static_assert(std::size(kSigned) == RICCI_S_GE - RICCI_S_EQ + 1 && std::size(kUnsigned) == std::size(kSigned));
  return LLVMBuildICmp(o.l.b, (IsSigned(o.from) ? kSigned : kUnsigned)[o.op - RICCI_S_EQ], o.a(), o.b(), "");
}

V LeadingZeros(const Operation& o) {
  return o.l.Intrinsic("llvm.ctlz", {LLVMTypeOf(o.a())}, {o.a(), LLVMConstInt(o.l.i1(), 0, 0)});
}

V HighProduct(const Operation& o) {
  const LlvmBuilder& l = o.l;
  const V a = o.a(), b = o.b();
  const unsigned width = LLVMGetIntTypeWidth(LlvmBuilder::ElementType(a));
  const LLVMTypeRef wide = WideLike(l, a, 2 * width);
  const bool s = IsSigned(o.from);
  V x = s ? LLVMBuildSExt(l.b, a, wide, "") : LLVMBuildZExt(l.b, a, wide, "");
  V y = s ? LLVMBuildSExt(l.b, b, wide, "") : LLVMBuildZExt(l.b, b, wide, "");
  V p = LLVMBuildMul(l.b, x, y, "");
  return LLVMBuildTrunc(l.b, LLVMBuildLShr(l.b, p, l.IntLike(p, width), ""), LLVMTypeOf(a), "");
}

}  // namespace ricci::cpu
