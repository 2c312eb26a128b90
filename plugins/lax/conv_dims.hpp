// The numbers of a convolution: which dimension of each array is what, and its window along each spatial dimension.
//
// A spec lists the dimensions of an array by role: [batch, feature, spatial...] of lhs and result, [output feature,
// input feature, spatial...] of rhs. Sizes are small once the type rule has passed, so plain arithmetic is exact.
#ifndef RICCI_LAX_CONV_DIMS_HPP_
#define RICCI_LAX_CONV_DIMS_HPP_
#include "factor_text.hpp"

namespace ricci { inline namespace v0 { namespace lax {

inline constexpr int64_t kMaxConvPadding = int64_t{1} << 60;

// From the first to the last of `size` elements that are `step` apart.
inline int64_t Dilated(int64_t size, int64_t step) { return size == 0 ? 0 : (size - 1) * step + 1; }

// One spatial dimension. Element p of the padded and dilated lhs is element (p - low) / lhs_dilation of lhs, or 0; the
// result at y is the sum over w of rhs[w] and p = y stride + w rhs_dilation.
struct ConvWindow {
  int64_t size, window, out;  // of lhs, rhs and the result
  int64_t stride, low, high, lhs_dilation, rhs_dilation;

  int64_t dilated() const { return Dilated(size, lhs_dilation); }
  int64_t reach() const { return Dilated(window, rhs_dilation); }
  int64_t padded() const { return low + dilated() + high; }
};

// An empty list, or one that is left out, is `n` times `otherwise`.
inline Shape ConvList(const Eqn& e, std::string_view name, size_t n, int64_t otherwise) {
  const Dims given = e.ints(name);
  return given.empty() ? Shape(n, otherwise) : Shape(given.begin(), given.end());
}

struct ConvDims {
  Shape lhs, rhs, out;  // specs
  int64_t feature_groups, batch_groups;
  std::vector<ConvWindow> windows;

  explicit ConvDims(const Eqn& e)
      : lhs(SpecOf(e, "lhs_spec")),
        rhs(SpecOf(e, "rhs_spec")),
        out(SpecOf(e, "out_spec")),
        feature_groups(CountOf(e, "feature_group_count")),
        batch_groups(CountOf(e, "batch_group_count")) {}
  // Also its windows, which the type rule has checked.
  static ConvDims Checked(const Eqn& e) {
    ConvDims d(e);
    const size_t n = d.n_spatial();
    const Shape strides = ConvList(e, "window_strides", n, 1), padding = ConvList(e, "padding", 2 * n, 0),
                lhs_dilation = ConvList(e, "lhs_dilation", n, 1), rhs_dilation = ConvList(e, "rhs_dilation", n, 1);
    for (size_t i = 0; i < n; ++i) {
      ConvWindow w{e.in(0).dim(d.lhs[i + 2]),
                   e.in(1).dim(d.rhs[i + 2]),
                   e.out().dim(d.out[i + 2]),
                   1,
                   padding[2 * i],
                   padding[2 * i + 1],
                   1,
                   1};
      // The step between elements matters only if there are several: then it is small.
      if (w.out > 1) w.stride = strides[i];
      if (w.size > 1) w.lhs_dilation = lhs_dilation[i];
      if (w.window > 1) w.rhs_dilation = rhs_dilation[i];
      d.windows.push_back(w);
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
  static int64_t CountOf(const Eqn& e, std::string_view name) { return e.has(name) ? e.integer(name) : 1; }
};

}}}  // namespace ricci::v0::lax
#endif
