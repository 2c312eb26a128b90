// Stores of boxes from shared memory by the GPU itself, matrices that a warp stores there, and barriers of some threads
// (cp.async.bulk.tensor, stmatrix, bar.sync), as functions that printed texts call without a GPU.
#ifndef RICCI_STANDIN_DEVICE_STORES_H_
#define RICCI_STANDIN_DEVICE_STORES_H_

namespace ricci::cuda::standin {

const char* DeviceStores();  // for after DeviceWarpgroups

}  // namespace ricci::cuda::standin
#endif
