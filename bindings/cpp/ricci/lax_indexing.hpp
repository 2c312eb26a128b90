// ricci/lax_indexing.hpp: slices, gathers, scatters and random bits of jax.lax.
//
// Dimension numbers are the flat attributes of the primitives. A gather or scatter mode is a text: `fill` (drop in a
// scatter), `clip`, `promise_in_bounds`.
#ifndef RICCI_LAX_INDEXING_HPP_
#define RICCI_LAX_INDEXING_HPP_
#include <optional>

#include "ricci/emit.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// `strides` may be empty: all 1.
inline Value slice(const Value& x, Dims start_indices, Dims limit_indices, Dims strides = {}) {
  if (strides.empty()) {
    return Emit1("slice", {x}, {{"start_indices", start_indices}, {"limit_indices", limit_indices}});
  }
  return Emit1("slice", {x},
               {{"start_indices", start_indices}, {"limit_indices", limit_indices}, {"strides", strides}});
}
// [start, limit) along one dimension.
inline Value slice_in_dim(const Value& x, int64_t start, int64_t limit, int64_t axis) {
  Shape starts(static_cast<size_t>(x.rank()), 0), limits(x.shape().begin(), x.shape().end());
  starts[static_cast<size_t>(axis)] = start;
  limits[static_cast<size_t>(axis)] = limit;
  return slice(x, starts, limits);
}
// One scalar start per dimension; clamped so that the slice lies inside.
inline Value dynamic_slice(const Value& x, std::span<const Value> starts, Dims slice_sizes) {
  Values in{x};
  in.insert(in.end(), starts.begin(), starts.end());
  return Emit1("dynamic_slice", in, {{"slice_sizes", slice_sizes}});
}
inline Value dynamic_update_slice(const Value& x, const Value& update, std::span<const Value> starts) {
  Values in{x, update};
  in.insert(in.end(), starts.begin(), starts.end());
  return Emit1("dynamic_update_slice", in);
}

struct GatherDims {
  Shape offset_dims, collapsed_slice_dims, start_index_map;
  Shape operand_batching_dims = {}, start_indices_batching_dims = {};
};
// `fill_value` is used in mode `fill` only; without it that mode fills as JAX does: NaN, true, the lowest signed and
// the highest unsigned integer, and a key that no seed gives.
inline Value gather(const Value& x, const Value& indices, const GatherDims& d, Dims slice_sizes,
                    std::string_view mode = "fill", std::optional<double> fill_value = {}) {
  if (!fill_value) {
    return Emit1("gather", {x, indices},
                 {{"offset_dims", d.offset_dims},
                  {"collapsed_slice_dims", d.collapsed_slice_dims},
                  {"start_index_map", d.start_index_map},
                  {"operand_batching_dims", d.operand_batching_dims},
                  {"start_indices_batching_dims", d.start_indices_batching_dims},
                  {"slice_sizes", slice_sizes},
                  {"mode", mode}});
  }
  return Emit1("gather", {x, indices},
               {{"offset_dims", d.offset_dims},
                {"collapsed_slice_dims", d.collapsed_slice_dims},
                {"start_index_map", d.start_index_map},
                {"operand_batching_dims", d.operand_batching_dims},
                {"start_indices_batching_dims", d.start_indices_batching_dims},
                {"slice_sizes", slice_sizes},
                {"mode", mode},
                {"fill_value", *fill_value}});
}

struct ScatterDims {
  Shape update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  Shape operand_batching_dims = {}, scatter_indices_batching_dims = {};
};
// `name`: scatter, scatter-add, scatter-sub, scatter-mul, scatter-min or scatter-max.
inline Value scatter_named(std::string_view name, const Value& x, const Value& indices, const Value& updates,
                           const ScatterDims& d, std::string_view mode = "fill", bool indices_are_sorted = false,
                           bool unique_indices = false) {
  return Emit1(name, {x, indices, updates},
               {{"update_window_dims", d.update_window_dims},
                {"inserted_window_dims", d.inserted_window_dims},
                {"scatter_dims_to_operand_dims", d.scatter_dims_to_operand_dims},
                {"operand_batching_dims", d.operand_batching_dims},
                {"scatter_indices_batching_dims", d.scatter_indices_batching_dims},
                {"indices_are_sorted", indices_are_sorted},
                {"unique_indices", unique_indices},
                {"mode", mode}});
}
inline Value scatter(const Value& x, const Value& indices, const Value& updates, const ScatterDims& d,
                     std::string_view mode = "fill", bool sorted = false, bool unique = false) {
  return scatter_named("scatter", x, indices, updates, d, mode, sorted, unique);
}
inline Value scatter_add(const Value& x, const Value& indices, const Value& updates, const ScatterDims& d,
                         std::string_view mode = "fill", bool sorted = false, bool unique = false) {
  return scatter_named("scatter-add", x, indices, updates, d, mode, sorted, unique);
}
inline Value scatter_sub(const Value& x, const Value& indices, const Value& updates, const ScatterDims& d,
                         std::string_view mode = "fill", bool sorted = false, bool unique = false) {
  return scatter_named("scatter-sub", x, indices, updates, d, mode, sorted, unique);
}
inline Value scatter_mul(const Value& x, const Value& indices, const Value& updates, const ScatterDims& d,
                         std::string_view mode = "fill", bool sorted = false, bool unique = false) {
  return scatter_named("scatter-mul", x, indices, updates, d, mode, sorted, unique);
}
inline Value scatter_min(const Value& x, const Value& indices, const Value& updates, const ScatterDims& d,
                         std::string_view mode = "fill", bool sorted = false, bool unique = false) {
  return scatter_named("scatter-min", x, indices, updates, d, mode, sorted, unique);
}
inline Value scatter_max(const Value& x, const Value& indices, const Value& updates, const ScatterDims& d,
                         std::string_view mode = "fill", bool sorted = false, bool unique = false) {
  return scatter_named("scatter-max", x, indices, updates, d, mode, sorted, unique);
}
// x with `computation`, from one scalar of its dtype to one, applied to the elements that updates of `update_shape`
// would reach, once for each time.
inline Value scatter_apply(const Value& x, const Value& indices, ricci_program* const& computation, Dims update_shape,
                           const ScatterDims& d, std::string_view mode = "fill", bool sorted = false,
                           bool unique = false) {
  return Emit1("scatter_apply", {x, indices},
               {{"computation", computation},
                {"update_shape", update_shape},
                {"update_window_dims", d.update_window_dims},
                {"inserted_window_dims", d.inserted_window_dims},
                {"scatter_dims_to_operand_dims", d.scatter_dims_to_operand_dims},
                {"operand_batching_dims", d.operand_batching_dims},
                {"scatter_indices_batching_dims", d.scatter_indices_batching_dims},
                {"indices_are_sorted", sorted},
                {"unique_indices", unique},
                {"mode", mode}});
}

// Two words of random bits from two words of key and two of counter, all u32 of one shape.
inline Values threefry2x32(const Value& k1, const Value& k2, const Value& x1, const Value& x2) {
  const Value in[] = {k1, k2, x1, x2};
  return EmitN(2, "threefry2x32", in);
}

}}}  // namespace ricci::v0::lax
#endif
