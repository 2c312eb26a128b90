// A program with other sizes, for reductions: dimensions, and the integers that follow from them.
#ifndef RICCI_PASS_RESIZING_H_
#define RICCI_PASS_RESIZING_H_
#include <vector>

#include "absl/status/statusor.h"
#include "ir/program.h"

namespace ricci { inline namespace v0 { namespace pass {

// `f` with every dimension and integer attribute that is `from` as `to`, in nested programs too. Constants that have
// another type then, with `splat` all of them, become splats of their first element. An error if a rule does not accept
// an equation with the new sizes.
absl::StatusOr<ir::ProgramRef> Resized(const ir::Program& f, int64_t from, int64_t to, bool splat = false);

// The different dimensions above 1, and integers of equations that hold programs: trip counts are among them.
std::vector<int64_t> SizesOf(const ir::Program& f);

}}}  // namespace ricci::v0::pass
#endif
