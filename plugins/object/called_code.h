// What an object has instead of a call of a host's library: code that is emitted with the function that needs it.
#ifndef RICCI_OBJECT_CALLED_CODE_H_
#define RICCI_OBJECT_CALLED_CODE_H_
#include <functional>
#include <string>

#include "cpu/llvm/llvm_builder.h"
#include "processor_names.h"

namespace ricci::object {

// Emits `void name(ptr buffers, ptr scratch)`: buffers are the operands and the results. The `state` of each
// ricci_plan_library of this backend.
using CalledCode = std::function<LLVMValueRef(const cpu::LlvmBuilder& l, const Processor&, const std::string& name)>;

}  // namespace ricci::object
#endif
