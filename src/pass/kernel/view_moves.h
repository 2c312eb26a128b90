// Where results of a kernel are stored, from the views that read them: what is only moved afterwards is stored directly
// where it goes.
//
// Without this, each neighbour of a lattice's cell would compute what it reads, or more would be stored. With it,
// populations that stream to their neighbours are read once and written once per step.
#ifndef RICCI_PASS_VIEW_MOVES_H_
#define RICCI_PASS_VIEW_MOVES_H_
#include <map>
#include <vector>

#include "ir/program.h"
#include "prim/view_map.h"

namespace ricci { inline namespace v0 { namespace pass {

// Elements of value `source` and where they are in another value.
struct Moved {
  ir::ValueId source;
  prim::ViewMap map;
};
using Moves = std::vector<Moved>;

// For each equation of `views`, in this order: from which values outside them the elements of its result come. Empty if
// one of the rows does not say it, or if there are too many.
absl::StatusOr<std::vector<Moves>> MovesOf(const ir::Program& f, std::span<const uint32_t> views);

// The maps of each value.
std::map<ir::ValueId, std::vector<prim::ViewMap>> BySource(const Moves& moves);

// Do these moves fill an array of `elements` elements with whole values, each of whose elements is there once?
// Then each value can be stored as soon as it is computed. The last dimension stays the last, so adjacent elements stay
// adjacent.
bool AreStored(const ir::Program& f, const Moves& moves, int64_t elements);

}}}  // namespace ricci::v0::pass
#endif
