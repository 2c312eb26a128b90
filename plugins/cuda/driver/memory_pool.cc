#include "cuda/driver/memory_pool.h"

#include "cuda/driver/gpu.h"

namespace ricci::cuda {

ricci_status* MemoryPool::Create(CuDevice own) {
  CuPoolProperties properties{};
  properties.allocation_type = 1;
  properties.location = {1, own};
  if (ricci_status* failed = device_.Check("cuMemPoolCreate", device_.driver().cuMemPoolCreate(&pool_, &properties))) {
    return failed;
  }
  uint64_t all = UINT64_MAX;
  if (ricci_status* failed = device_.Check(
          "cuMemPoolSetAttribute", device_.driver().cuMemPoolSetAttribute(pool_, kCuPoolReleaseThreshold, &all))) {
    return failed;
  }
  return GiveAccess(own);
}

ricci_status* MemoryPool::GiveAccess(CuDevice own) const {
  const Driver& d = device_.driver();
  int count = 0;
  if (ricci_status* failed = device_.Check("cuDeviceGetCount", d.cuDeviceGetCount(&count))) return failed;
  for (CuDevice other = 0; other < count; ++other) {
    int can = 0;
    if (other == own) continue;
    if (ricci_status* failed =
            device_.Check("cuDeviceCanAccessPeer", d.cuDeviceCanAccessPeer(&can, /*device=*/other, /*peer=*/own))) {
      return failed;
    }
    if (can == 0) continue;  // copies go through the host then
    const CuPoolAccess access{{1, other}, 3};
    if (ricci_status* failed = device_.Check("cuMemPoolSetAccess", d.cuMemPoolSetAccess(pool_, &access, 1)))
      return failed;
  }
  return nullptr;
}

void MemoryPool::Destroy() {
  if (pool_ != nullptr) device_.Note(device_.driver().cuMemPoolDestroy(pool_));
  pool_ = nullptr;
}

ricci_status* MemoryPool::Read(int attribute, uint64_t& bytes) const {
  return device_.Check("cuMemPoolGetAttribute", device_.driver().cuMemPoolGetAttribute(pool_, attribute, &bytes));
}

ricci_status* MemoryPool::Trim(uint64_t keep_bytes) const {
  return device_.Check("cuMemPoolTrimTo", device_.driver().cuMemPoolTrimTo(pool_, keep_bytes));
}

}  // namespace ricci::cuda
