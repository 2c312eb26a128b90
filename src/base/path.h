// Paths as callers give them: a pointer and a length, so they may hold a NUL, where the system would cut them off.
#ifndef RICCI_BASE_PATH_H_
#define RICCI_BASE_PATH_H_
#include <string_view>

#include "base/status.h"

namespace ricci { inline namespace v0 { namespace base {

// INVALID_ARGUMENT if `path` holds a NUL. `what` names the function and argument, or the option.
inline absl::Status CheckPath(std::string_view what, std::string_view path) {
  const size_t at = path.find('\0');
  if (at == path.npos) return absl::OkStatus();
  return InvalidArgument(what, " has a NUL at byte ", at, ", which no path may hold");
}

}}}  // namespace ricci::v0::base
#endif
