// ObjectUnit: functions of plans as one relocatable object that needs nothing of Ricci.
//
// Each plan becomes `int name(inputs..., outputs..., workspace)` around the function of plugins/cpu. What that code
// finds through the run in a host (library calls, the word of failed checks) is a record on the stack here, and what it
// calls in a host is in the module (runtime_text.h, called_code.h). Constants are in the code.
//
// With a product, level 1 is 2 for the whole object: the quick code generator would keep the sums in memory, and fuse
// only some multiplications of a loop. Private arrays above 4 KB are in the workspace, since hosts may have small
// stacks. Functions do not recurse, but what a function of a large kernel spills is LLVM's choice, and has no stated
// bound.
//
// What plugins/cpu knows of objects is only that a run may not be stoppable: their kernels are those of a host without
// polling for cancellation.
#ifndef RICCI_OBJECT_OBJECT_CODE_H_
#define RICCI_OBJECT_OBJECT_CODE_H_
#include <memory>
#include <string>
#include <vector>

#include "cpu/llvm/jit.h"
#include "processor_names.h"
#include "ricci/backend.h"

namespace ricci::object {

class ObjectUnit {
 public:
  // NULL with `error` if LLVM has no code generator for the processor. `own_workspace`: functions keep their working
  // memory in the object, and have no parameter for it.
  static std::unique_ptr<ObjectUnit> Create(const Processor& processor, bool own_workspace, std::string& error);
  ~ObjectUnit();
  unsigned lanes() const { return jit_->lanes(); }
  bool contracts() const { return jit_->contracts(); }
  // Adds a function called `name`. The `state` of the plan's `libraries` is CalledCode. Returns the scratch memory it
  // needs after the arena; false with `error` on failure.
  bool Add(const ricci_kernel_table* const* kernels, uint32_t n_kernels, const ricci_plan& plan,
           const std::string& name, uint32_t opt_level, uint64_t& scratch_bytes, std::string& error);
  // All functions as one object. Empty with `error` on failure, also if something other than the C library is missing.
  std::string Write(std::string& error);

 private:
  ObjectUnit(const Processor& processor, bool own_workspace);
  LLVMModuleRef Runtime(std::string& error) const;
  void AddFunction(const cpu::LlvmBuilder& l, const ricci_plan& plan, const std::string& name, uint64_t scratch) const;

  const Processor processor_;
  const bool own_workspace_;
  cpu::Settings settings_;
  std::unique_ptr<cpu::Jit> jit_;
  LLVMContextRef ctx_;
  LLVMModuleRef all_;
  uint32_t opt_level_ = 1;  // the highest of all functions
};

}  // namespace ricci::object
#endif
