// What a host may do to the driver beside the plugin: destroy contexts, fork, and capture streams (standin_capture.cc).
//
// The rules are those of the driver: a context that was destroyed says so in the next call that uses it, and none may
// use it after that; a forked process may call nothing.
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "standin_graph.h"

namespace ricci::cuda::standin {
namespace {

bool StartsWithOne(std::string_view call, std::initializer_list<std::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view s) { return call.substr(0, s.size()) == s; });
}

}  // namespace

CuResult HostRules(Machine& m, const char* call) {
  if (StartsWithOne(call, {"cuGetError"})) return kCuSuccess;
  if (getpid() != m.process) return m.Complain(std::string(call) + " in a forked process"), kNotInitialized;
  Context* const current = CurrentContext();
  const bool uses_context = !StartsWithOne(call, {"cuInit", "cuDevice", "cuDriver", "cuCtx", "cuThread"});
  if (uses_context && current != nullptr && current->is_destroyed) {
    if (current->is_told) m.Complain(std::string(call) + " in a context that is known to be destroyed");
    current->is_told = true;
    return kCuContextIsDestroyed;
  }
  return MightWaitForCapture(m, call);
}

CuResult cuStreamGetCtx(CuStream handle, CuContext* context) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  const Stream* const s = m.Find(handle);
  if (s == nullptr || s->is_destroyed) return kCuInvalidHandle;
  *context = Handle<CuContext>(s->context);
  return kCuSuccess;
}

}  // namespace ricci::cuda::standin

extern "C" void ricci_standin_new_process() {
  using ricci::cuda::standin::Machine;
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  m.process = getpid();
}

namespace ricci::cuda::standin { namespace {

// What a driver keeps of the device is gone, and counts no more. With the mutex held.
void ResetDevice(Machine& m, int device) {
  if (m.primary[device] != nullptr) m.primary[device]->is_destroyed = true;
  m.primary[device] = nullptr;
  m.contexts -= std::exchange(m.retained[device], 0);
  std::erase_if(m.memory, [&](const auto& piece) {
    const bool goes = piece.second.device == device;
    if (goes) Quarantine(reinterpret_cast<void*>(piece.first), piece.second.bytes);
    return goes;
  });
  std::erase_if(m.all_events, [&](const Event* e) { return e->device == device && (delete e, true); });
  for (Pool& p : m.all_pools) {
    if (p.device == device) m.pools -= std::exchange(p.is_destroyed, true) ? 0 : 1;
  }
  std::erase_if(m.default_streams, [&](const auto& of) { return of.second->device == device; });
  for (Stream& s : m.all_streams) {
    if (s.device != device) continue;
    m.streams -= !std::exchange(s.is_destroyed, true) && s.is_counted ? 1 : 0;
    s.queue.clear();
    s.done = s.pushed;
    s.capture = nullptr;
  }
  for (const auto& module : m.all_modules) {
    if (module->device == device) m.modules -= std::exchange(module->is_unloaded, true) ? 0 : 1;
  }
  std::erase_if(m.pinned, [&](const auto& piece) {
    const bool goes = m.pinned_by[piece.first] == device;
    if (goes) Quarantine(reinterpret_cast<void*>(piece.first), piece.second);
    return goes;
  });
  std::erase_if(m.captures, [&](const auto& c) { return c->origin->device == device; });
  ForgetGraphs(m, device);
}

void Reset(std::initializer_list<int> devices) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  for (const int device : devices) ResetDevice(m, device);
  if (devices.size() == kDevices) m.steps.ForgetSteps();
}

}  // namespace
}  // namespace ricci::cuda::standin

extern "C" void ricci_standin_reset() { ricci::cuda::standin::Reset({0, 1}); }
extern "C" void ricci_standin_reset_device(int device) { ricci::cuda::standin::Reset({device}); }
