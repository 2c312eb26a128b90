// A plugin with the backend `cuda` over the stand-in of tests/cuda/standin.
#ifndef RICCI_TESTS_CUDA_SIMULATED_GPU_H_
#define RICCI_TESTS_CUDA_SIMULATED_GPU_H_
#include <string>

#include "attach.h"
#include "cuda/of_standin.h"
#include "support/plugin_that.h"

namespace ricci::testing {

inline ricci_status* AttachSimulatedGpus(ricci_ctx* ctx) {
  return cuda::AttachDevices(ctx, {{RICCI_STANDIN}, {RICCI_STANDIN}});
}
inline constexpr auto QuerySimulatedGpu = QueryPluginThat<AttachSimulatedGpus>;

// What it reports: mistakes, and what was not given back.
inline std::string SimulatedGpuReport() { return OfStandin<const char*()>("ricci_standin_report")(); }

}  // namespace ricci::testing
#endif
