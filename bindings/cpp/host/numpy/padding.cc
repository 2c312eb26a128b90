// The modes of pad: one axis after the other, so that corners hold what the axes before gave.
#include <algorithm>

#include "host/core/plain_math.h"
#include "ricci/float_parts.hpp"
#include "ricci/joining.hpp"
#include "ricci/statistics.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

namespace {

using Width = std::pair<int64_t, int64_t>;
struct PadAxis {
  const Operand& x;
  const PadOptions& options;
  int64_t axis;
  Width width;
};

Value Repeated(const Value& slice, int64_t n, int64_t axis) {
  Shape shape = ShapeOfValue(slice);
  shape[static_cast<size_t>(axis)] = n;
  return BroadcastValue(slice, shape);
}
// One slice before and one after, repeated.
Value Framed(const Value& v, const PadAxis& p, const Value& before, const Value& after) {
  return Join({Repeated(before, p.width.first, p.axis), v, Repeated(after, p.width.second, p.axis)}, p.axis);
}
Value Edge(const Value& v, const PadAxis& p) {
  const int64_t n = v.dim(p.axis);
  return Framed(v, p, Cut(v, 0, 1, p.axis), Cut(v, n - 1, n, p.axis));
}
// Mirrored again and again; `skip` is 1 if the edge itself is not repeated.
Value Mirrored(Value v, const PadAxis& p, int64_t skip) {
  const auto flipped = [&](const Value& part) { return lax::rev(part, {&p.axis, 1}); };
  if (v.dim(p.axis) == 1 && skip == 1) return Edge(v, p);
  for (int64_t side = 0; side < 2; ++side) {
    int64_t left = side == 0 ? p.width.first : p.width.second;
    while (left > 0) {
      const int64_t n = v.dim(p.axis), k = std::min(left, n - skip);
      const Value edge = side == 0 ? Cut(v, 0, 1, p.axis) : Cut(v, n - 1, n, p.axis);
      Value part = flipped(side == 0 ? Cut(v, skip, skip + k, p.axis) : Cut(v, n - skip - k, n - skip, p.axis));
      if (p.options.odd) part = edge * 2 - part;
      v = side == 0 ? Join({part, v}, p.axis) : Join({v, part}, p.axis);
      left -= k;
    }
  }
  return v;
}
Value Wrapped(const Value& v, const PadAxis& p) {
  const int64_t n = v.dim(p.axis), before = (p.width.first + n - 1) / n, after = (p.width.second + n - 1) / n;
  Shape reps(static_cast<size_t>(v.rank()), 1);
  reps[static_cast<size_t>(p.axis)] = before + 1 + after;
  const Value many = Emit1("tile", {v}, {{"reps", reps}});
  return Cut(many, before * n - p.width.first, before * n + n + p.width.second, p.axis);
}
Value Ramp(const Value& v, const PadAxis& p) {
  const int64_t n = v.dim(p.axis);
  const auto side = [&](const Value& edge, double end, int64_t count) {
    const Value wide = To(edge, ToInexact(v.dtype()));
    const Value squeezed = lax::squeeze(wide, {&p.axis, 1});
    const Value line = linspace(Operand(BroadcastValue(Scalar(wide, end), squeezed.shape()), p.x.at),
                                Operand(squeezed, p.x.at), count, /*endpoint=*/false, DType::kNone, p.axis);
    return To(IsInt(v.dtype()) ? trunc(Operand(line, p.x.at)) : line, v.dtype());
  };
  const Value before = side(Cut(v, 0, 1, p.axis), p.options.end_values.first, p.width.first);
  const Value after = side(Cut(v, n - 1, n, p.axis), p.options.end_values.second, p.width.second);
  return Join({before, v, lax::rev(after, {&p.axis, 1})}, p.axis);
}
using Statistic = Value(const Operand&, const Axes&, bool);
Value Statistics(const Value& v, const PadAxis& p, Statistic* f) {
  const int64_t n = v.dim(p.axis);
  const PadWidths& lengths = p.options.stat_length;
  const Width all(n, n), given = lengths.empty() ? all : lengths[lengths.size() == 1 ? 0 : static_cast<size_t>(p.axis)];
  const auto of = [&](const Value& part) {
    const Value out = f(Operand(part, p.x.at), Axes(p.axis), /*keepdims=*/true);
    return To(IsInt(v.dtype()) && !IsInt(out.dtype()) ? lax::round(out, 1) : out, v.dtype());
  };
  return Framed(v, p, of(Cut(v, 0, std::min(n, given.first), p.axis)),
                of(Cut(v, n - std::min(n, given.second), n, p.axis)));
}
Value Mean(const Operand& x, const Axes& axes, bool keepdims) { return mean(x, axes, keepdims); }
Value Max(const Operand& x, const Axes& axes, bool keepdims) { return max(x, axes, keepdims); }
Value Min(const Operand& x, const Axes& axes, bool keepdims) { return min(x, axes, keepdims); }
Value Median(const Operand& x, const Axes& axes, bool keepdims) { return median(x, axes, keepdims); }
Value Zeros(const Value& v, const PadAxis& p) {
  const Value zero = lax::zeros_like(Cut(v, 0, 1, p.axis));
  return Framed(v, p, zero, zero);
}

using PadMode = Value(const Value&, const PadAxis&);
struct NamedMode {
  std::string_view name;
  PadMode* pad;
};
constexpr NamedMode kModes[] = {
    {"constant", Zeros},
    {"empty", Zeros},
    {"edge", Edge},
    {"reflect", [](const Value& v, const PadAxis& p) { return Mirrored(v, p, 1); }},
    {"symmetric", [](const Value& v, const PadAxis& p) { return Mirrored(v, p, 0); }},
    {"wrap", Wrapped},
    {"linear_ramp", Ramp},
    {"maximum", [](const Value& v, const PadAxis& p) { return Statistics(v, p, Max); }},
    {"minimum", [](const Value& v, const PadAxis& p) { return Statistics(v, p, Min); }},
    {"mean", [](const Value& v, const PadAxis& p) { return Statistics(v, p, Mean); }},
    {"median", [](const Value& v, const PadAxis& p) { return Statistics(v, p, Median); }},
};
PadMode* ModeOf(const Location& at, std::string_view mode) {
  for (const NamedMode& m : kModes) {
    if (m.name == mode) return m.pad;
  }
  FailAt(at, "pad: mode is ", mode,
         "; it must be constant, empty, edge, reflect, symmetric, wrap, linear_ramp, maximum, minimum, mean or median");
}

}  // namespace

Value pad(const Operand& x, const PadWidths& widths, std::string_view mode, const PadOptions& options) {
  PadMode* const f = ModeOf(x.at, mode);
  Value v = Use("pad", x);
  const auto n = static_cast<int64_t>(widths.size());
  if (n != v.rank() && n != 1) FailAt(x.at, "pad: ", n, " widths given for ", v.type());
  if (mode == "constant" || mode == "empty") {
    const PadWidths all = n == 1 ? PadWidths(static_cast<size_t>(v.rank()), widths[0]) : widths;
    for (const Width& w : all) {
      if (w.first < 0 || w.second < 0)
        FailAt(x.at, "pad: widths ", w.first, " and ", w.second, " must not be negative");
    }
    return pad(Operand(v, x.at), all, Operand(0, x.at));
  }
  for (int64_t axis = 0; axis < v.rank(); ++axis) {
    const Width w = widths[n == 1 ? 0 : static_cast<size_t>(axis)];
    if (w.first < 0 || w.second < 0) FailAt(x.at, "pad: widths ", w.first, " and ", w.second, " must not be negative");
    if (w == Width()) continue;
    if (v.dim(axis) == 0) FailAt(x.at, "pad: axis ", axis, " of ", v.type(), " has no elements to pad with ", mode);
    v = f(v, {x, options, axis, w});
  }
  return v;
}

}}  // namespace ricci::v0
