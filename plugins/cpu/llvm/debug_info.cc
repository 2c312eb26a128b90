#include "cpu/llvm/debug_info.h"

#include "cpu/llvm/jit.h"
#include "ricci/api_table.h"

namespace ricci::cpu {
namespace {

constexpr std::string_view kKernel = "kernel.", kVersion = "Debug Info Version", kProducer = "ricci";

std::string_view NameOf(LLVMValueRef function) {
  size_t length = 0;
  const char* name = LLVMGetValueName2(function, &length);
  return {name, length};
}

}  // namespace

std::string ReadableName(std::string_view program, std::string_view function) {
  if (function == kEntryName) return std::string(program);
  if (function.starts_with(kKernel)) function.remove_prefix(kKernel.size());
  return std::string(program) + "." + std::string(function);
}

DebugInfo::DebugInfo(const ricci_ctx* ctx, LLVMModuleRef module, LLVMBuilderRef builder, std::string program)
    : ctx_(ctx),
      module_(module),
      llvm_(LLVMGetModuleContext(module)),
      builder_(builder),
      program_(std::move(program)),
      di_(LLVMCreateDIBuilder(module)) {
  LLVMValueRef version = LLVMConstInt(LLVMInt32TypeInContext(llvm_), LLVMDebugMetadataVersion(), 0);
  LLVMAddModuleFlag(module_, LLVMModuleFlagBehaviorWarning, kVersion.data(), kVersion.size(),
                    LLVMValueAsMetadata(version));
  unknown_file_ = File(program_);
  unit_ =
      LLVMDIBuilderCreateCompileUnit(di_, LLVMDWARFSourceLanguageC99, unknown_file_, kProducer.data(), kProducer.size(),
                                     1, "", 0, 0, "", 0, LLVMDWARFEmissionFull, 0, 0, 0, "", 0, "", 0);
  type_ = LLVMDIBuilderCreateSubroutineType(di_, unknown_file_, nullptr, 0, LLVMDIFlagZero);
  scope_ = Subprogram(program_, {unknown_file_, 0});
}

DebugInfo::~DebugInfo() { LLVMDisposeDIBuilder(di_); }

LLVMMetadataRef DebugInfo::File(std::string_view path) {
  LLVMMetadataRef& file = files_[std::string(path)];
  if (file != nullptr) return file;
  const size_t slash = path.rfind('/');
  const std::string_view folder = slash == path.npos ? std::string_view() : path.substr(0, slash);
  const std::string_view name = slash == path.npos ? path : path.substr(slash + 1);
  return file = LLVMDIBuilderCreateFile(di_, name.data(), name.size(), folder.data(), folder.size());
}

LLVMMetadataRef DebugInfo::Subprogram(std::string_view name, const SourceLine& source) {
  return LLVMDIBuilderCreateFunction(di_, unit_, name.data(), name.size(), "", 0, source.file, source.line, type_, 1, 1,
                                     source.line, LLVMDIFlagZero, 1);
}

void DebugInfo::At(uint64_t location) {
  unsigned number = 0;
  if (location != 0) {
    const auto [at, is_new] = numbers_.try_emplace(location, static_cast<unsigned>(locations_.size() + 1));
    if (is_new) locations_.push_back(location);
    number = at->second;
  }
  LLVMSetCurrentDebugLocation2(builder_, LLVMDIBuilderCreateDebugLocation(llvm_, number, 0, scope_, nullptr));
}

DebugInfo::SourceLine DebugInfo::SourceLineOf(uint64_t location) {
  ricci_str file{}, function{};
  uint32_t line = 0;
  ricci_location_get(ctx_, location, &file, &line, &function);
  if (file.len == 0) return {unknown_file_, 0};
  return {File({file.ptr, file.len}), line};
}

// The location of the first instruction that has one.
DebugInfo::SourceLine DebugInfo::FirstSourceLine(LLVMValueRef function) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != nullptr; b = LLVMGetNextBasicBlock(b)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != nullptr; i = LLVMGetNextInstruction(i)) {
      LLVMMetadataRef location = LLVMInstructionGetDebugLoc(i);
      const unsigned number = location == nullptr ? 0 : LLVMDILocationGetLine(location);
      if (number != 0) return SourceLineOf(locations_[number - 1]);
    }
  }
  return {unknown_file_, 0};
}

LLVMMetadataRef DebugInfo::Line(LLVMValueRef instruction, LLVMMetadataRef subprogram, const SourceLine& of_function) {
  LLVMMetadataRef noted = LLVMInstructionGetDebugLoc(instruction);
  const unsigned number = noted == nullptr ? 0 : LLVMDILocationGetLine(noted);
  if (number == 0) return LLVMDIBuilderCreateDebugLocation(llvm_, 0, 0, subprogram, nullptr);
  const SourceLine source = SourceLineOf(locations_[number - 1]);
  LLVMMetadataRef scope = source.file == of_function.file
                              ? subprogram
                              : LLVMDIBuilderCreateLexicalBlockFile(di_, subprogram, source.file, 0);
  return LLVMDIBuilderCreateDebugLocation(llvm_, source.line, 0, scope, nullptr);
}

void DebugInfo::Describe(LLVMValueRef function) {
  const SourceLine source = FirstSourceLine(function);
  LLVMMetadataRef subprogram = Subprogram(ReadableName(program_, NameOf(function)), source);
  LLVMSetSubprogram(function, subprogram);
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != nullptr; b = LLVMGetNextBasicBlock(b)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != nullptr; i = LLVMGetNextInstruction(i)) {
      LLVMInstructionSetDebugLoc(i, Line(i, subprogram, source));
    }
  }
}

void DebugInfo::Finish() {
  for (LLVMValueRef f = LLVMGetFirstFunction(module_); f != nullptr; f = LLVMGetNextFunction(f)) {
    if (LLVMCountBasicBlocks(f) != 0 && LLVMGetSubprogram(f) == nullptr) Describe(f);
  }
  LLVMSetCurrentDebugLocation2(builder_, nullptr);
  LLVMDIBuilderFinalize(di_);
}

}  // namespace ricci::cpu
