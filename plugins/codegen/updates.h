// Elements that several points of a kernel combine values into.
#ifndef RICCI_CODEGEN_UPDATES_H_
#define RICCI_CODEGEN_UPDATES_H_
#include "codegen/facts.h"

namespace ricci::codegen {

struct Updates {
  // Points that differ in one of this many leading dimensions of the domain never combine into the same element.
  uint32_t apart = 0;
  // If the kernel only combines into one buffer:
  std::optional<Interval> elements;  // that may be updated
  uint32_t loop = 0;                 // a FOR around all updates of which no two trips update one element; 0: none
};
// Nothing if the kernel holds no COMBINE. `dims`: the DOMAIN instruction of each dimension, 0 = none.
std::optional<Updates> FindUpdates(const ricci_kernel_table& k, const Blocks& blocks,
                                   const std::vector<uint32_t>& dims);

}  // namespace ricci::codegen
#endif
