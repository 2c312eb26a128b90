// What a misspelt name may have been meant for, for messages.
#ifndef RICCI_PRIM_NEAREST_NAME_H_
#define RICCI_PRIM_NEAREST_NAME_H_
#include <span>
#include <string_view>

#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace prim {

// One of `known`: the shortest that holds `name` as whole words (`dot`: dot_general), or else the one with the fewest
// wrong letters, at most a third of them and one of a short name (`sine`: sin), or else the shortest that begins with
// it (`concat`: concatenate). Case does not count. Empty if there is none, or if `name` is longer than any name should
// be.
std::string_view NearestName(std::string_view name, std::span<const std::string_view> known);

// NOT_FOUND for a name that no row has, with that of the row that may be meant.
absl::Status NoSuchPrimitive(const Registry& registry, std::string_view name);

}}}  // namespace ricci::v0::prim
#endif
