// Rebuild: the walk that copies a program equation by equation; most passes are one.
#ifndef RICCI_TRANSFORM_REBUILD_H_
#define RICCI_TRANSFORM_REBUILD_H_
#include <deque>
#include <functional>

#include "trace/builder.h"

namespace ricci::inline v0::transform {

// `step` appends what stands for an equation to the builder and returns its results.
using RebuildStep = std::function<absl::StatusOr<trace::Vals>(trace::Builder& b, const ir::Program& f,
                                                              const ir::Equation& eqn, std::span<const trace::Val> in)>;
absl::StatusOr<ir::ProgramRef> Rebuild(const ir::Program& f, const RebuildStep& step);
// The same, appended to `b` with these values for the parameters; gives the results.
absl::StatusOr<trace::Vals> AppendRebuilt(trace::Builder& b, const ir::Program& f, std::span<const trace::Val> params,
                                          const RebuildStep& step);

using ProgramStep = std::function<absl::StatusOr<ir::ProgramRef>(const ir::Program&)>;

// The attributes of an equation, to be changed, with the programs that take the place of those it holds.
struct NewAttributes {
  std::vector<ricci_attr> list;

  explicit NewAttributes(std::span<const ricci_attr> from) : list(from.begin(), from.end()) {}
  // Puts `step` of every program that `a` holds in its place; whether one became another.
  absl::StatusOr<bool> Map(ricci_attr& a, const ProgramStep& step);

 private:
  std::deque<std::vector<ricci_program*>> handles_;  // what `list` points to
  std::vector<ir::ProgramRef> keep_;
};

// Appends `eqn` with each nested program replaced by `step` of it.
absl::StatusOr<trace::Vals> CopyWithNested(trace::Builder& b, const ir::Program& f, const ir::Equation& eqn,
                                           std::span<const trace::Val> in, const ProgramStep& step);

}  // namespace ricci::inline v0::transform
#endif
