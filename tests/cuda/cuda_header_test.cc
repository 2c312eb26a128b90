// What driver.h declares against NVIDIA's header, where a toolkit is installed: sizes and places of members, and
// numbers. driver_versions.py compares the functions.
#include <gtest/gtest.h>

#if !__has_include(<cuda.h>)

TEST(CudaHeader, HasWhatDriverHDeclares) { GTEST_SKIP() << "no cuda.h: CUDA_HOME names a toolkit"; }

#else
#include <cuda.h>

#include <cstddef>
#include <span>

#include "cuda/driver/driver.h"

namespace ricci::cuda { namespace {

struct Number {
  const char* name;
  long long ours, theirs;
};

// Sizes, and where members are. For a tensor map more alignment than the driver wants does no harm.
constexpr Number kPlaces[] = {
    {"CuKernelNode", sizeof(CuKernelNode), sizeof(CUDA_KERNEL_NODE_PARAMS_v2)},
    {"alignment of CuKernelNode", alignof(CuKernelNode), alignof(CUDA_KERNEL_NODE_PARAMS_v2)},
    {"CuCopyNode", sizeof(CuCopyNode), sizeof(CUDA_MEMCPY3D)},
    {"alignment of CuCopyNode", alignof(CuCopyNode), alignof(CUDA_MEMCPY3D)},
    {"CuMemsetNode", sizeof(CuMemsetNode), sizeof(CUDA_MEMSET_NODE_PARAMS_v1)},
    {"alignment of CuMemsetNode", alignof(CuMemsetNode), alignof(CUDA_MEMSET_NODE_PARAMS_v1)},
    {"CuPoolProperties", sizeof(CuPoolProperties), sizeof(CUmemPoolProps)},
    {"alignment of CuPoolProperties", alignof(CuPoolProperties), alignof(CUmemPoolProps)},
    {"CuPoolAccess", sizeof(CuPoolAccess), sizeof(CUmemAccessDesc)},
    {"alignment of CuPoolAccess", alignof(CuPoolAccess), alignof(CUmemAccessDesc)},
    {"CuKernelNode.grid", offsetof(CuKernelNode, grid), offsetof(CUDA_KERNEL_NODE_PARAMS_v2, gridDimX)},
    {"CuKernelNode.block", offsetof(CuKernelNode, block), offsetof(CUDA_KERNEL_NODE_PARAMS_v2, blockDimX)},
    {"CuKernelNode.shared_bytes", offsetof(CuKernelNode, shared_bytes),
     offsetof(CUDA_KERNEL_NODE_PARAMS_v2, sharedMemBytes)},
    {"CuKernelNode.arguments", offsetof(CuKernelNode, arguments), offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kernelParams)},
    {"CuKernelNode.extra", offsetof(CuKernelNode, extra), offsetof(CUDA_KERNEL_NODE_PARAMS_v2, extra)},
    {"CuKernelNode.kernel", offsetof(CuKernelNode, kernel), offsetof(CUDA_KERNEL_NODE_PARAMS_v2, kern)},
    {"CuKernelNode.context", offsetof(CuKernelNode, context), offsetof(CUDA_KERNEL_NODE_PARAMS_v2, ctx)},
    {"CuCopySide.x_bytes", offsetof(CuCopySide, x_bytes), offsetof(CUDA_MEMCPY3D, srcXInBytes)},
    {"CuCopySide.lod", offsetof(CuCopySide, lod), offsetof(CUDA_MEMCPY3D, srcLOD)},
    {"CuCopySide.type", offsetof(CuCopySide, type), offsetof(CUDA_MEMCPY3D, srcMemoryType)},
    {"CuCopySide.host", offsetof(CuCopySide, host), offsetof(CUDA_MEMCPY3D, srcHost)},
    {"CuCopySide.device", offsetof(CuCopySide, device), offsetof(CUDA_MEMCPY3D, srcDevice)},
    {"CuCopySide.array", offsetof(CuCopySide, array), offsetof(CUDA_MEMCPY3D, srcArray)},
    {"CuCopySide.pitch", offsetof(CuCopySide, pitch), offsetof(CUDA_MEMCPY3D, srcPitch)},
    {"CuCopySide.height", offsetof(CuCopySide, height), offsetof(CUDA_MEMCPY3D, srcHeight)},
    {"CuCopyNode.dst", offsetof(CuCopyNode, dst), offsetof(CUDA_MEMCPY3D, dstXInBytes)},
    {"CuCopyNode.width_bytes", offsetof(CuCopyNode, width_bytes), offsetof(CUDA_MEMCPY3D, WidthInBytes)},
    {"CuCopyNode.height", offsetof(CuCopyNode, height), offsetof(CUDA_MEMCPY3D, Height)},
    {"CuCopyNode.depth", offsetof(CuCopyNode, depth), offsetof(CUDA_MEMCPY3D, Depth)},
    {"CuMemsetNode.dst", offsetof(CuMemsetNode, dst), offsetof(CUDA_MEMSET_NODE_PARAMS_v1, dst)},
    {"CuMemsetNode.pitch", offsetof(CuMemsetNode, pitch), offsetof(CUDA_MEMSET_NODE_PARAMS_v1, pitch)},
    {"CuMemsetNode.value", offsetof(CuMemsetNode, value), offsetof(CUDA_MEMSET_NODE_PARAMS_v1, value)},
    {"CuMemsetNode.element_bytes", offsetof(CuMemsetNode, element_bytes),
     offsetof(CUDA_MEMSET_NODE_PARAMS_v1, elementSize)},
    {"CuMemsetNode.width", offsetof(CuMemsetNode, width), offsetof(CUDA_MEMSET_NODE_PARAMS_v1, width)},
    {"CuMemsetNode.height", offsetof(CuMemsetNode, height), offsetof(CUDA_MEMSET_NODE_PARAMS_v1, height)},
    {"CuPoolProperties.location", offsetof(CuPoolProperties, location), offsetof(CUmemPoolProps, location)},
    {"CuPoolProperties.security", offsetof(CuPoolProperties, security),
     offsetof(CUmemPoolProps, win32SecurityAttributes)},
    {"CuPoolProperties.max_bytes", offsetof(CuPoolProperties, max_bytes), offsetof(CUmemPoolProps, maxSize)},
    {"CuPoolProperties.usage", offsetof(CuPoolProperties, usage), offsetof(CUmemPoolProps, usage)},
    {"CuPoolAccess.flags", offsetof(CuPoolAccess, flags), offsetof(CUmemAccessDesc, flags)},
    {"CuTensorMap", sizeof(CuTensorMap), sizeof(CUtensorMap)},
    {"CuTensorMap is aligned as it must be", alignof(CuTensorMap) % alignof(CUtensorMap), 0},
};
constexpr Number kNumbers[] = {
    {"kCuSuccess", kCuSuccess, CUDA_SUCCESS},
    {"kCuInvalidValue", kCuInvalidValue, CUDA_ERROR_INVALID_VALUE},
    {"kCuOutOfMemory", kCuOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY},
    {"kCuDeinitialized", kCuDeinitialized, CUDA_ERROR_DEINITIALIZED},
    {"kCuInvalidImage", kCuInvalidImage, CUDA_ERROR_INVALID_IMAGE},
    {"kCuInvalidContext", kCuInvalidContext, CUDA_ERROR_INVALID_CONTEXT},
    {"kCuNoBinaryForGpu", kCuNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU},
    {"kCuInvalidPtx", kCuInvalidPtx, CUDA_ERROR_INVALID_PTX},
    {"kCuNoPtxCompiler", kCuNoPtxCompiler, CUDA_ERROR_JIT_COMPILER_NOT_FOUND},
    {"kCuUnsupportedPtx", kCuUnsupportedPtx, CUDA_ERROR_UNSUPPORTED_PTX_VERSION},
    {"kCuPtxDisabled", kCuPtxDisabled, CUDA_ERROR_JIT_COMPILATION_DISABLED},
    {"kCuSymbolNotFound", kCuSymbolNotFound, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND},
    {"kCuObjectInit", kCuObjectInit, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED},
    {"kCuInvalidHandle", kCuInvalidHandle, CUDA_ERROR_INVALID_HANDLE},
    {"kCuIllegalState", kCuIllegalState, CUDA_ERROR_ILLEGAL_STATE},
    {"kCuLossyQuery", kCuLossyQuery, CUDA_ERROR_LOSSY_QUERY},
    {"kCuNotFound", kCuNotFound, CUDA_ERROR_NOT_FOUND},
    {"kCuNotReady", kCuNotReady, CUDA_ERROR_NOT_READY},
    {"kCuContextIsDestroyed", kCuContextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED},
    {"kCuNotPermitted", kCuNotPermitted, CUDA_ERROR_NOT_PERMITTED},
    {"kCuNotSupported", kCuNotSupported, CUDA_ERROR_NOT_SUPPORTED},
    {"kCuCaptureUnsupported", kCuCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED},
    {"kCuCaptureImplicit", kCuCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT},
    {"kCuCaptureWrongThread", kCuCaptureWrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD},
    {"kCuStreamNonBlocking", kCuStreamNonBlocking, CU_STREAM_NON_BLOCKING},
    {"kCuEventDisableTiming", kCuEventDisableTiming, CU_EVENT_DISABLE_TIMING},
    {"kCuAttributeProcessors", kCuAttributeProcessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {"kCuAttributeMajor", kCuAttributeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
    {"kCuAttributeMinor", kCuAttributeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
    {"kCuAttributeMostShared", kCuAttributeMostShared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {"kCuFunctionMostShared", kCuFunctionMostShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES},
    {"kCuMemoryHost", kCuMemoryHost, CU_MEMORYTYPE_HOST},
    {"kCuMemoryDevice", kCuMemoryDevice, CU_MEMORYTYPE_DEVICE},
    {"kCuPoolReleaseThreshold", kCuPoolReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD},
    {"kCuPoolReserved", kCuPoolReserved, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT},
    {"kCuPoolUsed", kCuPoolUsed, CU_MEMPOOL_ATTR_USED_MEM_CURRENT},
    {"kCuPointerContext", kCuPointerContext, CU_POINTER_ATTRIBUTE_CONTEXT},
    {"kCuPointerMemoryType", kCuPointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE},
    {"kCuPointerIsManaged", kCuPointerIsManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED},
    {"kCuPointerOrdinal", kCuPointerOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL},
    {"kCuPointerRangeStart", kCuPointerRangeStart, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR},
    {"kCuPointerRangeSize", kCuPointerRangeSize, CU_POINTER_ATTRIBUTE_RANGE_SIZE},
    {"kCuPointerPool", kCuPointerPool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE},
    {"kCuCaptureGlobal", kCuCaptureGlobal, CU_STREAM_CAPTURE_MODE_GLOBAL},
    {"kCuCaptureOfThread", kCuCaptureOfThread, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL},
    {"kCuCaptureRelaxed", kCuCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED},
    {"kCuCaptures", kCuCaptures, CU_STREAM_CAPTURE_STATUS_ACTIVE},
    {"kCuCaptureIsInvalid", kCuCaptureIsInvalid, CU_STREAM_CAPTURE_STATUS_INVALIDATED},
    {"kCuAddLast", kCuAddLast, CU_STREAM_ADD_CAPTURE_DEPENDENCIES},
    {"kCuSetLast", kCuSetLast, CU_STREAM_SET_CAPTURE_DEPENDENCIES},
    {"kCuTensorU8", kCuTensorU8, CU_TENSOR_MAP_DATA_TYPE_UINT8},
    {"kCuTensorU16", kCuTensorU16, CU_TENSOR_MAP_DATA_TYPE_UINT16},
    {"kCuTensorU32", kCuTensorU32, CU_TENSOR_MAP_DATA_TYPE_UINT32},
    {"kCuTensorNoInterleave", kCuTensorNoInterleave, CU_TENSOR_MAP_INTERLEAVE_NONE},
    {"kCuTensorSwizzle32", kCuTensorSwizzle32, CU_TENSOR_MAP_SWIZZLE_32B},
    {"kCuTensorSwizzle64", kCuTensorSwizzle64, CU_TENSOR_MAP_SWIZZLE_64B},
    {"kCuTensorSwizzle128", kCuTensorSwizzle128, CU_TENSOR_MAP_SWIZZLE_128B},
    {"kCuTensorPromote256", kCuTensorPromote256, CU_TENSOR_MAP_L2_PROMOTION_L2_256B},
    {"kCuTensorFillZeros", kCuTensorFillZeros, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE},
};
// Of conditional nodes, which CUDA 12.8 has all of.
constexpr Number kConditions[] = {
#if CUDA_VERSION >= 12080
    {"CuConditionalNode", sizeof(CuConditionalNode), sizeof(CUDA_CONDITIONAL_NODE_PARAMS)},
    {"alignment of CuConditionalNode", alignof(CuConditionalNode), alignof(CUDA_CONDITIONAL_NODE_PARAMS)},
    {"CuNode", sizeof(CuNode), sizeof(CUgraphNodeParams)},
    {"alignment of CuNode", alignof(CuNode), alignof(CUgraphNodeParams)},
    {"CuConditionalNode.condition", offsetof(CuConditionalNode, condition),
     offsetof(CUDA_CONDITIONAL_NODE_PARAMS, handle)},
    {"CuConditionalNode.type", offsetof(CuConditionalNode, type), offsetof(CUDA_CONDITIONAL_NODE_PARAMS, type)},
    {"CuConditionalNode.n_bodies", offsetof(CuConditionalNode, n_bodies), offsetof(CUDA_CONDITIONAL_NODE_PARAMS, size)},
    {"CuConditionalNode.bodies", offsetof(CuConditionalNode, bodies),
     offsetof(CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out)},
    {"CuConditionalNode.context", offsetof(CuConditionalNode, context), offsetof(CUDA_CONDITIONAL_NODE_PARAMS, ctx)},
    {"CuNode.conditional", offsetof(CuNode, conditional), offsetof(CUgraphNodeParams, conditional)},
    {"kCuNodeConditional", kCuNodeConditional, CU_GRAPH_NODE_TYPE_CONDITIONAL},
    {"kCuConditionIf", kCuConditionIf, CU_GRAPH_COND_TYPE_IF},
    {"kCuConditionWhile", kCuConditionWhile, CU_GRAPH_COND_TYPE_WHILE},
    {"kCuConditionSwitch", kCuConditionSwitch, CU_GRAPH_COND_TYPE_SWITCH},
#endif
    {"nothing", 0, 0},
};

TEST(CudaHeader, HasWhatDriverHDeclares) {
  for (const std::span<const Number> table : {std::span<const Number>(kPlaces), {kNumbers}, {kConditions}}) {
    for (const Number& n : table) EXPECT_EQ(n.ours, n.theirs) << n.name;
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>(LegacyStream()), reinterpret_cast<uintptr_t>(CU_STREAM_LEGACY));
}

}}  // namespace ricci::cuda
#endif
