// LlvmBuilder: thin helpers over LLVM's C API for code that works on scalars and on vectors of lanes alike.
//
// The C API compiles in a fraction of the C++ one's time and is stable.
#ifndef RICCI_CPU_LLVM_BUILDER_H_
#define RICCI_CPU_LLVM_BUILDER_H_
#include <llvm-c/Core.h>

#include <bitset>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "codegen/schedule.h"

namespace ricci::cpu {

class DebugInfo;

// The processor that the code is for, as LLVM writes it.
struct ProcessorText {
  std::string triple, layout;
};

// One module under construction.
struct LlvmBuilder {
  LLVMContextRef ctx;
  LLVMModuleRef module;
  LLVMBuilderRef b;
  unsigned lanes;            // of a vector
  uint64_t stack_local = 0;  // see Settings
  codegen::Cuts cuts = {};
  bool avx512 = false;                       // the processor has it
  bool contracts = true;                     // it has fused multiply-adds
  std::bitset<128> shared_math = {};         // RICCI_S_* that are called, not inlined: the kernel has many of them
  const ProcessorText* processor = nullptr;  // for sources
  DebugInfo* debug = nullptr;                // gets the locations of what is emitted; NULL: code has none
  bool stoppable = true;                     // the host may end a run: code polls for that (polls.h)

  LLVMTypeRef i1() const { return LLVMInt1TypeInContext(ctx); }
  LLVMTypeRef i8() const { return LLVMInt8TypeInContext(ctx); }
  LLVMTypeRef i32() const { return LLVMInt32TypeInContext(ctx); }
  LLVMTypeRef i64() const { return LLVMInt64TypeInContext(ctx); }
  LLVMTypeRef f32() const { return LLVMFloatTypeInContext(ctx); }
  LLVMTypeRef f64() const { return LLVMDoubleTypeInContext(ctx); }
  LLVMTypeRef ptr() const { return LLVMPointerTypeInContext(ctx, 0); }
  LLVMTypeRef vec(LLVMTypeRef t) const { return LLVMVectorType(t, lanes); }

  LLVMValueRef I64(int64_t v) const { return LLVMConstInt(i64(), static_cast<uint64_t>(v), 1); }
  LLVMValueRef I32(int32_t v) const { return LLVMConstInt(i32(), static_cast<uint32_t>(v), 1); }
  static bool IsVector(LLVMValueRef v) { return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMVectorTypeKind; }
  // The type of a scalar, or of a vector's elements.
  static LLVMTypeRef ElementType(LLVMValueRef v) {
    return IsVector(v) ? LLVMGetElementType(LLVMTypeOf(v)) : LLVMTypeOf(v);
  }
  // A constant of the type of `like` (every lane).
  LLVMValueRef IntLike(LLVMValueRef like, uint64_t v) const {
    return Every(like, [&](LLVMTypeRef t) { return LLVMConstInt(t, v, 1); });
  }
  LLVMValueRef RealLike(LLVMValueRef like, double v) const {
    return Every(like, [&](LLVMTypeRef t) { return LLVMConstReal(t, v); });
  }

  // `v` in every lane.
  LLVMValueRef Splat(LLVMValueRef v) const {
    if (LLVMIsConstant(v)) return Repeat(v);
    const LLVMTypeRef t = vec(LLVMTypeOf(v));
    LLVMValueRef one = LLVMBuildInsertElement(b, LLVMGetUndef(t), v, I32(0), "");
    return LLVMBuildShuffleVector(b, one, LLVMGetUndef(t), LLVMConstNull(LLVMVectorType(i32(), lanes)), "");
  }
  // 0, 1, 2, ...
  LLVMValueRef LaneNumbers() const {
    std::vector<LLVMValueRef> v;
    for (unsigned i = 0; i < lanes; ++i) v.push_back(I64(i));
    return LLVMConstVector(v.data(), lanes);
  }
  // Call of an intrinsic overloaded on `types`.
  LLVMValueRef Intrinsic(const char* name, std::initializer_list<LLVMTypeRef> types,
                         std::initializer_list<LLVMValueRef> args) const {
    const unsigned id = LLVMLookupIntrinsicID(name, std::char_traits<char>::length(name));
    std::vector<LLVMTypeRef> t(types);
    std::vector<LLVMValueRef> a(args);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(module, id, t.data(), t.size());
    LLVMTypeRef ft = LLVMIntrinsicGetType(ctx, id, t.data(), t.size());
    return LLVMBuildCall2(b, ft, f, a.data(), static_cast<unsigned>(a.size()), "");
  }
  // Unary and binary intrinsics overloaded on their operand's type.
  LLVMValueRef Fn(const char* name, LLVMValueRef x) const { return Intrinsic(name, {LLVMTypeOf(x)}, {x}); }
  LLVMValueRef Fn(const char* name, LLVMValueRef x, LLVMValueRef y) const {
    return Intrinsic(name, {LLVMTypeOf(x)}, {x, y});
  }
  // x * y + z of floats: rounded once if the processor does so.
  LLVMValueRef MultiplyAdd(LLVMValueRef x, LLVMValueRef y, LLVMValueRef z) const {
    return contracts ? Intrinsic("llvm.fma", {LLVMTypeOf(x)}, {x, y, z})
                     : LLVMBuildFAdd(b, LLVMBuildFMul(b, x, y, ""), z, "");
  }

  LLVMBasicBlockRef NewBlock(const char* name) const {
    LLVMValueRef f = LLVMGetBasicBlockParent(LLVMGetInsertBlock(b));
    return LLVMAppendBasicBlockInContext(ctx, f, name);
  }
  // A stack slot in the entry block.
  LLVMValueRef Alloca(LLVMTypeRef t, const char* name) const {
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(here));
    LLVMValueRef first = LLVMGetFirstInstruction(entry);
    if (first != nullptr) {
      LLVMPositionBuilderBefore(b, first);
    } else {
      LLVMPositionBuilderAtEnd(b, entry);
    }
    LLVMValueRef slot = LLVMBuildAlloca(b, t, name);
    LLVMSetAlignment(slot, 64);
    LLVMPositionBuilderAtEnd(b, here);
    return slot;
  }

 private:
  template <typename Make>
  LLVMValueRef Every(LLVMValueRef like, Make make) const {
    const LLVMValueRef one = make(ElementType(like));
    return IsVector(like) ? Repeat(one) : one;
  }
  LLVMValueRef Repeat(LLVMValueRef c) const {
    std::vector<LLVMValueRef> v(lanes, c);
    return LLVMConstVector(v.data(), lanes);
  }
};

}  // namespace ricci::cpu
#endif
