// A window that slides along a dimension: of a convolution, and of the reductions over windows.
//
// The array is dilated (base_dilation - 1 gaps between neighbours) and padded; the window's elements are
// window_dilation apart. Positions in a gap or in the padding are not elements. Attributes may be any int64: sizes are
// computed exactly in the type rule, and are small once it has passed, so that plain arithmetic is exact.
#ifndef RICCI_LAX_SLIDING_WINDOW_HPP_
#define RICCI_LAX_SLIDING_WINDOW_HPP_
#include "factor_text.hpp"

namespace ricci { inline namespace v0 { namespace lax {

inline constexpr int64_t kMaxWindowPadding = int64_t{1} << 60;

// Names of the attributes: a list of one number for each dimension, `padding` of two, low and high.
struct SlidingNames {
  std::string_view stride, padding, base_dilation, window_dilation;
};

// From the first to the last of `size` elements that are `step` apart.
inline int64_t Dilated(int64_t size, int64_t step) { return size == 0 ? 0 : (size - 1) * step + 1; }
inline ricci_exact ExactDilated(int64_t size, int64_t step) {
  return size == 0 ? Exact(0) : Exact(size - 1) * step + 1;  // exact: a dimension
}

// One dimension. Position p of the padded and dilated array is element (p - low) / base_dilation; the window at y
// covers the positions y stride + w window_dilation.
struct SlidingWindow {
  int64_t size, window, out;  // of the array, the window and the result
  int64_t stride = 1, low = 0, high = 0, base_dilation = 1, window_dilation = 1;

  int64_t dilated() const { return Dilated(size, base_dilation); }
  int64_t reach() const { return Dilated(window, window_dilation); }
  int64_t padded() const { return low + dilated() + high; }
  // Does each point of the result have the element of the same position, and only that?
  bool passes() const { return window == 1 && out == size && low == 0 && stride == 1 && base_dilation == 1; }
};

// ---- attributes ----
// An empty list, or one that is left out, is `n` times `otherwise`.
inline Shape ListOr(const Eqn& e, std::string_view name, size_t n, int64_t otherwise) {
  const Dims given = e.ints(name);
  return given.empty() ? Shape(n, otherwise) : Shape(given.begin(), given.end());
}
inline Shape WantList(const Eqn& e, std::string_view name, size_t n, int64_t otherwise, int64_t least,
                      uint32_t operand = 0) {
  const Shape list = ListOr(e, name, n, otherwise);
  if (list.size() != n) {
    e.Fail(name, " ", list, " has ", Count(list.size(), "number"), ", not ", n, " for ", e.in(operand));
  }
  for (int64_t v : list) {
    if (v < least) e.Fail(name, " ", list, " must be at least ", least);
  }
  return list;
}
// Of `n` dimensions of an operand.
inline void WantSliding(const Eqn& e, const SlidingNames& names, size_t n, uint32_t operand = 0) {
  for (std::string_view name : {names.stride, names.base_dilation, names.window_dilation}) {
    WantList(e, name, n, 1, 1, operand);
  }
  for (int64_t v : WantList(e, names.padding, 2 * n, 0, -kMaxWindowPadding, operand)) {
    if (v > kMaxWindowPadding)
      e.Fail(names.padding, " ", e.ints(names.padding), " must be at most ", kMaxWindowPadding);
  }
}

// The lists of all dimensions, with those that are left out.
struct SlidingLists {
  Shape stride, padding, base_dilation, window_dilation;

  SlidingLists(const Eqn& e, const SlidingNames& names, size_t n)
      : stride(ListOr(e, names.stride, n, 1)),
        padding(ListOr(e, names.padding, 2 * n, 0)),
        base_dilation(ListOr(e, names.base_dilation, n, 1)),
        window_dilation(ListOr(e, names.window_dilation, n, 1)) {}

  ricci_exact Padded(size_t i, int64_t size) const {
    return ExactDilated(size, base_dilation[i]) + padding[2 * i] + padding[2 * i + 1];
  }
  // The size of the result, from that of the padded array and of the window with its gaps.
  int64_t OutSize(size_t i, int64_t padded, int64_t reach) const {
    return padded < reach ? 0 : (padded - reach) / stride[i] + 1;  // exact: dimensions
  }
  // Sizes that the type rule has checked. A step between elements matters only if there are several: then it is small.
  SlidingWindow At(size_t i, int64_t size, int64_t window, int64_t out) const {
    SlidingWindow w{.size = size, .window = window, .out = out, .low = padding[2 * i], .high = padding[2 * i + 1]};
    if (out > 1) w.stride = stride[i];
    if (size > 1) w.base_dilation = base_dilation[i];
    if (window > 1) w.window_dilation = window_dilation[i];
    return w;
  }
};

// ---- lowering ----
// The element under element `w` of the window at `y`, kept in bounds, and whether there is one.
struct UnderWindow {
  Scalar at, inside;  // inside: unset if always

  UnderWindow(KernelBuilder& k, const SlidingWindow& v, Scalar y, Scalar w)
      : at(y * v.stride + w * v.window_dilation - v.low) {  // exact: positions in the padded array
    const int64_t last = (v.out - 1) * v.stride + v.reach() - 1 - v.low;
    if (v.low > 0) {
      Require(at >= 0);
      at = Max(at, k.At(0));
    }
    if (last >= v.dilated()) {
      Require(at < v.dilated());
      at = Min(at, k.At(v.dilated() - 1));
    }
    if (v.base_dilation > 1) {
      Require(at % v.base_dilation == 0);
      at = at / v.base_dilation;
    }
  }

 private:
  void Require(Scalar condition) { inside = inside.id == 0 ? condition : inside & condition; }
};

}}}  // namespace ricci::v0::lax
#endif
