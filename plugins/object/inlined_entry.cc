#include "inlined_entry.h"

#include <llvm/IR/InstrTypes.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace ricci::object {

void InlineCall(LLVMValueRef call) {
  llvm::InlineFunctionInfo info;
  llvm::InlineFunction(*llvm::cast<llvm::CallBase>(llvm::unwrap(call)), info);
}

}  // namespace ricci::object
