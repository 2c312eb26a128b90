// Plugins: how a query function, of this process or of a shared object, becomes an attached plugin.
//
// Before 1.0 the versions must be equal. The file of a shared object is checked before it is opened (plugin_file.h).
// A shared object is opened with RTLD_LOCAL and RTLD_NODELETE: its symbols stay its own, and code that a thread may
// still be running is never unmapped.
#ifndef RICCI_RUNTIME_PLUGIN_LOADER_H_
#define RICCI_RUNTIME_PLUGIN_LOADER_H_
#include <string>

#include "runtime/context/context.h"

namespace ricci { inline namespace v0 { namespace runtime {

// `api` is the table through which plugins outside this binary call the core.
absl::Status AddPlugin(Context& context, ricci_plugin_query_fn query, const ricci_api* api);
absl::Status LoadPlugin(Context& context, const std::string& path, const ricci_api* api);

}}}  // namespace ricci::v0::runtime
#endif
