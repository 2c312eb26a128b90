// Architectures of GPUs, such as `sm_90`, as far as NVRTC knows them.
#ifndef RICCI_CUDA_ARCHITECTURE_H_
#define RICCI_CUDA_ARCHITECTURE_H_
#include <string>

#include "driver.h"
#include "ricci/context.h"

namespace ricci::cuda {

// Whether the compiler compiles for it; if not, the error begins with `what`, for example `option cuda.arch`, and lists
// what the compiler knows.
ricci_status* CheckArchitecture(const Compiler& compiler, const std::string& what, const std::string& architecture);

}  // namespace ricci::cuda
#endif
