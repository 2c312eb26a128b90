/* ricci/array_file.h: arrays in files of other programs: .npy and .npz of NumPy, and safetensors.
 *
 * Reading gives names, types and elements in host memory; ricci_array_from_host makes an array of them. Elements are
 * row-major and little-endian: arrays in Fortran order or big-endian are converted as they are read.
 *
 *   npy          one array without a name: bool, integers, f16, bf16 (as jax.numpy does), f32, f64, c64, c128; also
 *                f8e5m2 is read
 *   npz          arrays with names, the same types, up to 4 GB; also deflated ones are read
 *   safetensors  arrays with names: bool, integers, f16, bf16, f32, f64, c64, f8e4m3fn, f8e5m2, f8e8m0fnu
 *
 * Errors of reading: NOT_FOUND if there is no such file; FAILED_PRECONDITION if the system refuses; INVALID_ARGUMENT if
 * it is not such a file; UNIMPLEMENTED for an element type or compression that is not supported, by its name (deflate
 * in a build without zlib); DATA_LOSS if it is damaged or cut short. Bytes from anywhere are safe to read. They take no
 * more memory than they are, deflated ones at most 1032 times that, the most that deflate can save. */
#ifndef RICCI_ARRAY_FILE_H_
#define RICCI_ARRAY_FILE_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct ricci_array_file ricci_array_file; /* the contents of a file; one owner */

enum {
  RICCI_ARRAYS_BY_ENDING = 0, /* of the path, for writing: .npy, .npz, .safetensors */
  RICCI_ARRAYS_NPY = 1,
  RICCI_ARRAYS_NPZ = 2,
  RICCI_ARRAYS_SAFETENSORS = 3
};

/* One array of a file. An element of arrays: it never changes within a major version. */
typedef struct ricci_named_array {
  ricci_str name; /* UTF-8; empty in npy */
  uint32_t dtype; /* RICCI_F32, ...; also those that only files have */
  uint32_t rank;
  const int64_t* dims; /* [rank] */
  const void* data;    /* of any alignment */
  uint64_t bytes;
} ricci_named_array;

/* Reads a file of any of the formats, which its first bytes show. Its memory is that of the context. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_file_load(ricci_ctx* c, const char* path RICCI_LEN(len), size_t len,
                                                              ricci_array_file** out RICCI_OWNED) RICCI_ANY_THREAD;
/* RICCI_ARRAYS_NPY, ...; 0 for NULL. */
RICCI_API uint32_t ricci_array_file_format(const ricci_array_file* f RICCI_NULLABLE);
RICCI_API uint32_t ricci_array_file_count(const ricci_array_file* f RICCI_NULLABLE);
/* Array `i`, in the order of the file. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_file_get(const ricci_array_file* f, uint32_t i,
                                                             ricci_named_array* out RICCI_BORROWED(f));
RICCI_API void ricci_array_file_release(ricci_array_file* f RICCI_NULLABLE RICCI_OWNED);
/* Writes `arrays`; npy takes one, and leaves out its name. The file is complete when it appears at `path`. The same
 * arrays always give the same bytes. INVALID_ARGUMENT if the format has no such element type, if a name is missing or
 * there twice, or if `bytes` is not what type and shape take. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_array_file_save(const char* path RICCI_LEN(len), size_t len,
                                                              uint32_t format,
                                                              const ricci_named_array* arrays RICCI_LEN(n), uint32_t n);

#ifdef __cplusplus
}
#endif
#endif
