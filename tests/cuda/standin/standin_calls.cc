// The way in: the functions by their names, each of which notes its call and fails if it was asked to.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "standin.h"

namespace ricci::cuda::standin {
namespace {

template <size_t kSize>
struct Name {
  constexpr Name(const char (&from)[kSize]) { std::copy_n(from, kSize, text); }
  char text[kSize];
};

bool HasAny(std::string_view call, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return call.find(w) != call.npos; });
}
bool GivesBack(std::string_view call) {
  return HasAny(call, {"Destroy", "EndCapture", "Free", "Release", "Unload", "Pop"});
}
bool NeverFails(std::string_view call) { return HasAny(call, {"cuGetError", "cuThread"}); }
bool UsesContext(std::string_view call) { return !HasAny(call, {"cuInit", "cuDevice", "cuCtx"}); }

template <Name kName, auto kFunction>
struct Entry;
template <Name kName, typename... Arguments, CuResult (*kFunction)(Arguments...)>
struct Entry<kName, kFunction> {
  static CuResult Call(Arguments... arguments) {
    Machine& m = Machine::Get();
    const CuResult failure = m.Enter(kName.text);
    if (const CuResult refused = m.CheckHostRules(kName.text)) return refused;
    if (failure != kCuSuccess && !GivesBack(kName.text)) return failure;
    const CuResult result = kFunction(arguments...);
    return failure != kCuSuccess ? failure : result;
  }
};

bool Find(std::string_view name, void** out) {
#define RICCI_X(function, arguments)                                           \
  if (name == #function) {                                                     \
    CuResult(*const f) arguments = Entry<#function, &standin::function>::Call; \
    std::memcpy(out, &f, sizeof f);                                            \
    return true;                                                               \
  }
  RICCI_CUDA_FUNCTIONS(RICCI_X)
  RICCI_CUDA_CONDITION_FUNCTIONS(RICCI_X)
#undef RICCI_X
  return false;
}

}  // namespace

CuResult Machine::Enter(const char* call) {
  if (NeverFails(call)) return kCuSuccess;
  const std::lock_guard lock(mutex);
  calls += std::string(call) + "\n";
  if (failed_for_good && UsesContext(call)) return failure;
  if (fails_after == 0 || --fails_after != 0) return kCuSuccess;
  failed_call = call;
  failed_for_good = fails_for_good;
  return failure;
}

CuResult Machine::CheckHostRules(const char* call) {
  const std::lock_guard lock(mutex);
  return HostRules(*this, call);
}

}  // namespace ricci::cuda::standin

using ricci::cuda::standin::Machine;
extern "C" {
int cuGetProcAddress_v2(const char* name, void** out, int version, uint64_t, int* found) {
  constexpr int kFound = 0, kTooOld = 2;
  *found = version <= Machine::Get().driver_version ? kFound : kTooOld;
  if (*found == kTooOld) return *out = nullptr, 0;
  return ricci::cuda::standin::Find(name, out) ? 0 : 500;
}
void ricci_standin_version(int version) { Machine::Get().driver_version = version; }
void ricci_standin_depth(uint32_t most) { Machine::Get().most_depth = most; }
void ricci_standin_pitch(uint64_t most) { Machine::Get().most_pitch = most; }

const char* ricci_standin_calls() {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  static std::string given;
  given = std::exchange(m.calls, {});
  return given.c_str();
}
void ricci_standin_fail(uint64_t n, int code, int for_good) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  m.fails_after = n;
  m.failure = code;
  m.fails_for_good = for_good != 0;
  m.failed_for_good = false;
  m.failed_call.clear();
}
const char* ricci_standin_failed() {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  static std::string given;
  given = m.failed_call;
  return given.c_str();
}
}
