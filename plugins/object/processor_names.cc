#include "processor_names.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>

#include <memory>

namespace ricci::object {
namespace {

struct Target {
  std::string_view name;  // also its triple
  const char* usual;      // processor, if none is named
  bool is_here;
};
#ifdef __aarch64__
constexpr bool kIsX86 = false;
#else
constexpr bool kIsX86 = true;
#endif
constexpr Target kTargets[] = {{"x86_64-linux-gnu", "x86-64-v3", kIsX86}, {"aarch64-linux-gnu", "generic", !kIsX86}};

void StartTargets() {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
}

const Target* FindTarget(std::string_view name) {
  for (const Target& t : kTargets) {
    if (name.empty() ? t.is_here : t.name == name) return &t;
  }
  return nullptr;
}

using Facts = std::unique_ptr<llvm::MCSubtargetInfo>;

void SetRegisters(const Target& t, const llvm::MCSubtargetInfo& facts, Processor& out) {
  const bool x86 = t.name == kTargets[0].name, avx512 = x86 && facts.checkFeatures("+avx512f,+avx512vl");
  out.registers = avx512 || !x86 ? 32 : 16;
  out.vector_bytes = avx512 ? 64 : x86 && facts.checkFeatures("+avx2") ? 32 : 16;
}

// LLVM ends the process where an x86 processor has no 64-bit code.
bool HasCode(const Target& t, const llvm::MCSubtargetInfo& facts) {
  return t.name != kTargets[0].name || facts.checkFeatures("+64bit");
}

std::string TakeMessage(char* text) {
  std::string out = text;
  LLVMDisposeMessage(text);
  return out;
}

}  // namespace

bool FindProcessor(std::string_view target, std::string_view name, Processor& out, std::string& error) {
  StartTargets();
  const Target* t = FindTarget(target);
  if (t == nullptr) {
    error = "target `" + std::string(target) + "` is unknown; there are x86_64-linux-gnu and aarch64-linux-gnu";
    return false;
  }
  out.triple = t->name;
  const llvm::Target* known = llvm::TargetRegistry::lookupTarget(out.triple, error);
  if (known == nullptr) return false;
  const auto facts_of = [&](std::string_view processor, std::string_view features) {
    return Facts(known->createMCSubtargetInfo(out.triple, {processor.data(), processor.size()},
                                              {features.data(), features.size()}));
  };
  if (name == "native") {
    if (!t->is_here) {
      error = "processor `native` is of another kind than target `" + out.triple + "`; name one";
      return false;
    }
    const std::string here = TakeMessage(LLVMGetHostCPUName()), features = TakeMessage(LLVMGetHostCPUFeatures());
    SetRegisters(*t, *facts_of(here, features), out);
    return true;
  }
  const Facts all = facts_of("", "");
  out.name = name.empty() ? t->usual : name;
  const bool known_name = all->isCPUStringValid(out.name);  // other names of listed ones too
  if (!known_name || !HasCode(*t, *facts_of(out.name, ""))) {
    error = "processor `" + out.name + "` is unknown; for " + out.triple + " there are" + (t->is_here ? " native" : "");
    for (const auto& processor : all->getAllProcessorDescriptions()) {
      if (HasCode(*t, *facts_of(processor.Key, ""))) error += std::string(" ") + processor.Key;
    }
    return false;
  }
  SetRegisters(*t, *facts_of(out.name, ""), out);
  if (out.vector_bytes == 64) out.features = "+avx512f,+avx512vl";
  return true;
}

}  // namespace ricci::object
