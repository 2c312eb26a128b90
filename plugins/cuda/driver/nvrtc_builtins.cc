#include "cuda/driver/nvrtc_builtins.h"

#include <dlfcn.h>

#include <vector>

namespace ricci::cuda {

std::string OpenBuiltins(const void* of_nvrtc, int major, int minor) {
  const std::string name = "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
  Dl_info info{};
  std::string looked;
  if (dladdr(of_nvrtc, &info) != 0 && info.dli_fname != nullptr) {
    const std::string path = info.dli_fname;
    const size_t slash = path.rfind('/');
    if (slash != path.npos) {
      if (dlopen((path.substr(0, slash + 1) + name).c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return {};
      looked = path.substr(0, slash) + ", nor ";
    }
  }
  if (dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return {};
  return name + " is not in " + looked + "where the system looks";
}

}  // namespace ricci::cuda
