// ricci/caller.hpp: errors that begin with the location of the host's call.
#ifndef RICCI_CALLER_HPP_
#define RICCI_CALLER_HPP_
#include "ricci/value.hpp"

namespace ricci { inline namespace v0 {

// Throws INVALID_ARGUMENT with the text of all parts after the location.
template <typename... Parts>
[[noreturn, gnu::noinline, gnu::cold]] void FailAt(const Location& at, const Parts&... parts) {
  if (at.file == nullptr) Fail(parts...);
  Fail(at.file, ":", at.line, ": ", parts...);
}
// As Check, but an error without a location gets that of the caller.
void CheckAt(const Location& at, ricci_status* status);
// As ArrayType::Make for the caller at `at`.
ArrayType MakeTypeAt(const Location& at, ricci_ctx* ctx, DType dtype, Dims dims);

}}  // namespace ricci::v0
#endif
