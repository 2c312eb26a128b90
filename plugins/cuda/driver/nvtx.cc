#include "cuda/driver/nvtx.h"

#include <dlfcn.h>

#include <cstring>

namespace ricci::cuda {
namespace {

template <typename F>
bool Find(void* library, const char* name, F& out) {
  void* const found = dlsym(library, name);
  static_assert(sizeof out == sizeof found);
  std::memcpy(&out, &found, sizeof out);
  return found != nullptr;
}

}  // namespace

std::unique_ptr<const Nvtx> OpenNvtx(const std::string& path, std::string& error) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    error = "option cuda.nvtx: " + path + " cannot be opened: " + dlerror();
    return nullptr;
  }
  auto nvtx = std::make_unique<Nvtx>();
  if (Find(library, "nvtxRangePushA", nvtx->nvtxRangePushA) && Find(library, "nvtxRangePop", nvtx->nvtxRangePop)) {
    return nvtx;
  }
  error = "option cuda.nvtx: " + path +
          " lacks nvtxRangePushA or nvtxRangePop; compile one from the headers of NVTX 3 " +
          "with NVTX_EXPORT_API defined";
  return nullptr;
}

}  // namespace ricci::cuda
