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
/* The first device of that kind, which has ordinal 0, borrowed; NULL if there is none. */
RICCI_API ricci_device* ricci_device_find(const ricci_ctx* c RICCI_NULLABLE, const char* kind RICCI_LEN(len),
                                          size_t len) RICCI_BORROWED(c) RICCI_NULLABLE;
/* Fills `out`; out->hdr.size must be set. */
RICCI_API void ricci_device_info(const ricci_device* d RICCI_NULLABLE,
                                 ricci_device_desc* out RICCI_NULLABLE RICCI_BORROWED(d));
/* Bytes of its memory, now; on `ref` and `cpu` those of the machine. UNIMPLEMENTED if the backend does not report
 * them. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_device_memory(const ricci_device* d, uint64_t* total_bytes,
                                                            uint64_t* free_bytes);

#ifdef __cplusplus
}
#endif
#endif
