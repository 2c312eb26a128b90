/* ricci/plugin.h: how a plugin enters a context.
 *
 * A plugin is one function, `ricci_plugin_query`. A shared object exports exactly that name; a statically linked plugin
 * calls it ricci_plugin_query_<name> and the host passes it to ricci_context_add_plugin. Plugins never link the core: a
 * shared object is compiled with RICCI_PLUGIN_DSO defined, which maps every ricci_* function to a slot of the table
 * that the core hands over (api_table.h), so one source builds both ways.
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

#ifdef __cplusplus
}
#endif
#endif
