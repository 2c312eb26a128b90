#include "base/foreign_call.h"

namespace ricci { inline namespace v0 { namespace base {

absl::Status Thrown(std::string_view who) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(Cat(who, ": out of memory"));
  } catch (const std::exception& e) {
    return absl::InternalError(Cat(who, ": threw a C++ exception: ", e.what()));
  } catch (...) {
    return absl::InternalError(Cat(who, ": threw something that is not a std::exception"));
  }
}

absl::Status WithMessage(absl::Status status, std::string_view who) {
  if (status.ok() || !status.message().empty()) return status;
  return WithSite(absl::Status(status.code(), Cat(who, ": failed without a message")), SiteOf(status));
}

}}}  // namespace ricci::v0::base
