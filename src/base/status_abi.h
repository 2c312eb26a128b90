// Status across the C ABI: ricci_status from and to absl::Status.
#ifndef RICCI_BASE_STATUS_ABI_H_
#define RICCI_BASE_STATUS_ABI_H_
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "ricci/base.h"

namespace ricci { inline namespace v0 { namespace base {

// NULL for OK. The message is `file:line: primitive: text`, each part only if it is known and not in the text already.
ricci_status* ToAbi(const absl::Status& status);
// Takes ownership of `status`; NULL is OK.
absl::Status FromAbi(ricci_status* status);
// The static status that is used when memory runs out.
ricci_status* OutOfMemory();

// INTERNAL: an exception that nothing here throws reached the border.
ricci_status* Unexpected(std::string_view what) noexcept;

// Runs `body` (returning absl::Status) at the border: std::bad_alloc becomes RESOURCE_EXHAUSTED; any other exception is
// a bug of ours and becomes INTERNAL, with its text.
template <typename Body>
ricci_status* AtBorder(Body&& body) noexcept {
  try {
    return ToAbi(std::forward<Body>(body)());
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::exception& e) {
    return Unexpected(e.what());
  } catch (...) {
    return Unexpected("not from the standard library");
  }
}

}}}  // namespace ricci::v0::base
#endif
