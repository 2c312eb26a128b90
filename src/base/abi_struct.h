// Structs across the C ABI: read one whose writer may know fewer or more members, and fill one for such a reader.
//
// The rule is that of Linux copy_struct_from_user: members that the writer does not have are zero; members that we do
// not have must be zero, because ignoring a request silently is worse than refusing it. The same holds for flags that
// we do not know. Vendor extensions are a list at `next`; a struct with one that is marked critical and that we do not
// know is refused.
#ifndef RICCI_BASE_ABI_STRUCT_H_
#define RICCI_BASE_ABI_STRUCT_H_
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "base/status.h"
#include "ricci/base.h"

namespace ricci { inline namespace v0 { namespace base {

// No struct of the ABI is nearly as large: a size beyond it is memory that was never set, and is not read.
inline constexpr uint32_t kLargestStruct = 4096;

// A bit of hdr.flags: {RICCI_X, "RICCI_X"}.
#define RICCI_FLAG(name) \
  { name, #name }
struct Flag {
  uint32_t bit;
  std::string_view name;
};
using Flags = std::initializer_list<Flag>;
// INVALID_ARGUMENT lists the flags that are known.
absl::Status CheckFlags(std::string_view what, uint32_t flags, Flags known);
// INVALID_ARGUMENT for an extension that must be known, since none is, and for a list that cannot be one.
absl::Status CheckExtensions(std::string_view what, const ricci_ext* first);

// A copy of `from`; `what` names the struct in messages, `known` are its flags.
template <typename T>
absl::StatusOr<T> ReadStruct(const T* from, std::string_view what, Flags known = {}) {
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
  RICCI_TRY(CheckExtensions(what, from->hdr.next));
  RICCI_TRY(CheckFlags(what, from->hdr.flags, known));
  T copy{};
  std::memcpy(static_cast<void*>(&copy), static_cast<const void*>(from), std::min<size_t>(size, sizeof(T)));
  return copy;
}

// Element `i` of an array whose writer compiled elements of `size` bytes; 0: as many as ours.
template <typename T>
T ReadElement(const T* first, uint32_t size, uint32_t i) {
  const size_t stride = size == 0 ? sizeof(T) : size;
  T copy{};
  std::memcpy(static_cast<void*>(&copy), reinterpret_cast<const char*>(first) + i * stride,
              std::min(stride, sizeof(T)));
  return copy;
}

// Fills those members of `to` that its owner knows, by to->hdr.size; the header stays as it is. False if the size is
// not set or not possible.
template <typename T>
bool WriteStruct(T* to, T from) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (to->hdr.size < sizeof(ricci_hdr) || to->hdr.size > kLargestStruct) return false;
  from.hdr = to->hdr;
  std::memcpy(static_cast<void*>(to), static_cast<const void*>(&from), std::min<size_t>(to->hdr.size, sizeof(T)));
  return true;
}

}}}  // namespace ricci::v0::base
#endif
