// ricci/lax_convolution.hpp: convolutions, as jax.lax.conv_general_dilated.
#ifndef RICCI_LAX_CONVOLUTION_HPP_
#define RICCI_LAX_CONVOLUTION_HPP_
#include "ricci/emit.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// Which dimensions of each array are what: [batch, feature, spatial...] of lhs and result, [output feature, input
// feature, spatial...] of rhs. A list that is empty is 0, 1, 2, ...: NCHW and OIHW. For NHWC and HWIO: {{0, 3, 1, 2},
// {3, 2, 0, 1}, {0, 3, 1, 2}}.
struct ConvDimensionNumbers {
  Shape lhs_spec, rhs_spec, out_spec;
};
struct ConvOptions {
  Shape lhs_dilation = {}, rhs_dilation = {};  // empty: all 1
  ConvDimensionNumbers dimension_numbers = {};
  int64_t feature_group_count = 1, batch_group_count = 1;
  DType preferred_element_type = DType::kNone;  // of the result and the sum; none: that of the operands
};
// result[n, f, y] = sum over c and w of lhs[n, c, y window_strides + w rhs_dilation - low] rhs[f, c, w], where lhs has
// lhs_dilation - 1 zeros between neighbours and zeros outside. `window_strides`: one for each spatial dimension;
// `padding`: low and high of each, [low0, high0, low1, ...]; negative ones cut off.
inline Value conv_general_dilated(const Value& lhs, const Value& rhs, Dims window_strides, Dims padding,
                                  const ConvOptions& o = {}) {
  const auto emit = [&](auto... preferred) {
    return Emit1("conv_general_dilated", {lhs, rhs},
                 {{"window_strides", window_strides},
                  {"padding", padding},
                  {"lhs_dilation", o.lhs_dilation},
                  {"rhs_dilation", o.rhs_dilation},
                  {"lhs_spec", o.dimension_numbers.lhs_spec},
                  {"rhs_spec", o.dimension_numbers.rhs_spec},
                  {"out_spec", o.dimension_numbers.out_spec},
                  {"feature_group_count", o.feature_group_count},
                  {"batch_group_count", o.batch_group_count},
                  preferred...});
  };
  if (o.preferred_element_type == DType::kNone) return emit();
  return emit(Attr("preferred_element_type", o.preferred_element_type));
}

}}}  // namespace ricci::v0::lax
#endif
