// What groups of four warps do together on matrices in shared memory (wgmma), as functions that printed texts call
// where there is no GPU.
#ifndef RICCI_STANDIN_DEVICE_WARPGROUPS_H_
#define RICCI_STANDIN_DEVICE_WARPGROUPS_H_

namespace ricci::cuda::standin {

const char* DeviceWarpgroups();    // for after DeviceMatrices
const char* NoDeviceWarpgroups();  // in its place, for texts without them

}  // namespace ricci::cuda::standin
#endif
