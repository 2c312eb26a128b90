// Where results of a kernel are stored, told by the views that read them: what is only moved afterwards is stored where
// it goes.
#ifndef RICCI_PASS_PLACES_H_
#define RICCI_PASS_PLACES_H_
#include <map>
#include <vector>

#include "ir/program.h"
#include "prim/place.h"

namespace ricci::inline v0::pass {

// Elements of value `source` that are elsewhere in another one.
struct Moved {
  ir::ValueId source;
  prim::Place place;
};
using Moves = std::vector<Moved>;

// Of each equation of `views`, in this order: from which values outside of them each element of its result comes. Empty
// if one does not say so, or if there are too many.
absl::StatusOr<std::vector<Moves>> MovesOf(const ir::Program& f, std::span<const uint32_t> views);

// The places of each value.
std::map<ir::ValueId, std::vector<prim::Place>> BySource(const Moves& moves);

// Do these fill an array of `elements` with whole values, each of whose elements has one place there? Then each value
// can be stored as soon as it is computed. Rows of it stay rows.
bool AreStored(const ir::Program& f, const Moves& moves, int64_t elements);

}  // namespace ricci::inline v0::pass
#endif
