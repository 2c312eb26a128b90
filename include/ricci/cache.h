/* ricci/cache.h: compiled code that outlives a process.
 *
 * Two kinds of entries. A whole executable, found by the program with its constants and source locations, and all that
 * compiling it depends on: it runs without a pass, lowering or code generation. It is of the build that made it: its
 * key has the build id (of the linker) of the file that holds the core and of those that hold the plugins. It is kept
 * if the backend can save its code (`cpu` does), unless a rule of the program could be something that no key describes:
 * a primitive or lowering that was registered outside of a plugin's attach, a plugin whose functions are in no file
 * with a build id, a batching rule of the host, or more than 256 MiB of constants. Rules may depend on their
 * operation, and on the code, version and options of their plugin, nothing else.
 *
 * And machine code: a backend that is about to generate code first asks for it by a key, all that the code depends on.
 * What it generates it stores. This finds code of a program whose lines have moved, or of another host.
 *
 * The entries are kept by the host's hooks (ricci_hooks.cache_load), or in a folder (the option
 * `cache_dir`), or nowhere, the default. Keys and entries are of the core: an entry says what it is of, and one that is
 * damaged, of another version or of another key counts as missing, and is replaced. So a cache can make a compilation
 * faster, but neither wrong nor fail. It is as trusted as the program itself: a process that may write there decides
 * what code runs.
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
  uint64_t stores, failed_stores; /* of ricci_cache_store; those to a folder that could not be written, of any kind */
  uint64_t evicted;               /* entries deleted from the folder, to keep to `cache_bytes` */
  uint64_t executable_hits, executable_misses, executable_stores; /* whole executables */
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

/* ---- folders (the option `cache_dir`); any process may use one meanwhile ---- */

enum { RICCI_CACHE_OF_CODE = 1, RICCI_CACHE_OF_EXECUTABLE = 2 }; /* ricci_cache_entry.kind; 0: it cannot be read */
typedef struct ricci_cache_entry {
  ricci_hdr hdr;
  ricci_str file;           /* its name in the folder */
  uint32_t kind, damaged;   /* damaged: 1 if it is not whole, or no entry of this version */
  uint64_t bytes, used_ns;  /* of the file; its last use, nanoseconds since 1970 */
  ricci_str program, about; /* of an executable, else empty: the program's name; what it depends on, as lines */
} ricci_cache_entry;

/* Calls `entry` for each entry of a folder, those used last first; all are read, which does not count as use. The texts
 * live until it returns. NOT_FOUND if there is no such folder. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_cache_list(const char* folder RICCI_LEN(len), size_t len,
                                                         void* sink RICCI_NULLABLE,
                                                         void (*entry)(void* sink, const ricci_cache_entry* e));
/* Deletes the entries of a folder, and what writers left unfinished, but nothing else. A later search for an entry
 * misses. `files` and `bytes`, which may be NULL: how much it was. NOT_FOUND if there is no such folder;
 * FAILED_PRECONDITION with the first entry that cannot be deleted, after all others are. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_cache_clear(const char* folder RICCI_LEN(len), size_t len,
                                                          uint64_t* files RICCI_NULLABLE,
                                                          uint64_t* bytes RICCI_NULLABLE);

#ifdef __cplusplus
}
#endif
#endif
