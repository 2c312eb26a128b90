// Inlining of one call, which the passes of plugins/cpu do not have.
#ifndef RICCI_OBJECT_INLINED_ENTRY_H_
#define RICCI_OBJECT_INLINED_ENTRY_H_
#include <llvm-c/Core.h>

namespace ricci::object {

// Puts the body of the function that `call` calls in its place, if LLVM can do that.
void InlineCall(LLVMValueRef call);

}  // namespace ricci::object
#endif
