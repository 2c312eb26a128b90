// The functions of libcuda, by the signatures of plugins/cuda/driver.h.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <vector>

#include "kernel_library.h"

namespace ricci::cuda::standin {
namespace {

struct Context {
  int device;
};
Context kContexts[kDevices] = {{0}, {1}};
// Those of a thread, the current one last.
struct Pushed {
  std::vector<Context*> contexts;
  ~Pushed() {
    if (contexts.empty()) return;
    Machine& m = Machine::Get();
    const std::lock_guard lock(m.mutex);
    m.Complain("a thread has ended with a context pushed");
  }
};
thread_local Pushed pushed;

void* Memory(CuPointer p) { return reinterpret_cast<void*>(static_cast<uintptr_t>(p)); }

// After each piece of memory, so that an index beyond it is in no other.
constexpr uint64_t kGapBytes = 256;

// Memory is given back late, so that what still uses it finds no other piece there. With the mutex held.
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

}  // namespace

int CurrentDevice(Machine& m, const char* call) {
  if (!pushed.contexts.empty()) return pushed.contexts.back()->device;
  m.Complain(std::string(call) + " without a context");
  return -1;
}

CuResult Push(const char* call, CuStream stream, Work work, bool gives_back, const std::string& name) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!gives_back && CurrentDevice(m, call) < 0) return kInvalidContext;
  if (stream == nullptr) return kInvalidHandle;
  if (As<Stream>(stream).is_destroyed) return m.Complain(std::string(call) + ": no such stream"), kInvalidHandle;
  m.Push(As<Stream>(stream), name.empty() ? call : name, std::move(work), gives_back);
  return kCuSuccess;
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

CuResult CopyOf(const char* call, void* dst, const void* src, size_t bytes, CuPointer device_dst, CuPointer device_src,
                CuStream stream) {
  return Push(call, stream, MakeCopy(call, dst, src, bytes, device_dst, device_src));
}

bool IsLive(Machine& m, const char* call, CuEvent event) {
  if (m.all_events.count(&As<Event>(event)) != 0) return true;
  m.Complain(std::string(call) + ": no such event");
  return false;
}
bool IsLive(Machine& m, const char* call, CuStream stream) {
  if (stream != nullptr && !As<Stream>(stream).is_destroyed) return true;
  m.Complain(std::string(call) + ": no such stream");
  return false;
}

}  // namespace

// What is wrong when it is called is not done.
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
    }
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
  if (--m.contexts != 0 || m.streams != 0) return kCuSuccess;
  m.steps.ForgetSteps();
  m.numbers = 0;
  m.free_numbers.clear();
  return kCuSuccess;
}
CuResult cuCtxPushCurrent(CuContext context) { return pushed.contexts.push_back(&As<Context>(context)), kCuSuccess; }
CuResult cuCtxPopCurrent(CuContext* context) {
  if (pushed.contexts.empty()) {
    Machine& m = Machine::Get();
    const std::lock_guard lock(m.mutex);
    m.Complain("cuCtxPopCurrent without a context");
    return kInvalidContext;
  }
  *context = Handle<CuContext>(pushed.contexts.back());
  pushed.contexts.pop_back();
  return kCuSuccess;
}

CuResult cuMemAllocAsync(CuPointer* out, size_t bytes, CuStream stream) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const int device = CurrentDevice(m, "cuMemAllocAsync");
  if (device < 0 || !IsLive(m, "cuMemAllocAsync", stream)) return kInvalidContext;
  if (bytes > kMemoryBytes - m.used[device]) return kCuOutOfMemory;
  void* p = nullptr;
  if (posix_memalign(&p, 256, bytes + kGapBytes) != 0) return kCuOutOfMemory;
  std::memset(p, 0xa5, bytes);
  m.used[device] += bytes;
  const auto begin = reinterpret_cast<uintptr_t>(p);
  m.memory[begin] = {bytes, device};
  m.steps.NewMemory(begin, bytes, m.NewStep(As<Stream>(stream), "cuMemAllocAsync"));
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
    m.used[found->second.device] -= found->second.bytes;
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
  *free_bytes = kMemoryBytes - m.used[device];
  return kCuSuccess;
}
CuResult cuMemHostAlloc(void** out, size_t bytes, unsigned) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (CurrentDevice(m, "cuMemHostAlloc") < 0) return kInvalidContext;
  *out = std::calloc(1, bytes + kGapBytes);
  const auto begin = reinterpret_cast<uintptr_t>(*out);
  m.pinned[begin] = bytes;
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
  return Push("cuMemsetD32Async", stream, MakeMemset("cuMemsetD32Async", dst, value, count));
}

// A new stream has the number of one that was destroyed, so that clocks stay small.
CuResult cuStreamCreate(CuStream* out, unsigned) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const int device = CurrentDevice(m, "cuStreamCreate");
  if (device < 0) return kInvalidContext;
  Stream& s = m.all_streams.emplace_back();
  s.device = device;
  if (m.free_numbers.empty()) {
    s.number = ++m.numbers;
  } else {
    std::tie(s.number, s.steps) = m.free_numbers.back();
    m.free_numbers.pop_back();
  }
  ++m.streams;
  *out = Handle<CuStream>(&s);
  return kCuSuccess;
}
CuResult cuStreamSynchronize(CuStream stream) {
  Machine& m = Machine::Get();
  std::unique_lock lock(m.mutex);
  if (!IsLive(m, "cuStreamSynchronize", stream)) return kInvalidHandle;
  Stream& s = As<Stream>(stream);
  const Clock done = s.clock;
  m.Drain(lock, s, s.pushed);
  m.steps.HostKnows(done);
  return kCuSuccess;
}
// Its work goes on, and the host does not know when it is done.
CuResult cuStreamDestroy(CuStream stream) {
  Machine& m = Machine::Get();
  std::unique_lock lock(m.mutex);
  if (!IsLive(m, "cuStreamDestroy", stream)) return kInvalidHandle;
  Stream& s = As<Stream>(stream);
  s.is_destroyed = true;
  m.Drain(lock, s, s.pushed);
  s.clock.clear();
  if (!m.steps.HasOpen(s.number)) m.free_numbers.push_back({s.number, s.steps});
  --m.streams;
  return kCuSuccess;
}
CuResult cuStreamWaitEvent(CuStream stream, CuEvent event, unsigned) {
  Machine& m = Machine::Get();
  Event e;
  {
    const std::lock_guard lock(m.mutex);
    if (!IsLive(m, "cuStreamWaitEvent", event) || !IsLive(m, "cuStreamWaitEvent", stream)) return kInvalidHandle;
    e = As<Event>(event);
    if (e.stream == nullptr) return kCuSuccess;  // never recorded
    Join(As<Stream>(stream).clock, e.clock);
  }
  return Push("cuStreamWaitEvent", stream, [e](const StepRef&) {
    Machine& machine = Machine::Get();
    std::unique_lock lock(machine.mutex);
    machine.Drain(lock, *e.stream, e.at);
  });
}
CuResult cuEventCreate(CuEvent* out, unsigned) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (CurrentDevice(m, "cuEventCreate") < 0) return kInvalidContext;
  auto* const event = new Event;
  m.all_events.insert(event);
  *out = Handle<CuEvent>(event);
  return kCuSuccess;
}
CuResult cuEventRecord(CuEvent event, CuStream stream) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!IsLive(m, "cuEventRecord", event) || !IsLive(m, "cuEventRecord", stream)) return kInvalidHandle;
  Stream& s = As<Stream>(stream);
  Clock clock = s.clock;
  Join(clock, m.steps.host());
  As<Event>(event) = {&s, s.pushed, std::move(clock)};
  return kCuSuccess;
}
CuResult cuEventQuery(CuEvent event) {
  Machine& m = Machine::Get();
  std::unique_lock lock(m.mutex);
  if (!IsLive(m, "cuEventQuery", event)) return kInvalidHandle;
  const Event e = As<Event>(event);
  const auto is_done = [&] { return e.stream == nullptr || e.stream->done >= e.at; };
  const bool waits = !is_done();
  if (waits && !e.stream->running) m.Drain(lock, *e.stream, e.stream->done + 1);  // time passes
  if (!is_done()) return kCuNotReady;
  m.steps.HostKnows(e.clock);
  return kCuSuccess;
}
CuResult cuEventSynchronize(CuEvent event) {
  Machine& m = Machine::Get();
  std::unique_lock lock(m.mutex);
  if (!IsLive(m, "cuEventSynchronize", event)) return kInvalidHandle;
  const Event e = As<Event>(event);
  if (e.stream != nullptr) m.Drain(lock, *e.stream, e.at);
  m.steps.HostKnows(e.clock);
  return kCuSuccess;
}
CuResult cuEventDestroy(CuEvent event) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!IsLive(m, "cuEventDestroy", event)) return kInvalidHandle;
  m.all_events.erase(&As<Event>(event));
  delete &As<Event>(event);
  return kCuSuccess;
}

CuResult cuModuleLoadData(CuModule* out, const void* image) {
  Machine& m = Machine::Get();
  {
    const std::lock_guard lock(m.mutex);
    if (CurrentDevice(m, "cuModuleLoadData") < 0) return kInvalidContext;
  }
  auto module = std::make_unique<Module>();
  if (const CuResult failed = LoadModule(image, *module)) return failed;
  *out = Handle<CuModule>(module.get());
  const std::lock_guard lock(m.mutex);
  m.all_modules.push_back(std::move(module));
  return kCuSuccess;
}
CuResult cuModuleUnload(CuModule module) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (As<Module>(module).is_unloaded) return m.Complain("cuModuleUnload: no such module"), kInvalidHandle;
  --m.modules;
  As<Module>(module).is_unloaded = true;
  return kCuSuccess;
}
CuResult cuModuleGetFunction(CuFunction* out, CuModule handle, const char* name) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  Module& module = As<Module>(handle);
  if (module.is_unloaded) return m.Complain("cuModuleGetFunction: no such module"), kInvalidHandle;
  std::unique_ptr<Function>& f = module.functions[name];
  if (f == nullptr) {
    auto found = std::make_unique<Function>();
    if (!module.library->Find(name, *found)) return 500;  // not found
    found->module = &module;
    f = std::move(found);
  }
  *out = Handle<CuFunction>(f.get());
  return kCuSuccess;
}

// What it tells others of the host, they know.
CuResult cuLaunchHostFunc(CuStream stream, CuHostFunction f, void* argument) {
  return Push("cuLaunchHostFunc", stream, [f, argument](const StepRef& step) {
    Machine& m = Machine::Get();
    {
      const std::lock_guard lock(m.mutex);
      Clock done = step->before;
      done[step->stream] = step->number;
      m.steps.HostKnows(done);
    }
    f(argument);
  });
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
