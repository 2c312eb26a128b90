// DebugInfo: which function and line of the host's source each instruction of a module comes from, for debuggers and
// profilers.
//
// While code is emitted, At notes the location; an instruction carries the number of its location where a line would
// be. Finish then gives every function its entry, named after the program and the kernel, and the numbers become lines,
// whatever order functions were emitted in and whichever of them share code.
#ifndef RICCI_CPU_DEBUG_INFO_H_
#define RICCI_CPU_DEBUG_INFO_H_
#include <llvm-c/DebugInfo.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ricci/context.h"

namespace ricci::cpu {

// The name of a function as people know it: `loss` for the entry of program loss, `loss.add_sin` for a kernel of it.
std::string ReadableName(std::string_view program, std::string_view function);

class DebugInfo {
 public:
  // `ctx` is asked for locations; `builder` emits the code.
  DebugInfo(const ricci_ctx* ctx, LLVMModuleRef module, LLVMBuilderRef builder, std::string program);
  ~DebugInfo();
  DebugInfo(const DebugInfo&) = delete;

  // What is emitted from here on is of this location (ricci_location_get); 0: of none.
  void At(uint64_t location);
  void Finish();

 private:
  struct SourceLine {
    LLVMMetadataRef file;
    uint32_t line;
  };
  SourceLine SourceLineOf(uint64_t location);
  LLVMMetadataRef File(std::string_view path);
  LLVMMetadataRef Subprogram(std::string_view name, const SourceLine& source);
  SourceLine FirstSourceLine(LLVMValueRef function);
  void Describe(LLVMValueRef function);
  // The location of an instruction of `function`, whose entry and file are given.
  LLVMMetadataRef Line(LLVMValueRef instruction, LLVMMetadataRef subprogram, const SourceLine& of_function);

  const ricci_ctx* ctx_;
  LLVMModuleRef module_;
  LLVMContextRef llvm_;
  LLVMBuilderRef builder_;
  std::string program_;
  LLVMDIBuilderRef di_;
  LLVMMetadataRef unknown_file_, unit_, type_, scope_;
  std::unordered_map<std::string, LLVMMetadataRef> files_;
  std::unordered_map<uint64_t, unsigned> numbers_;  // of locations
  std::vector<uint64_t> locations_;                 // by number - 1
};

}  // namespace ricci::cpu
#endif
