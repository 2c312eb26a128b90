// Transforms along any axes, three at most: where they are if they follow each other, else moved to the end and back.
#include "ricci/fft.hpp"

#include <algorithm>
#include <cmath>

#include "host/core/plain_math.h"

namespace ricci { inline namespace v0 { namespace fft {

using namespace plain;

namespace {

enum class Kind { kForward, kInverse, kReal, kRealInverse };
constexpr std::string_view kTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
bool IsInverse(Kind k) { return k == Kind::kInverse || k == Kind::kRealInverse; }

// The factor by which a result of n points differs from that of the primitive, which scales the inverse by 1 / n.
double FactorOf(std::string_view name, const Location& at, std::string_view norm, double n, bool inverse) {
  if (norm == "backward") return 1;
  if (norm == "ortho") return inverse ? std::sqrt(n) : 1 / std::sqrt(n);
  if (norm == "forward") return inverse ? n : 1 / n;
  FailAt(at, name, ": norm is ", norm, "; it must be backward, ortho or forward");
}
// x cut or padded with zeros to n elements along its dimension `axis`.
Value Fitted(const Value& v, int64_t n, int64_t axis) {
  if (v.dim(axis) > n) return Cut(v, 0, n, axis);
  Shape zero(static_cast<size_t>(v.rank()), 0), high = zero;
  high[static_cast<size_t>(axis)] = n - v.dim(axis);
  return v.dim(axis) == n ? v : lax::pad(v, Scalar(v, 0), zero, high, zero);
}
Value UseOperand(std::string_view name, const Operand& x, Kind kind) {
  const Value v = UseInexact(name, x);
  const DType wide = IsNarrowFloat(v.dtype()) ? DType::kF32 : v.dtype();
  if (kind != Kind::kReal) return To(v, ComplexOf(wide));
  if (IsComplex(wide)) FailAt(x.at, name, ": operand is ", v.type(), "; it must be real");
  return To(v, wide);
}
// The dimensions after `axes`, if these follow each other.
int64_t TrailingOf(const Value& v, const Shape& axes) {
  for (size_t i = 1; i < axes.size(); ++i) {
    if (axes[i] != axes[i - 1] + 1) return 0;
  }
  return v.rank() - 1 - axes.back();
}
// v with these axes, in order, at the end but `trailing` dimensions, or back from there.
Shape OrderOf(const Value& v, const Shape& axes, int64_t trailing) {
  Shape order;
  if (trailing != 0) {  // where they are
    for (int64_t d = 0; d < v.rank(); ++d) order.push_back(d);
    return order;
  }
  for (int64_t d = 0; d < v.rank(); ++d) {
    if (std::find(axes.begin(), axes.end(), d) == axes.end()) order.push_back(d);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  return order;
}
Value MovedBack(const Value& v, const Shape& order) {
  Shape inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return lax::transpose(v, inverse);
}

// Along `axes`, which are in range, with result lengths `s` (of a real inverse: of its result).
Value Transform(std::string_view name, const Operand& x, Kind kind, const Shape& axes, const Shape& s,
                std::string_view norm) {
  Value v = UseOperand(name, x, kind);
  if (axes.empty()) return v;
  if (axes.size() > 3) FailAt(x.at, name, ": ", axes.size(), " axes; there may be at most 3");
  const int64_t trailing = TrailingOf(v, axes);
  const Shape order = OrderOf(v, axes, trailing);
  v = lax::transpose(v, order);
  double points = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (s[i] < 1) FailAt(x.at, name, ": length ", s[i], " of axis ", axes[i], "; it must be at least 1");
    points *= static_cast<double>(s[i]);
    const bool half = kind == Kind::kRealInverse && i + 1 == axes.size();
    v = Fitted(v, half ? s[i] / 2 + 1 : s[i], v.rank() - trailing - static_cast<int64_t>(axes.size() - i));
  }
  Value out = lax::fft(v, kTypes[static_cast<size_t>(kind)], s, trailing);
  const double factor = FactorOf(name, x.at, norm, points, IsInverse(kind));
  if (factor != 1) out = out * factor;
  return MovedBack(out, order);
}
Value Along(std::string_view name, const Operand& x, Kind kind, Length n, AxisNumber given, std::string_view norm) {
  const auto rank = static_cast<int64_t>(x.shape().size());
  const int64_t axis = Axis(name, x.at, given, rank), size = x.shape()[static_cast<size_t>(axis)];
  return Transform(name, x, kind, {axis}, {n.value_or(kind == Kind::kRealInverse ? 2 * (size - 1) : size)}, norm);
}
Value AlongAll(std::string_view name, const Operand& x, Kind kind, const Shape& s, const Shape& given,
               std::string_view norm) {
  const auto rank = static_cast<int64_t>(x.shape().size());
  Shape axes = given, lengths = s;
  const auto count = s.empty() ? rank : static_cast<int64_t>(s.size());
  if (count > rank) FailAt(x.at, name, ": ", count, " lengths for ", Count(rank, "dimension"));
  if (axes.empty()) axes = CountFrom(rank - count, count);
  for (int64_t& a : axes) a = Axis(name, x.at, a, rank);
  if (!s.empty() && s.size() != axes.size())
    FailAt(x.at, name, ": ", Count(s.size(), "length"), " for ", axes.size(), axes.size() == 1 ? " axis" : " axes");
  for (size_t i = 0; i < axes.size() && s.empty(); ++i) lengths.push_back(x.shape()[static_cast<size_t>(axes[i])]);
  if (s.empty() && kind == Kind::kRealInverse && !axes.empty()) lengths.back() = 2 * (lengths.back() - 1);
  return Transform(name, x, kind, axes, lengths, norm);
}
// The norm of the transform in the other direction.
std::string_view Exchanged(std::string_view norm) {
  return norm == "backward" ? "forward" : norm == "forward" ? "backward" : norm;
}

}  // namespace

Value fft(const Operand& x, Length n, AxisNumber axis, std::string_view norm) {
  return Along("fft", x, Kind::kForward, n, axis, norm);
}
Value ifft(const Operand& x, Length n, AxisNumber axis, std::string_view norm) {
  return Along("ifft", x, Kind::kInverse, n, axis, norm);
}
Value rfft(const Operand& x, Length n, AxisNumber axis, std::string_view norm) {
  return Along("rfft", x, Kind::kReal, n, axis, norm);
}
Value irfft(const Operand& x, Length n, AxisNumber axis, std::string_view norm) {
  return Along("irfft", x, Kind::kRealInverse, n, axis, norm);
}
Value hfft(const Operand& x, Length n, AxisNumber axis, std::string_view norm) {
  const Value v = conj(x);
  return Along("hfft", Operand(v, x.at), Kind::kRealInverse, n, axis, Exchanged(norm));
}
Value ihfft(const Operand& x, Length n, AxisNumber axis, std::string_view norm) {
  return lax::conj(Along("ihfft", x, Kind::kReal, n, axis, Exchanged(norm)));
}
Value fftn(const Operand& x, const Shape& s, const Shape& axes, std::string_view norm) {
  return AlongAll("fftn", x, Kind::kForward, s, axes, norm);
}
Value ifftn(const Operand& x, const Shape& s, const Shape& axes, std::string_view norm) {
  return AlongAll("ifftn", x, Kind::kInverse, s, axes, norm);
}
Value rfftn(const Operand& x, const Shape& s, const Shape& axes, std::string_view norm) {
  return AlongAll("rfftn", x, Kind::kReal, s, axes, norm);
}
Value irfftn(const Operand& x, const Shape& s, const Shape& axes, std::string_view norm) {
  return AlongAll("irfftn", x, Kind::kRealInverse, s, axes, norm);
}
Value fft2(const Operand& x, const Shape& s, const Shape& axes, std::string_view norm) {
  return AlongAll("fft2", x, Kind::kForward, s, axes, norm);
}
Value ifft2(const Operand& x, const Shape& s, const Shape& axes, std::string_view norm) {
  return AlongAll("ifft2", x, Kind::kInverse, s, axes, norm);
}
Value rfft2(const Operand& x, const Shape& s, const Shape& axes, std::string_view norm) {
  return AlongAll("rfft2", x, Kind::kReal, s, axes, norm);
}
Value irfft2(const Operand& x, const Shape& s, const Shape& axes, std::string_view norm) {
  return AlongAll("irfft2", x, Kind::kRealInverse, s, axes, norm);
}

Value fftfreq(const Operand& in, int64_t n, double d, DType dtype) {
  if (n < 1) FailAt(in.at, "fftfreq: n is ", n, "; it must be at least 1");
  const Value i = Iota(in, dtype, {n}, 0);
  const auto size = static_cast<double>(n);
  return Where(i < std::ceil(size / 2), i, i - size) / (size * d);
}
Value rfftfreq(const Operand& in, int64_t n, double d, DType dtype) {
  if (n < 1) FailAt(in.at, "rfftfreq: n is ", n, "; it must be at least 1");
  return Iota(in, dtype, {n / 2 + 1}, 0) / (static_cast<double>(n) * d);
}

namespace {

Value Shifted(std::string_view name, const Operand& x, const Axes& axes, int64_t more) {
  Value v = Use(name, x);
  for (int64_t a : axes.Of(name, x.at, v.rank())) {
    const int64_t n = v.dim(a), half = (n + more) / 2;
    v = roll(Operand(v, x.at), half, a);
  }
  return v;
}

}  // namespace

Value fftshift(const Operand& x, const Axes& axes) { return Shifted("fftshift", x, axes, 0); }
Value ifftshift(const Operand& x, const Axes& axes) { return Shifted("ifftshift", x, axes, 1); }

}}}  // namespace ricci::v0::fft
