// The numbers of a convolution: which dimension of each array is what, and its window along each spatial dimension.
//
// A spec lists the dimensions of an array by role: [batch, feature, spatial...] of lhs and result, [output feature,
// input feature, spatial...] of rhs.
#ifndef RICCI_LAX_CONV_DIMS_HPP_
#define RICCI_LAX_CONV_DIMS_HPP_
#include "sliding_window.hpp"

namespace ricci { inline namespace v0 { namespace lax {

inline constexpr SlidingNames kConvNames = {"window_strides", "padding", "lhs_dilation", "rhs_dilation"};

struct ConvDims {
  Shape lhs, rhs, out;  // specs
  int64_t feature_groups, batch_groups;
  std::vector<SlidingWindow> windows;  // base: lhs, window: rhs

  explicit ConvDims(const Eqn& e)
      : lhs(SpecOf(e, "lhs_spec")),
        rhs(SpecOf(e, "rhs_spec")),
        out(SpecOf(e, "out_spec")),
        feature_groups(e.integer("feature_group_count", 1)),
        batch_groups(e.integer("batch_group_count", 1)) {}
  // Also its windows, which the type rule has checked.
  static ConvDims Checked(const Eqn& e) {
    ConvDims d(e);
    const size_t n = d.n_spatial();
    const SlidingLists lists(e, kConvNames, n);
    for (size_t i = 0; i < n; ++i) {
      d.windows.push_back(lists.At(i, e.in(0).dim(d.lhs[i + 2]), e.in(1).dim(d.rhs[i + 2]), e.out().dim(d.out[i + 2])));
    }
    return d;
  }

  size_t n_spatial() const { return lhs.size() - 2; }
  int64_t groups() const { return std::max(feature_groups, batch_groups); }

 private:
  static Shape SpecOf(const Eqn& e, std::string_view name) {
    const Dims given = e.ints(name);
    return given.empty() ? rules::Range(e.in(0).rank()) : Shape(given.begin(), given.end());
  }
};

}}}  // namespace ricci::v0::lax
#endif
