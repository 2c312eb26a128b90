// Status across the C ABI: ricci_status from and to absl::Status.
#ifndef RICCI_BASE_STATUS_ABI_H_
#define RICCI_BASE_STATUS_ABI_H_
#include <new>
#include <utility>

#include "base/status.h"
#include "ricci/base.h"

namespace ricci::inline v0::base {

// NULL for OK. The message is `file:line: primitive: text`, each part where it is known and not said already.
ricci_status* ToAbi(const absl::Status& status);
// Takes ownership of `status`; NULL is OK.
absl::Status FromAbi(ricci_status* status);
// The static status that stands in when memory is gone.
ricci_status* OutOfMemory();

// Runs `body` (returning absl::Status) at the border: std::bad_alloc becomes RESOURCE_EXHAUSTED, anything else thrown
// is a bug of ours and becomes INTERNAL.
template <typename Body>
ricci_status* AtBorder(Body&& body) noexcept {
  try {
    return ToAbi(std::forward<Body>(body)());
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (...) {
    return ricci_status_make(RICCI_INTERNAL, "unexpected exception", 20);
  }
}

}  // namespace ricci::inline v0::base
#endif
