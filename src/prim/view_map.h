// ViewMap: where an operation that only moves elements puts those of an array (ricci_view_map).
#ifndef RICCI_PRIM_VIEW_MAP_H_
#define RICCI_PRIM_VIEW_MAP_H_
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace prim {

struct ViewMap {
  std::vector<int64_t> first, limit;  // per dimension of the array: which of its elements are in the other one
  std::vector<int64_t> from, shift;   // per dimension of the other one: which dimension it is, or -1, and its offset

  // How many elements are moved. Maps from a row are checked, so this is no more than the array has.
  int64_t elements() const;
};

// Where the row says that the elements of an operand are in the only result, if it says so. INTERNAL for an impossible
// map: outside either array, or two elements in one position.
absl::StatusOr<std::optional<ViewMap>> ViewMapOf(Registry& registry, const ricci_op& op, uint32_t operand);
// First `a`, then `b`.
ViewMap Then(const ViewMap& a, const ViewMap& b);
// Do the two maps have an element of the array in common?
bool Overlap(const ViewMap& a, const ViewMap& b);

}}}  // namespace ricci::v0::prim
#endif
