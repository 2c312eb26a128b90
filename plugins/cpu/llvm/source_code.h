// Functions written as LLVM assembly by the rules of other plugins (SOURCE lowerings), as part of the module.
//
// Whatever the text is, the result is code or an error: LLVM ends the process where its parts meet what they cannot
// handle, so nothing reaches them but what is listed here. Code of a text follows its own words, to the last bit: it is
// not contracted to fused operations as other code is.
//
// What LLVM's code generator would not survive is an error with the primitive's name. So is what could reach out of the
// code: other symbols, variables, assembly. The rest is linked into the program's module and optimised with it.
#ifndef RICCI_CPU_SOURCE_CODE_H_
#define RICCI_CPU_SOURCE_CODE_H_
#include <llvm-c/Core.h>

#include <string>
#include <string_view>

#include "cpu/llvm/llvm_builder.h"
#include "ricci/backend.h"

namespace ricci::cpu {

// All functions of sources, and only these, have names that begin so.
inline constexpr std::string_view kSourcePrefix = "source.";

// Adds the functions of source `number` to `module`; returns its entry, or NULL with `error`.
LLVMValueRef LinkSource(LLVMModuleRef module, const ricci_plan_source& source, uint32_t number,
                        const ProcessorText& processor, std::string& error);

}  // namespace ricci::cpu
#endif
