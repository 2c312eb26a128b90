/* ricci/array.h: typed data on a device, dense and row-major, aligned to 64 bytes when the core allocates it. */
#ifndef RICCI_ARRAY_H_
#define RICCI_ARRAY_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

/* Copies `data` (as many bytes as the type has) into a new array. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_from_host(ricci_device* d, ricci_type t, const void* data,
                                                              ricci_array** out);
/* Takes `data` without a copy; `drop(arg)` runs once when the last reference is gone, on any thread. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_wrap(ricci_device* d, ricci_type t, void* data,
                                                         void (*drop)(void* arg), void* arg, ricci_array** out);
/* Copies out; `bytes` must equal ricci_array_bytes. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_copy_to_host(const ricci_array* a, void* dst, size_t bytes);
RICCI_API ricci_type ricci_array_type(const ricci_array* a);
RICCI_API uint64_t ricci_array_bytes(const ricci_array* a);
/* Address of the data for reading, borrowed while the array lives (host memory on `ref` and `cpu`); NULL after
 * donation. */
RICCI_API const void* ricci_array_data(const ricci_array* a);
RICCI_API ricci_device* ricci_array_device(const ricci_array* a);
RICCI_API ricci_array* ricci_array_retain(ricci_array* a);
RICCI_API void ricci_array_release(ricci_array* a);

#ifdef __cplusplus
}
#endif
#endif
