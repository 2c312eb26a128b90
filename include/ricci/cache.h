/* ricci/cache.h: compiled code that outlives a process.
 *
 * A backend that is about to generate code first asks for it by a key: all that the code depends on. What it generates
 * it stores. The entries are kept by the host's hooks (ricci_hooks.cache_load), or in a folder (the option
 * `cache_dir`), or nowhere, the default. Keys and entries are of the core: an entry says what it is of, and one that is
 * damaged, of another version or of another key counts as missing, and is replaced. So a cache can make a compilation
 * faster, but neither wrong nor fail. It is as trusted as the program itself: whoever may write there decides what code
 * runs.
 */
#ifndef RICCI_CACHE_H_
#define RICCI_CACHE_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

typedef struct ricci_cache_stats { /* since the context was created */
  ricci_hdr hdr;
  uint64_t hits, misses;          /* of ricci_cache_load */
  uint64_t refused;               /* misses where there was an entry, which was damaged or of something else */
  uint64_t stores, failed_stores; /* of ricci_cache_store; those to a folder that could not be written */
  uint64_t evicted;               /* entries deleted from the folder, to keep to `cache_bytes` */
} ricci_cache_stats;

/* Fills `out`; out->hdr.size must be set. */
RICCI_API void ricci_cache_info(const ricci_ctx* c RICCI_NULLABLE, ricci_cache_stats* out RICCI_NULLABLE);

/* ---- for backends ---- */

/* Whether anything is kept: if not, keys need not be made. */
RICCI_API uint32_t ricci_cache_is_on(const ricci_ctx* c RICCI_NULLABLE);
/* Passes what was stored for `key` to `write`, in one call, and returns 1; 0 if there is nothing. */
RICCI_API uint32_t ricci_cache_load(ricci_ctx* c RICCI_NULLABLE, const void* key RICCI_NULLABLE RICCI_LEN(key_len),
                                    size_t key_len, void* sink RICCI_NULLABLE,
                                    void (*write)(void* sink, const char* p RICCI_LEN(n), size_t n)
                                        RICCI_NULLABLE) RICCI_ANY_THREAD;
/* Keeps `len` bytes for `key`, in place of what is there. */
RICCI_API void ricci_cache_store(ricci_ctx* c RICCI_NULLABLE, const void* key RICCI_NULLABLE RICCI_LEN(key_len),
                                 size_t key_len, const void* code RICCI_NULLABLE RICCI_LEN(len),
                                 size_t len) RICCI_ANY_THREAD;

#ifdef __cplusplus
}
#endif
#endif
