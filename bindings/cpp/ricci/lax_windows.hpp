// ricci/lax_windows.hpp: reductions over windows, as in pooling, and reductions by a program.
#ifndef RICCI_LAX_WINDOWS_HPP_
#define RICCI_LAX_WINDOWS_HPP_
#include "ricci/emit.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// Each list has one number for each dimension of x, `padding` two: [low0, high0, low1, ...]; negative ones cut off. An
// empty list is all 1 (padding: all 0). The result at y is over the elements at y window_strides + w window_dilation -
// padding low, for w in window_dimensions, of x with base_dilation - 1 gaps between neighbours; gaps and padding count
// for nothing.
inline Value reduce_window_sum(const Value& x, Dims window_dimensions, Dims window_strides = {}, Dims padding = {},
                               Dims base_dilation = {}, Dims window_dilation = {}) {
  return Emit1("reduce_window_sum", {x},
               {{"window_dimensions", window_dimensions},
                {"window_strides", window_strides},
                {"padding", padding},
                {"base_dilation", base_dilation},
                {"window_dilation", window_dilation}});
}
inline Value reduce_window_max(const Value& x, Dims window_dimensions, Dims window_strides = {}, Dims padding = {},
                               Dims base_dilation = {}, Dims window_dilation = {}) {
  return Emit1("reduce_window_max", {x},
               {{"window_dimensions", window_dimensions},
                {"window_strides", window_strides},
                {"padding", padding},
                {"base_dilation", base_dilation},
                {"window_dilation", window_dilation}});
}
inline Value reduce_window_min(const Value& x, Dims window_dimensions, Dims window_strides = {}, Dims padding = {},
                               Dims base_dilation = {}, Dims window_dilation = {}) {
  return Emit1("reduce_window_min", {x},
               {{"window_dimensions", window_dimensions},
                {"window_strides", window_strides},
                {"padding", padding},
                {"base_dilation", base_dilation},
                {"window_dilation", window_dilation}});
}
// The tangent of the element of x chosen in each window: the greatest for `select_prim` ge, the least for le.
inline Value select_and_gather_add(const Value& tangents, const Value& x, std::string_view select_prim,
                                   Dims window_dimensions, Dims window_strides = {}, Dims padding = {},
                                   Dims base_dilation = {}, Dims window_dilation = {}) {
  return Emit1("select_and_gather_add", {tangents, x},
               {{"select_prim", select_prim},
                {"window_dimensions", window_dimensions},
                {"window_strides", window_strides},
                {"padding", padding},
                {"base_dilation", base_dilation},
                {"window_dilation", window_dilation}});
}
// Zeros of the shape of x, with the source of each window (its result) added to the element chosen in it.
inline Value select_and_scatter_add(const Value& source, const Value& x, std::string_view select_prim,
                                    Dims window_dimensions, Dims window_strides = {}, Dims padding = {},
                                    Dims base_dilation = {}, Dims window_dilation = {}) {
  return Emit1("select_and_scatter_add", {source, x},
               {{"select_prim", select_prim},
                {"window_dimensions", window_dimensions},
                {"window_strides", window_strides},
                {"padding", padding},
                {"base_dilation", base_dilation},
                {"window_dilation", window_dilation}});
}

// ---- by a program ----
// `computation` takes two scalars for each operand, first those of one element, then those of another, and gives one
// for each. It is associative and each of `init_values` (a scalar for each operand) its identity, or else the result is
// any that some grouping of the elements gives.
inline Values reduce(std::span<const Value> operands, std::span<const Value> init_values,
                     ricci_program* const& computation, Dims dimensions) {
  Values in(operands.begin(), operands.end());
  in.insert(in.end(), init_values.begin(), init_values.end());
  return EmitN(static_cast<uint32_t>(operands.size()), "reduce", in,
               {{"computation", computation}, {"dimensions", dimensions}});
}
inline Values reduce_window(std::span<const Value> operands, std::span<const Value> init_values,
                            ricci_program* const& computation, Dims window_dimensions, Dims window_strides = {},
                            Dims padding = {}, Dims base_dilation = {}, Dims window_dilation = {}) {
  Values in(operands.begin(), operands.end());
  in.insert(in.end(), init_values.begin(), init_values.end());
  return EmitN(static_cast<uint32_t>(operands.size()), "reduce_window", in,
               {{"computation", computation},
                {"window_dimensions", window_dimensions},
                {"window_strides", window_strides},
                {"padding", padding},
                {"base_dilation", base_dilation},
                {"window_dilation", window_dilation}});
}

}}}  // namespace ricci::v0::lax
#endif
