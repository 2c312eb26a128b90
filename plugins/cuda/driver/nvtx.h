// Nvtx: names of spans of time on threads of the host, which profilers of NVIDIA show beside the work of the GPU.
//
// By two functions of a library that the host names (option cuda.nvtx): NVTX 3 itself is headers, which look for a tool
// by an environment variable, and this library reads none. They may be compiled into such a library, as they say:
//
//   #define NVTX_EXPORT_API
//   #include <nvtx3/nvToolsExt.h>
//
// Toolkits before CUDA 12.9 have one, libnvToolsExt.so.1.
#ifndef RICCI_CUDA_NVTX_H_
#define RICCI_CUDA_NVTX_H_
#include <memory>
#include <string>

namespace ricci::cuda {

struct Nvtx {
  int (*nvtxRangePushA)(const char* name) = nullptr;
  int (*nvtxRangePop)() = nullptr;
};
// The library stays open: a tool is in it. Null, with `error`, if it is not there or lacks a function.
std::unique_ptr<const Nvtx> OpenNvtx(const std::string& path, std::string& error);

// A span of this thread, until the end of its scope.
class NvtxRange {
 public:
  // `name` is asked only if there is a library.
  template <typename Name>
  NvtxRange(const Nvtx* nvtx, const Name& name) : nvtx_(nvtx) {
    if (nvtx_ != nullptr) nvtx_->nvtxRangePushA(std::string(name()).c_str());
  }
  ~NvtxRange() {
    if (nvtx_ != nullptr) nvtx_->nvtxRangePop();
  }
  NvtxRange(const NvtxRange&) = delete;

 private:
  const Nvtx* const nvtx_;
};

}  // namespace ricci::cuda
#endif
