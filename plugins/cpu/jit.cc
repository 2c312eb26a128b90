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
#include <span>
#include <vector>

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

// One module with the context that owns it.
struct Module {
  LLVMContextRef ctx;
  LLVMModuleRef module;
  ~Module() {
    LLVMDisposeModule(module);
    LLVMContextDispose(ctx);
  }
};

// Code in the shared dylib: removed with its tracker.
class OrcCode : public CompiledCode {
 public:
  explicit OrcCode(LLVMOrcResourceTrackerRef t) : tracker(t) {}
  ~OrcCode() override {
    LLVMConsumeError(LLVMOrcResourceTrackerRemove(tracker));
    LLVMOrcReleaseResourceTracker(tracker);
  }
  LLVMOrcResourceTrackerRef tracker;
};

}  // namespace

struct Jit::Impl {
  LLVMTargetMachineRef machine = nullptr;
  LLVMOrcLLJITRef linker = nullptr;  // made by the first compilation; holds the code of all of them
  std::string triple, layout;
  uint64_t compiled = 0;
  std::mutex mutex;  // a target machine serves one compilation at a time

  ~Impl() {
    if (linker != nullptr) LLVMConsumeError(LLVMOrcDisposeLLJIT(linker));
    if (machine != nullptr) LLVMDisposeTargetMachine(machine);
  }
  bool Optimize(LLVMModuleRef module, uint32_t opt_level, std::string& error);
  bool StartLinker(std::string& error);
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

bool Jit::Impl::Optimize(LLVMModuleRef module, uint32_t opt_level, std::string& error) {
  LLVMSetTarget(module, triple.c_str());
  LLVMSetDataLayout(module, layout.c_str());
  char* message = nullptr;
  const bool invalid = LLVMVerifyModule(module, LLVMReturnStatusAction, &message) != 0;
  if (invalid) error = message;
  LLVMDisposeMessage(message);
  if (invalid) return false;
  AllowContraction(module);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef failed = LLVMRunPasses(module, kPasses[opt_level < 4 ? opt_level : 3], machine, options);
  LLVMDisposePassBuilderOptions(options);
  return !Failed(failed, error);
}

bool Jit::Impl::StartLinker(std::string& error) {
  if (linker != nullptr) return true;
  if (Failed(LLVMOrcCreateLLJIT(&linker, nullptr), error)) return false;
  std::vector<LLVMOrcCSymbolMapPair> symbols;
  for (const std::span<const MathSymbol> table : {MathSymbols(), RuntimeSymbols()}) {
    for (const MathSymbol& s : table) {
      symbols.push_back({LLVMOrcLLJITMangleAndIntern(linker, s.name),
                         {reinterpret_cast<LLVMOrcJITTargetAddress>(s.address),
                          {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0}}});
    }
  }
  return !Failed(LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(linker),
                                       LLVMOrcAbsoluteSymbols(symbols.data(), symbols.size())),
                 error);
}

std::unique_ptr<CompiledCode> Jit::Compile(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level,
                                           std::string& error) {
  const Module owner{ctx, module};
  std::lock_guard lock(impl_->mutex);
  if (!impl_->StartLinker(error) || !impl_->Optimize(module, opt_level, error)) return nullptr;
  const std::string entry = "ricci_entry_" + std::to_string(impl_->compiled++);
  LLVMSetValueName2(LLVMGetNamedFunction(module, kEntryName), entry.data(), entry.size());
  LLVMMemoryBufferRef object = nullptr;
  char* message = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(impl_->machine, module, LLVMObjectFile, &message, &object) != 0) {
    error = message;
    LLVMDisposeMessage(message);
    return nullptr;
  }
  LLVMOrcJITDylibRef dylib = LLVMOrcLLJITGetMainJITDylib(impl_->linker);
  auto code = std::make_unique<OrcCode>(LLVMOrcJITDylibCreateResourceTracker(dylib));
  code->code_bytes = LLVMGetBufferSize(object);
  if (Failed(LLVMOrcLLJITAddObjectFileWithRT(impl_->linker, code->tracker, object), error)) return nullptr;
  LLVMOrcExecutorAddress address = 0;
  if (Failed(LLVMOrcLLJITLookup(impl_->linker, &address, entry.c_str()), error)) return nullptr;
  code->entry = reinterpret_cast<EntryFn>(address);
  return code;
}

std::string Jit::Text(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level, std::string& error) {
  const Module owner{ctx, module};
  std::lock_guard lock(impl_->mutex);
  if (!impl_->Optimize(module, opt_level, error)) return {};
  char* text = LLVMPrintModuleToString(module);
  std::string ir = text;
  LLVMDisposeMessage(text);
  return ir;
}

}  // namespace ricci::cpu
