// MemoryPool: the memory of one GPU, as a pool of the driver that only this backend allocates from.
//
// A pool of our own, not the device's default one: how much it keeps is then ours to say and to report, and what the
// host allocates with cudaMallocAsync is not mixed up with it. It keeps what was freed, as frameworks do, so that a
// run's memory costs no system call, until somebody asks to trim it: the driver's default would give everything back
// whenever the host waits for a stream.
//
// Other GPUs that can reach it have access, for copies. What it keeps counts as free in `ricci_device_memory`. Bytes in
// use and the limit are the core's (runtime/context/memory_count.h).
#ifndef RICCI_CUDA_MEMORY_POOL_H_
#define RICCI_CUDA_MEMORY_POOL_H_
#include "cuda/driver/driver.h"
#include "ricci/base.h"

namespace ricci::cuda {

class Gpu;

// Its functions are called with the context of the device current.
class MemoryPool {
 public:
  explicit MemoryPool(const Gpu& device) : device_(device) {}
  MemoryPool(const MemoryPool&) = delete;
  // Of that device; those other GPUs that can reach its memory get access, for copies between them.
  ricci_status* Create(CuDevice own);
  // All that it gave has been freed.
  void Destroy();

  CuMemPool handle() const { return pool_; }
  ricci_status* Reserved(uint64_t& bytes) const { return Read(kCuPoolReserved, bytes); }
  ricci_status* Used(uint64_t& bytes) const { return Read(kCuPoolUsed, bytes); }
  ricci_status* Trim(uint64_t keep_bytes) const;

 private:
  ricci_status* Read(int attribute, uint64_t& bytes) const;
  ricci_status* GiveAccess(CuDevice own) const;

  const Gpu& device_;
  CuMemPool pool_ = nullptr;
};

}  // namespace ricci::cuda
#endif
