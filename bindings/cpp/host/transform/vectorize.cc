// Checks the batch axes of trees, and applies the structural vmap of a closed function.
#include "ricci/vectorize.hpp"

namespace ricci { inline namespace v0 {
namespace {

std::string Entries(size_t n, size_t wanted, std::string_view what) {
  return Text(n, n == 1 ? " entry for " : " entries for ", Count(wanted, what));
}
// The axis of each of the `n` leaves of one argument or result.
void AppendAxes(const CallSite& site, std::string_view what, size_t number, const ArgumentAxes& axes, size_t n,
                std::vector<int64_t>& out) {
  const std::vector<int64_t>& list = axes.list;
  if (!axes.for_all && list.size() != n) site.Fail(what, number, " has ", Entries(list.size(), n, "array"));
  for (size_t k = 0; k < n; ++k) out.push_back(list[axes.for_all ? 0 : k]);
}
// One axis per leaf.
std::vector<int64_t> PerLeaf(const CallSite& site, const BatchAxes& axes, std::span<const size_t> leaf_counts) {
  std::vector<int64_t> out;
  if (!axes.for_all && axes.list.size() != leaf_counts.size()) {
    site.Fail("in_axes has ", Entries(axes.list.size(), leaf_counts.size(), "argument"),
              "; a number without braces is for all");
  }
  for (size_t i = 0; i < leaf_counts.size(); ++i) {
    AppendAxes(site, "in_axes of argument ", i, axes.list[axes.for_all ? 0 : i], leaf_counts[i], out);
  }
  return out;
}

// One axis per result: the entries belong to the parts of the result or, flat, to its leaves.
std::vector<int64_t> PerResult(const CallSite& site, const BatchAxes& axes, std::span<const size_t> counts, size_t n) {
  std::vector<int64_t> out;
  const auto& list = axes.list;
  if (axes.for_all || list.size() == counts.size()) {
    for (size_t i = 0; i < counts.size(); ++i) {
      AppendAxes(site, "out_axes of result ", i, list[axes.for_all ? 0 : i], counts[i], out);
    }
    return out;
  }
  if (list.size() != n) site.Fail("out_axes has ", Entries(list.size(), counts.size(), "result"));
  for (size_t i = 0; i < n; ++i) AppendAxes(site, "out_axes of result ", i, list[i], 1, out);
  return out;
}

int64_t AxisOf(const CallSite& site, std::string_view what, size_t leaf, int64_t axis, int64_t rank,
               const ArrayType& type) {
  if (axis < -rank || axis >= rank) {
    site.Fail(what, " of leaf ", leaf, " is ", axis, ", out of range for ", type, "; it must be from ", -rank, " to ",
              rank - 1, ", or kUnbatched");
  }
  return axis < 0 ? axis + rank : axis;
}

// Axes as the C ABI has them, where -1 means without an axis.
std::vector<int32_t> AbiAxes(std::span<const int64_t> axes, size_t n) {
  std::vector<int32_t> out;
  for (int64_t axis : axes) out.push_back(axis == kUnbatched ? -1 : static_cast<int32_t>(axis));
  out.resize(n, -1);
  return out;
}

}  // namespace

Program VmapProgram(const CallSite& site, const Program& f, std::span<const int64_t> in_axes,
                    std::span<const int64_t> out_axes, int64_t size, const VmapOptions& options) {
  const std::vector<int32_t> in = AbiAxes(in_axes, f.params().size()), out = AbiAxes(out_axes, f.results().size());
  ricci_vmap_opts given = ricci_vmap_opts_default();
  given.axis_name = ToAbi(options.axis_name);
  given.schedule = static_cast<uint32_t>(options.schedule);
  return MakeProgramAt(site.at, [&](ricci_program** made) {
    return ricci_vmap(f.handle(), in.data(), static_cast<uint32_t>(in.size()), out.data(),
                      static_cast<uint32_t>(out.size()), size, &given, made);
  });
}

BatchPlan PlanBatch(const CallSite& site, const Values& leaves, const BatchAxes& in_axes,
                    std::span<const size_t> counts) {
  const std::vector<int64_t> axes = PerLeaf(site, in_axes, counts);
  BatchPlan plan;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const ArrayType t = leaves[i].type();
    if (axes[i] == kUnbatched) {
      plan.axes.push_back(kUnbatched);
      plan.types.push_back(t.id());
      continue;
    }
    if (t.rank() == 0) site.Fail("leaf ", i, " is ", t, ", which has no axis to batch; give kUnbatched as its in_axes");
    const int64_t axis = AxisOf(site, "in_axes", i, axes[i], t.rank(), t);
    if (plan.size >= 0 && t.dim(axis) != plan.size) {
      site.Fail("leaf ", i, " is ", t, " with size ", t.dim(axis), " along axis ", axis, "; the batch is ", plan.size);
    }
    plan.size = t.dim(axis);
    plan.axes.push_back(axis);
    Shape shape(t.shape().begin(), t.shape().end());
    shape.erase(shape.begin() + axis);
    plan.types.push_back(t.WithShape(shape).id());
  }
  if (plan.size < 0) site.Fail("no argument is batched");
  return plan;
}

Values ApplyBatched(const CallSite& site, const Closed<Value>& f, const BatchPlan& plan, const Values& leaves,
                    std::span<const size_t> out_counts, const VmapOptions& options) {
  const std::span<const ricci_type> results = f.program.results();
  std::vector<int64_t> out_axes = PerResult(site, options.out_axes, out_counts, results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const ArrayType t(site.context(), results[i]);
    if (out_axes[i] != kUnbatched) out_axes[i] = AxisOf(site, "out_axes", i, out_axes[i], t.rank() + 1, t);
  }
  const Program v = VmapProgram(site, f.program, plan.axes, out_axes, plan.size, options);
  return Apply(site, v, Joined(leaves, f.captured));
}

}}  // namespace ricci::v0
