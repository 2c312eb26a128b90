// Which code a scalar operation is: one table, with an entry for the dtypes that share code.
#include "cpu/scalar/scalar_codegen.h"

#include "codegen/by_operation.h"
#include "cpu/scalar/scalar_operation.h"
#include "ricci/float_format.h"

namespace ricci::cpu {
namespace {

LLVMTypeRef Like(const LlvmBuilder& l, V v, LLVMTypeRef t) { return LlvmBuilder::IsVector(v) ? l.vec(t) : t; }

bool IsComparison(uint32_t op) { return op >= RICCI_S_EQ && op <= RICCI_S_GE; }

// ---- of all dtypes ----
V Choice(const Operation& o) { return LLVMBuildSelect(o.l.b, o.a(), o.b(), o.c(), ""); }
V Conversion(const Operation& o) { return EmitConvert(o.l, o.from, o.to, o.a()); }
V SameBits(const Operation& o) {
  if (o.from == o.to) return o.a();
  if (o.from == RICCI_BOOL) return EmitConvert(o.l, RICCI_BOOL, RICCI_U8, o.a());  // one bit here, 0 or 1 in a byte
  return LLVMBuildBitCast(o.l.b, o.a(), Like(o.l, o.a(), ValueType(o.l, o.to)), "");
}

// ---- of f32 and f64 ----
V FloatComparison(const Operation& o) {
  constexpr LLVMRealPredicate kPredicates[] = {LLVMRealOEQ, LLVMRealUNE, LLVMRealOLT,
                                               LLVMRealOLE, LLVMRealOGT, LLVMRealOGE};
  static_assert(std::size(kPredicates) == RICCI_S_GE - RICCI_S_EQ + 1);
  return LLVMBuildFCmp(o.l.b, kPredicates[o.op - RICCI_S_EQ], o.a(), o.b(), "");
}

V FusedMultiplyAdd(const Operation& o) { return o.l.Intrinsic("llvm.fma", {LLVMTypeOf(o.a())}, {o.a(), o.b(), o.c()}); }

V ReciprocalRoot(const Operation& o) {
  return LLVMBuildFDiv(o.l.b, o.l.RealLike(o.a(), 1), o.l.Fn("llvm.sqrt", o.a()), "");
}

V IsFinite(const Operation& o) {
  return LLVMBuildFCmp(o.l.b, LLVMRealONE, o.l.Fn("llvm.fabs", o.a()), o.l.RealLike(o.a(), __builtin_inf()), "");
}

V SignOfFloat(const Operation& o) {
  const LlvmBuilder& l = o.l;
  const V x = o.a();
  const V one = l.Fn("llvm.copysign", l.RealLike(x, 1), x);
  const V special = LLVMBuildFCmp(l.b, LLVMRealUEQ, x, l.RealLike(x, 0), "");  // zero or NaN: itself
  return LLVMBuildSelect(l.b, special, x, one, "");
}

// Of dtype `d`; `wide_x` and `wide_y` are the operands in a width that has arithmetic: themselves, or in f32.
V NextAfter(const LlvmBuilder& l, uint32_t d, V x, V y, V wide_x, V wide_y) {
  const uint64_t sign = ricci_float_format_of(d).sign;
  const unsigned width = d == RICCI_F64 ? 64 : d == RICCI_F32 ? 32 : IsTiny(d) ? 8 : 16;
  const LLVMTypeRef bits = Like(l, x, LLVMIntTypeInContext(l.ctx, width));
  V xi = LLVMBuildBitCast(l.b, x, bits, ""), yi = LLVMBuildBitCast(l.b, y, bits, "");
  const V negative =
      LLVMBuildICmp(l.b, LLVMIntNE, LLVMBuildAnd(l.b, xi, l.IntLike(xi, sign), ""), l.IntLike(xi, 0), "");
  const V shrinks = LLVMBuildXor(l.b, LLVMBuildFCmp(l.b, LLVMRealOGT, wide_x, wide_y, ""), negative, "");
  V next = LLVMBuildSelect(l.b, shrinks, LLVMBuildSub(l.b, xi, l.IntLike(xi, 1), ""),
                           LLVMBuildAdd(l.b, xi, l.IntLike(xi, 1), ""), "");
  const V is_zero = LLVMBuildFCmp(l.b, LLVMRealOEQ, wide_x, l.RealLike(wide_x, 0), "");
  V tiny = LLVMBuildOr(l.b, LLVMBuildAnd(l.b, yi, l.IntLike(yi, sign), ""), l.IntLike(yi, 1), "");
  next = LLVMBuildSelect(l.b, is_zero, tiny, next, "");
  next = LLVMBuildSelect(l.b, LLVMBuildFCmp(l.b, LLVMRealOEQ, wide_x, wide_y, ""), yi, next, "");
  V nan = LLVMBuildFAdd(l.b, wide_x, wide_y, "");
  if (IsNarrow(d)) nan = EmitFromF32(l, nan, d);
  const V unordered = LLVMBuildFCmp(l.b, LLVMRealUNO, wide_x, wide_y, "");
  return LLVMBuildSelect(l.b, unordered, nan, LLVMBuildBitCast(l.b, next, LLVMTypeOf(x), ""), "");
}

V NextAfterOfWide(const Operation& o) { return NextAfter(o.l, o.from, o.a(), o.b(), o.a(), o.b()); }

V Special(const Operation& o) { return EmitMath(o.l, o.op, o.in); }

// ---- the table ----
// NULL: not an operation of these dtypes. One of all dtypes has `any` alone; floats of 16 bits and less are computed as
// f32.
struct Code {
  EmitFn any = nullptr, floating = nullptr, integer = nullptr;
};
constexpr codegen::OperationRow<Code> kCodes[] = {
    {0, {}},
    {RICCI_S_ADD, {.floating = Binary<LLVMBuildFAdd>, .integer = Binary<LLVMBuildAdd>}},
    {RICCI_S_SUB, {.floating = Binary<LLVMBuildFSub>, .integer = Binary<LLVMBuildSub>}},
    {RICCI_S_MUL, {.floating = Binary<LLVMBuildFMul>, .integer = Binary<LLVMBuildMul>}},
    {RICCI_S_DIV, {.floating = Binary<LLVMBuildFDiv>, .integer = IntegerQuotient}},
    {RICCI_S_REM, {.floating = Special, .integer = IntegerRemainder}},
    {RICCI_S_NEG, {.floating = Unary<LLVMBuildFNeg>, .integer = Unary<LLVMBuildNeg>}},
    {RICCI_S_ABS, {.floating = UnaryIntrinsic<"llvm.fabs">, .integer = IntegerMagnitude}},
    {RICCI_S_SIGN, {.floating = SignOfFloat, .integer = IntegerSign}},
    {RICCI_S_MIN, {.floating = BinaryIntrinsic<"llvm.minimum">, .integer = IntegerMin}},
    {RICCI_S_MAX, {.floating = BinaryIntrinsic<"llvm.maximum">, .integer = IntegerMax}},
    {RICCI_S_AND, {.any = Binary<LLVMBuildAnd>}},
    {RICCI_S_OR, {.any = Binary<LLVMBuildOr>}},
    {RICCI_S_XOR, {.any = Binary<LLVMBuildXor>}},
    {RICCI_S_NOT, {.any = Unary<LLVMBuildNot>}},
    {RICCI_S_SHL, {.integer = IntegerShift}},
    {RICCI_S_SHR, {.integer = IntegerShift}},
    {RICCI_S_SAR, {.integer = IntegerShift}},
    {RICCI_S_EQ, {.floating = FloatComparison, .integer = IntegerComparison}},
    {RICCI_S_NE, {.floating = FloatComparison, .integer = IntegerComparison}},
    {RICCI_S_LT, {.floating = FloatComparison, .integer = IntegerComparison}},
    {RICCI_S_LE, {.floating = FloatComparison, .integer = IntegerComparison}},
    {RICCI_S_GT, {.floating = FloatComparison, .integer = IntegerComparison}},
    {RICCI_S_GE, {.floating = FloatComparison, .integer = IntegerComparison}},
    {RICCI_S_SELECT, {.any = Choice}},
    {RICCI_S_CONVERT, {.any = Conversion}},
    {RICCI_S_BITCAST, {.any = SameBits}},
    {RICCI_S_FMA, {.floating = FusedMultiplyAdd, .integer = IntegerMultiplyAdd}},
    {RICCI_S_POPCOUNT, {.integer = UnaryIntrinsic<"llvm.ctpop">}},
    {RICCI_S_CLZ, {.integer = LeadingZeros}},
    {RICCI_S_MULHI, {.integer = HighProduct}},
    {RICCI_S_EXP, {.floating = Special}},
    {RICCI_S_EXP2, {.floating = Special}},
    {RICCI_S_EXPM1, {.floating = Special}},
    {RICCI_S_LOG, {.floating = Special}},
    {RICCI_S_LOG1P, {.floating = Special}},
    {RICCI_S_LOG2, {.floating = Special}},
    {RICCI_S_SIN, {.floating = Special}},
    {RICCI_S_COS, {.floating = Special}},
    {RICCI_S_TAN, {.floating = Special}},
    {RICCI_S_ASIN, {.floating = Special}},
    {RICCI_S_ACOS, {.floating = Special}},
    {RICCI_S_ATAN, {.floating = Special}},
    {RICCI_S_ATAN2, {.floating = Special}},
    {RICCI_S_SINH, {.floating = Special}},
    {RICCI_S_COSH, {.floating = Special}},
    {RICCI_S_TANH, {.floating = Special}},
    {RICCI_S_ASINH, {.floating = Special}},
    {RICCI_S_ACOSH, {.floating = Special}},
    {RICCI_S_ATANH, {.floating = Special}},
    {RICCI_S_POW, {.floating = Special}},
    {RICCI_S_SQRT, {.floating = UnaryIntrinsic<"llvm.sqrt">}},
    {RICCI_S_RSQRT, {.floating = ReciprocalRoot}},
    {RICCI_S_CBRT, {.floating = Special}},
    {RICCI_S_FLOOR, {.floating = UnaryIntrinsic<"llvm.floor">}},
    {RICCI_S_CEIL, {.floating = UnaryIntrinsic<"llvm.ceil">}},
    {RICCI_S_ROUND, {.floating = UnaryIntrinsic<"llvm.round">}},
    {RICCI_S_ROUND_EVEN, {.floating = UnaryIntrinsic<"llvm.roundeven">}},
    {RICCI_S_TRUNC, {.floating = UnaryIntrinsic<"llvm.trunc">}},
    {RICCI_S_IS_FINITE, {.floating = IsFinite}},
    {RICCI_S_NEXTAFTER, {.floating = NextAfterOfWide}},
    {RICCI_S_ERF, {.floating = Special}},
    {RICCI_S_ERFC, {.floating = Special}},
    {RICCI_S_ERF_INV, {.floating = Special}},
    {RICCI_S_LOGISTIC, {.floating = Special}},
    {RICCI_S_LGAMMA, {.floating = Special}},
    {RICCI_S_DIGAMMA, {.floating = Special}},
};
static_assert(std::size(kCodes) == RICCI_S_COUNT);
constexpr bool InOrder() {
  for (uint32_t op = 0; op < RICCI_S_COUNT; ++op) {
    if (kCodes[op].op != op) return false;
  }
  return true;
}
static_assert(InOrder());

// Floats of 16 bits and less: computed in f32, rounded once per operation.
V Narrow(const Operation& o) {
  std::vector<V> wide;
  for (V v : o.in) wide.push_back(EmitToF32(o.l, v, o.from));
  if (o.op == RICCI_S_NEXTAFTER) return NextAfter(o.l, o.from, o.a(), o.b(), wide[0], wide[1]);
  const EmitFn emit = kCodes[o.op].entry.floating;
  const V r = emit == nullptr ? nullptr : emit({o.l, o.op, RICCI_F32, o.to, wide});
  const bool is_bool = IsComparison(o.op) || o.to == RICCI_BOOL;
  return r == nullptr || is_bool ? r : EmitFromF32(o.l, r, o.to);
}

}  // namespace

LLVMValueRef EmitScalar(const LlvmBuilder& l, uint32_t op, uint32_t from, uint32_t to,
                        std::span<const LLVMValueRef> in) {
  if (op >= RICCI_S_COUNT) return nullptr;
  const Operation o{l, op, from, to, in};
  const Code& code = kCodes[op].entry;
  if (code.any != nullptr) return code.any(o);
  if (IsNarrow(from)) return Narrow(o);
  const EmitFn emit = IsFloat(from) ? code.floating : code.integer;
  return emit == nullptr ? nullptr : emit(o);
}

}  // namespace ricci::cpu
