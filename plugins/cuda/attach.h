// AttachDevices: registers the GPUs of a driver with a context.
#ifndef RICCI_CUDA_ATTACH_H_
#define RICCI_CUDA_ATTACH_H_
#include "cuda/driver/gpu.h"

namespace ricci::cuda {

// NOT_FOUND, and nothing changes, if a driver, a compiler or a device is missing.
ricci_status* AttachDevices(ricci_ctx* ctx, const Settings& settings);

}  // namespace ricci::cuda
#endif
