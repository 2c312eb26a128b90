// Rebuild: the walk that copies a program equation by equation; most passes are such a walk.
#ifndef RICCI_TRANSFORM_REBUILD_H_
#define RICCI_TRANSFORM_REBUILD_H_
#include <deque>
#include <functional>

#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace transform {

// `step` appends the replacement of an equation to the builder and returns its results.
using RebuildStep = std::function<absl::StatusOr<trace::Vals>(trace::Builder& b, const ir::Program& f,
                                                              const ir::Equation& eqn, std::span<const trace::Val> in)>;
absl::StatusOr<ir::ProgramRef> Rebuild(const ir::Program& f, const RebuildStep& step);
// The same, appended to `b` with these values for the parameters; returns the results.
absl::StatusOr<trace::Vals> AppendRebuilt(trace::Builder& b, const ir::Program& f, std::span<const trace::Val> params,
                                          const RebuildStep& step);

using ProgramStep = std::function<absl::StatusOr<ir::ProgramRef>(const ir::Program&)>;

// A copy of an equation's attributes that can be changed, with the programs that replace those in it.
struct NewAttributes {
  std::vector<ricci_attr> list;

  explicit NewAttributes(std::span<const ricci_attr> from) : list(from.begin(), from.end()) {}
  // Replaces every program in `a` by `step` of it; returns whether any changed.
  absl::StatusOr<bool> Map(ricci_attr& a, const ProgramStep& step);

 private:
  std::deque<std::vector<ricci_program*>> handles_;  // what `list` points to
  std::vector<ir::ProgramRef> keep_;
};

// Appends `eqn` with each nested program replaced by `step` of it.
absl::StatusOr<trace::Vals> CopyWithNested(trace::Builder& b, const ir::Program& f, const ir::Equation& eqn,
                                           std::span<const trace::Val> in, const ProgramStep& step);

}}}  // namespace ricci::v0::transform
#endif
