// ricci/vectorize.hpp: vmap(f), f on every slice along a batch axis.
#ifndef RICCI_VECTORIZE_HPP_
#define RICCI_VECTORIZE_HPP_
#include "ricci/jit.hpp"

namespace ricci::inline v0 {

inline constexpr int64_t kUnbatched = INT64_MIN;

// The batch axis of one argument: one number for all its leaves, or a list with one per leaf.
struct ArgumentAxes {
  ArgumentAxes(int64_t axis) : list{axis} {}                             // NOLINT
  ArgumentAxes(std::initializer_list<int64_t> leaves) : list(leaves) {}  // NOLINT
  std::vector<int64_t> list;
};
// The batch axes of all arguments: one number for all, or a list with one entry per argument.
struct BatchAxes {
  BatchAxes(int64_t axis) : list{axis} {}                                        // NOLINT
  BatchAxes(std::initializer_list<ArgumentAxes> arguments) : list(arguments) {}  // NOLINT
  std::vector<ArgumentAxes> list;
};
// One axis per leaf.
inline std::vector<int64_t> PerLeaf(const Place& p, std::string_view what, const BatchAxes& axes,
                                    std::span<const size_t> leaf_counts) {
  std::vector<int64_t> out;
  const bool shared = axes.list.size() == 1;
  if (!shared && axes.list.size() != leaf_counts.size()) {
    p.Fail(what, " has ", axes.list.size(), " entries for ", leaf_counts.size(), " arguments");
  }
  for (size_t i = 0; i < leaf_counts.size(); ++i) {
    const std::vector<int64_t>& list = axes.list[shared ? 0 : i].list;
    if (list.size() != 1 && list.size() != leaf_counts[i]) {
      p.Fail(what, " of argument ", i, " has ", list.size(), " entries for ", leaf_counts[i], " leaves");
    }
    for (size_t k = 0; k < leaf_counts[i]; ++k) out.push_back(list[list.size() == 1 ? 0 : k]);
  }
  return out;
}

struct BatchPlan {
  std::vector<int32_t> axes;      // -1: not batched
  std::vector<ricci_type> types;  // of one slice
  int64_t size = -1;
};
inline BatchPlan PlanBatch(const Place& p, const Values& leaves, const std::vector<int64_t>& axes) {
  BatchPlan plan;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const ArrayType t = leaves[i].type();
    if (axes[i] == kUnbatched) {
      plan.axes.push_back(-1);
      plan.types.push_back(t.id());
      continue;
    }
    const int64_t axis = Axis("vmap", p.at, axes[i], t.rank());
    if (plan.size >= 0 && t.dim(axis) != plan.size) {
      p.Fail("leaf ", i, " is ", t, " with size ", t.dim(axis), " along axis ", axis, "; the batch is ", plan.size);
    }
    plan.size = t.dim(axis);
    plan.axes.push_back(static_cast<int32_t>(axis));
    Shape shape(t.shape().begin(), t.shape().end());
    shape.erase(shape.begin() + axis);
    plan.types.push_back(t.WithShape(shape).id());
  }
  if (plan.size < 0) p.Fail("no argument is batched");
  return plan;
}
inline std::vector<int32_t> OutAxes(const Place& p, const Program& f, ricci_ctx* ctx, const BatchAxes& axes) {
  const size_t one = f.results().size();
  const std::vector<ArgumentAxes>& list = axes.list;
  if (list.size() != 1 && list.size() != one) p.Fail("out_axes has ", list.size(), " entries for ", one, " results");
  std::vector<int32_t> out;
  for (size_t i = 0; i < one; ++i) {
    const int64_t axis = list[list.size() == 1 ? 0 : i].list[0];
    const int64_t rank = ArrayType(ctx, f.results()[i]).rank();
    out.push_back(axis == kUnbatched ? -1 : static_cast<int32_t>(Axis("vmap", p.at, axis, rank + 1)));
  }
  return out;
}

// vmap(f)(args...) is f on slice 0, 1, ... of the arguments, its results stacked. in_axes: the axis of each argument
// that is sliced, kUnbatched for one that every call gets whole. out_axes: where the batch is in each result.
template <typename F>
auto vmap(F f, BatchAxes in_axes = 0, BatchAxes out_axes = 0, std::string axis_name = {},
          Location at = Location::Here()) {
  return Transformed("vmap", at, [=, f = std::move(f)](const Place& p, const auto&... args) {
    const std::tuple in(args...);
    const size_t counts[] = {LeafCount(args)...};
    const Values leaves = LeavesOfAll<Value>(in);
    BatchPlan plan = PlanBatch(p, leaves, PerLeaf(p, "in_axes", in_axes, counts));
    auto closed = Close(p, f, plan.types, in);
    plan.axes.resize(closed.program.params().size(), -1);
    const auto out_list = OutAxes(p, closed.program, ricci_builder_context(p.builder), out_axes);
    const Program v = MakeProgramAt(p.at, [&](ricci_program** out) {
      return ricci_vmap(closed.program.handle(), plan.axes.data(), static_cast<uint32_t>(plan.axes.size()),
                        out_list.data(), static_cast<uint32_t>(out_list.size()), plan.size, axis_name.data(),
                        axis_name.size(), out);
    });
    return Fill<Value>(closed.out, Apply(p, v, Joined(leaves, closed.captured)));
  });
}

}  // namespace ricci::inline v0
#endif
