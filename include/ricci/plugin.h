/* ricci/plugin.h: how a plugin enters a context.
 *
 * A plugin is one function, `ricci_plugin_query`. A shared object exports exactly that name; a statically linked plugin
 * calls it ricci_plugin_query_<name> and the host passes it to ricci_context_add_plugin. Plugins never link the core:
 * in a shared object every ricci_* function is a slot of the table that the core hands over (api_table.h), so one
 * source builds both ways. Compiled with RICCI_PLUGIN_DSO defined, the names are the slots; ricci_add_plugin (CMake)
 * instead links functions of these names that call through the slots.
 */
#ifndef RICCI_PLUGIN_H_
#define RICCI_PLUGIN_H_
#include "ricci/base.h"
#ifdef __cplusplus
extern "C" {
#endif

struct ricci_api; /* the table of all functions, in api_table.h */

typedef struct ricci_host_info {
  ricci_hdr hdr;
  uint32_t abi_major, abi_minor;
  uint64_t features[4];
  const struct ricci_api* api;
} ricci_host_info;

typedef struct ricci_plugin {
  ricci_hdr hdr;
  uint32_t abi_major, abi_minor; /* what it was compiled against; before 1.0 both must equal the host's */
  uint64_t needs_features[4];    /* the host refuses the plugin if it lacks one */
  ricci_str name, version;
  void* self;
  ricci_status* (*attach)(void* self, ricci_ctx* c); /* once per context: register rows, lowerings, a backend */
  void (*detach)(void* self, ricci_ctx* c);          /* all objects of the context are gone; may be NULL */
} ricci_plugin;

typedef ricci_status* (*ricci_plugin_query_fn)(const ricci_host_info* host, const ricci_plugin** out);

/* An ELF note in every shared object that is a plugin. The core reads it from the file, so that a plugin built for
 * another version, or with a sanitizer that the host lacks, is refused before any of its code runs. In C and C++ it is
 * there as soon as a file includes this header with RICCI_PLUGIN_DSO defined; several equal ones are fine. */
typedef struct ricci_plugin_note {
  uint32_t name_size, desc_size, type; /* 6, 16, 1 */
  char name[8];                        /* "Ricci", padded with zeros */
  uint32_t abi_major, abi_minor;
  uint32_t pointer_bytes;
  uint32_t sanitizers; /* 1: address, 2: thread */
} ricci_plugin_note;

enum {
#if defined(__SANITIZE_ADDRESS__)
  RICCI_SANITIZERS = 1
#elif defined(__SANITIZE_THREAD__)
  RICCI_SANITIZERS = 2
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
  RICCI_SANITIZERS = 1
#elif __has_feature(thread_sanitizer)
  RICCI_SANITIZERS = 2
#else
  RICCI_SANITIZERS = 0
#endif
#else
  RICCI_SANITIZERS = 0
#endif
};

#ifdef RICCI_PLUGIN_DSO
static const ricci_plugin_note ricci_this_plugin __attribute__((used, section(".note.ricci"), aligned(4))) = {
    6, 16, 1, "Ricci", RICCI_TARGET_ABI >> 16, RICCI_TARGET_ABI & 0xffff, sizeof(void*), RICCI_SANITIZERS};
#endif

#ifdef __cplusplus
}
#endif
#endif
