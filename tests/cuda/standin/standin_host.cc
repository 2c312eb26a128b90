// What a host may do to the driver beside the plugin: destroy contexts, fork, and capture streams (standin_capture.cc).
//
// The rules are those of the driver: a context that was destroyed says so in the next call that uses it, and none may
// use it after that; a forked process may call nothing.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "standin.h"

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

extern "C" void ricci_standin_reset() {
  using namespace ricci::cuda::standin;
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  for (Context*& c : m.primary) {
    if (c != nullptr) c->is_destroyed = true;
    c = nullptr;
  }
  for (const auto& [p, allocation] : m.memory) std::free(reinterpret_cast<void*>(p));
  for (const auto& [p, bytes] : m.pinned) std::free(reinterpret_cast<void*>(p));
  for (Event* const e : m.all_events) delete e;
  for (Pool& p : m.all_pools) p.is_destroyed = true;
  for (Stream& s : m.all_streams) {
    s.is_destroyed = true;
    s.queue.clear();
    s.done = s.pushed;
    s.capture = nullptr;
  }
  m.memory.clear();
  m.pinned.clear();
  m.all_events.clear();
  m.default_streams.clear();
  m.captures.clear();
  m.steps.ForgetSteps();
  m.streams = m.modules = m.contexts = m.graphs = m.execs = m.pools = 0;
}
