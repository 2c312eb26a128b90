// Devices, contexts and modules of libcuda, by the signatures of plugins/cuda/driver/driver.h.
#include <cstring>
#include <string_view>
#include <vector>

#include "kernel_library.h"
#include "standin_cupti.h"
#include "standin_graph.h"

namespace ricci::cuda::standin {
namespace {

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

// What becomes a node of a graph that is captured. Allocations, functions of the host and launches of graphs could too,
// but a replay of the graph could not do without what they stand for here, so they are mistakes.
bool MayBeCaptured(std::string_view call) {
  for (const char* const one :
       {"cuLaunchKernel", "cuMemcpyDtoDAsync", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemsetD32Async"}) {
    if (call == one) return true;
  }
  return false;
}

}  // namespace

int PushedContexts() { return static_cast<int>(pushed.contexts.size()); }
Context* CurrentContext() { return pushed.contexts.empty() ? nullptr : pushed.contexts.back(); }

int CurrentDevice(Machine& m, const char* call) {
  if (!pushed.contexts.empty()) return pushed.contexts.back()->device;
  m.Complain(std::string(call) + " without a context");
  return -1;
}

CuResult Push(const char* call, CuStream stream, Work work, bool gives_back, const std::string& name,
              const AsNode& node) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (!gives_back && CurrentDevice(m, call) < 0) return kInvalidContext;
  if (stream == nullptr) return kInvalidHandle;
  Stream* const s = m.Find(stream);
  if (s == nullptr || s->is_destroyed) return m.Complain(std::string(call) + ": no such stream"), kInvalidHandle;
  if (s->capture != nullptr) {
    if (!MayBeCaptured(call)) {
      return m.Complain(std::string(call) + " into a stream that the host captures"), kCaptureUnsupported;
    }
    NodeWork captured{name.empty() ? call : name, std::move(work), node.function, node.bytes, node.host};
    captured.contexts = node.contexts;
    return AddCaptured(m, call, *s, std::move(captured));
  }
  const std::string step = name.empty() ? call : name;
  m.Push(*s, step, Recorded(call, step, std::move(work)), gives_back);
  return kCuSuccess;
}

CuResult cuInit(unsigned) { return kCuSuccess; }
CuResult cuDriverGetVersion(int* version) { return *version = Machine::Get().driver_version, kCuSuccess; }
CuResult cuDeviceGetCount(int* count) { return *count = kDevices, kCuSuccess; }
CuResult cuDeviceGet(CuDevice* device, int ordinal) { return *device = ordinal, kCuSuccess; }
CuResult cuDeviceGetName(char* name, int size, CuDevice) {
  std::strncpy(name, "simulated GPU", static_cast<size_t>(size));
  return kCuSuccess;
}
CuResult cuDeviceGetAttribute(int* value, int attribute, CuDevice) {
  const int capability = Machine::Get().capability;
  switch (attribute) {
    case kCuAttributeMajor:
      return *value = capability / 10, kCuSuccess;
    case kCuAttributeMinor:
      return *value = capability % 10, kCuSuccess;
    case kCuAttributeMostShared:
      return *value = static_cast<int>(Machine::Get().MostSharedBytes()), kCuSuccess;
    case kCuAttributeProcessors:
      return *value = kProcessors, kCuSuccess;
    default:
      return kInvalidValue;
  }
}
CuResult cuDeviceCanAccessPeer(int* can, CuDevice, CuDevice) { return *can = 1, kCuSuccess; }
CuResult cuDevicePrimaryCtxRetain(CuContext* context, CuDevice device) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  ++m.contexts;
  ++m.retained[device];
  if (m.primary[device] == nullptr) m.primary[device] = &m.all_contexts.emplace_back(Context{device});
  *context = Handle<CuContext>(m.primary[device]);
  return kCuSuccess;
}
CuResult cuDevicePrimaryCtxRelease(CuDevice device) {
  Machine& m = Machine::Get();
  std::unique_lock lock(m.mutex);
  if (m.retained[device] == 0) return kInvalidContext;  // it was reset
  --m.retained[device];
  if (--m.contexts != 0) return kCuSuccess;
  for (const auto& [of, stream] : m.default_streams) m.Drain(lock, *stream, stream->pushed);
  m.default_streams.clear();
  if (m.streams != 0) return kCuSuccess;
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

CuResult cuModuleLoadData(CuModule* out, const void* image) {
  Machine& m = Machine::Get();
  auto module = std::make_shared<Module>();
  {
    const std::lock_guard lock(m.mutex);
    if ((module->device = CurrentDevice(m, "cuModuleLoadData")) < 0) return kInvalidContext;
  }
  if (const CuResult failed = LoadModule(image, m.driver_version, *module)) return failed;
  *out = Handle<CuModule>(module.get());
  const std::lock_guard lock(m.mutex);
  m.all_modules.push_back(std::move(module));
  ++m.modules;
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

CuResult cuGetErrorName(CuResult error, const char** name) {
  switch (error) {
    case kCuOutOfMemory:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      break;
    case 719:
      *name = "CUDA_ERROR_LAUNCH_FAILED";
      break;
    case kCaptureUnsupported:
      *name = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED";
      break;
    case kCaptureInvalidated:
      *name = "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED";
      break;
    case kCaptureUnjoined:
      *name = "CUDA_ERROR_STREAM_CAPTURE_UNJOINED";
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

extern "C" int ricci_standin_pushed() { return ricci::cuda::standin::PushedContexts(); }
