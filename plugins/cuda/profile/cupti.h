// Cupti: the functions of libcupti that profiled runs call, found in the library that the host names (option
// cuda.cupti).
//
// Types and signatures are those of NVIDIA's CUPTI documentation and of the headers of CUDA 13.0, declared here so that
// no header of theirs is needed to build.
#ifndef RICCI_CUDA_CUPTI_H_
#define RICCI_CUDA_CUPTI_H_
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "cuda/driver/driver.h"
#include "ricci/api_table.h"

namespace ricci::cuda {

using CuptiResult = int;
enum : CuptiResult {  // CUptiResult
  kCuptiSuccess = 0,
  kCuptiMaxLimitReached = 12,
  kCuptiNotCompatible = 14,
  kCuptiVirtualDevice = 33,
  kCuptiPrivileges = 35,
  kCuptiOldProfiler = 36,
  kCuptiMultipleSubscribers = 39,
  kCuptiVirtualPrivileges = 40,
  kCuptiFirstUnsupported = 41,  // confidential computing, then other kinds of devices without profiles
  kCuptiLastUnsupported = 45,
};
// CUPTI wants an empty buffer of so many bytes, in which it puts so many records at most (0: as many as have room);
// NULL: there is none, so records are dropped.
using CuptiRequested = void (*)(uint8_t** buffer, size_t* bytes, size_t* records);
// It gives one back, with so many bytes of records.
using CuptiCompleted = void (*)(CuContext context, uint32_t stream, uint8_t* buffer, size_t bytes, size_t valid);

#define RICCI_CUPTI_FUNCTIONS(X)                                                              \
  X(cuptiGetVersion, (uint32_t * version))                                                    \
  X(cuptiGetResultString, (CuptiResult result, const char** text))                            \
  X(cuptiGetTimestamp, (uint64_t * now))                                                      \
  X(cuptiActivityRegisterCallbacks, (CuptiRequested requested, CuptiCompleted completed))     \
  X(cuptiActivityEnable, (uint32_t kind))                                                     \
  X(cuptiActivityDisable, (uint32_t kind))                                                    \
  X(cuptiActivityFlushAll, (uint32_t flags))                                                  \
  X(cuptiActivityGetNextRecord, (uint8_t * buffer, size_t valid, void** record))              \
  X(cuptiActivityGetNumDroppedRecords, (CuContext context, uint32_t stream, size_t * number)) \
  X(cuptiActivityPushExternalCorrelationId, (uint32_t kind, uint64_t id))                     \
  X(cuptiActivityPopExternalCorrelationId, (uint32_t kind, uint64_t * id))

struct Cupti {
#define RICCI_X(name, arguments) CuptiResult(*name) arguments = nullptr;
  RICCI_CUPTI_FUNCTIONS(RICCI_X)
#undef RICCI_X
  std::string path;         // as the host names it
  void* library = nullptr;  // stays open: what it has hooked into the driver remains there

  // OK, or a FAILED_PRECONDITION that names the option, the call and what to do.
  ricci_status* Check(const char* call, CuptiResult result) const;
};
// Null, with `error`, if the library is not there, lacks a function, or has records of another version
// (cupti_records.h).
std::unique_ptr<const Cupti> OpenCupti(const std::string& path, std::string& error);

}  // namespace ricci::cuda
#endif
