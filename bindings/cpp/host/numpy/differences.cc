// Differences, integrals, interpolation and convolution, with the formulas of jax.numpy.
#include "ricci/differences.hpp"

#include <algorithm>

#include "host/core/plain_math.h"
#include "ricci/statistics.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

namespace {

Value Step(const Value& v, int64_t axis) {
  const int64_t n = v.dim(axis);
  const Value next = Cut(v, std::min<int64_t>(1, n), n, axis), before = Cut(v, 0, std::max<int64_t>(0, n - 1), axis);
  return v.dtype() == DType::kBool ? next != before : next - before;
}

}  // namespace

Value diff(const Operand& x, int64_t n, AxisNumber given) {
  Value v = Use("diff", x);
  if (n < 0) FailAt(x.at, "diff: n is ", n, "; it must not be negative");
  const int64_t axis = Axis("diff", x.at, given, v.rank());
  for (; n > 0 && v.dim(axis) > 0; --n) v = Step(v, axis);
  return v;
}
Value diff(const Operand& x, int64_t n, AxisNumber given, const std::optional<Operand>& prepend,
           const std::optional<Operand>& append) {
  std::vector<Operand> all{x};
  if (prepend) all.push_back(*prepend);
  if (append) all.push_back(*append);
  const CallSite site = SiteOf("diff", all);
  const DType dtype = PromotedDType(site, all);
  const Value v = To(site.Lift(x, dtype), dtype);
  const int64_t axis = Axis("diff", x.at, given, v.rank());
  const auto part = [&](const Operand& o) {
    const Value u = To(site.Lift(o, dtype), dtype);
    if (u.rank() > 0) return u;
    Shape shape = ShapeOfValue(v);
    shape[static_cast<size_t>(axis)] = 1;
    return BroadcastValue(u, shape);
  };
  Values parts;
  if (prepend) parts.push_back(part(*prepend));
  parts.push_back(v);
  if (append) parts.push_back(part(*append));
  return diff(Operand(lax::concatenate(parts, axis), x.at), n, axis);
}
Value ediff1d(const Operand& x, const std::optional<Operand>& to_end, const std::optional<Operand>& to_begin) {
  const Value d = diff(Operand(ravel(x), x.at), 1, 0);
  Values parts;
  const auto add = [&](const std::optional<Operand>& o) {
    if (!o) return;
    const Operand both[] = {Operand(d, x.at), *o};
    const Value part = To(SiteOf("ediff1d", both).Lift(*o, d.dtype()), d.dtype());
    parts.push_back(ravel(Operand(part, x.at)));
  };
  add(to_begin);
  parts.push_back(d);
  add(to_end);
  return lax::concatenate(parts, 0);
}

Value gradient(const Operand& x, const Operand& spacing, AxisNumber given) {
  const Operand in[] = {x, spacing};
  const CallSite site = SiteOf("gradient", in);
  const Value v = UseInexact("gradient", Operand(site.Lift(x, DType::kNone), x.at));
  const int64_t axis = Axis("gradient", x.at, given, v.rank()), n = v.dim(axis);
  if (n < 2) site.Fail("axis ", axis, " of ", v.type(), " has fewer than 2 elements");
  const Value h = To(site.Lift(spacing, v.dtype()), v.dtype());
  if (h.rank() > 1 || (h.rank() == 1 && h.dim(0) != n))
    site.Fail("the coordinates are ", h.type(), " for ", n, " points");
  const Value before = Cut(v, 0, n - 2, axis), middle = Cut(v, 1, n - 1, axis), after = Cut(v, 2, n, axis);
  const Value first = Cut(v, 1, 2, axis) - Cut(v, 0, 1, axis),
              last = Cut(v, n - 1, n, axis) - Cut(v, n - 2, n - 1, axis);
  if (h.rank() == 0) return Join({first / h, (after - before) * 0.5 / h, last / h}, axis);
  const auto along = [&](const Value& line) {
    Shape shape(static_cast<size_t>(v.rank()), 1);
    shape[static_cast<size_t>(axis)] = line.dim(0);
    return lax::reshape(line, shape);
  };
  const Value steps = Step(h, 0), a = along(Cut(steps, 0, n - 2, 0)), b = along(Cut(steps, 1, n - 1, 0));
  const Value inner = before * (-b / (a * (a + b))) + middle * ((b - a) / (a * b)) + after * (a / (b * (a + b)));
  return Join({first / along(Cut(steps, 0, 1, 0)), inner, last / along(Cut(steps, n - 2, n - 1, 0))}, axis);
}
Values gradient(const Operand& x) {
  Values out;
  const int64_t rank = Use("gradient", x).rank();
  for (int64_t axis = 0; axis < rank; ++axis) out.push_back(gradient(x, Operand(1, x.at), axis));
  return out;
}

namespace {

// How far apart the points along `axis` are: a vector, or of the shape of v but for that axis.
Value Widths(const CallSite& site, const Value& v, const Value& points, int64_t axis) {
  const int64_t along = points.rank() == 1 ? 0 : axis;
  if ((points.rank() != 1 && points.rank() != v.rank()) || points.dim(along) != v.dim(axis)) {
    site.Fail("points are ", points.type(), " for ", v.type(), " along axis ", axis);
  }
  const Value width = Step(points, along);
  if (points.rank() != 1) return width;
  Shape shape(static_cast<size_t>(v.rank()), 1);
  shape[static_cast<size_t>(axis)] = width.dim(0);
  return lax::reshape(width, shape);
}

}  // namespace

Value trapezoid(const Operand& y, const std::optional<Operand>& x, double dx, AxisNumber given) {
  std::vector<Operand> in{y};
  if (x) in.push_back(*x);
  const CallSite site = SiteOf("trapezoid", in);
  const DType dtype = ToInexact(PromotedDType(site, in));
  const Value v = To(site.Lift(y, dtype), dtype);
  const int64_t axis = Axis("trapezoid", y.at, given, v.rank()), n = v.dim(axis);
  const Value pairs = Cut(v, std::min<int64_t>(1, n), n, axis) + Cut(v, 0, std::max<int64_t>(0, n - 1), axis);
  const Value areas = x ? pairs * Widths(site, v, To(site.Lift(*x, dtype), dtype), axis) : pairs * dx;
  return lax::reduce_sum(areas, {&axis, 1}) * 0.5;
}
Value unwrap(const Operand& p, std::optional<double> discont, AxisNumber given, double period) {
  const Value v = UseInexact("unwrap", p);
  const int64_t axis = Axis("unwrap", p.at, given, v.rank()), n = v.dim(axis);
  if (n == 0) return v;
  const double half = period / 2;
  const Value d = Step(v, axis);
  Value near = remainder(Operand(d + half, p.at), Operand(Num(d, period), p.at)) - half;
  near = Where((near == -half) & (d > 0), half, near);
  const Value correction = Where(lax::abs(d) < std::max(discont.value_or(half), half), 0, near - d);
  return Join({Cut(v, 0, 1, axis), Cut(v, 1, n, axis) + lax::cumsum(correction, axis)}, axis);
}

Value interp(const Operand& x, const Operand& xp, const Operand& fp, const InterpOptions& o) {
  std::vector<Operand> in{x, xp, fp};
  if (o.left) in.push_back(*o.left);
  if (o.right) in.push_back(*o.right);
  const CallSite site = SiteOf("interp", in);
  const DType dtype = ToInexact(PromotedDType(site, std::span(in).subspan(0, 3)));
  Value at = To(site.Lift(x, dtype), dtype), points = To(site.Lift(xp, dtype), dtype),
        f = To(site.Lift(fp, dtype), dtype);
  if (points.rank() != 1 || !SameDims(points.shape(), f.shape())) {
    site.Fail("the points are ", points.type(), " and ", f.type(), "; they must be vectors of one size");
  }
  if (points.dim(0) == 0) site.Fail("there are no points");
  if (o.period) {
    if (*o.period == 0) site.Fail("the period is 0");
    const Operand period(std::abs(*o.period), x.at);
    at = remainder(Operand(at, x.at), period);
    const Value both[] = {remainder(Operand(points, x.at), period), f};
    const Values sorted = lax::sort(both, 0);
    const int64_t n = points.dim(0);
    const double p = std::abs(*o.period);
    points = Join({Cut(sorted[0], n - 1, n, 0) - p, sorted[0], Cut(sorted[0], 0, 1, 0) + p}, 0);
    f = Join({Cut(sorted[1], n - 1, n, 0), sorted[1], Cut(sorted[1], 0, 1, 0)}, 0);
  }
  const int64_t n = points.dim(0);
  const Value right_of = searchsorted(Operand(points, x.at), Operand(at, x.at), "right");
  const Value i = Max(Min(right_of, Scalar(right_of, static_cast<double>(n - 1))),
                      Scalar(right_of, std::min<double>(1, static_cast<double>(n - 1))));
  const Value before = Max(i - 1, Scalar(i, 0));
  const auto pick = [&](const Value& from, const Value& index) { return GatherAlong(from, index, 0, "clip"); };
  const Value df = pick(f, i) - pick(f, before), dx = pick(points, i) - pick(points, before),
              delta = at - pick(points, before);
  const Value flat = lax::abs(dx) <= 0;
  Value out = Where(flat, pick(f, before), pick(f, before) + delta / Where(flat, 1, dx) * df);
  const auto outside = [&](const std::optional<Operand>& given, int64_t edge) {
    return given ? To(site.Lift(*given, dtype), dtype) : lax::reshape(Cut(f, edge, edge + 1, 0), Shape{});
  };
  if (o.period) return out;
  out = Where(at < lax::reshape(Cut(points, 0, 1, 0), Shape{}), outside(o.left, 0), out);
  return Where(at > lax::reshape(Cut(points, n - 1, n, 0), Shape{}), outside(o.right, n - 1), out);
}

namespace {

// sum over k of a[i + k] v[k], for each position i at which both overlap in at least one element (full).
Value Correlated(const Value& a, const Value& v) {
  const int64_t n = a.dim(0), m = v.dim(0);
  const Value padded = lax::pad(a, Scalar(a, 0), Shape{m - 1}, Shape{m - 1}, Shape{0});
  const Value positions = lax::expand_dims(arange(Operand(a, Location()), n + m - 1), Shape{1});
  const Value steps = lax::expand_dims(arange(Operand(a, Location()), m), Shape{0});
  const Value windows = GatherAlong(padded, positions + steps, 0, "clip");
  return lax::dot_general(windows, v, {{1}, {0}, {}, {}});
}
// The sum of shifted copies for short ones, whose size bounds the program; else one product with all windows.
Value CorrelatedFully(const Value& a, const Value& v) {
  const int64_t n = a.dim(0), m = v.dim(0);
  if (m > 16) return Correlated(a, v);
  const Value padded = lax::pad(a, Scalar(a, 0), Shape{m - 1}, Shape{m - 1}, Shape{0});
  Value out = Cut(padded, 0, n + m - 1, 0) * lax::reshape(Cut(v, 0, 1, 0), Shape{});
  for (int64_t k = 1; k < m; ++k)
    out = out + Cut(padded, k, k + n + m - 1, 0) * lax::reshape(Cut(v, k, k + 1, 0), Shape{});
  return out;
}
Value Trimmed(std::string_view name, const Location& at, const Value& full, int64_t n, int64_t m,
              std::string_view mode) {
  if (mode == "full") return full;
  const int64_t shorter = std::min(n, m), longer = std::max(n, m);
  if (mode == "valid") return Cut(full, shorter - 1, longer, 0);
  if (mode != "same") FailAt(at, name, ": mode is ", mode, "; it must be full, same or valid");
  return Cut(full, (shorter - 1) / 2, (shorter - 1) / 2 + longer, 0);
}
Values Vectors(std::string_view name, const Operand& a, const Operand& v) {
  const Operand in[] = {a, v};
  const CallSite site = SiteOf(name, in);
  const DType dtype = ToInexact(PromotedDType(site, in));
  const Values out{To(site.Lift(a, dtype), dtype), To(site.Lift(v, dtype), dtype)};
  for (const Value& x : out) {
    if (x.rank() != 1 || x.dim(0) == 0) site.Fail("operand is ", x.type(), "; it must be a vector with elements");
  }
  return out;
}
Value Reversed(const Value& v) { return lax::rev(v, Shape{0}); }

}  // namespace

Value convolve(const Operand& a, const Operand& v, std::string_view mode) {
  const Values x = Vectors("convolve", a, v);
  const bool swapped = x[0].dim(0) < x[1].dim(0);
  const Value &longer = x[swapped ? 1 : 0], &shorter = x[swapped ? 0 : 1];
  return Trimmed("convolve", a.at, CorrelatedFully(longer, Reversed(shorter)), longer.dim(0), shorter.dim(0), mode);
}
Value correlate(const Operand& a, const Operand& v, std::string_view mode) {
  const Values x = Vectors("correlate", a, v);
  const Value second = IsComplex(x[1].dtype()) ? lax::conj(x[1]) : x[1];
  if (x[0].dim(0) >= x[1].dim(0)) {
    return Trimmed("correlate", a.at, CorrelatedFully(x[0], second), x[0].dim(0), x[1].dim(0), mode);
  }
  return Reversed(Trimmed("correlate", a.at, CorrelatedFully(second, x[0]), x[0].dim(0), x[1].dim(0), mode));
}

}}  // namespace ricci::v0
