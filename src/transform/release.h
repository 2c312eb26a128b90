// release: takes a held program out of the equation that holds it.
//
// Where a rule applies the function itself (ir/self_reference.h), the equation that stands for the holder becomes
// complete: it gets the holder's programs. References to equations further out then count one level less.
#ifndef RICCI_TRANSFORM_RELEASE_H_
#define RICCI_TRANSFORM_RELEASE_H_
#include "absl/status/statusor.h"
#include "ir/program.h"

namespace ricci { inline namespace v0 { namespace transform {

// `held` as it is outside the equation `prim` with `attrs`, one of whose programs it is; `held` itself if nothing in it
// stands for an equation around it.
absl::StatusOr<ir::ProgramRef> Release(const ir::Program& held, ir::PrimId prim, std::span<const ricci_attr> attrs);

}}}  // namespace ricci::v0::transform
#endif
