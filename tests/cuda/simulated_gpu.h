// A plugin with the backend `cuda` over the stand-in of tests/cuda/standin.
#ifndef RICCI_TESTS_CUDA_SIMULATED_GPU_H_
#define RICCI_TESTS_CUDA_SIMULATED_GPU_H_
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "attach.h"
#include "support/plugin_that.h"

namespace ricci::testing {

inline ricci_status* AttachSimulatedGpus(ricci_ctx* ctx) {
  return cuda::AttachDevices(ctx, {RICCI_STANDIN, {RICCI_STANDIN}});
}
inline constexpr auto QuerySimulatedGpu = QueryPluginThat<AttachSimulatedGpus>;

// A function of the stand-in.
template <typename F>
F* OfStandin(const char* name) {
  void* const library = dlopen(RICCI_STANDIN, RTLD_NOW | RTLD_LOCAL);
  void* const found = dlsym(library, name);
  F* f = nullptr;
  std::memcpy(&f, &found, sizeof found);
  return f;
}
// What it reports: mistakes, and what was not given back.
inline std::string SimulatedGpuReport() { return OfStandin<const char*()>("ricci_standin_report")(); }

}  // namespace ricci::testing
#endif
