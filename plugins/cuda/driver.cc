#include "driver.h"

#include <dlfcn.h>

#include <cstring>

namespace ricci::cuda {
namespace {

constexpr int kVersion = 12000;  // of the functions asked for

template <typename F>
void Store(F& slot, void* p) {
  static_assert(sizeof slot == sizeof p);
  std::memcpy(&slot, &p, sizeof p);
}

}  // namespace

std::string Driver::ErrorText(const char* call, CuResult error) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(error, &name) != kCuSuccess || name == nullptr)
    return std::string(call) + ": error " + std::to_string(error);
  if (cuGetErrorString(error, &text) != kCuSuccess || text == nullptr) text = "";
  return std::string(call) + ": " + name + ": " + text;
}

std::unique_ptr<Driver> OpenDriver(const std::string& path, std::string& error) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    error = "no CUDA device: " + path + " cannot be opened: " + dlerror();
    return nullptr;
  }
  using GetAddress = CuResult (*)(const char* name, void** out, int version, uint64_t flags, int* found);
  GetAddress get = nullptr;
  Store(get, dlsym(library, "cuGetProcAddress_v2"));
  if (get == nullptr) {
    error = "no CUDA device: the driver " + path + " is older than CUDA 12";
    return nullptr;
  }
  auto driver = std::make_unique<Driver>();
  const auto find = [&](const char* name) {
    void* p = nullptr;
    int found = 0;
    if (get(name, &p, kVersion, 0, &found) == kCuSuccess && p != nullptr) return p;
    error = "no CUDA device: the driver " + path + " has no " + name;
    return static_cast<void*>(nullptr);
  };
#define RICCI_X(name, arguments)    \
  Store(driver->name, find(#name)); \
  if (driver->name == nullptr) return nullptr;
  RICCI_CUDA_FUNCTIONS(RICCI_X)
#undef RICCI_X
  return driver;
}

std::unique_ptr<Compiler> OpenCompiler(const std::vector<std::string>& paths, std::string& error) {
  void* library = nullptr;
  std::string tried, opened;
  for (const std::string& path : paths) {
    if (library != nullptr) break;
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    opened = path;
    tried += (tried.empty() ? "" : " and ") + path;
  }
  if (library == nullptr) {
    error = "no compiler for CUDA: " + tried + " cannot be opened (option cuda.compiler: the path of NVRTC)";
    return nullptr;
  }
  auto compiler = std::make_unique<Compiler>();
#define RICCI_X(name, arguments)                                                                \
  Store(compiler->name, dlsym(library, #name));                                                 \
  if (compiler->name == nullptr) {                                                              \
    error = "no compiler for CUDA: " + opened + " is not NVRTC of CUDA 12 or later: no " #name; \
    return nullptr;                                                                             \
  }
  RICCI_NVRTC_FUNCTIONS(RICCI_X)
#undef RICCI_X
  return compiler;
}

std::vector<char> Compiler::Compile(const std::string& text, const std::string& architecture,
                                    std::string& error) const {
  void* program = nullptr;
  if (nvrtcCreateProgram(&program, text.c_str(), "ricci.cu", 0, nullptr, nullptr) != 0) {
    error = "nvrtcCreateProgram fails";
    return {};
  }
  const std::string arch = "--gpu-architecture=" + architecture;
  const char* const options[] = {arch.c_str(), "--std=c++17"};
  std::vector<char> code;
  size_t bytes = 0;
  if (nvrtcCompileProgram(program, 2, options) == 0 && nvrtcGetCUBINSize(program, &bytes) == 0) {
    code.resize(bytes);
    if (nvrtcGetCUBIN(program, code.data()) != 0) code.clear();
  }
  if (code.empty()) {
    std::string log;
    if (nvrtcGetProgramLogSize(program, &bytes) == 0 && bytes > 1) {
      log.resize(bytes);
      nvrtcGetProgramLog(program, log.data());
      log.resize(bytes - 1);
    }
    error = "NVRTC refuses a kernel for " + architecture + ": " + log;
  }
  nvrtcDestroyProgram(&program);
  return code;
}

}  // namespace ricci::cuda
