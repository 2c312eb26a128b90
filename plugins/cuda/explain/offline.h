// A device that only compiles: for a GPU that is not there.
#ifndef RICCI_CUDA_OFFLINE_H_
#define RICCI_CUDA_OFFLINE_H_
#include <memory>
#include <string>

#include "cuda/driver/gpu.h"
#include "ricci/backend.h"

namespace ricci::cuda {

// Programs become machine code for the architecture of the settings, such as `sm_90a`, which its dumps show; a run is
// refused. Memory is the host's.
ricci_status* RegisterOffline(ricci_ctx* ctx, std::shared_ptr<const Compiler> compiler, const Settings& settings,
                              const ricci_target& target);

}  // namespace ricci::cuda
#endif
