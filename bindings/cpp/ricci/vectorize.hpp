// ricci/vectorize.hpp: vmap(f), f on every slice along a batch axis.
#ifndef RICCI_VECTORIZE_HPP_
#define RICCI_VECTORIZE_HPP_
#include "ricci/jit.hpp"

namespace ricci { inline namespace v0 {

// In the place of an axis: not batched. Not -1, which is the last axis.
inline constexpr int64_t kUnbatched = INT64_MIN;

// The batch axis of one argument: one number for all its leaves, or a list with one per leaf.
struct ArgumentAxes {
  ArgumentAxes(int64_t axis) : list{axis}, for_all(true) {}              // NOLINT
  ArgumentAxes(std::initializer_list<int64_t> leaves) : list(leaves) {}  // NOLINT
  std::vector<int64_t> list;
  bool for_all = false;
};
// The batch axes of all arguments (or results): one number for all, or a list with one entry per argument.
struct BatchAxes {
  BatchAxes(int64_t axis) : list{axis}, for_all(true) {}                         // NOLINT
  BatchAxes(std::initializer_list<ArgumentAxes> arguments) : list(arguments) {}  // NOLINT
  std::vector<ArgumentAxes> list;
  bool for_all = false;
};

// How a mapped function runs: as operations on whole batches, or each element by itself in a lane of one kernel, with
// its own branches and trip counts. kAuto, the device's own estimate, is the right choice unless a measurement says
// otherwise.
enum class Schedule : uint32_t {
  kAuto = RICCI_SCHEDULE_AUTO,
  kBatched = RICCI_SCHEDULE_BATCHED,
  kLanes = RICCI_SCHEDULE_LANES
};

// Named only: vmap(f, 0, {.schedule = Schedule::kLanes}).
struct VmapOptions {
  struct Named {
    explicit Named() = default;
  };
  Named named{};
  BatchAxes out_axes = 0;  // the batch axis of each result (entry of a tuple of results)
  std::string axis_name = {};
  Schedule schedule = Schedule::kAuto;  // of this map and its derivatives
};

// The program of f on all slices, of which there are `size`: ricci_vmap. Axes count from 0, or are kUnbatched; so are
// those of the last parameters, where `in_axes` has fewer entries than f has parameters. Of `options` all but out_axes.
Program VmapProgram(const CallSite& site, const Program& f, std::span<const int64_t> in_axes,
                    std::span<const int64_t> out_axes, int64_t size, const VmapOptions& options);

// What is sliced, and how.
struct BatchPlan {
  std::vector<int64_t> axes;      // of each leaf, from 0 on, or kUnbatched
  std::vector<ricci_type> types;  // of one slice
  int64_t size = -1;
};
// `counts`: leaves of each argument.
BatchPlan PlanBatch(const CallSite& site, const Values& leaves, const BatchAxes& in_axes,
                    std::span<const size_t> counts);
// The program of a slice, closed over plan.types, on all slices. `out_counts`: leaves of each part of the result.
Values ApplyBatched(const CallSite& site, const Closed<Value>& f, const BatchPlan& plan, const Values& leaves,
                    std::span<const size_t> out_counts, const VmapOptions& options);

// The number of leaves of each entry of a tuple; of anything else, of the whole.
template <typename T>
std::vector<size_t> PartCounts(const T& tree) {
  if constexpr (TupleNode<T>) {
    return std::apply([](const auto&... parts) { return std::vector<size_t>{LeafCount(parts)...}; }, tree);
  } else {
    return {LeafCount(tree)};
  }
}

// vmap(f)(args...) is f on slice 0, 1, ... of the arguments, with its results stacked. in_axes: the axis along which
// each argument is sliced, kUnbatched for one that every call gets whole; `vmap(f, 0)` slices all of them,
// `vmap(f, {0})` is for a function of one argument.
template <typename F>
auto vmap(F f, BatchAxes in_axes, VmapOptions options, Location at = Location::Here()) {
  return Transformed("vmap", at,
                     [f = std::move(f), in_axes = std::move(in_axes), options = std::move(options)](
                         const CallSite& site, const auto&... args) {
                       const auto in = std::make_tuple(args...);
                       const size_t counts[] = {LeafCount(args)...};
                       const Values leaves = LeavesOfAll<Value>(in);
                       const BatchPlan plan = PlanBatch(site, leaves, in_axes, counts);
                       TracedFunction traced(f, in);
                       const Closed<Value> closed = Close(site, traced, plan.types);
                       const Values out = ApplyBatched(site, closed, plan, leaves, PartCounts(traced.out()), options);
                       return Fill<Value>(traced.out(), out);
                     });
}
template <typename F>
auto vmap(F f, BatchAxes in_axes = 0, BatchAxes out_axes = 0, std::string axis_name = {},
          Location at = Location::Here()) {
  VmapOptions options;
  options.out_axes = std::move(out_axes);
  options.axis_name = std::move(axis_name);
  return vmap(std::move(f), std::move(in_axes), std::move(options), at);
}

}}  // namespace ricci::v0
#endif
