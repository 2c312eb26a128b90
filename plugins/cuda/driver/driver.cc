#include "cuda/driver/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

#include "cuda/driver/nvrtc_builtins.h"
#include "cuda/driver/nvrtc_program.h"

namespace ricci::cuda {
namespace {

constexpr int kVersion = 12000;           // of the functions asked for
constexpr int kConditionVersion = 12040;  // of those of conditional nodes

template <typename F>
void Store(F& slot, void* p) {
  static_assert(sizeof slot == sizeof p);
  std::memcpy(&slot, &p, sizeof p);
}

// The first library that can be opened, and its path; null, with what was tried and why not.
void* OpenFirst(const std::vector<std::string>& paths, std::string& path, std::string& tried) {
  for (const std::string& one : paths) {
    path = one;
    if (void* const library = dlopen(one.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    if (tried.empty()) {
      tried = one + " cannot be opened: " + dlerror();
    } else {
      tried += (one == paths[1] ? "; nor can " : ", ") + one;
    }
  }
  return nullptr;
}

}  // namespace

std::string Driver::ErrorText(const char* call, CuResult error) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(error, &name) != kCuSuccess || name == nullptr)
    return std::string(call) + ": error " + std::to_string(error);
  if (cuGetErrorString(error, &text) != kCuSuccess || text == nullptr) text = "";
  return std::string(call) + ": " + name + ": " + text;
}

std::unique_ptr<Driver> OpenDriver(const std::vector<std::string>& paths, std::string& error) {
  std::string path, tried;
  void* const library = OpenFirst(paths, path, tried);
  if (library == nullptr) {
    error = "no CUDA device: " + tried;
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
  const auto find_condition = [&](const char* name) {
    void* p = nullptr;
    int found = 0;
    return get(name, &p, kConditionVersion, 0, &found) == kCuSuccess ? p : nullptr;
  };
#define RICCI_X(name, arguments) Store(driver->name, find_condition(#name));
  RICCI_CUDA_CONDITION_FUNCTIONS(RICCI_X)
#undef RICCI_X
#define RICCI_X(name, arguments)    \
  Store(driver->name, find(#name)); \
  if (driver->name == nullptr) return nullptr;
  RICCI_CUDA_FUNCTIONS(RICCI_X)
#undef RICCI_X
  return driver;
}

namespace {

// The functions of an opened library; null, with `error`, if it lacks one.
std::unique_ptr<Compiler> FindFunctions(void* library, const std::string& path, std::string& error) {
  auto compiler = std::make_unique<Compiler>();
#define RICCI_X(name, arguments)                                           \
  Store(compiler->name, dlsym(library, #name));                            \
  if (compiler->name == nullptr) {                                         \
    error = "no compiler for CUDA: " + path + " has no function " + #name; \
    return nullptr;                                                        \
  }
  RICCI_NVRTC_FUNCTIONS(RICCI_X)
#undef RICCI_X
  int major = 0, minor = 0;
  if (compiler->nvrtcVersion(&major, &minor) == 0) {
    void* of_nvrtc = nullptr;
    std::memcpy(&of_nvrtc, &compiler->nvrtcVersion, sizeof of_nvrtc);
    compiler->no_builtins = OpenBuiltins(of_nvrtc, major, minor);
  }
  return compiler;
}

}  // namespace

// The first one whose second library is there too, else the first one: it may do without.
std::unique_ptr<Compiler> OpenCompiler(const std::vector<std::string>& paths, std::string& error) {
  std::unique_ptr<Compiler> first;
  std::string tried, lacks;
  for (const std::string& path : paths) {
    tried += (tried.empty() ? "" : ", ") + path;
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    std::unique_ptr<Compiler> found = FindFunctions(library, path, lacks);
    if (found == nullptr) continue;
    if (found->no_builtins.empty()) return found;
    if (first == nullptr) first = std::move(found);
  }
  if (first != nullptr) return first;
  error = !lacks.empty() ? lacks
                         : "no compiler for CUDA: none of these can be opened: " + tried +
                               "; install NVRTC (of CUDA 12 or later), or name its file by the option cuda.compiler";
  return nullptr;
}

std::vector<std::string> NvrtcOptions::Texts() const {
  std::vector<std::string> texts = {"--gpu-architecture=" + architecture, "--std=c++17", "--generate-line-info",
                                    "--fmad=false", "--diag-suppress=177,550"};  // unused values
  if (quick) texts.push_back("--Ofast-compile=mid");
  if (figures) texts.push_back("--ptxas-options=-v");
  if (unlinked) texts.push_back("--relocatable-device-code=true");
  return texts;
}

std::string Compiler::Version() const {
  int major = 0, minor = 0;
  if (nvrtcVersion(&major, &minor) != 0) return "NVRTC";
  return "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
}

bool Compiler::HasQuick() const {
  int major = 0, minor = 0;
  return nvrtcVersion(&major, &minor) == 0 && major >= 13;
}

bool IsTooOld(const std::string& architecture) {
  int number = 0;
  const char* const end = architecture.data() + architecture.size();
  if (architecture.rfind("sm_", 0) != 0) return false;
  const std::from_chars_result read = std::from_chars(architecture.data() + 3, end, number);
  return read.ec == std::errc() && number < kOldestArchitecture;
}

std::string Compiler::Refusal(const std::string& architecture) const {
  if (IsTooOld(architecture)) {
    return "the architecture " + architecture + " is older than sm_" + std::to_string(kOldestArchitecture) +
           ", the first one that kernels are written for";
  }
  int count = 0;
  if (nvrtcGetNumSupportedArchs(&count) != 0 || count <= 0) return {};  // the compiler itself will say
  std::vector<int> known(static_cast<size_t>(count));
  if (nvrtcGetSupportedArchs(known.data()) != 0) return {};
  size_t digits = 0;
  const bool named = architecture.rfind("sm_", 0) == 0;
  while (named && std::isdigit(static_cast<unsigned char>(architecture[3 + digits])) != 0) ++digits;
  const std::string number = named ? architecture.substr(3, digits) : "",
                    suffix = named ? architecture.substr(3 + digits) : "";
  std::string list;
  for (const int a : known) {
    if (std::to_string(a) == number && (suffix.empty() || suffix == "a" || suffix == "f")) return {};
    list += (list.empty() ? "sm_" : ", sm_") + std::to_string(a);
  }
  return Version() + " does not know the architecture " + architecture + "; it knows " + list;
}

int Compiler::OldestArchitecture() const {
  int count = 0;
  if (nvrtcGetNumSupportedArchs(&count) != 0 || count <= 0) return kOldestArchitecture;
  std::vector<int> known(static_cast<size_t>(count));
  if (nvrtcGetSupportedArchs(known.data()) != 0) return kOldestArchitecture;
  return std::max(kOldestArchitecture, *std::min_element(known.begin(), known.end()));
}

namespace {

// What the compiler makes of a text; `size` and `get` give it. Empty, with `error`, if it is refused.
std::string Made(const Compiler& c, const std::string& text, const NvrtcOptions& how, int (*size)(void*, size_t*),
                 int (*get)(void*, char*), std::string& error, bool& refused) {
  const NvrtcProgram program(c, text);
  if (!program.is_there()) {
    error = "nvrtcCreateProgram fails";
    return {};
  }
  std::string code;
  const int result = program.Result(how);
  if (result == 0 && program.Read(size, get, code) && !code.empty()) return code;
  std::string log;
  if (!program.ReadText(c.nvrtcGetProgramLogSize, c.nvrtcGetProgramLog, log)) log.clear();
  refused = NvrtcProgram::IsRefusal(result);
  const std::string what = refused ? "NVRTC refuses a kernel" : "NVRTC fails with error " + std::to_string(result);
  error = what + " for " + how.architecture + ": " + log;
  if (log.find("builtins") != log.npos && !c.no_builtins.empty()) error += "; " + c.no_builtins;
  return {};
}

}  // namespace

std::string Compiler::Compile(const std::string& text, const NvrtcOptions& how, std::string& error) const {
  bool refused = false;
  return Made(*this, text, how, nvrtcGetCUBINSize, nvrtcGetCUBIN, error, refused);
}

std::string Compiler::CompileToPtx(const std::string& text, const NvrtcOptions& how, std::string& error,
                                   bool* refused) const {
  bool is_refused = false;
  std::string ptx = Made(*this, text, how, nvrtcGetPTXSize, nvrtcGetPTX, error, is_refused);
  if (refused != nullptr) *refused = is_refused;
  return ptx.c_str();  // without the zero at its end
}

}  // namespace ricci::cuda
