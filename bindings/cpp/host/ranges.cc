// Arrays of numbers at equal distances, and other arrays made from nothing.
#include <algorithm>
#include <cmath>

#include "plain_math.h"
#include "ricci/creation.hpp"
#include "ricci/elementwise.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

namespace {

// A number of the caller as a scalar like x.
Value Given(const Value& x, double number, const Location& at) {
  return full(Operand(x, at), {}, Operand(number, at), x.dtype());
}
Value Given(const Value& x, int64_t number, const Location& at) {
  return full(Operand(x, at), {}, Operand(number, at), x.dtype());
}

Value Integers(const Operand& in, int64_t start, int64_t stop, int64_t step, DType dtype) {
  if (step == 0) FailAt(in.at, "arange: step is 0");
  const ricci_int128 span = ricci_int128{stop} - start, unit = step;
  const ricci_int128 count = (span < 0) == (unit < 0) ? (span + unit - (unit < 0 ? -1 : 1)) / unit : 0;
  if (count > RICCI_MAX_DIM)
    FailAt(in.at, "arange: from ", start, " to ", stop, " by ", step, " are too many elements");
  const Value i = Iota(in, dtype, {static_cast<int64_t>(count)}, 0);
  return i * Given(i, step, in.at) + Given(i, start, in.at);
}

}  // namespace

Value arange(const Operand& in, const Operand& start, const Operand& stop, const Operand& step, DType dtype) {
  DType common = DType::kNone;
  for (const Operand* o : {&start, &stop, &step}) {
    if (!o->is_number() || o->weak == Weak::kComplex)
      FailAt(in.at, "arange: start, stop and step must be real numbers");
    common = PromoteWeak(common, o->weak);
  }
  const DType wanted = dtype == DType::kNone ? common : dtype;
  if (IsInt(common)) return Integers(in, start.int64("arange"), stop.int64("arange"), step.int64("arange"), wanted);
  const double count = std::ceil((stop.real - start.real) / step.real);
  if (!(std::fabs(count) < 1e15)) {
    FailAt(in.at, "arange: from ", start.real, " to ", stop.real, " by ", step.real, " has no end");
  }
  const Value i = Iota(in, common, {std::max<int64_t>(0, static_cast<int64_t>(count))}, 0);
  return To(i * Given(i, step.real, in.at) + Given(i, start.real, in.at), wanted);
}

namespace {

// n fractions of the way from the first to the last number.
Value Fractions(const Value& i, int64_t n, bool endpoint) {
  const int64_t steps = std::max<int64_t>(1, endpoint ? n - 1 : n);
  return i / static_cast<double>(steps);
}
void WantCount(std::string_view name, const Location& at, int64_t n) {
  if (n < 0) FailAt(at, name, ": the count is ", n, "; it must not be negative");
}

}  // namespace

Value linspace(const Operand& in, double start, double stop, int64_t n, bool endpoint, DType dtype) {
  WantCount("linspace", in.at, n);
  const DType d = ToInexact(dtype);
  const Value i = Iota(in, d, {n}, 0);
  if (n == 0) return To(i, dtype);
  const Value step = Fractions(i, n, endpoint), from = Given(i, start, in.at), to = Given(i, stop, in.at);
  Value line = (1 - step) * from + step * to;
  if (endpoint && n > 1) line = Where(i == static_cast<double>(n - 1), to, line);
  return To(IsInt(dtype) ? lax::floor(line) : line, dtype);
}
Value linspace(const Operand& start, const Operand& stop, int64_t n, bool endpoint, DType dtype, AxisNumber axis) {
  WantCount("linspace", start.at, n);
  const Operand in[] = {start, stop};
  const Values ends = UseTogether("linspace", in, /*inexact=*/true);
  const int64_t rank = ends[0].rank(), place = Axis("linspace", start.at, axis, rank + 1);
  const Value from = lax::expand_dims(ends[0], {&place, 1}), to = lax::expand_dims(ends[1], {&place, 1});
  Shape shape = ShapeOfValue(from);
  shape[static_cast<size_t>(place)] = n;
  const Value i = Iota(Operand(from, start.at), PartOf(from.dtype()), shape, place);
  const Value step = To(Fractions(i, n, endpoint), from.dtype());
  Value line = (1 - step) * from + step * to;
  if (endpoint && n > 1) line = Where(i == static_cast<double>(n - 1), to, line);
  return dtype == DType::kNone ? line : To(line, dtype);
}
Value logspace(const Operand& in, double start, double stop, int64_t n, bool endpoint, double base, DType dtype) {
  const Value line = linspace(in, start, stop, n, endpoint, ToInexact(dtype));
  return To(lax::pow(BroadcastValue(Given(line, base, in.at), line.shape()), line), dtype);
}
Value geomspace(const Operand& in, double start, double stop, int64_t n, bool endpoint, DType dtype) {
  if (!(start * stop > 0))
    FailAt(in.at, "geomspace: from ", start, " to ", stop, "; both must have one sign and not be 0");
  const double sign = start < 0 ? -1 : 1;
  const Value line = logspace(in, std::log10(start * sign), std::log10(stop * sign), n, endpoint, 10, ToInexact(dtype));
  if (n == 0) return To(line, dtype);
  const Value i = Positions(line, line.dtype(), 0);
  Value out = Where(i == 0, Given(line, start, in.at), line * sign);
  if (endpoint && n > 1) out = Where(i == static_cast<double>(n - 1), Given(line, stop, in.at), out);
  return To(out, dtype);
}

Value eye(const Operand& in, int64_t n, DType dtype) { return eye(in, n, n, 0, dtype); }
Value eye(const Operand& in, int64_t n, int64_t m, int64_t k, DType dtype) {
  WantCount("eye", in.at, std::min(n, m));
  const Value rows = Iota(in, DType::kI64, {n, m}, 0), columns = Iota(in, DType::kI64, {n, m}, 1);
  return To(rows + lax::full_like(rows, std::clamp(k, -n, m)) == columns, dtype);
}
Value identity(const Operand& in, int64_t n, DType dtype) { return eye(in, n, dtype); }
Value tri(const Operand& in, int64_t n, std::optional<int64_t> m, int64_t k, DType dtype) {
  const Shape shape{n, m.value_or(n)};
  WantCount("tri", in.at, std::min(shape[0], shape[1]));
  const Value rows = Iota(in, DType::kI64, shape, 0), columns = Iota(in, DType::kI64, shape, 1);
  return To(rows + lax::full_like(rows, std::clamp(k, -shape[0], shape[1])) >= columns, dtype);
}
Value empty(const Operand& in, const Shape& shape, DType dtype) { return zeros(in, shape, dtype); }
Value empty_like(const Operand& x) { return zeros_like(x); }
Value indices(const Operand& in, const Shape& dimensions, DType dtype) {
  Values out;
  for (size_t d = 0; d < dimensions.size(); ++d) out.push_back(Iota(in, dtype, dimensions, static_cast<int64_t>(d)));
  return stack(out, 0, in.at);
}
Value vander(const Operand& x, std::optional<int64_t> n, bool increasing) {
  const Value v = Use("vander", x);
  if (v.rank() != 1) FailAt(x.at, "vander: operand is ", v.type(), "; it must be a vector");
  const int64_t count = n.value_or(v.dim(0)), one = 1;
  WantCount("vander", x.at, count);
  Values powers;
  for (int64_t i = 0; i < count; ++i) powers.push_back(lax::expand_dims(lax::integer_pow(v, i), {&one, 1}));
  if (!increasing) std::reverse(powers.begin(), powers.end());
  if (count == 0) return lax::slice(lax::expand_dims(v, {&one, 1}), Shape{0, 0}, Shape{v.dim(0), 0});
  return lax::concatenate(powers, 1);
}

// ---- windows: 1 in the middle ----
namespace {

// A window of m points of what `f` gives for 0, 1, ..., m - 1.
template <typename F>
Value Window(std::string_view name, const Operand& in, int64_t m, F f) {
  WantCount(name, in.at, m);
  const Value i = Iota(in, kDefaultFloat, {m}, 0);
  return m <= 1 ? lax::ones_like(i) : f(i, static_cast<double>(m - 1));
}

}  // namespace

Value bartlett(const Operand& in, int64_t m) {
  return Window("bartlett", in, m, [](const Value& i, double last) { return 1 - lax::abs(i * 2 - last) / last; });
}
Value blackman(const Operand& in, int64_t m) {
  return Window("blackman", in, m, [](const Value& i, double last) { return Cosines(i, last, kBlackman); });
}
Value hamming(const Operand& in, int64_t m) {
  return Window("hamming", in, m, [](const Value& i, double last) { return Cosines(i, last, kHamming); });
}
Value hanning(const Operand& in, int64_t m) {
  return Window("hanning", in, m, [](const Value& i, double last) { return Cosines(i, last, kHann); });
}
Value kaiser(const Operand& in, int64_t m, double beta) {
  return Window("kaiser", in, m, [beta](const Value& i, double last) {
    const Value from_middle = (i - last / 2) / (last / 2), x = lax::sqrt(1 - from_middle * from_middle) * beta;
    return i0(x) / i0(Scalar(i, beta));
  });
}

}}  // namespace ricci::v0
