// Options of a context: set by ricci_context_config as text, read by compilation.
//
// There is one table of keys, so that error messages list exactly the keys that work.
#ifndef RICCI_RUNTIME_OPTIONS_H_
#define RICCI_RUNTIME_OPTIONS_H_
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "transform/vmap_schedule.h"

namespace ricci { inline namespace v0 { namespace runtime {

struct ContextOptions {
  uint32_t threads = 0;                      // of one run; 0 = all
  bool log_compiles = false;                 // one log line per compilation
  std::string dump_dir;                      // where every stage of each compilation is written; empty = nowhere
  std::string cache_dir;                     // where compiled code is kept (code_cache.h); empty = nowhere
  uint64_t cache_bytes = uint64_t{1} << 30;  // of its files; 0 = no limit
  transform::Schedule vmap = transform::Schedule::kAuto;
  std::map<std::string, std::string> of_plugins;  // `cuda.arch`: read by the plugin `cuda` when it is attached
};

// INVALID_ARGUMENT for an unknown key (lists the known ones) or value (says what the key takes).
absl::Status SetOption(ContextOptions& options, std::string_view key, std::string_view value);

}}}  // namespace ricci::v0::runtime
#endif
