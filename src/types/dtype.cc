#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace types {

uint32_t DTypeByName(std::string_view name) {
  for (uint32_t d = 1; d <= RICCI_KEY; ++d) {
    if (kDTypes[d].name == name) return d;
  }
  return 0;
}

}}}  // namespace ricci::v0::types
