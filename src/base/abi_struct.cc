#include "base/abi_struct.h"

namespace ricci { inline namespace v0 { namespace base {

absl::Status CheckFlags(std::string_view what, uint32_t flags, Flags known) {
  uint32_t all = 0;
  std::string names;
  for (const Flag& f : known) {
    all |= f.bit;
    names += Cat(names.empty() ? "; known: " : ", ", f.bit, " (", f.name, ")");
  }
  if ((flags & ~all) == 0) return absl::OkStatus();
  return InvalidArgument(what, ": unknown flags in hdr.flags ", flags, names.empty() ? "; none are known" : names);
}

}}}  // namespace ricci::v0::base
