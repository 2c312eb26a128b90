// Special functions as LLVM IR: the formulas of plugins/codegen on one value or on all lanes.
//
// A kernel that has many special functions of one kind calls one function for all of them (SharedMath in
// kernel_codegen.cc). For a long program of scalars this takes a fifth of the compile time, at the same run time.
#include "codegen/math/math_emitter.h"

#include <string>

#include "codegen/math/math_functions.h"
#include "cpu/scalar/scalar_codegen.h"

namespace ricci::cpu {
namespace {

using V = LLVMValueRef;
using codegen::MathOp;

class LlvmMath final : public codegen::MathEmitter {
 public:
  explicit LlvmMath(const LlvmBuilder& l) : l_(l) {}

  static Value Number(V v) { return reinterpret_cast<Value>(v); }
  static V Ref(Value v) { return reinterpret_cast<V>(v); }

  bool IsF64(Value real) const override { return LlvmBuilder::ElementType(Ref(real)) == l_.f64(); }
  bool Contracts() const override { return l_.contracts; }
  Value RealLike(Value like, double c) const override { return Number(l_.RealLike(Ref(like), c)); }
  Value BitsLike(Value like, uint64_t c) const override { return Number(l_.IntLike(Ref(like), c)); }
  Value Emit(MathOp op, std::initializer_list<Value> in) const override;
  Value IfAny(Value mask, Value otherwise, const std::function<Value()>& then) const override;
  Value Exact(uint32_t op, std::span<const Value> in) const override;
  Value ScaleBy(Value x, Value real_n) const override;

 private:
  V Any(V mask) const {
    return LlvmBuilder::IsVector(mask) ? l_.Intrinsic("llvm.vector.reduce.or", {LLVMTypeOf(mask)}, {mask}) : mask;
  }
  LLVMTypeRef Like(V v, LLVMTypeRef one) const { return LlvmBuilder::IsVector(v) ? l_.vec(one) : one; }
  // Integers for reals of the same width, and back.
  V SameBits(V v) const {
    const LLVMTypeRef t = LlvmBuilder::ElementType(v);
    const LLVMTypeRef to = t == l_.f64() ? l_.i64() : t == l_.f32() ? l_.i32() : t == l_.i64() ? l_.f64() : l_.f32();
    return LLVMBuildBitCast(l_.b, v, Like(v, to), "");
  }
  V Compare(LLVMRealPredicate p, V a, V b) const { return LLVMBuildFCmp(l_.b, p, a, b, ""); }

  const LlvmBuilder& l_;
};

codegen::MathEmitter::Value LlvmMath::Emit(MathOp op, std::initializer_list<Value> in) const {
  const V a = Ref(in.begin()[0]), b = in.size() > 1 ? Ref(in.begin()[1]) : nullptr;
  const V c = in.size() > 2 ? Ref(in.begin()[2]) : nullptr;
  const auto emitted = [&]() -> V {
    switch (op) {
      case MathOp::kAdd:
        return LLVMBuildFAdd(l_.b, a, b, "");
      case MathOp::kSub:
        return LLVMBuildFSub(l_.b, a, b, "");
      case MathOp::kMul:
        return LLVMBuildFMul(l_.b, a, b, "");
      case MathOp::kDiv:
        return LLVMBuildFDiv(l_.b, a, b, "");
      case MathOp::kNeg:
        return LLVMBuildFNeg(l_.b, a, "");
      case MathOp::kFma:
        return l_.Intrinsic("llvm.fma", {LLVMTypeOf(a)}, {a, b, c});
      case MathOp::kAbs:
        return l_.Fn("llvm.fabs", a);
      case MathOp::kSqrt:
        return l_.Fn("llvm.sqrt", a);
      case MathOp::kTrunc:
        return l_.Fn("llvm.trunc", a);
      case MathOp::kRoundEven:
        return l_.Fn("llvm.roundeven", a);
      case MathOp::kCopySign:
        return l_.Fn("llvm.copysign", a, b);
      case MathOp::kWiden:
        return LLVMBuildFPExt(l_.b, a, Like(a, l_.f64()), "");
      case MathOp::kNarrow:
        return LLVMBuildFPTrunc(l_.b, a, Like(a, l_.f32()), "");
      case MathOp::kEqual:
        return Compare(LLVMRealOEQ, a, b);
      case MathOp::kLess:
        return Compare(LLVMRealOLT, a, b);
      case MathOp::kGreater:
        return Compare(LLVMRealOGT, a, b);
      case MathOp::kGreaterEqual:
        return Compare(LLVMRealOGE, a, b);
      case MathOp::kLessOrNan:
        return Compare(LLVMRealULT, a, b);
      case MathOp::kGreaterOrNan:
        return Compare(LLVMRealUGT, a, b);
      case MathOp::kIsNan:
        return Compare(LLVMRealUNO, a, a);
      case MathOp::kBitsAdd:
        return LLVMBuildAdd(l_.b, a, b, "");
      case MathOp::kBitsSub:
        return LLVMBuildSub(l_.b, a, b, "");
      case MathOp::kMaskAnd:
      case MathOp::kBitsAnd:
        return LLVMBuildAnd(l_.b, a, b, "");
      case MathOp::kMaskOr:
        return LLVMBuildOr(l_.b, a, b, "");
      case MathOp::kMaskXor:
      case MathOp::kBitsXor:
        return LLVMBuildXor(l_.b, a, b, "");
      case MathOp::kMaskNot:
        return LLVMBuildNot(l_.b, a, "");
      case MathOp::kBitsShiftLeft:
        return LLVMBuildShl(l_.b, a, b, "");
      case MathOp::kBitsShiftRight:
        return LLVMBuildAShr(l_.b, a, b, "");
      case MathOp::kBitsEqual:
        return LLVMBuildICmp(l_.b, LLVMIntEQ, a, b, "");
      case MathOp::kBitsOf:
      case MathOp::kRealOf:
        return SameBits(a);
      case MathOp::kSelect:
        return LLVMBuildSelect(l_.b, a, b, c, "");
    }
    return nullptr;
  };
  return Number(emitted());
}

codegen::MathEmitter::Value LlvmMath::IfAny(Value mask, Value otherwise, const std::function<Value()>& then) const {
  LLVMBasicBlockRef from = LLVMGetInsertBlock(l_.b), far = l_.NewBlock("far"), join = l_.NewBlock("join");
  LLVMBuildCondBr(l_.b, Any(Ref(mask)), far, join);
  LLVMPositionBuilderAtEnd(l_.b, far);
  const V other = Ref(then());
  far = LLVMGetInsertBlock(l_.b);
  LLVMBuildBr(l_.b, join);
  LLVMPositionBuilderAtEnd(l_.b, join);
  V r = LLVMBuildPhi(l_.b, LLVMTypeOf(other), "");
  V values[] = {Ref(otherwise), other};
  LLVMBasicBlockRef blocks[] = {from, far};
  LLVMAddIncoming(r, values, blocks, 2);
  return Number(r);
}

codegen::MathEmitter::Value LlvmMath::Exact(uint32_t op, std::span<const Value> in) const {
  const V args[] = {Ref(in[0]), in.size() > 1 ? Ref(in[1]) : nullptr};
  return Number(CallMathLibrary(l_, op, std::span(args).first(in.size())));
}

// Vectors of 64 bytes: AVX-512 has an instruction for it, where others take seven.
codegen::MathEmitter::Value LlvmMath::ScaleBy(Value x, Value real_n) const {
  const V v = Ref(x);
  const bool f64 = IsF64(x);
  if (!l_.avx512 || !LlvmBuilder::IsVector(v) || LLVMGetVectorSize(LLVMTypeOf(v)) != (f64 ? 8u : 16u)) return 0;
  const LLVMTypeRef bits = LLVMIntTypeInContext(l_.ctx, f64 ? 8 : 16);
  constexpr int kRoundingAsSet = 4;
  const char* const name = f64 ? "llvm.x86.avx512.mask.scalef.pd.512" : "llvm.x86.avx512.mask.scalef.ps.512";
  return Number(l_.Intrinsic(name, {}, {v, Ref(real_n), v, LLVMConstAllOnes(bits), l_.I32(kRoundingAsSet)}));
}

V Formula(const LlvmBuilder& l, uint32_t op, std::span<const V> in) {
  const LlvmMath::Value args[] = {LlvmMath::Number(in[0]), in.size() > 1 ? LlvmMath::Number(in[1]) : 0};
  return LlvmMath::Ref(codegen::EmitFormula(LlvmMath(l), op, std::span(args).first(in.size())));
}

// The formula as a function of the module, made by its first call.
V CallShared(const LlvmBuilder& l, uint32_t op, std::span<const V> in) {
  const LLVMTypeRef type = LLVMTypeOf(in[0]);
  LLVMTypeRef params[] = {type, type};
  const LLVMTypeRef ft = LLVMFunctionType(type, params, static_cast<unsigned>(in.size()), 0);
  const std::string width = LlvmBuilder::IsVector(in[0]) ? std::to_string(l.lanes) : "";
  const std::string name =
      "math" + std::to_string(op) + (LlvmBuilder::ElementType(in[0]) == l.f64() ? ".d" : ".f") + width;
  V f = LLVMGetNamedFunction(l.module, name.c_str());
  if (f == nullptr) {
    f = LLVMAddFunction(l.module, name.c_str(), ft);
    LLVMSetLinkage(f, LLVMInternalLinkage);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(l.b);
    LLVMPositionBuilderAtEnd(l.b, LLVMAppendBasicBlockInContext(l.ctx, f, "entry"));
    const V args[] = {LLVMGetParam(f, 0), in.size() > 1 ? LLVMGetParam(f, 1) : nullptr};
    LLVMBuildRet(l.b, Formula(l, op, std::span(args).first(in.size())));
    LLVMPositionBuilderAtEnd(l.b, here);
  }
  return LLVMBuildCall2(l.b, ft, f, const_cast<V*>(in.data()), static_cast<unsigned>(in.size()), "");
}

}  // namespace

LLVMValueRef EmitMath(const LlvmBuilder& l, uint32_t op, std::span<const LLVMValueRef> in) {
  return l.shared_math.test(op) ? CallShared(l, op, in) : Formula(l, op, in);
}

}  // namespace ricci::cpu
