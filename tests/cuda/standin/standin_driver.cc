// The functions of libcuda, by the signatures of plugins/cuda/driver.h.
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "fibers.h"

namespace ricci::cuda::standin { namespace {

constexpr CuResult kInvalidValue = 1, kInvalidHandle = 400, kInvalidContext = 201;

struct Context {
  int device;
};
Context kContexts[kDevices] = {{0}, {1}};
thread_local std::vector<Context*> current;

template <typename T, typename H>
T& As(H handle) {
  return *reinterpret_cast<T*>(handle);
}
template <typename H, typename T>
H Handle(T* p) {
  return reinterpret_cast<H>(p);
}
void* Memory(CuPointer p) { return reinterpret_cast<void*>(static_cast<uintptr_t>(p)); }

// The device of the current context, or -1 with a complaint.
int CurrentDevice(Machine& m, const char* call) {
  if (!current.empty()) return current.back()->device;
  m.Complain(std::string(call) + " without a context");
  return -1;
}

// An operation of a stream; refused if no context is current.
CuResult Push(const char* call, CuStream stream, std::function<void()> operation) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (CurrentDevice(m, call) < 0) return kInvalidContext;
  if (stream == nullptr) return kInvalidHandle;
  m.Push(As<Stream>(stream), std::move(operation));
  return kCuSuccess;
}

// A copy between these places; those on a device must be allocated when it is enqueued and when it runs.
CuResult CopyOf(const char* call, void* dst, const void* src, size_t bytes, CuPointer device_dst, CuPointer device_src,
                CuStream stream) {
  Machine& m = Machine::Get();
  const auto check = [&m, call, device_dst, device_src, bytes] {
    for (const CuPointer p : {device_dst, device_src}) {
      if (p != 0 && !m.Holds(p, bytes)) m.Complain(std::string(call) + ": no such memory");
    }
  };
  {
    const std::lock_guard lock(m.mutex);
    check();
  }
  return Push(call, stream, [&m, check, dst, src, bytes] {
    {
      const std::lock_guard lock(m.mutex);
      check();
    }
    std::memmove(dst, src, bytes);
  });
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
  return Push("cuMemFreeAsync", stream, [p] {
    Machine& m = Machine::Get();
    const std::lock_guard lock(m.mutex);
    const auto found = m.memory.find(static_cast<uintptr_t>(p));
    if (found == m.memory.end()) return m.Complain("cuMemFreeAsync: no such memory");
    m.used[found->second.device] -= found->second.bytes;
    m.memory.erase(found);
    std::free(Memory(p));
  });
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
  return Push("cuMemsetD32Async", stream, [dst, value, count] {
    auto* const words = static_cast<unsigned*>(Memory(dst));
    for (size_t i = 0; i < count; ++i) words[i] = value;
  });
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
// The place of number `i` of these sizes, counted along x first.
void PlaceAt(uint64_t i, const unsigned (&sizes)[3], unsigned (&out)[3]) {
  for (int d = 0; d < 3; ++d) {
    out[d] = static_cast<unsigned>(i % sizes[d]);
    i /= sizes[d];
  }
}

void RunGrid(Kernel kernel, bool meets, std::vector<CuPointer>& values, Place place, uint64_t blocks,
             uint64_t threads) {
  std::vector<void*> arguments;
  for (CuPointer& v : values) arguments.push_back(&v);
  const uint64_t seed = Machine::Get().seed;
  const auto turn = [seed](uint64_t i, uint64_t n) { return seed % 2 == 0 ? n - 1 - i : i; };
  for (uint64_t b = 0; b < blocks; ++b) {
    PlaceAt(turn(b, blocks), place.blocks, place.block);
    if (meets) {
      RunBlock(kernel, arguments.data(), place, seed);
      continue;
    }
    for (uint64_t t = 0; t < threads; ++t) {
      PlaceAt(turn(t, threads), place.threads, place.thread);
      kernel(arguments.data(), &place);
    }
  }
}

// Arguments are eight bytes at most, and kept as they are now.
CuResult cuLaunchKernel(CuFunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned, CuStream stream, void** arguments, void**) {
  Place place{};
  const unsigned sizes[] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};
  for (int d = 0; d < 3; ++d) place.blocks[d] = sizes[d], place.threads[d] = sizes[3 + d];
  const uint64_t blocks = uint64_t{grid_x} * grid_y * grid_z, threads = uint64_t{block_x} * block_y * block_z;
  if (blocks == 0 || threads == 0 || threads > 1024) return kInvalidValue;
  Kernel kernel;
  std::memcpy(&kernel, &f, sizeof kernel);
  std::vector<CuPointer> values;
  const uint64_t about = kernel(nullptr, nullptr);
  for (uint64_t i = 0; i < (about & (kMeets - 1)); ++i) values.push_back(*static_cast<CuPointer*>(arguments[i]));
  return Push("cuLaunchKernel", stream,
              [=]() mutable { RunGrid(kernel, (about & kMeets) != 0, values, place, blocks, threads); });
}
CuResult cuLaunchHostFunc(CuStream stream, CuHostFunction f, void* argument) {
  return Push("cuLaunchHostFunc", stream, [f, argument] { f(argument); });
}
CuResult cuGetErrorName(CuResult error, const char** name) {
  *name = error == kCuOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_SIMULATED";
  return kCuSuccess;
}
CuResult cuGetErrorString(CuResult, const char** text) {
  return *text = "an error of the simulated driver", kCuSuccess;
}

}  // namespace
}  // namespace ricci::cuda::standin

extern "C" int cuGetProcAddress_v2(const char* name, void** out, int, uint64_t, int*) {
  using namespace ricci::cuda::standin;
  using ricci::cuda::CuContext, ricci::cuda::CuDevice, ricci::cuda::CuEvent, ricci::cuda::CuFunction,
      ricci::cuda::CuHostFunction, ricci::cuda::CuModule, ricci::cuda::CuPointer, ricci::cuda::CuResult,
      ricci::cuda::CuStream;
#define RICCI_X(function, arguments)         \
  if (std::string_view(name) == #function) { \
    CuResult(*const f) arguments = function; \
    std::memcpy(out, &f, sizeof f);          \
    return 0;                                \
  }
  RICCI_CUDA_FUNCTIONS(RICCI_X)
#undef RICCI_X
  return 500;
}
