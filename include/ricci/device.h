/* ricci/device.h: the devices of a context. Those of the plugin added last come first, in the order in which it
 * registered them; `ref` comes last. So device 0 is the best. */
#ifndef RICCI_DEVICE_H_
#define RICCI_DEVICE_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct ricci_device_desc {
  ricci_hdr hdr;
  ricci_str kind;        /* `ref`, `cpu`, `cuda`; borrowed from the device */
  ricci_str name;        /* of the hardware; borrowed */
  int32_t ordinal;       /* among the devices of its kind, in the order of the context */
  uint32_t workers;      /* threads that run one program */
  uint32_t host_memory;  /* 1: its memory is the host's: any pointer of the host may be bound or wrapped */
  uint32_t host_visible; /* 1: the host can read and write its memory */
  uint32_t alignment;    /* of what is allocated there */
  uint32_t reserved0;
} ricci_device_desc;

RICCI_API uint32_t ricci_device_count(const ricci_ctx* c RICCI_NULLABLE);
/* Borrowed; NULL when `i` is out of range. */
RICCI_API ricci_device* ricci_device_get(const ricci_ctx* c RICCI_NULLABLE, uint32_t i)
    RICCI_BORROWED(c) RICCI_NULLABLE;
/* The first device of that kind, which has ordinal 0, or the one with that name, such as `cuda:1` where there are
 * several of the kind; borrowed; NULL if there is none. */
RICCI_API ricci_device* ricci_device_find(const ricci_ctx* c RICCI_NULLABLE, const char* kind RICCI_LEN(len),
                                          size_t len) RICCI_BORROWED(c) RICCI_NULLABLE;
/* Fills `out`; out->hdr.size must be set. */
RICCI_API void ricci_device_info(const ricci_device* d RICCI_NULLABLE,
                                 ricci_device_desc* out RICCI_NULLABLE RICCI_BORROWED(d));
/* Bytes of its memory, now; on `ref` and `cpu` those of the machine. UNIMPLEMENTED if the backend does not report
 * them. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_device_memory(const ricci_device* d, uint64_t* total_bytes,
                                                            uint64_t* free_bytes);

/* What is allocated there for arrays, for the working memory of programs (an executable keeps some for its next run)
 * and for constants that were copied to it; not memory that was wrapped or came by DLPack. Bytes are those asked for.
 */
typedef struct ricci_memory_stats {
  ricci_hdr hdr;
  uint64_t bytes_in_use;
  uint64_t peak_bytes_in_use; /* the most that were in use at once, so far */
  /* What the backend holds for this, in use or not; bytes_in_use where it keeps nothing more. */
  uint64_t bytes_reserved;
  uint64_t bytes_limit;        /* ricci_device_set_memory_limit; 0: none */
  uint64_t largest_allocation; /* in bytes, so far */
  uint64_t n_allocations;      /* so far */
} ricci_memory_stats;

/* Fills `out`; out->hdr.size must be set. The figures belong together only if no other thread allocates. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_device_memory_stats(const ricci_device* d, ricci_memory_stats* out);
/* From now on an allocation after which more than `bytes` would be in use is RESOURCE_EXHAUSTED with both figures, and,
 * for the working memory of a run, with the largest buffers of the program; what is in use stays. 0: no limit. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_device_set_memory_limit(ricci_device* d, uint64_t bytes) RICCI_ANY_THREAD;
/* Gives what the backend keeps but nothing uses back to the system, until it holds no more than `keep_bytes`. The
 * working memory that an executable keeps for its next run counts as used. Memory
 * that was freed in a stream counts as unused once the stream has come that far (ricci_stream_synchronize). */
RICCI_API RICCI_NODISCARD ricci_status* ricci_device_trim(ricci_device* d, uint64_t keep_bytes) RICCI_ANY_THREAD;

#ifdef __cplusplus
}
#endif
#endif
