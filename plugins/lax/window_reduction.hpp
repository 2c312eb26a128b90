// Windows over all dimensions of an array: the attributes of reduce_window and its kin, and the elements in a window.
//
// Only elements are reduced: what is in the padding or in a gap counts for nothing. Of a dimension, either the elements
// of the window are run through or those of the array, whichever are fewer, so that a huge window costs no more than
// the array; both are in the same order.
#ifndef RICCI_LAX_WINDOW_REDUCTION_HPP_
#define RICCI_LAX_WINDOW_REDUCTION_HPP_
#include "reduction_parts.hpp"
#include "sliding_window.hpp"

namespace ricci { inline namespace v0 { namespace lax {

inline constexpr SlidingNames kWindowNames = {"window_strides", "padding", "base_dilation", "window_dilation"};
inline constexpr AttrSpec kWindowDimensions = {"window_dimensions", AttrKind::kInts};
inline constexpr AttrSpec kWindowStrides = {"window_strides", AttrKind::kInts, "all 1"};
inline constexpr AttrSpec kWindowPadding = {"padding", AttrKind::kInts, "all 0"};
inline constexpr AttrSpec kBaseDilation = {"base_dilation", AttrKind::kInts, "all 1"};
inline constexpr AttrSpec kWindowDilation = {"window_dilation", AttrKind::kInts, "all 1"};

// The shape of the result over `operand`, or an error.
inline Shape WindowShape(const Eqn& e, uint32_t operand = 0) {
  const ArrayType x = e.in(operand);
  const auto n = static_cast<size_t>(x.rank());
  const Dims window = e.ints("window_dimensions");
  if (window.size() != n) {
    e.Fail("window_dimensions ", window, " has ", Count(window.size(), "number"), ", not ", n, " for ", x);
  }
  WantList(e, "window_dimensions", n, 1, 1, operand);
  WantSliding(e, kWindowNames, n, operand);
  const SlidingLists lists(e, kWindowNames, n);
  Shape out;
  for (size_t i = 0; i < n; ++i) {
    const std::string text = Text(e.name(), ": dimension ", i, ": ");
    const int64_t reach = AsDimension(ExactDilated(window[i], lists.window_dilation[i]), text, "the window ", window,
                                      ", dilated, has size ");
    const int64_t dilated =
        AsDimension(ExactDilated(x.shape()[i], lists.base_dilation[i]), text, x, ", dilated, has size ");
    const int64_t padded = dilated + lists.padding[2 * i] + lists.padding[2 * i + 1];  // exact: at most 2^62 + 2^61
    out.push_back(AsDimension(Exact(lists.OutSize(i, padded, reach)), text, "the result has size "));
  }
  return out;
}
// All windows of `operand`, whose result has shape `out`.
inline std::vector<SlidingWindow> WindowsOf(const Eqn& e, uint32_t operand, Dims out) {
  const Dims size = e.in(operand).shape(), window = e.ints("window_dimensions");
  const SlidingLists lists(e, kWindowNames, size.size());
  std::vector<SlidingWindow> windows;
  for (size_t i = 0; i < size.size(); ++i) windows.push_back(lists.At(i, size[i], window[i], out[i]));
  return windows;
}

// The operation on operands with one more dimension at `at`, which no window spans.
inline Values EmitWithBatch(const Eqn& e, std::span<const Value> in, int64_t at) {
  const size_t n = e.ints("window_dimensions").size();
  const SlidingLists lists(e, kWindowNames, n);
  const auto with = [&](Dims list, int64_t v, int64_t count = 1) {
    Shape out(list.begin(), list.end());
    out.insert(out.begin() + at * count, static_cast<size_t>(count), v);
    return out;
  };
  const Shape window = with(e.ints("window_dimensions"), 1), stride = with(lists.stride, 1),
              padding = with(lists.padding, 0, 2), base = with(lists.base_dilation, 1),
              dilation = with(lists.window_dilation, 1);
  return e.EmitN(in, {{"window_dimensions", window},
                      {"window_strides", stride},
                      {"padding", padding},
                      {"base_dilation", base},
                      {"window_dilation", dilation}});
}

// ---- lowering ----
// An element in a window, kept in bounds, and whether it is one.
class InWindow {
 public:
  Index at;
  Scalar inside;  // unset if always

  // The number of elements to run through for each window.
  static Shape Trips(std::span<const SlidingWindow> windows) {
    Shape out;
    for (const SlidingWindow& v : windows) out.push_back(std::min(v.window, v.size));
    return out;
  }
  // Trip `inner` of the window at `to`.
  InWindow(KernelBuilder& k, std::span<const SlidingWindow> windows, const Index& to, const Index& inner) {
    for (size_t i = 0; i < windows.size(); ++i) {
      const SlidingWindow& v = windows[i];
      v.window <= v.size ? AddOfWindow(k, v, to[i], inner[i]) : AddOfArray(k, v, to[i], inner[i]);
    }
  }

 private:
  void Require(Scalar condition) { inside = inside.id == 0 ? condition : inside & condition; }
  void AddOfWindow(KernelBuilder& k, const SlidingWindow& v, Scalar to, Scalar w) {
    const UnderWindow under(k, v, to, w);
    at.push_back(under.at);
    if (under.inside.id != 0) Require(under.inside);
  }
  void AddOfArray(KernelBuilder&, const SlidingWindow& v, Scalar to, Scalar element) {
    const Scalar p = element * v.base_dilation + v.low - to * v.stride;  // exact: positions in the padded array
    at.push_back(element);
    const Scalar is_below = p < v.reach();
    Require((p >= 0) & is_below);
    if (v.window_dilation > 1) Require(p % v.window_dilation == 0);
  }
};

// ---- factors ----
// `whole`: the operand has its own factors for what windows span.
struct WindowedFactors {
  Shape array, windows;
};
inline WindowedFactors FactorsOfWindowed(FactorText& text, std::span<const SlidingWindow> windows) {
  WindowedFactors out;
  for (const SlidingWindow& v : windows) {
    out.array.push_back(v.passes() ? text.Shared() : text.Whole());
    out.windows.push_back(v.passes() ? out.array.back() : text.Whole());
  }
  return out;
}

}}}  // namespace ricci::v0::lax
#endif
