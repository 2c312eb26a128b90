// release: a held program taken out of the equation that holds it.
//
// Where its rule applies the function itself (ir/self_reference.h), the equation that stands for the holder becomes a
// whole one: it gets the holder's programs. References to equations further out then count one level less.
#ifndef RICCI_TRANSFORM_RELEASE_H_
#define RICCI_TRANSFORM_RELEASE_H_
#include "absl/status/statusor.h"
#include "ir/program.h"

namespace ricci::inline v0::transform {

// `held` as it is outside of the equation `prim` with `attrs`, one of whose programs it is; itself if nothing in it
// stands for an equation around it.
absl::StatusOr<ir::ProgramRef> Release(const ir::Program& held, ir::PrimId prim, std::span<const ricci_attr> attrs);

}  // namespace ricci::inline v0::transform
#endif
