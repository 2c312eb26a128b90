// Structs across the C ABI: read one whose writer may know fewer or more members, and fill one for such a reader.
//
// The rule is that of Linux copy_struct_from_user: members the writer does not have are zero; members we do not have
// must be zero, because ignoring a request silently is worse than refusing it. Vendor extensions hang off `next`; one
// marked critical that we do not know refuses the struct.
#ifndef RICCI_BASE_ABI_STRUCT_H_
#define RICCI_BASE_ABI_STRUCT_H_
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/status.h"
#include "ricci/base.h"

namespace ricci::inline v0::base {

// No struct of the ABI is nearly as large: a size beyond is memory that was never set, and is not read.
inline constexpr uint32_t kLargestStruct = 4096;

// A copy of `from`; `what` names the struct in messages.
template <typename T>
absl::StatusOr<T> ReadStruct(const T* from, std::string_view what) {
  static_assert(std::is_trivially_copyable_v<T>);
  const uint32_t size = from->hdr.size;
  if (size < sizeof(ricci_hdr)) {
    return InvalidArgument(what, ": hdr.size is ", size, "; set it to the size of the struct");
  }
  if (size > kLargestStruct) {
    return InvalidArgument(what, ": hdr.size is ", size, ", more than a page of ", kLargestStruct,
                           " bytes; set it to the size of the struct");
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  for (uint32_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) {
      return InvalidArgument(what, ": struct of ", size, " bytes has members set that this core (", sizeof(T),
                             " bytes) does not know");
    }
  }
  for (const ricci_ext* e = from->hdr.next; e != nullptr; e = e->next) {
    if (e->flags & RICCI_EXT_CRITICAL) return InvalidArgument(what, ": unknown critical extension ", e->kind);
  }
  T copy{};
  std::memcpy(static_cast<void*>(&copy), static_cast<const void*>(from), std::min<size_t>(size, sizeof(T)));
  return copy;
}

// Fills those members of `to` that its owner knows, by to->hdr.size; the header stays. False if the size is not set,
// or cannot be one.
template <typename T>
bool WriteStruct(T* to, T from) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (to->hdr.size < sizeof(ricci_hdr) || to->hdr.size > kLargestStruct) return false;
  from.hdr = to->hdr;
  std::memcpy(static_cast<void*>(to), static_cast<const void*>(&from), std::min<size_t>(to->hdr.size, sizeof(T)));
  return true;
}

}  // namespace ricci::inline v0::base
#endif
