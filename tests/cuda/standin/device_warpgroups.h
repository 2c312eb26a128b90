// What groups of four warps do together on matrices in shared memory (wgmma), as functions that printed texts call
// without a GPU.
//
// It finds what a product reads while another thread may write it, from its issue to its wait. It finds what the writer
// has not shown to tensor cores (`fence.proxy.async`). It finds sums that no `wgmma.fence` precedes, and products
// without a wait. The whole group must come, with the same operands. Sums are NaN before the wait.
#ifndef RICCI_STANDIN_DEVICE_WARPGROUPS_H_
#define RICCI_STANDIN_DEVICE_WARPGROUPS_H_

namespace ricci::cuda::standin {

const char* DeviceWarpgroups();    // for after DeviceMatrices
const char* NoDeviceWarpgroups();  // in its place, for texts without them

}  // namespace ricci::cuda::standin
#endif
