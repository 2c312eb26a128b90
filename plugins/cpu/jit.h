// Jit: from an LLVM module to code in memory. The only part that knows LLVM's target and ORC libraries.
//
// One target machine for the host's processor and one linker serve all compilations. Only the passes that our own code
// generator leaves work for are run: no loop or SLP vectoriser.
#ifndef RICCI_CPU_JIT_H_
#define RICCI_CPU_JIT_H_
#include <llvm-c/Core.h>

#include <memory>
#include <string>

namespace ricci::cpu {

using EntryFn = void (*)(void* const* inputs, void* const* outputs, void* arena, void* run);

// The function of a module that Compile looks up.
inline constexpr const char* kEntryName = "ricci_entry";

// Code of one executable; goes with the object.
class CompiledCode {
 public:
  virtual ~CompiledCode() = default;
  EntryFn entry = nullptr;
  uint64_t code_bytes = 0;
};

class Jit {
 public:
  // NULL with `error` if LLVM has no code generator for this machine.
  static std::unique_ptr<Jit> Create(std::string& error);
  ~Jit();
  unsigned lanes() const { return lanes_; }
  // Takes the module and its context. NULL with `error` on failure.
  std::unique_ptr<CompiledCode> Compile(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level,
                                        std::string& error);
  // The module after optimisation, as text; takes it and its context. Empty with `error` on failure.
  std::string Text(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level, std::string& error);

 private:
  Jit() = default;
  struct Impl;
  std::unique_ptr<Impl> impl_;
  unsigned lanes_ = 8;
};

}  // namespace ricci::cpu
#endif
