// What a CUDA compiler knows without a header, as C++ for the simulated GPU.
#ifndef RICCI_TESTS_CUDA_DEVICE_PRELUDE_H_
#define RICCI_TESTS_CUDA_DEVICE_PRELUDE_H_

namespace ricci::cuda::standin {

// The text before that of each program. An operation of a warp that has no C++ (mma, ldmatrix) is written with
// `ricci_meet`: lanes give what they hold, then each computes its part of the result from what all gave.
const char* DevicePrelude();
// The text after it.
const char* DeviceEnd();

}  // namespace ricci::cuda::standin
#endif
