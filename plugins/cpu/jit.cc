#include "jit.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <cstring>
#include <mutex>

#include "plan_codegen.h"
#include "scalar_codegen.h"

namespace ricci::cpu {
namespace {

constexpr const char* kPasses[] = {
    "function(sroa,early-cse,simplifycfg)",
    "function(sroa,early-cse,simplifycfg)",
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),gvn,instsimplify,adce,"
    "simplifycfg)",
    "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),gvn,instcombine<no-"
    "verify-fixpoint>,adce,"
    "simplifycfg)",
};

bool Failed(LLVMErrorRef e, std::string& error) {
  if (e == nullptr) return false;
  char* text = LLVMGetErrorMessage(e);
  error = text;
  LLVMDisposeErrorMessage(text);
  return true;
}

// Multiplications and additions may become fused ones: the one liberty taken with floats.
void AllowContraction(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f != nullptr; f = LLVMGetNextFunction(f)) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != nullptr; b = LLVMGetNextBasicBlock(b)) {
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != nullptr; i = LLVMGetNextInstruction(i)) {
        const LLVMOpcode op = LLVMGetInstructionOpcode(i);
        if (op == LLVMFAdd || op == LLVMFSub || op == LLVMFMul) LLVMSetFastMathFlags(i, LLVMFastMathAllowContract);
      }
    }
  }
}

class OrcCode : public CompiledCode {
 public:
  ~OrcCode() override {
    if (jit != nullptr) LLVMConsumeError(LLVMOrcDisposeLLJIT(jit));
  }
  LLVMOrcLLJITRef jit = nullptr;
};

}  // namespace

struct Jit::Impl {
  LLVMTargetMachineRef machine = nullptr;
  std::string triple, layout;
  std::mutex mutex;  // a target machine serves one compilation at a time
  ~Impl() {
    if (machine != nullptr) LLVMDisposeTargetMachine(machine);
  }
};

Jit::~Jit() = default;

std::unique_ptr<Jit> Jit::Create(std::string& error) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  std::unique_ptr<Jit> jit(new Jit);
  jit->impl_ = std::make_unique<Impl>();
  char* triple = LLVMGetDefaultTargetTriple();
  jit->impl_->triple = triple;
  LLVMTargetRef target;
  char* message = nullptr;
  const bool bad = LLVMGetTargetFromTriple(triple, &target, &message) != 0;
  LLVMDisposeMessage(triple);
  if (bad) {
    error = message;
    LLVMDisposeMessage(message);
    return nullptr;
  }
  char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
  const bool avx512 = std::strstr(features, "+avx512f") != nullptr && std::strstr(features, "+avx512vl") != nullptr;
  jit->lanes_ = avx512 ? 16 : 8;
  std::string all = features;
  if (avx512) all += ",-prefer-256-bit";
  jit->impl_->machine = LLVMCreateTargetMachine(target, jit->impl_->triple.c_str(), cpu, all.c_str(),
                                                LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
  LLVMTargetDataRef data = LLVMCreateTargetDataLayout(jit->impl_->machine);
  char* layout = LLVMCopyStringRepOfTargetData(data);
  jit->impl_->layout = layout;
  LLVMDisposeMessage(layout);
  LLVMDisposeTargetData(data);
  return jit;
}

std::unique_ptr<CompiledCode> Jit::Compile(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level,
                                           std::string& error) {
  struct Owner {
    LLVMContextRef ctx;
    LLVMModuleRef module;
    ~Owner() {
      LLVMDisposeModule(module);
      LLVMContextDispose(ctx);
    }
  } owner{ctx, module};
  std::lock_guard lock(impl_->mutex);
  LLVMSetTarget(module, impl_->triple.c_str());
  LLVMSetDataLayout(module, impl_->layout.c_str());
  char* message = nullptr;
  if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message) != 0) {
    error = message;
    LLVMDisposeMessage(message);
    return nullptr;
  }
  LLVMDisposeMessage(message);
  AllowContraction(module);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failed = LLVMRunPasses(module, kPasses[opt_level < 4 ? opt_level : 3], impl_->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (Failed(failed, error)) return nullptr;

  auto code = std::make_unique<OrcCode>();
  char* ir = LLVMPrintModuleToString(module);
  code->ir = ir;
  LLVMDisposeMessage(ir);
  LLVMMemoryBufferRef object = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(impl_->machine, module, LLVMObjectFile, &message, &object) != 0) {
    error = message;
    LLVMDisposeMessage(message);
    return nullptr;
  }
  code->code_bytes = LLVMGetBufferSize(object);
  if (Failed(LLVMOrcCreateLLJIT(&code->jit, nullptr), error)) {
    LLVMDisposeMemoryBuffer(object);
    return nullptr;
  }
  LLVMOrcJITDylibRef dylib = LLVMOrcLLJITGetMainJITDylib(code->jit);
  std::vector<LLVMOrcCSymbolMapPair> symbols;
  auto define = [&](const char* name, void* address) {
    symbols.push_back({LLVMOrcLLJITMangleAndIntern(code->jit, name),
                       {reinterpret_cast<LLVMOrcJITTargetAddress>(address),
                        {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0}}});
  };
  for (const MathSymbol& s : MathSymbols()) define(s.name, s.address);
  for (const MathSymbol& s : RuntimeSymbols()) define(s.name, s.address);
  if (Failed(LLVMOrcJITDylibDefine(dylib, LLVMOrcAbsoluteSymbols(symbols.data(), symbols.size())), error) ||
      Failed(LLVMOrcLLJITAddObjectFile(code->jit, dylib, object), error)) {
    return nullptr;
  }
  LLVMOrcExecutorAddress address = 0;
  if (Failed(LLVMOrcLLJITLookup(code->jit, &address, "ricci_entry"), error)) return nullptr;
  code->entry = reinterpret_cast<EntryFn>(address);
  return code;
}

}  // namespace ricci::cpu
