// Calls of functions that plugins give: what such a function throws becomes a status that names it.
//
// The C ABI has no exceptions, but a callback may be C++ all the same, and an exception that runs through the core
// would end at the border as a bug of ours, without a name. So every call of a rule, of `attach` and of `launch` is
// one of these. A failure without a message gets one here too, because its reader has nothing else.
#ifndef RICCI_BASE_FOREIGN_CALL_H_
#define RICCI_BASE_FOREIGN_CALL_H_
#include <string>
#include <string_view>
#include <utility>

#include "base/status_abi.h"

namespace ricci { inline namespace v0 { namespace base {

// The status of the exception that is being handled, which `who` threw: INTERNAL with its text, or RESOURCE_EXHAUSTED
// for std::bad_alloc. Only within a catch block.
absl::Status Thrown(std::string_view who);
// `status`, with a message that names `who` if it is an error without one.
absl::Status WithMessage(absl::Status status, std::string_view who);

// The status that `call` returns. `who` makes the text that names it, only if it is needed.
template <typename Who, typename Call>
absl::Status CallForeign(const Who& who, Call&& call) {
  ricci_status* status = nullptr;
  try {
    status = std::forward<Call>(call)();
  } catch (...) {
    return Thrown(who());
  }
  if (status == nullptr) return absl::OkStatus();
  return WithMessage(FromAbi(status), who());
}

// Runs `call`, a function that only cleans up: its exceptions have no caller to report to.
template <typename Call>
void CallQuietly(Call&& call) noexcept {
  try {
    std::forward<Call>(call)();
  } catch (...) {
  }
}

}}}  // namespace ricci::v0::base
#endif
