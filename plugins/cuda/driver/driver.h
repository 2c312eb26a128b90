// Driver and Compiler: the functions of libcuda and NVRTC that this plugin calls, found when it is attached.
//
// The types and signatures are those of NVIDIA's driver API and NVRTC documentation (CUDA 12 and later), declared here
// so that no header and no library of theirs is needed to build.
//
// One binary works with every driver from CUDA 12 on. The build needs no package of NVIDIA's.
//
// NVRTC is told not to warn of unused values (177 and 550), since a kernel computes what its table says. All other
// warnings are faults, which tests report.
#ifndef RICCI_CUDA_DRIVER_H_
#define RICCI_CUDA_DRIVER_H_
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ricci::cuda {

using CuResult = int;
using CuDevice = int;
using CuPointer = unsigned long long;
using CuContext = struct CUctx_st*;
using CuStream = struct CUstream_st*;
using CuEvent = struct CUevent_st*;
using CuModule = struct CUmod_st*;
using CuFunction = struct CUfunc_st*;
using CuGraph = struct CUgraph_st*;
using CuGraphNode = struct CUgraphNode_st*;
using CuGraphExec = struct CUgraphExec_st*;
using CuCondition = unsigned long long;  // CUgraphConditionalHandle
using CuMemPool = struct CUmemPoolHandle_st*;
using CuHostFunction = void (*)(void*);

enum : CuResult {
  kCuSuccess = 0,
  kCuInvalidValue = 1,
  kCuOutOfMemory = 2,
  kCuDeinitialized = 4,
  kCuInvalidImage = 200,
  kCuInvalidContext = 201,
  kCuNoBinaryForGpu = 209,
  kCuInvalidPtx = 218,
  kCuNoPtxCompiler = 221,
  kCuUnsupportedPtx = 222,
  kCuPtxDisabled = 223,
  kCuSymbolNotFound = 302,
  kCuObjectInit = 303,
  kCuInvalidHandle = 400,
  kCuIllegalState = 401,
  kCuLossyQuery = 402,
  kCuNotFound = 500,
  kCuNotReady = 600,
  kCuContextIsDestroyed = 709,
  kCuNotPermitted = 800,
  kCuNotSupported = 801,
  kCuCaptureUnsupported = 900,  // the first error that says what a capture forbids
  kCuCaptureImplicit = 906,
  kCuCaptureWrongThread = 908,  // the last one
};
enum : unsigned { kCuStreamNonBlocking = 1, kCuEventDisableTiming = 2 };
enum : int {
  kCuAttributeProcessors = 16,  // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
  kCuAttributeMajor = 75,
  kCuAttributeMinor = 76,
  kCuAttributeMostShared = 97,  // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
};
enum : int { kCuFunctionMostShared = 8 };  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
enum : unsigned { kCuMemoryHost = 1, kCuMemoryDevice = 2 };
enum : int { kCuNodeConditional = 13 };                                            // CU_GRAPH_NODE_TYPE_CONDITIONAL
enum : int { kCuConditionIf = 0, kCuConditionWhile = 1, kCuConditionSwitch = 2 };  // CUgraphConditionalNodeType
enum : int {  // CUmemPool_attribute; each is a cuuint64_t
  kCuPoolReleaseThreshold = 4,
  kCuPoolReserved = 5,
  kCuPoolUsed = 7,
};
enum : int {  // CUpointer_attribute
  kCuPointerContext = 1,
  kCuPointerMemoryType = 2,
  kCuPointerIsManaged = 8,
  kCuPointerOrdinal = 9,
  kCuPointerRangeStart = 11,
  kCuPointerRangeSize = 12,
  kCuPointerPool = 17,
};
enum : int { kCuCaptureGlobal = 0, kCuCaptureOfThread = 1, kCuCaptureRelaxed = 2 };  // CUstreamCaptureMode
enum : int { kCuCaptures = 1, kCuCaptureIsInvalid = 2 };                             // CUstreamCaptureStatus
enum : unsigned { kCuAddLast = 0, kCuSetLast = 1 };  // CUstreamUpdateCaptureDependencies_flags
enum : int {  // CUtensorMapDataType, -Interleave, -Swizzle, -L2promotion, -FloatOOBfill
  kCuTensorU8 = 0,
  kCuTensorU16 = 1,
  kCuTensorU32 = 2,
  kCuTensorNoInterleave = 0,
  kCuTensorSwizzle32 = 1,
  kCuTensorSwizzle64 = 2,
  kCuTensorSwizzle128 = 3,
  kCuTensorPromote256 = 3,
  kCuTensorFillZeros = 0,
};
// CU_STREAM_LEGACY: the default stream by a handle, which means the same in every call.
inline CuStream LegacyStream() { return reinterpret_cast<CuStream>(uintptr_t{1}); }

struct CuLocation {
  int type, id;  // 1: a device, by its ordinal
};
struct CuPoolProperties {  // CUmemPoolProps
  int allocation_type;     // 1: CU_MEM_ALLOCATION_TYPE_PINNED, the only one
  int handle_types;        // for other processes; 0: none
  CuLocation location;
  void* security;
  size_t max_bytes;  // 0: no limit
  unsigned short usage;
  unsigned char reserved[54];
};
struct CuPoolAccess {  // CUmemAccessDesc
  CuLocation location;
  int flags;  // 3: to read and write
};

struct alignas(128) CuTensorMap {  // CUtensorMap: what is in it is the driver's affair
  uint64_t opaque[16];
};
struct CuKernelNode {  // CUDA_KERNEL_NODE_PARAMS_v2
  CuFunction f;
  unsigned grid[3], block[3], shared_bytes;
  void **arguments, **extra;
  void* kernel;       // used if f is NULL
  CuContext context;  // of `kernel`
};
struct CuCopySide {  // a half of CUDA_MEMCPY3D
  size_t x_bytes, y, z, lod;
  unsigned type;
  void* host;
  CuPointer device;
  void *array, *reserved;
  size_t pitch, height;  // 0: bytes in a row; no pitch may be above 2^31 - 1
};
struct CuCopyNode {  // CUDA_MEMCPY3D
  CuCopySide src, dst;
  size_t width_bytes, height, depth;
};
struct CuMemsetNode {  // CUDA_MEMSET_NODE_PARAMS
  CuPointer dst;
  size_t pitch;
  unsigned value, element_bytes;
  size_t width, height;
};
struct CuConditionalNode {  // CUDA_CONDITIONAL_NODE_PARAMS
  CuCondition condition;
  int type;
  unsigned n_bodies;
  CuGraph* bodies;  // an array of the driver's
  CuContext context;
};
struct CuNode {  // CUgraphNodeParams
  int type, reserved0[3];
  union {
    long long reserved1[29];
    CuConditionalNode conditional;
  };
  long long reserved2;
};
static_assert(sizeof(CuTensorMap) == 128);
static_assert(sizeof(CuKernelNode) == 72 && offsetof(CuKernelNode, arguments) == 40);
static_assert(sizeof(CuCopyNode) == 200 && offsetof(CuCopySide, device) == 48);
static_assert(sizeof(CuPoolProperties) == 88 && offsetof(CuPoolProperties, usage) == 32);
static_assert(sizeof(CuPoolAccess) == 12);
static_assert(sizeof(CuMemsetNode) == 40 && offsetof(CuMemsetNode, width) == 24);
static_assert(sizeof(CuConditionalNode) == 32 && sizeof(CuNode) == 256 && offsetof(CuNode, conditional) == 16);

// X(name, arguments): each returns a CUresult. The plugin calls all but cuLaunchHostFunc, which tests/gpu/probe
// measures.
#define RICCI_CUDA_FUNCTIONS(X)                                                                                       \
  X(cuInit, (unsigned flags))                                                                                         \
  X(cuDriverGetVersion, (int* version))                                                                               \
  X(cuDeviceGetCount, (int* count))                                                                                   \
  X(cuDeviceGet, (CuDevice * device, int ordinal))                                                                    \
  X(cuDeviceGetName, (char* name, int size, CuDevice device))                                                         \
  X(cuDeviceGetAttribute, (int* value, int attribute, CuDevice device))                                               \
  X(cuDevicePrimaryCtxRetain, (CuContext * context, CuDevice device))                                                 \
  X(cuDevicePrimaryCtxRelease, (CuDevice device))                                                                     \
  X(cuCtxPushCurrent, (CuContext context))                                                                            \
  X(cuCtxPopCurrent, (CuContext * context))                                                                           \
  X(cuDeviceCanAccessPeer, (int* can, CuDevice device, CuDevice peer))                                                \
  X(cuStreamGetCtx, (CuStream stream, CuContext * context))                                                           \
  X(cuStreamBeginCapture, (CuStream stream, int mode))                                                                \
  X(cuStreamEndCapture, (CuStream stream, CuGraph * graph))                                                           \
  X(cuStreamIsCapturing, (CuStream stream, int* status))                                                              \
  X(cuStreamGetCaptureInfo,                                                                                           \
    (CuStream stream, int* status, unsigned long long* id, CuGraph* graph, const CuGraphNode** last, size_t* n_last)) \
  X(cuStreamUpdateCaptureDependencies, (CuStream stream, CuGraphNode * last, size_t n_last, unsigned flags))          \
  X(cuThreadExchangeStreamCaptureMode, (int* mode))                                                                   \
  X(cuPointerGetAttributes, (unsigned n, int* attributes, void** values, CuPointer p))                                \
  X(cuMemPoolCreate, (CuMemPool * out, const CuPoolProperties* properties))                                           \
  X(cuMemPoolDestroy, (CuMemPool pool))                                                                               \
  X(cuMemPoolSetAttribute, (CuMemPool pool, int attribute, void* value))                                              \
  X(cuMemPoolGetAttribute, (CuMemPool pool, int attribute, void* value))                                              \
  X(cuMemPoolSetAccess, (CuMemPool pool, const CuPoolAccess* to, size_t count))                                       \
  X(cuMemPoolTrimTo, (CuMemPool pool, size_t keep_bytes))                                                             \
  X(cuMemAllocFromPoolAsync, (CuPointer * out, size_t bytes, CuMemPool pool, CuStream stream))                        \
  X(cuMemFreeAsync, (CuPointer p, CuStream stream))                                                                   \
  X(cuMemGetInfo, (size_t * free_bytes, size_t * total_bytes))                                                        \
  X(cuMemHostAlloc, (void** out, size_t bytes, unsigned flags))                                                       \
  X(cuMemFreeHost, (void* p))                                                                                         \
  X(cuMemcpyHtoDAsync, (CuPointer dst, const void* src, size_t bytes, CuStream stream))                               \
  X(cuMemcpyDtoHAsync, (void* dst, CuPointer src, size_t bytes, CuStream stream))                                     \
  X(cuMemcpyDtoDAsync, (CuPointer dst, CuPointer src, size_t bytes, CuStream stream))                                 \
  X(cuMemcpyPeerAsync, (CuPointer dst, CuContext to, CuPointer src, CuContext from, size_t bytes, CuStream stream))   \
  X(cuMemsetD32Async, (CuPointer dst, unsigned value, size_t count, CuStream stream))                                 \
  X(cuStreamCreate, (CuStream * out, unsigned flags))                                                                 \
  X(cuStreamDestroy, (CuStream stream))                                                                               \
  X(cuStreamSynchronize, (CuStream stream))                                                                           \
  X(cuStreamWaitEvent, (CuStream stream, CuEvent event, unsigned flags))                                              \
  X(cuEventCreate, (CuEvent * out, unsigned flags))                                                                   \
  X(cuEventRecord, (CuEvent event, CuStream stream))                                                                  \
  X(cuEventQuery, (CuEvent event))                                                                                    \
  X(cuEventSynchronize, (CuEvent event))                                                                              \
  X(cuEventDestroy, (CuEvent event))                                                                                  \
  X(cuEventElapsedTime, (float* milliseconds, CuEvent begin, CuEvent end))                                            \
  X(cuModuleLoadData, (CuModule * out, const void* image))                                                            \
  X(cuModuleUnload, (CuModule module))                                                                                \
  X(cuModuleGetFunction, (CuFunction * out, CuModule module, const char* name))                                       \
  X(cuFuncSetAttribute, (CuFunction f, int attribute, int value))                                                     \
  X(cuLaunchKernel,                                                                                                   \
    (CuFunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,             \
     unsigned block_z, unsigned shared_bytes, CuStream stream, void** arguments, void** extra))                       \
  X(cuTensorMapEncodeTiled,                                                                                           \
    (CuTensorMap * out, int type, unsigned rank, void* address, const uint64_t* sizes, const uint64_t* strides,       \
     const unsigned* box, const unsigned* each, int interleave, int swizzle, int promotion, int fill))                \
  X(cuLaunchHostFunc, (CuStream stream, CuHostFunction f, void* argument))                                            \
  X(cuGraphCreate, (CuGraph * out, unsigned flags))                                                                   \
  X(cuGraphDestroy, (CuGraph graph))                                                                                  \
  X(cuGraphAddEmptyNode, (CuGraphNode * out, CuGraph graph, const CuGraphNode* waits, size_t n_waits))                \
  X(cuGraphAddKernelNode,                                                                                             \
    (CuGraphNode * out, CuGraph graph, const CuGraphNode* waits, size_t n_waits, const CuKernelNode* node))           \
  X(cuGraphAddMemcpyNode, (CuGraphNode * out, CuGraph graph, const CuGraphNode* waits, size_t n_waits,                \
                           const CuCopyNode* node, CuContext context))                                                \
  X(cuGraphAddMemsetNode, (CuGraphNode * out, CuGraph graph, const CuGraphNode* waits, size_t n_waits,                \
                           const CuMemsetNode* node, CuContext context))                                              \
  X(cuGraphAddChildGraphNode,                                                                                         \
    (CuGraphNode * out, CuGraph graph, const CuGraphNode* waits, size_t n_waits, CuGraph child))                      \
  X(cuGraphGetNodes, (CuGraph graph, CuGraphNode * nodes, size_t * count))                                            \
  X(cuGraphInstantiateWithFlags, (CuGraphExec * out, CuGraph graph, unsigned long long flags))                        \
  X(cuGraphExecDestroy, (CuGraphExec exec))                                                                           \
  X(cuGraphExecKernelNodeSetParams, (CuGraphExec exec, CuGraphNode which, const CuKernelNode* node))                  \
  X(cuGraphExecMemcpyNodeSetParams, (CuGraphExec exec, CuGraphNode which, const CuCopyNode* node, CuContext context)) \
  X(cuGraphExecMemsetNodeSetParams,                                                                                   \
    (CuGraphExec exec, CuGraphNode which, const CuMemsetNode* node, CuContext context))                               \
  X(cuGraphExecChildGraphNodeSetParams, (CuGraphExec exec, CuGraphNode which, CuGraph child))                         \
  X(cuGraphLaunch, (CuGraphExec exec, CuStream stream))                                                               \
  X(cuGetErrorName, (CuResult error, const char** name))                                                              \
  X(cuGetErrorString, (CuResult error, const char** text))

// Of conditional nodes, in drivers from CUDA 12.4 on.
#define RICCI_CUDA_CONDITION_FUNCTIONS(X)                                                  \
  X(cuGraphConditionalHandleCreate,                                                        \
    (CuCondition * out, CuGraph graph, CuContext context, unsigned first, unsigned flags)) \
  X(cuGraphAddNode,                                                                        \
    (CuGraphNode * out, CuGraph graph, const CuGraphNode* waits, const void* edges, size_t n_waits, CuNode* node))

#define RICCI_NVRTC_FUNCTIONS(X)                                                                                      \
  X(nvrtcCreateProgram, (void** out, const char* source, const char* name, int n_headers, const char* const* headers, \
                         const char* const* header_names))                                                            \
  X(nvrtcVersion, (int* major, int* minor))                                                                           \
  X(nvrtcGetNumSupportedArchs, (int* count))                                                                          \
  X(nvrtcGetSupportedArchs, (int* archs))                                                                             \
  X(nvrtcDestroyProgram, (void** program))                                                                            \
  X(nvrtcCompileProgram, (void* program, int n_options, const char* const* options))                                  \
  X(nvrtcGetCUBINSize, (void* program, size_t* bytes))                                                                \
  X(nvrtcGetCUBIN, (void* program, char* out))                                                                        \
  X(nvrtcGetPTXSize, (void* program, size_t* bytes))                                                                  \
  X(nvrtcGetPTX, (void* program, char* out))                                                                          \
  X(nvrtcGetProgramLogSize, (void* program, size_t* bytes))                                                           \
  X(nvrtcGetProgramLog, (void* program, char* out))

struct Driver {
#define RICCI_X(name, arguments) CuResult(*name) arguments = nullptr;
  RICCI_CUDA_FUNCTIONS(RICCI_X)
  RICCI_CUDA_CONDITION_FUNCTIONS(RICCI_X)
#undef RICCI_X

  // The functions of conditional nodes are there, which an older driver does not have.
  bool HasConditions() const { return cuGraphConditionalHandleCreate != nullptr && cuGraphAddNode != nullptr; }
  // `cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY: out of memory`.
  std::string ErrorText(const char* call, CuResult error) const;
};

struct NvrtcOptions {
  std::string architecture;  // such as `sm_90`; `compute_75` for PTX
  bool quick = false;        // fewer passes: about half the time; of NVRTC 13 and later
  bool figures = false;      // the log says what each kernel takes: registers, stack, spills
  bool unlinked = false;     // the text may call functions that it does not have

  // As NVRTC takes them.
  std::vector<std::string> Texts() const;
};

struct Compiler {
#define RICCI_X(name, arguments) int(*name) arguments = nullptr;
  RICCI_NVRTC_FUNCTIONS(RICCI_X)
#undef RICCI_X

  std::string disassembler;  // the path of nvdisasm; empty: there is none
  std::string no_builtins;   // where NVRTC's second library was looked for (nvrtc_builtins.h); empty: it is open

  // The machine code of a text; empty, with the compiler's log in `error`, if it is refused.
  std::string Compile(const std::string& text, const NvrtcOptions& options, std::string& error) const;
  // The same as PTX. `refused`: whether the text or the options are wrong, rather than that NVRTC has failed.
  std::string CompileToPtx(const std::string& text, const NvrtcOptions& options, std::string& error,
                           bool* refused = nullptr) const;
  // Of which PTX runs on all GPUs that it can compile for, such as 75.
  int OldestArchitecture() const;
  // `NVRTC 13.0`.
  std::string Version() const;
  bool HasQuick() const;
  // Why it cannot compile for an architecture, and what to do; empty if it can.
  std::string Refusal(const std::string& architecture) const;
};

// GPUs of compute capability 7.5 and later: what NVRTC 13 knows. The kernels want sm_70 (`__grid_constant__`), which
// only NVRTC 12 knows, and which no test compiles for.
inline constexpr int kOldestArchitecture = 75;
bool IsTooOld(const std::string& architecture);

// The first of these that can be opened, which stays open: it has threads and state of its own. Null, with `error`, if
// none is there or it lacks a function.
std::unique_ptr<Driver> OpenDriver(const std::vector<std::string>& paths, std::string& error);
std::unique_ptr<Compiler> OpenCompiler(const std::vector<std::string>& paths, std::string& error);

}  // namespace ricci::cuda
#endif
