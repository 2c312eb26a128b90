// Memory of libcuda: pinned memory, copies and memsets.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "standin.h"

namespace ricci::cuda::standin {

void Quarantine(void* p, uint64_t bytes) {
  constexpr uint64_t kMostBytes = 16 << 20;
  static auto& waiting = *new std::deque<std::pair<void*, uint64_t>>;
  static uint64_t total = 0;
  waiting.push_back({p, bytes});
  for (total += bytes; total > kMostBytes; waiting.pop_front()) {
    total -= waiting.front().second;
    Machine::Get().steps.ForgetFreed(reinterpret_cast<uintptr_t>(waiting.front().first));
    std::free(waiting.front().first);
  }
}

namespace {

// A place of the device must be allocated; null is none. With the mutex held.
bool CheckMemory(Machine& m, const std::string& what, CuPointer p, size_t bytes) {
  if (p == 0 || m.Holds(p, bytes)) return true;
  m.Complain(what + ": " + m.NoSuchMemory(p));
  return false;
}
void CheckMemory(const char* call, CuPointer p, size_t bytes) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  CheckMemory(m, call, p, bytes);
}

// Whose memory it is; null: unowned, or the host's.
const Context* ContextAt(CuPointer p) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const Allocation* const piece = p == 0 ? nullptr : m.PieceAt(p);
  return piece == nullptr ? nullptr : piece->context;
}

CuResult CopyOf(const char* call, void* dst, const void* src, size_t bytes, CuPointer device_dst, CuPointer device_src,
                CuStream stream) {
  const void* const host = device_dst == 0 ? dst : device_src == 0 ? src : nullptr;
  return Push(call, stream, MakeCopy(call, dst, src, bytes, device_dst, device_src), /*gives_back=*/false, /*name=*/"",
              {nullptr, bytes, host, {ContextAt(device_dst), ContextAt(device_src)}});
}

}  // namespace

// What is wrong when it is called is not done. A copy between devices may copy unwritten bytes, which stay unwritten;
// one to the host may not.
Work MakeCopy(const char* call, void* dst, const void* src, size_t bytes, CuPointer device_dst, CuPointer device_src) {
  CheckMemory(call, device_dst, bytes);
  CheckMemory(call, device_src, bytes);
  return [=](const StepRef& step) {
    Machine& m = Machine::Get();
    {
      const std::lock_guard lock(m.mutex);
      if (!CheckMemory(m, step->Text(), device_dst, bytes) || !CheckMemory(m, step->Text(), device_src, bytes)) return;
      m.Touch(reinterpret_cast<uintptr_t>(src), bytes, /*writes=*/false, step);
      m.Touch(reinterpret_cast<uintptr_t>(dst), bytes, /*writes=*/true, step);
      if (bytes != 0 && device_src != 0 && device_dst == 0) {
        m.CheckWritten(static_cast<uintptr_t>(device_src), bytes, step);
      }
      if (bytes != 0 && device_dst != 0) {
        m.CopyWritten(static_cast<uintptr_t>(device_dst), reinterpret_cast<uintptr_t>(src), bytes);
      }
    }
    std::memmove(dst, src, bytes);
  };
}

Work MakeMemset(const char* call, CuPointer dst, unsigned value, size_t count) {
  CheckMemory(call, dst, count * sizeof(unsigned));
  return [=](const StepRef& step) {
    Machine& m = Machine::Get();
    {
      const std::lock_guard lock(m.mutex);
      if (!CheckMemory(m, step->Text(), dst, count * sizeof(unsigned))) return;
      m.Touch(static_cast<uintptr_t>(dst), count * sizeof(unsigned), /*writes=*/true, step);
      m.Write(static_cast<uintptr_t>(dst), count * sizeof(unsigned));
    }
    std::fill_n(static_cast<unsigned*>(Memory(dst)), count, value);
  };
}

CuResult cuMemHostAlloc(void** out, size_t bytes, unsigned) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const int device = CurrentDevice(m, "cuMemHostAlloc");
  if (device < 0) return kInvalidContext;
  if (posix_memalign(out, 4096, bytes + kGapBytes) != 0) return kCuOutOfMemory;  // whole pages
  std::memset(*out, 0, bytes);
  const auto begin = reinterpret_cast<uintptr_t>(*out);
  m.pinned[begin] = bytes;
  m.pinned_by[begin] = device;
  m.steps.NewMemory(begin, bytes, m.steps.HostStep("cuMemHostAlloc"));
  return kCuSuccess;
}
CuResult cuMemFreeHost(void* p) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const auto found = m.pinned.find(reinterpret_cast<uintptr_t>(p));
  if (found == m.pinned.end()) return m.Complain("cuMemFreeHost: no such memory"), kInvalidValue;
  const StepRef step = m.steps.HostStep("cuMemFreeHost");
  m.Touch(found->first, found->second, /*writes=*/true, step);
  m.steps.FreeMemory(found->first, found->second, step);
  Quarantine(p, found->second);
  m.pinned_by.erase(found->first);
  m.pinned.erase(found);
  return kCuSuccess;
}
CuResult cuMemcpyHtoDAsync(CuPointer dst, const void* src, size_t bytes, CuStream stream) {
  return CopyOf("cuMemcpyHtoDAsync", Memory(dst), src, bytes, dst, 0, stream);
}
CuResult cuMemcpyDtoHAsync(void* dst, CuPointer src, size_t bytes, CuStream stream) {
  return CopyOf("cuMemcpyDtoHAsync", dst, Memory(src), bytes, 0, src, stream);
}
CuResult cuMemcpyDtoDAsync(CuPointer dst, CuPointer src, size_t bytes, CuStream stream) {
  return CopyOf("cuMemcpyDtoDAsync", Memory(dst), Memory(src), bytes, dst, src, stream);
}
CuResult cuMemcpyPeerAsync(CuPointer dst, CuContext, CuPointer src, CuContext, size_t bytes, CuStream stream) {
  return CopyOf("cuMemcpyPeerAsync", Memory(dst), Memory(src), bytes, dst, src, stream);
}
CuResult cuMemsetD32Async(CuPointer dst, unsigned value, size_t count, CuStream stream) {
  return Push("cuMemsetD32Async", stream, MakeMemset("cuMemsetD32Async", dst, value, count), /*gives_back=*/false,
              /*name=*/"", {nullptr, count * sizeof value});
}

}  // namespace ricci::cuda::standin
