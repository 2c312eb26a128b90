// Separate runs of the programs that an equation holds: the trips of a loop, the chosen branch, the elements of a vmap.
//
// Each held program is compiled as a program of its own and run with the arrays that it gets in its turn, which the
// host cuts out of the equation's operands. So what goes wrong in a loop is found in one trip of it, on any device.
#ifndef RICCI_RUNTIME_HELD_RUNS_H_
#define RICCI_RUNTIME_HELD_RUNS_H_
#include <functional>

#include "runtime/run/executable.h"

namespace ricci { inline namespace v0 { namespace runtime {

using ArrayRef = base::Ref<Array>;
using Arrays = std::vector<ArrayRef>;

// A program compiled for one device.
absl::StatusOr<base::Ref<Executable>> CompileFor(Device* device, const ir::Program& f);
// A complete run.
absl::StatusOr<Arrays> RunOn(const Executable& x, std::span<const ArrayRef> in);

struct HeldRun {
  const ir::Program& program;
  std::span<const ArrayRef> in;
  std::span<const ArrayRef> out;
  std::string path;  // such as `trip 3 of scan`; trips are counted from 0, in the order in which they run
};
// A status that is not OK ends the runs.
using HeldRunVisitor = std::function<absl::Status(const HeldRun&)>;

// Whether `e` runs what it holds as a loop, a branch or a batch.
bool HasHeldRuns(const ir::Program& f, const ir::Equation& e);
// Visits each run of the body of a scan, a while or a vmap, or of the branch of a cond, after it has ended. Conditions
// of a while are run, not visited. Errors of runs are passed on.
absl::Status VisitHeldRuns(const ir::Program& f, const ir::Equation& e, std::span<const ArrayRef> operands,
                           Device* device, const HeldRunVisitor& visit);

}}}  // namespace ricci::v0::runtime
#endif
