// LostDriver: a driver that does nothing, for a device whose handles mean nothing any more: the host has destroyed or
// reset its context, or this process was forked.
//
// The driver may crash when it gets such handles, also those that only give something back. So from then on a device
// calls these functions in place of libcuda's (Gpu::driver), and nothing else has to know.
//
// Each call is then a status that says so; other devices of the Ricci context go on. After an error that the driver
// repeats for ever (an illegal address in a kernel) the context is still there. So what it gave is given back.
#ifndef RICCI_CUDA_LOST_DRIVER_H_
#define RICCI_CUDA_LOST_DRIVER_H_
#include "cuda/driver/driver.h"

namespace ricci::cuda {

// Each call returns kCuDeinitialized and writes nothing.
const Driver& LostDriver();

// What libcuda returns when the context is gone.
inline bool SaysContextIsGone(CuResult result) {
  return result == kCuContextIsDestroyed || result == kCuInvalidContext || result == kCuDeinitialized;
}
// Errors after which each call of the context gives the same error, until the process ends: of a kernel (illegal
// address, launch timeout, assert, stack, instruction, alignment, address space, program counter, failed launch), and
// of the hardware (ECC, NVLink).
inline bool SaysContextHasFailed(CuResult result) {
  return result == 700 || result == 702 || result == 710 || (result >= 714 && result <= 719) || result == 214 ||
         result == 220;
}

}  // namespace ricci::cuda
#endif
