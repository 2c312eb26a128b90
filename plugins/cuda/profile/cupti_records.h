// The records of CUPTI that profiled runs read: where the few fields are that they use.
//
// Records differ between versions of CUPTI. These are the offsets of 13.0, written down from cupti_activity.h of
// nvidia-cuda-cupti 13.0.85 (CUPTI_API_VERSION 130001), so that the build needs no header of NVIDIA's. There each
// struct is packed and aligned to 8 bytes; tests/cuda/standin/standin_records.h has all of their fields.
//
// Only 13.0 is taken. The offsets were compared with NVIDIA's header. The real cuptiActivityGetNextRecord, which needs
// no GPU, steps over records of these sizes. No record of a real GPU has been read.
#ifndef RICCI_CUDA_CUPTI_RECORDS_H_
#define RICCI_CUDA_CUPTI_RECORDS_H_
#include <cstdint>
#include <cstring>

namespace ricci::cuda {

// As cuptiGetVersion counts since CUDA 13.0: major version, two digits of the minor one, two of an update.
inline constexpr uint32_t kFirstCuptiVersion = 130000, kLastCuptiVersion = 130099;

enum : uint32_t {  // CUpti_ActivityKind
  kCuptiMemcpy = 1,
  kCuptiMemset = 2,
  kCuptiDriver = 4,
  kCuptiRuntime = 5,
  kCuptiConcurrentKernel = 10,
  kCuptiExternalCorrelation = 39,
};

// What the GPU has done: one of our calls asked for it, by whose number (correlationId) it is known. Times are
// nanoseconds; both are 0 if CUPTI could not take them.
struct CuptiActivity {
  uint32_t kind, bytes;
  uint32_t start, end, correlation;  // offsets: uint64_t, uint64_t, uint32_t
};
inline constexpr CuptiActivity kCuptiActivities[] = {
    {kCuptiMemcpy, 96, 16, 24, 44},             // CUpti_ActivityMemcpy6
    {kCuptiMemset, 88, 16, 24, 44},             // CUpti_ActivityMemset4
    {kCuptiConcurrentKernel, 216, 16, 24, 92},  // CUpti_ActivityKernel10
};
// That a call was made while a thread had an id of its own pushed: CUpti_ActivityExternalCorrelation.
struct CuptiExternal {
  uint32_t bytes;
  uint32_t kind, id, correlation;  // offsets: uint32_t, uint64_t, uint32_t
};
inline constexpr CuptiExternal kCuptiExternal = {24, 4, 8, 16};
inline constexpr uint32_t kCuptiCustom0 = 3;  // CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, the kind of our ids

// A field of a record; each record begins with its kind.
template <typename T>
T CuptiField(const void* record, uint32_t offset) {
  T out;
  std::memcpy(&out, static_cast<const char*>(record) + offset, sizeof out);
  return out;
}

}  // namespace ricci::cuda
#endif
