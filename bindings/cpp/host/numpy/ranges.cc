// Arrays of numbers at equal distances, and other arrays made from nothing.
#include <algorithm>
#include <cmath>

#include "host/core/plain_math.h"
#include "ricci/creation.hpp"
#include "ricci/elementwise.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

namespace {

// A number of the caller as a scalar like x.
Value Given(const Value& x, const Operand& number, const Location& at) {
  return full(Operand(x, at), {}, number, x.dtype());
}

// ---- arange ----
struct Range {
  Operand start, stop, step;
  bool has_step = true;
};

// As the caller wrote it: a whole number, of 2^63 and more too, or a floating one.
std::string TextOf(const Operand& number) {
  if (number.weak == Weak::kFloat) return Text(number.real);
  return number.is_above_int64() ? Text(static_cast<uint64_t>(number.integer)) : Text(number.integer);
}
std::string TextOf(const Range& r) {
  return Text("from ", TextOf(r.start), " to ", TextOf(r.stop), " by ", TextOf(r.step));
}
ricci_int128 Whole(const Operand& number) {
  if (number.is_above_int64()) return static_cast<uint64_t>(number.integer);
  return number.integer;
}

int64_t CountOfWhole(const Location& at, const Range& r) {
  const ricci_int128 span = Whole(r.stop) - Whole(r.start), unit = Whole(r.step);
  if (unit == 0) FailAt(at, "arange: step is 0");
  const ricci_int128 count = (span < 0) == (unit < 0) ? (span + unit - (unit < 0 ? -1 : 1)) / unit : 0;
  if (count > RICCI_MAX_DIM) FailAt(at, "arange: ", TextOf(r), " are too many elements");
  return static_cast<int64_t>(count);
}
// Of whole numbers without a dtype: JAX would wrap what does not fit.
void WantFit(const Location& at, const Range& r, int64_t count) {
  const ricci_int128 first = Whole(r.start), last = first + Whole(r.step) * (count - 1);
  if (count != 0 && (std::min(first, last) < INT32_MIN || std::max(first, last) > INT32_MAX)) {
    FailAt(at, "arange: ", TextOf(r), " does not fit ", kDefaultInt, "; give a dtype");
  }
}
int64_t CountOfFloating(const Location& at, const Range& r) {
  const double count = std::ceil((r.stop.real - r.start.real) / r.step.real);
  if (!(std::fabs(count) < 1e15)) FailAt(at, "arange: ", TextOf(r), " has no end");
  return std::max<int64_t>(0, static_cast<int64_t>(count));
}

// What the numbers are without a dtype.
DType OwnDType(const Location& at, const Range& r) {
  DType common = DType::kNone;
  for (const Operand* o : {&r.start, &r.stop, &r.step}) {
    if (!o->is_number() || o->weak == Weak::kComplex) FailAt(at, "arange: start, stop and step must be real numbers");
    if (o != &r.step || r.has_step) common = PromoteWeak(common, o->weak);
  }
  return common;
}

// As jax.numpy: all is computed in the dtype of the result, of 16 bits and fewer in f32 if there is a step.
Value Elements(const Operand& in, const Range& r, DType dtype) {
  const DType own = OwnDType(in.at, r), wanted = dtype == DType::kNone ? own : dtype;
  if (wanted == DType::kBool) FailAt(in.at, "arange: ", TextOf(r), " cannot be of bool; give another dtype");
  const bool is_floating = own == kDefaultFloat;
  const int64_t count = is_floating ? CountOfFloating(in.at, r) : CountOfWhole(in.at, r);
  if (wanted == kDefaultInt && dtype == DType::kNone) WantFit(in.at, r, count);
  const DType part = PartOf(wanted);
  const bool is_narrow = IsFloat(part) && SizeOf(part) < 4 && r.has_step;
  const Value i = Iota(in, is_narrow ? DType::kF32 : part, {count}, 0);
  const Value scaled = r.has_step ? i * Given(i, r.step, in.at) : i;
  return To(r.start.real == 0 ? scaled : scaled + Given(i, r.start, in.at), wanted);
}

}  // namespace

// From false, which does not count for the dtype.
Value arange(const Operand& in, const Operand& stop, DType dtype) {
  return Elements(in, {Operand(false, in.at), stop, Operand(1, in.at), /*has_step=*/false}, dtype);
}
Value arange(const Operand& in, const Operand& start, const Operand& stop, DType dtype) {
  return Elements(in, {start, stop, Operand(1, in.at), /*has_step=*/false}, dtype);
}
Value arange(const Operand& in, const Operand& start, const Operand& stop, const Operand& step, DType dtype) {
  return Elements(in, {start, stop, step}, dtype);
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
  const Value from = Given(i, Operand(start, in.at), in.at), to = Given(i, Operand(stop, in.at), in.at);
  const Value step = Fractions(i, n, endpoint);
  Value line = (1 - step) * from + step * to;
  if (endpoint && n > 1) line = Where(i == static_cast<double>(n - 1), to, line);
  return To(IsInt(dtype) ? lax::floor(line) : line, dtype);
}
Value linspace(const Operand& start, const Operand& stop, int64_t n, bool endpoint, DType dtype, AxisNumber axis) {
  WantCount("linspace", start.at, n);
  const Operand in[] = {start, stop};
  const Values ends = UseTogether("linspace", in, /*inexact=*/true);
  const int64_t rank = ends[0].rank(), dim = Axis("linspace", start.at, axis, rank + 1);
  const Value from = lax::expand_dims(ends[0], {&dim, 1}), to = lax::expand_dims(ends[1], {&dim, 1});
  Shape shape = ShapeOfValue(from);
  shape[static_cast<size_t>(dim)] = n;
  const Value i = Iota(Operand(from, start.at), PartOf(from.dtype()), shape, dim);
  const Value step = To(Fractions(i, n, endpoint), from.dtype());
  Value line = (1 - step) * from + step * to;
  if (endpoint && n > 1) line = Where(i == static_cast<double>(n - 1), to, line);
  return dtype == DType::kNone ? line : To(line, dtype);
}
Value logspace(const Operand& in, double start, double stop, int64_t n, bool endpoint, double base, DType dtype) {
  const Value line = linspace(in, start, stop, n, endpoint, ToInexact(dtype));
  return To(lax::pow(BroadcastValue(Given(line, Operand(base, in.at), in.at), line.shape()), line), dtype);
}
Value geomspace(const Operand& in, double start, double stop, int64_t n, bool endpoint, DType dtype) {
  if (!(start * stop > 0))
    FailAt(in.at, "geomspace: from ", start, " to ", stop, "; both must have one sign and not be 0");
  const double sign = start < 0 ? -1 : 1;
  const Value line = logspace(in, std::log10(start * sign), std::log10(stop * sign), n, endpoint, 10, ToInexact(dtype));
  if (n == 0) return To(line, dtype);
  const Value i = Positions(line, line.dtype(), 0);
  Value out = Where(i == 0, Given(line, Operand(start, in.at), in.at), line * sign);
  if (endpoint && n > 1) out = Where(i == static_cast<double>(n - 1), Given(line, Operand(stop, in.at), in.at), out);
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
