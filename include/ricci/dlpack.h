/* ricci/dlpack.h: arrays shared with other libraries without a copy, as tensors of DLPack 1 (dmlc.github.io/dlpack).
 *
 * A host that looks into tensors includes DLPack's own dlpack/dlpack.h, which has the struct; here it is only named.
 * Arrays in memory of the host (`cpu`, `ref`) and of GPUs (`cuda`: kDLCUDA) can be shared; element types are bool,
 * integers, floats of 8 to 64 bits, c64 and c128.
 *
 * On a GPU the work that writes an array may be under way. The functions with `_on` hand that over in a stream and do
 * not wait; the others wait. As DLPack has it, a tensor's deleter is called when no work uses its memory any more. */
#ifndef RICCI_DLPACK_H_
#define RICCI_DLPACK_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

struct DLManagedTensorVersioned;
typedef struct DLManagedTensorVersioned ricci_dlpack; /* one owner, who calls its deleter */

/* Waits until the array is written, then gives a read-only tensor over its memory, which lives until its deleter is
 * called, on any thread. UNIMPLEMENTED if memory of the device is not shared, or for dtypes `key` and `f4e2m1fn`. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_to_dlpack(const ricci_array* a, ricci_dlpack** out RICCI_OWNED);
/* An array over the memory of `t`, which it takes over: the deleter is called once when the last reference is gone. The
 * data must not change while the array lives. A tensor that is read-only, empty, or not aligned to its elements is
 * copied and deleted at once; that of another is given up for good when the array is donated. INVALID_ARGUMENT unless
 * it is row-major without gaps, in memory of the device, and of a dtype that has arrays; FAILED_PRECONDITION for
 * another major version than 1. What wrote it must have ended. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_from_dlpack(ricci_device* d, ricci_dlpack* t RICCI_OWNED,
                                                                ricci_array** out RICCI_OWNED) RICCI_ANY_THREAD;
/* The same in the order of a stream: nothing waits, except for what is copied (read-only, not aligned) and for the
 * release of memory that is shared. Of an array: what is enqueued to `s` (which may be of the host: ricci_stream_wrap)
 * from now on begins after what writes it; NULL: the caller sees to that. Of a tensor: work that was enqueued to `s`
 * before, a stream of the device, may still write it; NULL: it has ended. A run that fails reports that to the arrays
 * of Ricci alone: the contents of a tensor are undefined then. Who drops a tensor sees to it that its work on the
 * memory has ended. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_to_dlpack_on(const ricci_array* a, ricci_stream* s RICCI_NULLABLE,
                                                                 ricci_dlpack** out RICCI_OWNED);
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_from_dlpack_on(ricci_device* d, ricci_stream* s RICCI_NULLABLE,
                                                                   ricci_dlpack* t RICCI_OWNED,
                                                                   ricci_array** out RICCI_OWNED) RICCI_ANY_THREAD;

#ifdef __cplusplus
}
#endif
#endif
