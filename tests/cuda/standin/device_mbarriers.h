// Barriers in shared memory and copies of boxes that count at them (mbarrier, cp.async.bulk.tensor), as functions that
// printed texts call without a GPU.
#ifndef RICCI_STANDIN_DEVICE_MBARRIERS_H_
#define RICCI_STANDIN_DEVICE_MBARRIERS_H_

namespace ricci::cuda::standin {

const char* DeviceMbarriers();  // for after DeviceWarpgroups

}  // namespace ricci::cuda::standin
#endif
