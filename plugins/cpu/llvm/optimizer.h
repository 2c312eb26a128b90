// Optimizer: the LLVM passes that improve what our code generator emits; no loop or SLP vectoriser.
#ifndef RICCI_CPU_OPTIMIZER_H_
#define RICCI_CPU_OPTIMIZER_H_
#include <llvm-c/TargetMachine.h>

#include <cstdint>

namespace ricci::cpu {

// Runs the passes of `level` (0 to 3; above as 3) on all functions of a valid module.
void Optimize(LLVMModuleRef module, LLVMTargetMachineRef machine, uint32_t level);

}  // namespace ricci::cpu
#endif
