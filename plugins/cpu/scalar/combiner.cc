#include "cpu/scalar/combiner.h"

#include "codegen/analysis.h"
#include "cpu/scalar/conversion_codegen.h"
#include "cpu/scalar/scalar_codegen.h"

namespace ricci::cpu {
namespace {

using codegen::SizeOfDType;

V Turned(const LlvmBuilder& l, V bits) {
  V sign = LLVMBuildAShr(l.b, bits, l.IntLike(bits, 31), "");
  return LLVMBuildXor(l.b, bits, LLVMBuildAnd(l.b, sign, l.IntLike(bits, 0x7fffffff), ""), "");
}

}  // namespace

V EmitIdentity(const LlvmBuilder& l, uint32_t op, uint32_t dtype) {
  if (IsNarrow(dtype)) {
    const V wide[] = {EmitIdentity(l, op, RICCI_F32)};
    return EmitScalar(l, RICCI_S_CONVERT, RICCI_F32, dtype, wide);
  }
  const LLVMTypeRef t = ValueType(l, dtype);
  const bool real = IsFloat(dtype), is_signed = IsSigned(dtype);
  const unsigned bits = dtype == RICCI_BOOL ? 1 : SizeOfDType(dtype) * 8;
  if (real) return LLVMConstReal(t, codegen::IdentityOf(op).real);
  return LLVMConstInt(t, codegen::IntegerIdentity(op, bits, is_signed), 0);
}

V EmitCombine(const LlvmBuilder& l, uint32_t op, uint32_t dtype, V a, V b) {
  const V in[] = {a, b};
  return EmitScalar(l, codegen::CombinerOf(op, dtype), dtype, dtype, in);
}

V EmitWiden(const LlvmBuilder& l, uint32_t from, uint32_t to, V v) {
  const V in[] = {v};
  return from == to ? v : EmitScalar(l, RICCI_S_CONVERT, from, to, in);
}

bool InKeys(uint32_t op, uint32_t dtype) { return dtype == RICCI_F32 && (op == RICCI_S_MAX || op == RICCI_S_MIN); }
V EmitToKey(const LlvmBuilder& l, uint32_t op, V v) {
  const LLVMTypeRef t = LlvmBuilder::IsVector(v) ? l.vec(l.i32()) : l.i32();
  V key = Turned(l, LLVMBuildBitCast(l.b, v, t, "")), nans = l.IntLike(key, 0x7fffff);
  return op == RICCI_S_MAX ? LLVMBuildSub(l.b, key, nans, "") : LLVMBuildAdd(l.b, key, nans, "");
}
V EmitFromKey(const LlvmBuilder& l, uint32_t op, V key) {
  V nans = l.IntLike(key, 0x7fffff);
  V bits = Turned(l, op == RICCI_S_MAX ? LLVMBuildAdd(l.b, key, nans, "") : LLVMBuildSub(l.b, key, nans, ""));
  return LLVMBuildBitCast(l.b, bits, LlvmBuilder::IsVector(key) ? l.vec(l.f32()) : l.f32(), "");
}

V EmitAcross(const LlvmBuilder& l, uint32_t op, uint32_t dtype, V v) {
  for (unsigned width = l.lanes / 2; width >= 1; width /= 2) {
    std::vector<V> low, high;
    for (unsigned i = 0; i < width; ++i) {
      low.push_back(l.I32(static_cast<int>(i)));
      high.push_back(l.I32(static_cast<int>(i + width)));
    }
    const V undef = LLVMGetUndef(LLVMTypeOf(v));
    V a = LLVMBuildShuffleVector(l.b, v, undef, LLVMConstVector(low.data(), width), "");
    V b = LLVMBuildShuffleVector(l.b, v, undef, LLVMConstVector(high.data(), width), "");
    if (width == 1) {
      a = LLVMBuildExtractElement(l.b, a, l.I32(0), "");
      b = LLVMBuildExtractElement(l.b, b, l.I32(0), "");
    }
    v = EmitCombine(l, op, dtype, a, b);
  }
  return v;
}

}  // namespace ricci::cpu
