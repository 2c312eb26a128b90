// The records of CUPTI 13.0 as structs with all of their fields, in the order of cupti_activity.h of
// nvidia-cuda-cupti 13.0.85. The plugin reads them by offsets (cupti_records.h); cupti_test.cc compares the two. The
// real cuptiActivityGetNextRecord of that package steps over records by the sizes that these structs have.
#ifndef RICCI_TESTS_CUDA_STANDIN_RECORDS_H_
#define RICCI_TESTS_CUDA_STANDIN_RECORDS_H_
#include <cstdint>

namespace ricci::cuda::standin {

struct MemcpyRecord {  // CUpti_ActivityMemcpy6
  uint32_t kind;
  uint8_t copy_kind, source_kind, destination_kind, flags;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation, runtime_correlation, pad;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph, channel, channel_type;
  uint8_t is_device_launched, pad2[3];
  uint64_t copies;
};
struct MemsetRecord {  // CUpti_ActivityMemset4
  uint32_t kind, value;
  uint64_t bytes, start, end;
  uint32_t device, context, stream, correlation;
  uint16_t flags, memory_kind;
  uint32_t pad;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph, channel, channel_type;
  uint8_t is_device_launched, pad2[3];
};
struct KernelRecord {  // CUpti_ActivityKernel10
  uint32_t kind;
  uint8_t cache_config, shared_memory_config;
  uint16_t registers;
  uint32_t global_cache_requested, global_cache_executed;
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3], static_shared, dynamic_shared;
  uint32_t local_of_thread, local_total, correlation;
  int64_t grid_id;
  const char* name;
  void* reserved;
  uint64_t queued, submitted;
  uint8_t launch_type, is_carveout_requested, carveout_requested, padding;
  uint32_t shared_executed;
  uint64_t graph_node;
  uint32_t shared_limit, graph;
  void* access_policy;
  uint32_t channel, channel_type, cluster[3], cluster_policy;
  uint64_t local_total_v2;
  uint32_t most_cluster, most_clusters;
  uint8_t is_device_launched, padding3[7];
};
struct ExternalRecord {  // CUpti_ActivityExternalCorrelation
  uint32_t kind, external_kind;
  uint64_t external_id;
  uint32_t correlation, reserved;
};
struct CallRecord {  // CUpti_ActivityAPI, of kinds DRIVER and RUNTIME
  uint32_t kind, function;
  uint64_t start, end;
  uint32_t process, thread, correlation, result;
};
static_assert(sizeof(MemcpyRecord) == 96 && sizeof(MemsetRecord) == 88 && sizeof(KernelRecord) == 216);
static_assert(sizeof(ExternalRecord) == 24 && sizeof(CallRecord) == 40);

}  // namespace ricci::cuda::standin
#endif
