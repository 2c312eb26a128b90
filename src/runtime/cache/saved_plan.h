// A lowered program as bytes and back: all that running its code needs, and what its errors and reports name.
//
// Kernels keep name, buffers and domain, but no instructions; sources keep no text. So what is read can run, but not be
// compiled or shown. Library calls have states of this process, so their equations are saved, and the library plans
// them again; a plan that differs from the saved one is refused, because code has its numbers.
//
// The reader trusts nothing, a right checksum neither: whatever it returns keeps to the bounds of its own tables and to
// the signature of the program, by the rules for new plans, so that the core and a backend may use it like any other.
//
// A checksum says that an entry is whole, not who wrote it. Machine code itself is not verified: ricci/cache.h says who
// may write entries. MJX's step of a humanoid takes 2.5 ms from the program to its executable; reading and checking the
// plan and loading the code take 0.4 of that.
#ifndef RICCI_RUNTIME_SAVED_PLAN_H_
#define RICCI_RUNTIME_SAVED_PLAN_H_
#include <memory>
#include <string>
#include <string_view>

#include "pass/pipeline.h"

namespace ricci { inline namespace v0 { namespace runtime {

absl::StatusOr<std::string> WritePlan(const pass::Lowered& lowered);

// Of `program`, under options by which it was lowered. DATA_LOSS for bytes that no plan of it is, INTERNAL for a plan
// that no lowering makes, with the step or kernel; errors of libraries are passed on.
absl::StatusOr<std::unique_ptr<pass::Lowered>> ReadPlan(std::string_view bytes, const ir::Program& program,
                                                        const pass::Options& options);

}}}  // namespace ricci::v0::runtime
#endif
