// Which values of a loop's body are the same on every trip: those that depend on nothing but the loop's constants.
#ifndef RICCI_TRANSFORM_INVARIANT_H_
#define RICCI_TRANSFORM_INVARIANT_H_
#include "transform/jvp.h"

namespace ricci { inline namespace v0 { namespace transform {

struct Invariant {
  Mask same;        // over the values of the body: the same on every trip
  Mask from_const;  // of these: those that need a parameter; the others (an iota) cost as little inside
};
// is_const[i] != 0: parameter i does not change from trip to trip. Effects are never invariant. If `speculative` (there
// may be no trip at all), what may fail is not invariant either, nor are loops and branches, whose cost has no bound.
Invariant FindInvariant(const ir::Program& body, MaskView is_const, bool speculative = false);

}}}  // namespace ricci::v0::transform
#endif
