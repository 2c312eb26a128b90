// What lanes of a warp do together on matrices, as functions that printed texts call without a GPU.
#ifndef RICCI_STANDIN_DEVICE_MATRICES_H_
#define RICCI_STANDIN_DEVICE_MATRICES_H_

namespace ricci::cuda::standin {

const char* DeviceMatrices();  // for after DevicePrelude

}  // namespace ricci::cuda::standin
#endif
