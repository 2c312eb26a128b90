// The text of debug_print: `{}` is the next operand, `{{` and `}}` are braces.
#ifndef RICCI_CONTROL_CALLBACK_FORMAT_H_
#define RICCI_CONTROL_CALLBACK_FORMAT_H_
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "ricci/build.h"

namespace ricci { inline namespace v0 { namespace control {

// INVALID_ARGUMENT unless the braces of `format` match and ask for `n` operands.
absl::Status CheckFormat(std::string_view format, uint32_t n);
// `format` has passed CheckFormat; in[i] holds the elements of types[i], row-major.
std::string Formatted(std::string_view format, std::span<const ricci_type_desc> types, const void* const* in);

}}}  // namespace ricci::v0::control
#endif
