#include "cuda/profile/cupti.h"

#include <dlfcn.h>

#include <cstring>

#include "cuda/driver/gpu.h"
#include "cuda/profile/cupti_records.h"

namespace ricci::cuda {
namespace {

const char* Advice(CuptiResult result) {
  switch (result) {
    case kCuptiMaxLimitReached:
    case kCuptiNotCompatible:
    case kCuptiOldProfiler:
    case kCuptiMultipleSubscribers:
      return "another profiler may use CUPTI in this process, where only one can: end it";
    case kCuptiPrivileges:
    case kCuptiVirtualPrivileges:
      return "this user may not profile: ask who runs the machine to allow it (NVIDIA's ERR_NVGPUCTRPERM)";
    default:
      return result == kCuptiVirtualDevice || (result >= kCuptiFirstUnsupported && result <= kCuptiLastUnsupported)
                 ? "this machine does not let its GPU be profiled"
                 : "CUPTI does not work here";
  }
}

template <typename F>
bool Find(void* library, const char* name, F& out) {
  void* const found = dlsym(library, name);
  static_assert(sizeof out == sizeof found);
  std::memcpy(&out, &found, sizeof out);
  return found != nullptr;
}

bool FindAll(Cupti& cupti, std::string& error) {
#define RICCI_X(name, arguments)                                                                               \
  if (!Find(cupti.library, #name, cupti.name)) {                                                               \
    error = "option cuda.cupti: " + cupti.path + " lacks " + #name + "; name the libcupti.so.13 of CUDA 13.0"; \
    return false;                                                                                              \
  }
  RICCI_CUPTI_FUNCTIONS(RICCI_X)
#undef RICCI_X
  return true;
}

bool CheckVersion(const Cupti& cupti, std::string& error) {
  uint32_t version = 0;
  const CuptiResult result = cupti.cuptiGetVersion(&version);
  if (result == kCuptiSuccess && version >= kFirstCuptiVersion && version <= kLastCuptiVersion) return true;
  const std::string is = result == kCuptiSuccess ? "has version " + std::to_string(version) + " of CUPTI"
                                                 : "does not say its version, but error " + std::to_string(result);
  error = "option cuda.cupti: " + cupti.path + " " + is + ", and this plugin reads the records of " +
          std::to_string(kFirstCuptiVersion) + " to " + std::to_string(kLastCuptiVersion) +
          ", those of CUDA 13.0: name a libcupti.so.13 of CUDA 13.0, or leave the option out";
  return false;
}

}  // namespace

ricci_status* Cupti::Check(const char* call, CuptiResult result) const {
  if (result == kCuptiSuccess) return nullptr;
  const char* name = nullptr;
  if (cuptiGetResultString(result, &name) != kCuptiSuccess || name == nullptr) name = "an unknown error";
  return Fail(RICCI_FAILED_PRECONDITION, std::string("option cuda.cupti: ") + call + " gives " + name + " (" +
                                             std::to_string(result) + "): " + Advice(result) +
                                             "; without the option times are those of events");
}

std::unique_ptr<const Cupti> OpenCupti(const std::string& path, std::string& error) {
  auto cupti = std::make_unique<Cupti>();
  cupti->path = path;
  cupti->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (cupti->library == nullptr) {
    error = "option cuda.cupti: " + path + " cannot be opened: " + dlerror();
    return nullptr;
  }
  if (!FindAll(*cupti, error) || !CheckVersion(*cupti, error)) return nullptr;
  return cupti;
}

}  // namespace ricci::cuda
