// Partition: consecutive parts of a list (operands, parameters or results of a loop), and lists put together from such
// parts in another order.
//
// The transforms of loops put tangents next to primals, residuals next to constants; a rule names the parts once and
// says the order in their names.
#ifndef RICCI_CONTROL_PARTITION_H_
#define RICCI_CONTROL_PARTITION_H_
#include <array>
#include <initializer_list>
#include <span>
#include <vector>

#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace control {

struct Part {
  uint32_t from, n;
};
// Positions in a list, in the order in which they are to be taken.
using Order = std::vector<uint32_t>;

// Consecutive parts of these sizes.
template <size_t kParts>
std::array<Part, kParts> Partition(const uint32_t (&sizes)[kParts]) {
  std::array<Part, kParts> out;
  uint32_t from = 0;
  for (size_t i = 0; i < kParts; ++i) {
    out[i] = {from, sizes[i]};
    from += sizes[i];
  }
  return out;
}
inline Order Joined(std::initializer_list<Part> parts) {
  Order out;
  for (const Part& p : parts) {
    for (uint32_t i = 0; i < p.n; ++i) out.push_back(p.from + i);
  }
  return out;
}
inline trace::Vals Pick(std::span<const trace::Val> all, const Order& order) {
  trace::Vals out;
  for (uint32_t i : order) out.push_back(all[i]);
  return out;
}

}}}  // namespace ricci::v0::control
#endif
