/* ricci/context.h: the context and the hooks through which it uses the host. */
#ifndef RICCI_CONTEXT_H_
#define RICCI_CONTEXT_H_
#include "ricci/base.h"
#include "ricci/plugin.h"
#ifdef __cplusplus
extern "C" {
#endif

enum { RICCI_LOG_DEBUG = 0, RICCI_LOG_INFO = 1, RICCI_LOG_WARNING = 2, RICCI_LOG_ERROR = 3 };

/* Every member may be NULL; the defaults are malloc, the CPU plugin's own pool, no log, the devices' own memory, no
 * cache. Hooks outlive every object of the context. */
typedef struct ricci_hooks {
  ricci_hdr hdr;
  void* alloc_self;
  void* (*alloc)(void* self, size_t size, size_t align); /* NULL on failure; any thread */
  void (*free)(void* self, void* p, size_t size, size_t align);
  void* exec_self;
  uint32_t exec_workers, reserved0; /* how many threads parallel_for may use at once, at least 1 */
  /* Runs fn(arg, i) for i in [0, n), in any order on any threads; returns when all are done. */
  void (*parallel_for)(void* self, int64_t n, void (*fn)(void* arg, int64_t i), void* arg);
  void* log_self;
  void (*log)(void* self, uint32_t level, const char* msg, size_t len);
  /* Memory of devices that have memory of their own, in place of the backend's alloc and free; both or neither. They
   * keep the same contract (ricci/backend.h): memory of the same driver, aligned, in the order of the native stream. */
  void* device_self;
  ricci_status* (*device_alloc)(void* self, ricci_device* d, uint64_t bytes, uint64_t alignment, void* stream,
                                void** out);
  void (*device_free)(void* self, ricci_device* d, void* p, uint64_t bytes, void* stream);
  /* Compiled code that outlives the process (ricci/cache.h), in place of a folder; both or neither. Any thread, several
   * at once. Keys are of 32 bytes, and equal only for equal code; entries are checked when they come back, so any bytes
   * may. cache_load passes the entry of the key to `write`, in one call or in several, or does not call it. cache_store
   * may keep the entry or not, and may replace an older one. */
  void* cache_self;
  void (*cache_load)(void* self, const void* key, size_t key_len, void* sink,
                     void (*write)(void* sink, const char* p, size_t n));
  void (*cache_store)(void* self, const void* key, size_t key_len, const void* entry, size_t len);
} ricci_hooks;

typedef struct ricci_context_opts {
  ricci_hdr hdr;
  const ricci_hooks* hooks; /* copied; NULL = defaults */
} ricci_context_opts;
static inline ricci_context_opts ricci_context_opts_default(void) {
  ricci_context_opts o = {{sizeof(ricci_context_opts), 0, NULL}, NULL};
  return o;
}

/* A new context with the reference backend and no plugin; `o` may be NULL. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_context_create(const ricci_context_opts* o RICCI_NULLABLE,
                                                             ricci_ctx** out RICCI_OWNED);
RICCI_API ricci_ctx* ricci_context_retain(ricci_ctx* c RICCI_NULLABLE) RICCI_OWNED RICCI_ANY_THREAD;
/* The context goes when its last reference and the last object made from it are gone. */
RICCI_API void ricci_context_release(ricci_ctx* c RICCI_NULLABLE RICCI_OWNED) RICCI_ANY_THREAD;
/* Registers a plugin of this process (static, Rust, Julia). Not while other threads use the context. Adding it twice is
 * an error.
 */
RICCI_API RICCI_NODISCARD ricci_status* ricci_context_add_plugin(ricci_ctx* c, ricci_plugin_query_fn query);
/* Loads a shared object and registers it; it is never unloaded. Not while other threads use the context. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_context_load_plugin(ricci_ctx* c, const char* path RICCI_LEN(len),
                                                                  size_t len);
/* Options: `threads` (0 = all), `log_compiles` (0, 1), `dump_dir` (path; every stage of each compilation is written
 * there), `vmap`: how mapped programs run. `batched`: as operations on whole batches, several kernels and library
 * calls; `lanes`: as one kernel in which each element of the batch runs the program by itself, with branches and trip
 * counts of its own; `auto`: whichever the device estimates to be cheaper, the right choice unless a measurement says
 * otherwise. A program with a check in a branch always runs in lanes, one with an operation that no kernel can hold is
 * always batched: results never depend on this option beyond rounding. The dump `decisions` of an executable shows what
 * was chosen and why. `cache_dir`: a folder in which executables and compiled code are kept for other contexts and
 * processes (ricci/cache.h), made when it is first written to; nothing: none, the default. `cache_bytes`: about how
 * large its files may be together (1073741824 unless set; 0: no limit); the ones used least recently go first. Unknown
 * keys and values are errors that list the known ones. `PLUGIN.KEY` is an option of a plugin
 * (`cuda.arch`), set before the plugin is added, which refuses keys that it does not know. A call that fails changes
 * nothing. Any thread, also within a callback; no lock is held while a backend is called. */
RICCI_API RICCI_NODISCARD ricci_status* ricci_context_config(ricci_ctx* c, const char* key RICCI_LEN(key_len),
                                                             size_t key_len, const char* value RICCI_LEN(value_len),
                                                             size_t value_len) RICCI_ANY_THREAD;
/* For `attach` of a plugin, which asks for each of its options once: the value that was set for `key`, `cuda.arch` for
 * the plugin `cuda`; 0 if none was. The text lives until attach returns. When it does, an option of the plugin that was
 * set and not asked for is an error of adding the plugin, which lists those it asked for. Not while other threads use
 * the context. */
RICCI_API uint32_t ricci_context_option(ricci_ctx* c RICCI_NULLABLE, const char* key RICCI_NULLABLE RICCI_LEN(key_len),
                                        size_t key_len, ricci_str* value RICCI_NULLABLE RICCI_BORROWED(c));

#ifdef __cplusplus
}
#endif
#endif
