// What the file of a plugin says about it before any of its code runs.
#ifndef RICCI_RUNTIME_PLUGIN_FILE_H_
#define RICCI_RUNTIME_PLUGIN_FILE_H_
#include <string>

#include "base/status.h"

namespace ricci { inline namespace v0 { namespace runtime {

// OK if `path` is a complete shared object for this machine whose note (ricci_plugin_note) fits this core.
absl::Status CheckPluginFile(const std::string& path);
// FAILED_PRECONDITION unless the version is that of this core.
absl::Status CheckPluginAbi(std::string_view plugin, uint32_t major, uint32_t minor);

}}}  // namespace ricci::v0::runtime
#endif
