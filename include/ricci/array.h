/* ricci/array.h: typed data on a device, dense and row-major.
 *
 * A run may still be writing an array when it is handed out (ricci_executable_enqueue). It is used like any other: a
 * run that takes it begins after that run, and reading it on the host waits. If the run fails, the array has no data,
 * and those that wait for it or use it get the run's status.
 *
 * As in JAX, an array is committed to its device or not. An argument on another device than that of the run is copied
 * to it if it is not committed, and is an error if it is. Results are committed if an argument was, or if the program
 * was compiled for a device by name. */
#ifndef RICCI_ARRAY_H_
#define RICCI_ARRAY_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { RICCI_ARRAY_UNCOMMITTED = 1u << 0 }; /* ricci_array_opts.hdr.flags */
enum { RICCI_MEMORY_DEVICE = 0 };           /* ricci_array_opts.memory_kind */
typedef struct ricci_array_opts {
  ricci_hdr hdr;
  ricci_stream* stream; /* of the device: the array is made in its order; NULL: the device's own */
  uint32_t memory_kind, reserved0;
} ricci_array_opts;
static inline ricci_array_opts ricci_array_opts_default(void) {
  ricci_array_opts o = {{sizeof(ricci_array_opts), 0, NULL}, NULL, RICCI_MEMORY_DEVICE, 0};
  return o;
}

/* Copies `data`, host memory of as many bytes as the type has, into a new array; `data` may be reused at once. `o` may
 * be NULL. The new memory is aligned as the device requires: to 64 bytes on `ref` and `cpu`. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_from_host(ricci_device* d, ricci_type t,
                                                              const void* data RICCI_LEN_OF(bytes, t),
                                                              const ricci_array_opts* o RICCI_NULLABLE,
                                                              ricci_array** out RICCI_OWNED) RICCI_ANY_THREAD;
/* Takes `data`, memory of the device aligned to its element type, without a copy; whatever wrote it must have ended, or
 * have been enqueued to the stream of `o`.
 * `drop(arg)` runs once when the last reference is gone and no run uses it any more, on any thread; `drop` may be NULL.
 */
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_wrap(ricci_device* d, ricci_type t,
                                                         void* data RICCI_LEN_OF(bytes, t) RICCI_KEPT(out),
                                                         void (*drop)(void* arg) RICCI_NULLABLE RICCI_KEPT(out),
                                                         void* arg RICCI_NULLABLE RICCI_KEPT(out),
                                                         const ricci_array_opts* o RICCI_NULLABLE,
                                                         ricci_array** out RICCI_OWNED) RICCI_ANY_THREAD;
/* A copy on device `d`, committed to it (JAX: device_put); one more reference to `a` if it is there already. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_device_put(const ricci_array* a, ricci_device* d,
                                                         ricci_array** out RICCI_OWNED) RICCI_ANY_THREAD;
/* Waits, then copies to the host; `bytes` must equal ricci_array_bytes. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_copy_to_host(const ricci_array* a, void* dst RICCI_LEN(bytes),
                                                                 size_t bytes);
/* Waits until the run that writes it has ended. Returns the failure of that run, or FAILED_PRECONDITION if the array
 * was donated. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_wait(const ricci_array* a);
/* Whether ricci_array_wait would not wait; 1 for NULL. */
RICCI_API uint32_t ricci_array_is_ready(const ricci_array* a RICCI_NULLABLE);
RICCI_API uint32_t ricci_array_is_committed(const ricci_array* a RICCI_NULLABLE);
RICCI_API ricci_type ricci_array_type(const ricci_array* a RICCI_NULLABLE);
RICCI_API uint64_t ricci_array_bytes(const ricci_array* a RICCI_NULLABLE);
/* Waits, then gives the address of the data for reading, borrowed while the array lives. NULL if the host cannot read
 * the device's memory, after donation, and if the run that should have written it failed. */
RICCI_API const void* ricci_array_data(const ricci_array* a RICCI_NULLABLE) RICCI_BORROWED(a) RICCI_NULLABLE;
/* The address in the device's memory, for binding or wrapping. Does not wait; NULL after donation. */
RICCI_API void* ricci_array_device_data(const ricci_array* a RICCI_NULLABLE) RICCI_BORROWED(a) RICCI_NULLABLE;
RICCI_API ricci_device* ricci_array_device(const ricci_array* a RICCI_NULLABLE) RICCI_BORROWED(a);
/* The number of parts of the array that are on devices of their own; 1 today. */
RICCI_API uint32_t ricci_array_shard_count(const ricci_array* a RICCI_NULLABLE);
RICCI_API ricci_array* ricci_array_retain(ricci_array* a RICCI_NULLABLE) RICCI_OWNED RICCI_ANY_THREAD;
RICCI_API void ricci_array_release(ricci_array* a RICCI_NULLABLE RICCI_OWNED) RICCI_ANY_THREAD;

#ifdef __cplusplus
}
#endif
#endif
