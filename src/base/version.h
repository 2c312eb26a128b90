// The version of the library, as files record it; `ricci_build_info` reports the same.
#ifndef RICCI_BASE_VERSION_H_
#define RICCI_BASE_VERSION_H_
#include <string_view>

namespace ricci { inline namespace v0 { namespace base {

inline constexpr std::string_view kVersion = "0.1.0";

}}}  // namespace ricci::v0::base
#endif
