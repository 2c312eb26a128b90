// The functions of libcuda, by the signatures of plugins/cuda/driver.h.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "standin.h"

namespace ricci::cuda::standin {
namespace {

struct Context {
  int device;
};
Context kContexts[kDevices] = {{0}, {1}};
thread_local std::vector<Context*> current;

void* Memory(CuPointer p) { return reinterpret_cast<void*>(static_cast<uintptr_t>(p)); }

}  // namespace

int CurrentDevice(Machine& m, const char* call) {
  if (!current.empty()) return current.back()->device;
  m.Complain(std::string(call) + " without a context");
  return -1;
}

CuResult Push(const char* call, CuStream stream, std::function<void()> operation, bool gives_back) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!gives_back && CurrentDevice(m, call) < 0) return kInvalidContext;
  if (stream == nullptr) return kInvalidHandle;
  m.Push(As<Stream>(stream), std::move(operation), gives_back);
  return kCuSuccess;
}

namespace {

void CheckMemory(const char* call, CuPointer p, size_t bytes) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (p != 0 && !m.Holds(p, bytes)) m.Complain(std::string(call) + ": no such memory");
}

CuResult CopyOf(const char* call, void* dst, const void* src, size_t bytes, CuPointer device_dst, CuPointer device_src,
                CuStream stream) {
  return Push(call, stream, MakeCopy(call, dst, src, bytes, device_dst, device_src));
}

}  // namespace

std::function<void()> MakeCopy(const char* call, void* dst, const void* src, size_t bytes, CuPointer device_dst,
                               CuPointer device_src) {
  const auto check = [=] {
    CheckMemory(call, device_dst, bytes);
    CheckMemory(call, device_src, bytes);
  };
  check();
  return [=] {
    check();
    std::memmove(dst, src, bytes);
  };
}

std::function<void()> MakeMemset(const char* call, CuPointer dst, unsigned value, size_t count) {
  const auto check = [=] { CheckMemory(call, dst, count * sizeof(unsigned)); };
  check();
  return [=] {
    check();
    std::fill_n(static_cast<unsigned*>(Memory(dst)), count, value);
  };
}

CuResult cuInit(unsigned) { return kCuSuccess; }
CuResult cuDeviceGetCount(int* count) { return *count = kDevices, kCuSuccess; }
CuResult cuDeviceGet(CuDevice* device, int ordinal) { return *device = ordinal, kCuSuccess; }
CuResult cuDeviceGetName(char* name, int size, CuDevice) {
  std::strncpy(name, "simulated GPU", static_cast<size_t>(size));
  return kCuSuccess;
}
CuResult cuDeviceGetAttribute(int* value, int attribute, CuDevice) {
  *value = attribute == kCuAttributeMajor ? 9 : attribute == kCuAttributeMinor ? 0 : 4;
  return kCuSuccess;
}
CuResult cuDevicePrimaryCtxRetain(CuContext* context, CuDevice device) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  ++m.contexts;
  *context = Handle<CuContext>(&kContexts[device]);
  return kCuSuccess;
}
CuResult cuDevicePrimaryCtxRelease(CuDevice) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  --m.contexts;
  return kCuSuccess;
}
CuResult cuCtxPushCurrent(CuContext context) { return current.push_back(&As<Context>(context)), kCuSuccess; }
CuResult cuCtxPopCurrent(CuContext* context) {
  if (current.empty()) return kInvalidContext;
  *context = Handle<CuContext>(current.back());
  current.pop_back();
  return kCuSuccess;
}

CuResult cuMemAllocAsync(CuPointer* out, size_t bytes, CuStream stream) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const int device = CurrentDevice(m, "cuMemAllocAsync");
  if (device < 0 || stream == nullptr) return kInvalidContext;
  if (bytes > kMemoryBytes - m.used[device]) return kCuOutOfMemory;
  void* p = nullptr;
  if (posix_memalign(&p, 256, bytes) != 0) return kCuOutOfMemory;
  std::memset(p, 0xa5, bytes);
  m.used[device] += bytes;
  m.memory[reinterpret_cast<uintptr_t>(p)] = {bytes, device};
  *out = static_cast<CuPointer>(reinterpret_cast<uintptr_t>(p));
  return kCuSuccess;
}
CuResult cuMemFreeAsync(CuPointer p, CuStream stream) {
  const auto free = [p] {
    Machine& m = Machine::Get();
    const std::lock_guard lock(m.mutex);
    const auto found = m.memory.find(static_cast<uintptr_t>(p));
    if (found == m.memory.end()) return m.Complain("cuMemFreeAsync: no such memory");
    m.used[found->second.device] -= found->second.bytes;
    m.memory.erase(found);
    std::free(Memory(p));
  };
  return Push("cuMemFreeAsync", stream, free, /*gives_back=*/true);
}
CuResult cuMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const int device = CurrentDevice(m, "cuMemGetInfo");
  if (device < 0) return kInvalidContext;
  *total_bytes = kMemoryBytes;
  *free_bytes = kMemoryBytes - m.used[device];
  return kCuSuccess;
}
CuResult cuMemHostAlloc(void** out, size_t bytes, unsigned) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (CurrentDevice(m, "cuMemHostAlloc") < 0) return kInvalidContext;
  ++m.pinned;
  *out = std::calloc(1, bytes);
  return kCuSuccess;
}
CuResult cuMemFreeHost(void* p) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  --m.pinned;
  std::free(p);
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
  return Push("cuMemsetD32Async", stream, MakeMemset("cuMemsetD32Async", dst, value, count));
}

CuResult cuStreamCreate(CuStream* out, unsigned) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const int device = CurrentDevice(m, "cuStreamCreate");
  if (device < 0) return kInvalidContext;
  m.all_streams.emplace_back().device = device;
  ++m.streams;
  *out = Handle<CuStream>(&m.all_streams.back());
  return kCuSuccess;
}
CuResult cuStreamSynchronize(CuStream stream) {
  Machine& m = Machine::Get();
  std::unique_lock lock(m.mutex);
  Stream& s = As<Stream>(stream);
  m.Drain(lock, s, s.pushed);
  return kCuSuccess;
}
CuResult cuStreamDestroy(CuStream stream) {
  cuStreamSynchronize(stream);
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  --m.streams;
  return kCuSuccess;
}
CuResult cuStreamWaitEvent(CuStream stream, CuEvent event, unsigned) {
  const Event e = As<Event>(event);
  if (e.stream == nullptr) return kCuSuccess;  // never recorded
  return Push("cuStreamWaitEvent", stream, [e] {
    Machine& m = Machine::Get();
    std::unique_lock lock(m.mutex);
    m.Drain(lock, *e.stream, e.at);
  });
}
CuResult cuEventCreate(CuEvent* out, unsigned) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (CurrentDevice(m, "cuEventCreate") < 0) return kInvalidContext;
  ++m.events;
  *out = Handle<CuEvent>(new Event);
  return kCuSuccess;
}
CuResult cuEventRecord(CuEvent event, CuStream stream) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  As<Event>(event) = {&As<Stream>(stream), As<Stream>(stream).pushed};
  return kCuSuccess;
}
CuResult cuEventQuery(CuEvent event) {
  Machine& m = Machine::Get();
  std::unique_lock lock(m.mutex);
  const Event e = As<Event>(event);
  if (e.stream == nullptr || e.stream->done >= e.at) return kCuSuccess;
  if (!e.stream->running) m.Drain(lock, *e.stream, e.stream->done + 1);  // time passes
  return e.stream->done >= e.at ? CuResult{kCuSuccess} : CuResult{kCuNotReady};
}
CuResult cuEventSynchronize(CuEvent event) {
  Machine& m = Machine::Get();
  std::unique_lock lock(m.mutex);
  const Event e = As<Event>(event);
  if (e.stream != nullptr) m.Drain(lock, *e.stream, e.at);
  return kCuSuccess;
}
CuResult cuEventDestroy(CuEvent event) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  --m.events;
  delete &As<Event>(event);
  return kCuSuccess;
}
CuResult cuEventElapsedTime(float* milliseconds, CuEvent, CuEvent) { return *milliseconds = 1e-3f, kCuSuccess; }

CuResult cuModuleLoadData(CuModule* out, const void* image) {
  Machine& m = Machine::Get();
  {
    const std::lock_guard lock(m.mutex);
    if (CurrentDevice(m, "cuModuleLoadData") < 0) return kInvalidContext;
    ++m.modules;
  }
  auto* const module = new Module;
  *out = Handle<CuModule>(module);
  return LoadModule(image, *module);
}
CuResult cuModuleUnload(CuModule module) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  --m.modules;
  delete &As<Module>(module);  // its code stays: it has variables of threads, which a sanitizer reads at the end
  return kCuSuccess;
}
CuResult cuModuleGetFunction(CuFunction* out, CuModule module, const char* name) {
  const Kernel kernel = FindKernel(As<Module>(module), name);
  std::memcpy(out, &kernel, sizeof kernel);
  return kernel == nullptr ? CuResult{500} : CuResult{kCuSuccess};  // not found
}

CuResult cuLaunchHostFunc(CuStream stream, CuHostFunction f, void* argument) {
  return Push("cuLaunchHostFunc", stream, [f, argument] { f(argument); });
}
CuResult cuGetErrorName(CuResult error, const char** name) {
  switch (error) {
    case kCuOutOfMemory:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      break;
    case 719:
      *name = "CUDA_ERROR_LAUNCH_FAILED";
      break;
    case 999:
      *name = "CUDA_ERROR_UNKNOWN";
      break;
    default:
      *name = "CUDA_ERROR_SIMULATED";
  }
  return kCuSuccess;
}
CuResult cuGetErrorString(CuResult, const char** text) {
  return *text = "an error of the simulated driver", kCuSuccess;
}

}  // namespace ricci::cuda::standin
