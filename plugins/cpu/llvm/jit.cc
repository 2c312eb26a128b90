#include "cpu/llvm/jit.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <vector>

#include "cpu/llvm/code_symbols.h"
#include "cpu/llvm/optimizer.h"

namespace ricci::cpu {
namespace {

// A fact of all generated code: no exception leaves it, so nothing is kept for unwinding. Floats have no flags: no
// liberty is taken with them, not even contraction, which is decided before (src/pass/program/contract.cc).
void StateFacts(LLVMContextRef ctx, LLVMModuleRef module) {
  const LLVMAttributeRef no_unwind = LLVMCreateEnumAttribute(ctx, LLVMGetEnumAttributeKindForName("nounwind", 8), 0);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f != nullptr; f = LLVMGetNextFunction(f)) {
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, no_unwind);
  }
}

// Is `name` among `+name,-other,...`?
bool HasFeature(std::string_view features, std::string_view name) {
  return ("," + std::string(features) + ",").find(",+" + std::string(name) + ",") != std::string::npos;
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

// The quick code generator (fast selection, registers within a block) is 1.7 to 7 times as fast as the other; its code
// runs up to 1.7 times as long. It gives every value that lives across blocks its own place on the stack, 64 bytes for
// a vector: if that could be megabytes, it is not used.
constexpr size_t kMostQuick = 32768;  // instructions of a function

size_t LongestFunction(LLVMModuleRef module) {
  size_t longest = 0;
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f != nullptr; f = LLVMGetNextFunction(f)) {
    size_t n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != nullptr; b = LLVMGetNextBasicBlock(b)) {
      for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != nullptr; i = LLVMGetNextInstruction(i)) ++n;
    }
    longest = std::max(longest, n);
  }
  return longest;
}

struct DropBuffer {
  void operator()(LLVMMemoryBufferRef b) const { LLVMDisposeMemoryBuffer(b); }
};
using ObjectFile = std::unique_ptr<LLVMOpaqueMemoryBuffer, DropBuffer>;

std::span<const char> BytesOf(const ObjectFile& object) {
  return {LLVMGetBufferStart(object.get()), LLVMGetBufferSize(object.get())};
}

// Of what happens to a module here and in optimizer.cc, and of what the functions that code calls do with their
// arguments, and of the structs of the ABI that it reads. Raised when that changes: code of before is then not used.
constexpr const char* kVersion = "cpu 4";

std::string TextOf(LLVMModuleRef module) {
  char* text = LLVMPrintModuleToString(module);
  std::string ir = text;
  LLVMDisposeMessage(text);
  return ir;
}

// Keeps the first error that LLVM's own parts report.
void KeepError(LLVMDiagnosticInfoRef info, void* error) {
  auto& text = *static_cast<std::string*>(error);
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || !text.empty()) return;
  char* description = LLVMGetDiagInfoDescription(info);
  text = description;
  LLVMDisposeMessage(description);
}

// Keeps what LLVM reports about a context while it lives.
class Reported {
 public:
  explicit Reported(LLVMContextRef ctx) : ctx_(ctx) { LLVMContextSetDiagnosticHandler(ctx_, KeepError, &text); }
  ~Reported() { LLVMContextSetDiagnosticHandler(ctx_, nullptr, nullptr); }
  Reported(const Reported&) = delete;
  std::string text;

 private:
  LLVMContextRef ctx_;
};

}  // namespace

struct Jit::Impl {
  LLVMTargetMachineRef quick = nullptr, thorough = nullptr;
  ProcessorText processor;
  std::string cpu, features;
  std::mutex mutex;  // a target machine serves one compilation at a time

  ~Impl() {
    if (quick != nullptr) LLVMDisposeTargetMachine(quick);
    if (thorough != nullptr) LLVMDisposeTargetMachine(thorough);
  }
  // For an optimized module.
  LLVMTargetMachineRef MachineFor(LLVMModuleRef module, uint32_t opt_level) const {
    return opt_level <= 1 && LongestFunction(module) <= kMostQuick ? quick : thorough;
  }
  // Whatever decides what a module becomes. Addresses do not: code has none.
  codegen::CodeKey KeyOf(LLVMModuleRef module, uint32_t opt_level) const;
  std::vector<std::string> Versions() const;
  bool Optimize(LLVMModuleRef module, uint32_t opt_level, std::string& error);
  ObjectFile Emit(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level, LLVMCodeGenFileType type,
                  std::string& error);
  // The same of a module that stays the caller's.
  ObjectFile EmitOf(LLVMModuleRef module, uint32_t opt_level, LLVMCodeGenFileType type, std::string& error);
};

Jit::~Jit() = default;

const ProcessorText& Jit::processor() const { return impl_->processor; }

std::unique_ptr<Jit> Jit::Create(const Settings& settings, std::string& error) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  std::unique_ptr<Jit> jit(new Jit);
  jit->impl_ = std::make_unique<Impl>();
  jit->viewers_ = settings.viewers;
  char* triple = settings.triple == nullptr ? LLVMGetDefaultTargetTriple() : LLVMCreateMessage(settings.triple);
  jit->impl_->processor.triple = triple;
  LLVMTargetRef target;
  char* message = nullptr;
  const bool bad = LLVMGetTargetFromTriple(triple, &target, &message) != 0;
  LLVMDisposeMessage(triple);
  if (bad) {
    error = message;
    LLVMDisposeMessage(message);
    return nullptr;
  }
  const bool here = settings.processor == nullptr;
  char* cpu = here ? LLVMGetHostCPUName() : LLVMCreateMessage(settings.processor);
  char* features = here ? LLVMGetHostCPUFeatures() : LLVMCreateMessage(settings.features);
  const bool avx512 = std::strstr(features, "+avx512f") != nullptr && std::strstr(features, "+avx512vl") != nullptr;
  jit->lanes_ = avx512 ? 16 : 8;
  jit->contracts_ = HasFeature(features, "fma") || jit->impl_->processor.triple.starts_with("aarch64");
  std::string all = features;
  if (avx512) all += ",-prefer-256-bit";
  const auto machine = [&](LLVMCodeGenOptLevel level) {
    return LLVMCreateTargetMachine(target, jit->impl_->processor.triple.c_str(), cpu, all.c_str(), level, LLVMRelocPIC,
                                   LLVMCodeModelDefault);
  };
  jit->impl_->quick = machine(LLVMCodeGenLevelNone);
  jit->impl_->thorough = machine(LLVMCodeGenLevelDefault);
  jit->impl_->cpu = cpu;
  jit->impl_->features = all;
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
  LLVMTargetDataRef data = LLVMCreateTargetDataLayout(jit->impl_->thorough);
  char* layout = LLVMCopyStringRepOfTargetData(data);
  jit->impl_->processor.layout = layout;
  LLVMDisposeMessage(layout);
  LLVMDisposeTargetData(data);
  return jit;
}

bool Jit::Impl::Optimize(LLVMModuleRef module, uint32_t opt_level, std::string& error) {
  LLVMSetTarget(module, processor.triple.c_str());
  LLVMSetDataLayout(module, processor.layout.c_str());
  char* message = nullptr;
  const bool invalid = LLVMVerifyModule(module, LLVMReturnStatusAction, &message) != 0;
  if (invalid) error = message;
  LLVMDisposeMessage(message);
  if (invalid) return false;
  StateFacts(LLVMGetModuleContext(module), module);
  cpu::Optimize(module, thorough, opt_level);
  return true;
}

ObjectFile Jit::Impl::Emit(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level, LLVMCodeGenFileType type,
                           std::string& error) {
  const Module owner{ctx, module};
  return EmitOf(module, opt_level, type, error);
}

ObjectFile Jit::Impl::EmitOf(LLVMModuleRef module, uint32_t opt_level, LLVMCodeGenFileType type, std::string& error) {
  std::lock_guard lock(mutex);
  Reported reported(LLVMGetModuleContext(module));
  if (!Optimize(module, opt_level, error)) return nullptr;
  LLVMMemoryBufferRef buffer = nullptr;
  char* message = nullptr;
  if (LLVMTargetMachineEmitToMemoryBuffer(MachineFor(module, opt_level), module, type, &message, &buffer)) {
    error = message;
    LLVMDisposeMessage(message);
    return nullptr;
  }
  ObjectFile object(buffer);
  if (reported.text.empty()) return object;
  error = reported.text;
  return nullptr;
}

// All but the module and the level.
std::vector<std::string> Jit::Impl::Versions() const {
  unsigned major = 0, minor = 0, patch = 0;
  LLVMGetVersion(&major, &minor, &patch);
  const auto number = [](unsigned n) { return std::to_string(n); };
  return {kVersion, number(major), number(minor), number(patch), processor.triple, processor.layout, cpu, features};
}

codegen::CodeKey Jit::Impl::KeyOf(LLVMModuleRef module, uint32_t opt_level) const {
  codegen::CodeKey key;
  for (const std::string& part : Versions()) key.Add(part);
  return key.Add(std::to_string(opt_level)).Add(TextOf(module));
}

std::string Jit::Version() const {
  const std::vector<std::string> v = impl_->Versions();
  return v[0] + ", LLVM " + v[1] + "." + v[2] + "." + v[3] + ", " + v[4] + ", layout " + v[5] + ", processor " + v[6] +
         ", features " + v[7] + ", lanes " + std::to_string(lanes_) + (viewers_.any() ? ", with places" : "");
}

std::unique_ptr<LoadedCode> Jit::Load(std::string_view object, std::string_view program, std::string& error) const {
  auto code = std::make_unique<LoadedCode>();
  code->code_bytes = object.size();
  code->object = LoadedObject::Load(object, kEntryName, FindCodeSymbol, error);
  if (code->object == nullptr) return nullptr;
  code->entry = reinterpret_cast<EntryFn>(code->object->entry());
  if (viewers_.gdb) code->view = std::make_unique<CodeView>(object, *code->object);
  if (viewers_.perf) AppendPerfMap(object, *code->object, program);
  return code;
}

std::unique_ptr<LoadedCode> Jit::Compile(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level,
                                         std::string& error, const codegen::KeptCode& kept, std::string_view program,
                                         const Save& save) {
  const bool keeps = kept.is_on();  // asked once: the host may change it meanwhile
  codegen::CodeKey key;
  if (keeps) {
    key = impl_->KeyOf(module, opt_level);
    std::string of_no_use;  // an object that cannot be loaded counts as missing
    const std::string object = kept.Load(key);
    if (auto code = Load(object, program, of_no_use)) {
      const Module owner{ctx, module};
      if (save) save(object);
      return code;
    }
  }
  const ObjectFile object = impl_->Emit(ctx, module, opt_level, LLVMObjectFile, error);
  if (object == nullptr) return nullptr;
  const std::string_view bytes{BytesOf(object).data(), BytesOf(object).size()};
  if (keeps) kept.Store(key, bytes);
  if (save) save(bytes);
  return Load(bytes, program, error);
}

std::string Jit::Object(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level, std::string& error) {
  const ObjectFile object = impl_->Emit(ctx, module, opt_level, LLVMObjectFile, error);
  if (object == nullptr) return {};
  const std::span<const char> bytes = BytesOf(object);
  return {bytes.begin(), bytes.end()};
}

std::string Jit::ObjectOf(LLVMModuleRef module, uint32_t opt_level, std::string& error) {
  const ObjectFile object = impl_->EmitOf(module, opt_level, LLVMObjectFile, error);
  if (object == nullptr) return {};
  const std::span<const char> bytes = BytesOf(object);
  return {bytes.begin(), bytes.end()};
}

std::string Jit::Assembly(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level, std::string& error) {
  const ObjectFile text = impl_->Emit(ctx, module, opt_level, LLVMAssemblyFile, error);
  if (text == nullptr) return {};
  const std::span<const char> bytes = BytesOf(text);
  return {bytes.begin(), bytes.end()};
}

std::string Jit::Text(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level, std::string& error) {
  const Module owner{ctx, module};
  std::lock_guard lock(impl_->mutex);
  if (!impl_->Optimize(module, opt_level, error)) return {};
  return TextOf(module);
}

}  // namespace ricci::cpu
