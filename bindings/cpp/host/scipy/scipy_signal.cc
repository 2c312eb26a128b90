// Convolutions of any number of dimensions, by conv_general_dilated or by Fourier transforms.
#include "ricci/scipy_signal.hpp"

#include <algorithm>

#include "host/core/plain_math.h"
#include "ricci/fft.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace signal {

using namespace plain;

namespace {

Values UsePair(std::string_view name, const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const CallSite site = SiteOf(name, in);
  const DType dtype = ToInexact(PromotedDType(site, in));
  const Values v{To(site.Lift(a, dtype), dtype), To(site.Lift(b, dtype), dtype)};
  if (v[0].rank() != v[1].rank() || v[0].rank() == 0) {
    site.Fail("operands are ", v[0].type(), " and ", v[1].type(), "; they need the same dimensions, at least 1");
  }
  if (v[0].type().elements() == 0 || v[1].type().elements() == 0) {
    site.Fail("operands are ", v[0].type(), " and ", v[1].type(), "; both need elements");
  }
  return v;
}
// The part of the full result that a mode wants.
Value Part(std::string_view name, const Location& at, Value full, const Values& v, std::string_view mode) {
  if (mode == "full") return full;
  if (mode != "same" && mode != "valid") FailAt(at, name, ": mode is ", mode, "; it must be full, same or valid");
  bool first_holds = true, second_holds = true;
  for (int64_t d = 0; d < full.rank(); ++d) {
    first_holds &= v[0].dim(d) >= v[1].dim(d);
    second_holds &= v[1].dim(d) >= v[0].dim(d);
  }
  if (mode == "valid" && !first_holds && !second_holds) {
    FailAt(at, name, ": neither ", v[0].type(), " nor ", v[1].type(), " lies inside the other");
  }
  for (int64_t d = 0; d < full.rank(); ++d) {
    const int64_t n = v[0].dim(d), m = v[1].dim(d), low = mode == "same" ? (m - 1) / 2 : std::min(n, m) - 1;
    full = Cut(full, low, low + (mode == "same" ? n : std::max(n, m) - std::min(n, m) + 1), d);
  }
  return full;
}
// Sums over real parts: a complex product is three or four of them, which the primitive does itself.
Value Full(const Values& v) {
  const Shape all = CountFrom(0, v[0].rank());
  Shape lhs{1, 1}, rhs{1, 1}, padding;
  lhs.insert(lhs.end(), v[0].shape().begin(), v[0].shape().end());
  rhs.insert(rhs.end(), v[1].shape().begin(), v[1].shape().end());
  for (int64_t d : all) padding.insert(padding.end(), 2, v[1].dim(d) - 1);
  const Value flipped = lax::reshape(lax::rev(v[1], all), rhs);
  const Value out = lax::conv_general_dilated(lax::reshape(v[0], lhs), flipped, Shape(all.size(), 1), padding);
  return lax::squeeze(out, Shape{0, 1});
}
Value Reversed(const Operand& b) {
  const Value v = conj(b);
  return lax::rev(v, CountFrom(0, v.rank()));
}
void WantMatrices(std::string_view name, const Operand& a, const Operand& b) {
  if (a.shape().size() == 2 && b.shape().size() == 2) return;
  FailAt(a.at, name, ": operands have ", a.shape().size(), " and ", b.shape().size(), " dimensions; both must have 2");
}

}  // namespace

Value convolve(const Operand& a, const Operand& b, std::string_view mode) {
  const Values v = UsePair("convolve", a, b);
  return Part("convolve", a.at, Full(v), v, mode);
}
Value correlate(const Operand& a, const Operand& b, std::string_view mode) {
  const Values v = UsePair("correlate", a, Operand(Reversed(b), a.at));
  return Part("correlate", a.at, Full(v), v, mode);
}
Value convolve2d(const Operand& a, const Operand& b, std::string_view mode) {
  WantMatrices("convolve2d", a, b);
  return convolve(a, b, mode);
}
Value correlate2d(const Operand& a, const Operand& b, std::string_view mode) {
  WantMatrices("correlate2d", a, b);
  return correlate(a, b, mode);
}
Value fftconvolve(const Operand& a, const Operand& b, std::string_view mode) {
  const Values v = UsePair("fftconvolve", a, b);
  Shape shape;
  for (int64_t d = 0; d < v[0].rank(); ++d) shape.push_back(v[0].dim(d) + v[1].dim(d) - 1);
  const bool complex = IsComplex(v[0].dtype());
  const auto forward = complex ? fft::fftn : fft::rfftn;
  const auto back = complex ? fft::ifftn : fft::irfftn;
  const Value product =
      forward(Operand(v[0], a.at), shape, {}, "backward") * forward(Operand(v[1], a.at), shape, {}, "backward");
  const Value full = To(back(Operand(product, a.at), shape, {}, "backward"), v[0].dtype());
  return Part("fftconvolve", a.at, full, v, mode);
}

namespace {

// Along the last axis, without the line of least squares.
Value WithoutLine(const Value& x) {
  const int64_t last = x.rank() - 1, n = x.dim(last);
  const Value centered = x - KeptSum(x, {&last, 1}) / static_cast<double>(n);
  if (n == 1) return centered;
  const Value time = Positions(x, x.dtype(), last) - static_cast<double>(n - 1) / 2;
  const Value slope = KeptSum(centered * time, {&last, 1}) / KeptSum(time * time, {&last, 1});
  return centered - slope * time;
}

}  // namespace

Value detrend(const Operand& x, AxisNumber axis, std::string_view type, const Shape& breaks) {
  const Value v = UseInexact("detrend", x);
  const int64_t along = Axis("detrend", x.at, axis, v.rank()), n = v.dim(along), last = v.rank() - 1;
  if (type != "linear" && type != "constant")
    FailAt(x.at, "detrend: type is ", type, "; it must be linear or constant");
  if (type == "constant") return v - KeptSum(v, {&along, 1}) / static_cast<double>(n);
  Shape edges = breaks;
  edges.insert(edges.end(), {0, n});
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  if (edges.front() < 0 || edges.back() > n) {
    FailAt(x.at, "detrend: breaks are ", breaks, "; they must be from 0 to ", n, ", the size of axis ", along);
  }
  if (n == 0) return v;
  const Value rows = AxisToEnd(v, along);
  Values parts;
  for (size_t i = 1; i < edges.size(); ++i) parts.push_back(WithoutLine(Cut(rows, edges[i - 1], edges[i], last)));
  return EndToAxis(lax::concatenate(parts, last), along);
}

}}}}  // namespace ricci::v0::scipy::signal
