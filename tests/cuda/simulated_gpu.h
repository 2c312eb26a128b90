// A plugin with the backend `cuda` over the stand-in of tests/cuda/standin.
#ifndef RICCI_TESTS_CUDA_SIMULATED_GPU_H_
#define RICCI_TESTS_CUDA_SIMULATED_GPU_H_
#include <string>

#include "cuda/attach.h"
#include "cuda/of_standin.h"
#include "support/plugin_that.h"

namespace ricci::testing {

inline ricci_status* AttachSimulatedGpus(ricci_ctx* ctx) {
  return cuda::AttachDevices(ctx, {{RICCI_STANDIN}, {RICCI_STANDIN}});
}
inline constexpr auto QuerySimulatedGpu = QueryPluginThat<AttachSimulatedGpus>;
// Where short sums too are computed by pairs of blocks.
inline constexpr int64_t kShortSums = 64;
inline ricci_status* AttachPairingGpus(ricci_ctx* ctx) {
  cuda::Settings settings{{RICCI_STANDIN}, {RICCI_STANDIN}};
  settings.least_trips_of_pairs = kShortSums;
  return cuda::AttachDevices(ctx, settings);
}
inline constexpr auto QueryPairingGpu = QueryPluginThat<AttachPairingGpus>;

// What it reports: mistakes, and what was not given back.
inline std::string SimulatedGpuReport() { return OfStandin<const char*()>("ricci_standin_report")(); }

}  // namespace ricci::testing
#endif
