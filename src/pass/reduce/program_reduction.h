// Reduction: finds a smaller program that still fails, by dropping results, equations (runs of them first) and
// attributes, replacing equations by the bodies they hold, making dimensions, trip counts and constants smaller; in
// nested programs too.
//
// Delta debugging (Zeller and Hildebrandt 2002) with steps that know the program: each candidate is built by the rules,
// so it is valid, and it is smaller than the one before, so the search ends.
#ifndef RICCI_PASS_PROGRAM_REDUCTION_H_
#define RICCI_PASS_PROGRAM_REDUCTION_H_
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/program.h"

namespace ricci { inline namespace v0 { namespace pass {

// ---- the search (program_reduction.cc) ----

struct ReductionBounds {
  uint64_t tries = 0;  // 0: none
  double seconds = 0;  // 0: none
};
// `fails` says whether a candidate still fails in the same way; `f` does.
ir::ProgramRef Reduce(ir::ProgramRef f, const std::function<bool(const ir::Program&)>& fails,
                      const ReductionBounds& bounds);

// ---- its steps (program_reduction_steps.cc) ----

// A candidate, or an error if the step is not possible.
using ReductionStep = std::function<absl::StatusOr<ir::ProgramRef>(const ir::Program&)>;
// Those to try on `f`, the ones that drop most first; they refer to programs that it holds.
std::vector<ReductionStep> ReductionSteps(const ir::Program& f);
// What steps must make smaller.
uint64_t ReductionSize(const ir::Program& f);

}}}  // namespace ricci::v0::pass
#endif
