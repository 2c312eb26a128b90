#include "base/abi_struct.h"

namespace ricci { inline namespace v0 { namespace base {
namespace {

constexpr uint32_t kMostExtensions = 64;  // a longer list is one that leads back into itself

}  // namespace

absl::Status CheckExtensions(std::string_view what, const ricci_ext* first) {
  uint32_t n = 0;
  for (const ricci_ext* e = first; e != nullptr; e = e->next) {
    if (++n > kMostExtensions) {
      return InvalidArgument(what, ": hdr.next leads to more than ", kMostExtensions,
                             " extensions; end the list with NULL");
    }
    if (e->size < sizeof(ricci_ext)) {
      return InvalidArgument(what, ": extension ", e->kind, " has size ", e->size, ", less than the ",
                             sizeof(ricci_ext), " bytes of ricci_ext; set it to the size of the struct");
    }
    if (e->flags & RICCI_EXT_CRITICAL) return InvalidArgument(what, ": unknown critical extension ", e->kind);
  }
  return absl::OkStatus();
}

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
