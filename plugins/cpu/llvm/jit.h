// Jit: from an LLVM module to code in memory, by optimizer.h, LLVM's code generator for the host's processor, and
// object_loader.h. Every error, also of LLVM, is returned to the caller as text; nothing is written to stderr.
//
// Objects in a cache are found by the text of the module before LLVM's passes, which has the number of threads and all
// that our own code generation decided. LLVM's version, processor, features, level and the version in jit.cc are added.
// An object holds no address of the process, and one that cannot be loaded is generated again. What is left takes a
// thirtieth of the time, or less: five small programs of f32[1000,1024] 51 -> 1.6 ms; 21 sums in a row 181 -> 5.3 ms;
// the gradient of 12 layers of products, tanh and softmax 166 -> 5.5 ms.
//
// The quick code generator of level 1 costs no more run time than it does because our own passes have fused and
// vectorised before.
#ifndef RICCI_CPU_JIT_H_
#define RICCI_CPU_JIT_H_
#include <llvm-c/Core.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "codegen/kept_code.h"
#include "cpu/llvm/code_view.h"
#include "cpu/llvm/llvm_builder.h"
#include "cpu/llvm/object_loader.h"
#include "cpu/llvm/settings.h"

namespace ricci::cpu {

// Returns nonzero if the plan ended early: a library call failed, or the host wanted the run to end.
using EntryFn = uint32_t (*)(void* const* inputs, void* const* outputs, void* arena, void* run);

// The function of a module that is called from outside.
inline constexpr const char* kEntryName = "ricci_entry";

// The code of one executable; it is freed with the object.
struct LoadedCode {
  std::unique_ptr<LoadedObject> object;
  std::unique_ptr<CodeView> view;  // where gdb is to see it
  EntryFn entry = nullptr;
  uint64_t code_bytes = 0;
};

class Jit {
 public:
  // NULL with `error` if LLVM has no code generator for this machine.
  static std::unique_ptr<Jit> Create(const Settings& settings, std::string& error);
  ~Jit();
  unsigned lanes() const { return lanes_; }
  bool contracts() const { return contracts_; }  // the processor has fused multiply-adds
  const ProcessorText& processor() const;
  // Takes the module and its context. NULL with `error` on failure. Code that was kept is not generated again, and
  // what is generated is kept. Profilers see the code by the name of its program. `save`, if there is one, gets the
  // object.
  using Save = std::function<void(std::string_view object)>;
  std::unique_ptr<LoadedCode> Compile(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level, std::string& error,
                                      const codegen::KeptCode& kept = codegen::KeptCode(),
                                      std::string_view program = {}, const Save& save = {});
  // An object that `save` got. NULL with `error` if it cannot be used.
  std::unique_ptr<LoadedCode> Load(std::string_view object, std::string_view program, std::string& error) const;
  // All that an object depends on besides its module and level.
  std::string Version() const;
  // The object file that Compile would load. Empty with `error` on failure.
  std::string Object(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level, std::string& error);
  // The same of a module that stays the caller's.
  std::string ObjectOf(LLVMModuleRef module, uint32_t opt_level, std::string& error);
  // The same as text.
  std::string Assembly(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level, std::string& error);
  // The module after optimisation, as text; takes it and its context. Empty with `error` on failure.
  std::string Text(LLVMContextRef ctx, LLVMModuleRef module, uint32_t opt_level, std::string& error);

 private:
  Jit() = default;
  struct Impl;
  std::unique_ptr<Impl> impl_;
  unsigned lanes_ = 8;
  bool contracts_ = false;
  Viewers viewers_;
};

}  // namespace ricci::cpu
#endif
