/* ricci/ricci.h: all that a host needs of the C ABI, in one include. */
#ifndef RICCI_RICCI_H_
#define RICCI_RICCI_H_
#include "ricci/array.h"
#include "ricci/array_file.h"
#include "ricci/base.h"
#include "ricci/build.h"
#include "ricci/cache.h"
#include "ricci/callback.h"
#include "ricci/context.h"
#include "ricci/debug.h"
#include "ricci/device.h"
#include "ricci/dlpack.h"
#include "ricci/executable.h"
#include "ricci/file.h"
#include "ricci/plugin.h"
#include "ricci/stream.h"
#include "ricci/transform.h"
#ifdef __cplusplus
extern "C" {
#endif
/* The built-in primitives (jax.lax) as a statically linked plugin, part of libricci.a. */
RICCI_API ricci_status* ricci_plugin_query_lax(const ricci_host_info* host, const ricci_plugin** out);
/* The built-in neural primitives (plugins/nn), which are made of those of lax, as a statically linked plugin, part of
 * libricci.a. */
RICCI_API ricci_status* ricci_plugin_query_nn(const ricci_host_info* host, const ricci_plugin** out);
/* The LLVM CPU backend as a statically linked plugin: link ricci::cpu. */
RICCI_API ricci_status* ricci_plugin_query_cpu(const ricci_host_info* host, const ricci_plugin** out);
/* The backend for NVIDIA GPUs as a statically linked plugin: link ricci::cuda. Attaching it is NOT_FOUND, and changes
 * nothing, on a machine without a driver (CUDA 12 or later), NVRTC or a GPU. */
RICCI_API ricci_status* ricci_plugin_query_cuda(const ricci_host_info* host, const ricci_plugin** out);
#ifdef __cplusplus
}
#endif
#endif
