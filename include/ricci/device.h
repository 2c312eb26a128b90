/* ricci/device.h: the devices of a context. Device 0 is the best one: that of the plugin added last, else `ref`. */
#ifndef RICCI_DEVICE_H_
#define RICCI_DEVICE_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct ricci_device_desc {
  ricci_hdr hdr;
  ricci_str kind; /* `ref`, `cpu`, `cuda`; borrowed from the device */
  ricci_str name; /* of the hardware; borrowed */
  int32_t ordinal;
  uint32_t workers; /* threads that run one program */
} ricci_device_desc;

RICCI_API uint32_t ricci_device_count(const ricci_ctx* c);
/* Borrowed; NULL when `i` is out of range. */
RICCI_API ricci_device* ricci_device_get(const ricci_ctx* c, uint32_t i);
/* First device of that kind, borrowed; NULL if there is none. */
RICCI_API ricci_device* ricci_device_find(const ricci_ctx* c, const char* kind, size_t len);
/* Fills `out`; out->hdr.size must be set. */
RICCI_API void ricci_device_info(const ricci_device* d, ricci_device_desc* out);

#ifdef __cplusplus
}
#endif
#endif
