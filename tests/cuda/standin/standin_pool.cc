// Pools of libcuda, what is allocated in them, and what pointers are.
//
// A pool reserves exactly what is wanted (a real one rounds up to some MiB) and keeps what is freed up to its
// threshold, when the host waits for something, or until it is trimmed. What one pool keeps, no other can have.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "standin.h"

namespace ricci::cuda::standin {
namespace {

uint64_t ReservedOn(const Machine& m, int device) {
  uint64_t bytes = 0;
  for (const Pool& p : m.all_pools) bytes += p.device == device && !p.is_destroyed ? p.reserved : 0;
  return bytes;
}

bool IsLive(Machine& m, const char* call, CuMemPool pool) {
  if (pool != nullptr && !As<Pool>(pool).is_destroyed) return true;
  m.Complain(std::string(call) + ": no such pool");
  return false;
}

uint64_t* AttributeOf(Pool& p, int attribute) {
  if (attribute == kCuPoolReleaseThreshold) return &p.threshold;
  if (attribute == kCuPoolReserved) return &p.reserved;
  return attribute == kCuPoolUsed ? &p.used : nullptr;
}

bool Grow(Machine& m, Pool& p, uint64_t bytes) {
  const uint64_t unused = p.reserved - p.used, more = bytes > unused ? bytes - unused : 0;
  if (more > kMemoryBytes - ReservedOn(m, p.device)) return false;
  p.reserved += more;
  p.used += bytes;
  return true;
}

}  // namespace

void HostHasWaited(Machine& m, int device) {
  for (Pool& p : m.all_pools) {
    if (p.device == device) p.reserved = std::min(p.reserved, std::max(p.used, p.threshold));
  }
}

CuResult cuMemPoolCreate(CuMemPool* out, const CuPoolProperties* given) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  static const CuPoolProperties kZero{};
  const bool is_known = given->allocation_type == 1 && given->location.type == 1 && given->location.id >= 0 &&
                        given->location.id < kDevices &&
                        std::memcmp(given->reserved, kZero.reserved, sizeof kZero.reserved) == 0;
  if (!is_known) return m.Complain("cuMemPoolCreate: wrong properties"), kInvalidValue;
  ++m.pools;
  *out = Handle<CuMemPool>(&m.all_pools.emplace_back(Pool{given->location.id}));
  return kCuSuccess;
}
CuResult cuMemPoolDestroy(CuMemPool pool) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!IsLive(m, "cuMemPoolDestroy", pool)) return kInvalidValue;
  As<Pool>(pool).is_destroyed = true;
  --m.pools;
  return kCuSuccess;
}
CuResult cuMemPoolSetAttribute(CuMemPool pool, int attribute, void* value) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!IsLive(m, "cuMemPoolSetAttribute", pool) || attribute != kCuPoolReleaseThreshold) return kInvalidValue;
  std::memcpy(&As<Pool>(pool).threshold, value, sizeof(uint64_t));
  return kCuSuccess;
}
CuResult cuMemPoolGetAttribute(CuMemPool pool, int attribute, void* value) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const uint64_t* const found =
      IsLive(m, "cuMemPoolGetAttribute", pool) ? AttributeOf(As<Pool>(pool), attribute) : nullptr;
  if (found == nullptr) return kInvalidValue;
  std::memcpy(value, found, sizeof *found);
  return kCuSuccess;
}
CuResult cuMemPoolSetAccess(CuMemPool pool, const CuPoolAccess* to, size_t count) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!IsLive(m, "cuMemPoolSetAccess", pool)) return kInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    const bool is_known = to[i].location.type == 1 && to[i].location.id >= 0 && to[i].location.id < kDevices;
    if (!is_known || to[i].flags != 3) return m.Complain("cuMemPoolSetAccess: wrong access"), kInvalidValue;
  }
  return kCuSuccess;
}
CuResult cuMemPoolTrimTo(CuMemPool pool, size_t keep_bytes) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!IsLive(m, "cuMemPoolTrimTo", pool)) return kInvalidValue;
  Pool& p = As<Pool>(pool);
  p.reserved = std::min<uint64_t>(p.reserved, std::max<uint64_t>(p.used, keep_bytes));
  return kCuSuccess;
}

CuResult cuMemAllocFromPoolAsync(CuPointer* out, size_t bytes, CuMemPool pool, CuStream stream) {
  constexpr const char* kCall = "cuMemAllocFromPoolAsync";
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (CurrentDevice(m, kCall) < 0 || !standin::IsLive(m, kCall, stream)) return kInvalidContext;
  Stream& s = *m.Find(stream);
  if (s.capture != nullptr)
    return m.Complain(std::string(kCall) + " into a stream that the host captures"), kCaptureUnsupported;
  if (!IsLive(m, kCall, pool)) return kInvalidValue;
  Pool& from = As<Pool>(pool);
  if (!Grow(m, from, bytes)) return kCuOutOfMemory;
  void* p = nullptr;
  if (posix_memalign(&p, 256, bytes + kGapBytes) != 0) return from.used -= bytes, kCuOutOfMemory;
  std::memset(p, 0xa5, bytes);
  const auto begin = reinterpret_cast<uintptr_t>(p);
  m.memory[begin] = {bytes, from.device, &from};
  m.memory[begin].written = std::make_shared<WrittenBytes>(bytes);
  m.steps.NewMemory(begin, bytes, m.NewStep(s, kCall));
  *out = static_cast<CuPointer>(begin);
  return kCuSuccess;
}
CuResult cuMemFreeAsync(CuPointer p, CuStream stream) {
  const auto free = [p](const StepRef& step) {
    Machine& m = Machine::Get();
    const std::lock_guard lock(m.mutex);
    const auto begin = static_cast<uintptr_t>(p);
    const auto found = m.memory.find(begin);
    if (found == m.memory.end()) return m.Complain(step->Text() + ": " + m.NoSuchMemory(begin));
    m.Touch(begin, found->second.bytes, /*writes=*/true, step);
    m.steps.FreeMemory(begin, found->second.bytes, step);
    found->second.pool->used -= found->second.bytes;
    Quarantine(Memory(p), found->second.bytes);
    m.memory.erase(found);
  };
  return Push("cuMemFreeAsync", stream, free, /*gives_back=*/true);
}
CuResult cuMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const int device = CurrentDevice(m, "cuMemGetInfo");
  if (device < 0) return kInvalidContext;
  *total_bytes = kMemoryBytes;
  *free_bytes = kMemoryBytes - ReservedOn(m, device);
  return kCuSuccess;
}

// Of memory that is not the driver's, all are 0.
CuResult cuPointerGetAttributes(unsigned n, int* which, void** values, CuPointer p) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (CurrentDevice(m, "cuPointerGetAttributes") < 0) return kInvalidContext;
  auto after = m.memory.upper_bound(static_cast<uintptr_t>(p));
  const bool is_ours = after != m.memory.begin() && m.Holds(p, 1);
  const Allocation none{0, 0, nullptr, nullptr};
  const Allocation& a = is_ours ? std::prev(after)->second : none;
  const auto write = [&](unsigned i, auto value) { std::memcpy(values[i], &value, sizeof value); };
  for (unsigned i = 0; i < n; ++i) {
    if (which[i] == kCuPointerMemoryType) write(i, is_ours ? unsigned{kCuMemoryDevice} : 0u);
    if (which[i] == kCuPointerOrdinal) write(i, a.device);
    if (which[i] == kCuPointerIsManaged) write(i, false);
    if (which[i] == kCuPointerRangeStart) write(i, is_ours ? CuPointer{std::prev(after)->first} : CuPointer{0});
    if (which[i] == kCuPointerRangeSize) write(i, size_t{a.bytes});
    const bool is_pooled = a.pool != nullptr && a.context == nullptr;
    if (which[i] == kCuPointerPool) write(i, is_pooled ? Handle<CuMemPool>(a.pool) : nullptr);
    if (which[i] == kCuPointerContext) write(i, a.context == nullptr ? nullptr : Handle<CuContext>(a.context));
  }
  return kCuSuccess;
}

}  // namespace ricci::cuda::standin

extern "C" void ricci_standin_allocated_in(ricci::cuda::CuPointer p, int is_primary) {
  using namespace ricci::cuda::standin;
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  Allocation& a = m.memory.at(static_cast<uintptr_t>(p));
  a.context = is_primary != 0 ? m.primary[a.device] : &m.all_contexts.emplace_back(Context{a.device});
}
