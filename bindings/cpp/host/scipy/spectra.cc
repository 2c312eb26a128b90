// Spectra of jax.scipy.signal: stft, istft, welch and csd.
//
// A signal becomes a matrix of overlapping segments by one gather; the way back is one scatter, which adds them up.
// P. D. Welch, "The use of fast Fourier transform for the estimation of power spectra", 1967.
#include "host/core/plain_math.h"
#include "ricci/at.hpp"
#include "ricci/fft.hpp"
#include "ricci/scipy_signal.hpp"
#include "ricci/statistics.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace signal {

using namespace plain;

namespace {

using Length = std::optional<int64_t>;

// How a signal is cut; all in elements.
struct Cutting {
  int64_t size, step, transform;
};
Cutting CuttingOf(const CallSite& site, int64_t size, Length overlap, Length transform) {
  if (size < 1) site.Fail("nperseg is ", size, "; it must be at least 1");
  const int64_t shared = overlap.value_or(size / 2), n = transform.value_or(size);
  if (shared < 0 || shared >= size) {
    site.Fail("noverlap is ", shared, "; it must be from 0 to ", size - 1, ", one less than nperseg");
  }
  if (n < size) site.Fail("nfft is ", n, "; it must be at least nperseg, which is ", size);
  return {size, size - shared, n};
}

// One period of n elements.
Value NamedWindow(const CallSite& site, const std::string& name, const Operand& in, DType dtype, int64_t n) {
  struct OfCosines {
    std::string_view name;
    std::span<const double> factors;
  };
  constexpr double kBoxcar[] = {1};
  const OfCosines windows[] = {
      {"boxcar", kBoxcar}, {"hann", kHann}, {"hamming", kHamming}, {"blackman", kBlackman}, {"bartlett", {}}};
  const auto period = static_cast<double>(n);
  const Value position = Iota(in, dtype, {n}, 0);
  for (const auto& [each, factors] : windows) {
    if (name != each) continue;
    if (n == 1) return lax::ones_like(position);
    return factors.empty() ? 1 - lax::abs(position * (2 / period) - 1) : Cosines(position, period, factors);
  }
  site.Fail("window is ", name, "; it must be hann, hamming, blackman, bartlett, boxcar or a vector");
}
// The weights of a segment of `size` elements, or of as many as the window has.
Value WeightsOf(const CallSite& site, const Window& window, const Operand& in, DType dtype, Length size, int64_t all) {
  if (!window.weights) return NamedWindow(site, window.name, in, dtype, size.value_or(all));
  const Value w = To(site.Lift(*window.weights, dtype), dtype);
  if (w.rank() != 1 || (size && *size != w.dim(0))) {
    site.Fail("window is ", w.type(), "; it must be a vector", size ? Text(" of ", *size, " elements") : "");
  }
  return w;
}

// The positions of the elements of `count` segments: [count, size].
Value PositionsOf(const Operand& in, int64_t count, const Cutting& cut) {
  const Shape shape{count, cut.size};
  return Iota(in, DType::kI32, shape, 0) * static_cast<double>(cut.step) + Iota(in, DType::kI32, shape, 1);
}

// ---- ends of a signal, along the last dimension ----

struct Ends {
  Value before, after;
};
// The n elements next to each end, turned about it.
Ends Turned(const Value& x, int64_t n) {
  const int64_t last = x.rank() - 1, size = x.dim(last);
  return {lax::rev(Cut(x, 1, n + 1, last), {&last, 1}), lax::rev(Cut(x, size - n - 1, size - 1, last), {&last, 1})};
}
Value Zeros(const Value& x, int64_t n) {
  Shape shape = ShapeOfValue(x);
  shape.back() = n;
  return BroadcastValue(Scalar(x, 0), shape);
}
Value Extended(const CallSite& site, const Value& x, int64_t n, const std::string& boundary) {
  const int64_t last = x.rank() - 1, size = x.dim(last);
  const Value first = Cut(x, 0, 1, last), end = Cut(x, size - 1, size, last), zeros = Zeros(x, n);
  if (boundary == "zeros") return Join({zeros, x, zeros}, last);
  if (boundary == "constant") return Join({first + zeros, x, end + zeros}, last);
  if (boundary != "even" && boundary != "odd") {
    site.Fail("boundary is ", boundary, "; it must be zeros, even, odd or constant");
  }
  const Ends turned = Turned(x, n);
  if (boundary == "even") return Join({turned.before, x, turned.after}, last);
  return Join({2 * first - turned.before, x, 2 * end - turned.after}, last);
}
Value Lengthened(const Value& x, int64_t size) {
  const int64_t last = x.rank() - 1;
  return x.dim(last) == size ? x : Join({x, Zeros(x, size - x.dim(last))}, last);
}

// ---- the transforms of the segments ----

// What stft, welch and csd share.
struct Spectral {
  Spectral(std::string_view name, std::span<const Operand> xs, double fs, AxisNumber axis)
      : site(SiteOf(name, xs)), in(xs[0]), fs(fs), dtype(ToInexact(PromotedDType(site, xs))) {
    if (dtype == DType::kF16 || dtype == DType::kBF16) dtype = DType::kF32;
    for (const Operand& x : xs) AddSignal(x, axis);
    if (signals.size() > 1 && signals[0].rank() != signals[1].rank()) {
      site.Fail("operands are ", signals[0].type(), " and ", signals[1].type(), "; they need the same dimensions");
    }
    if (!(fs > 0)) site.Fail("fs is ", fs, "; it must be positive");
  }
  void AddSignal(const Operand& x, AxisNumber given);
  void Begin(const Window& window, Length nperseg, Length noverlap, Length nfft, bool wants_one_side);
  Values Transforms(const std::optional<std::string>& detrend) const;
  Value Frequencies() const;
  Value Times(bool centered) const;
  int64_t size() const { return signals[0].dim(signals[0].rank() - 1); }
  int64_t count() const { return (size() - cut.size) / cut.step + 1; }

  CallSite site;
  Operand in;
  double fs;
  DType dtype;
  int64_t axis = 0;
  Values signals;  // along the last dimension
  Value weights;   // of a segment
  Cutting cut{};
  bool one_side = true;
};
void Spectral::AddSignal(const Operand& x, AxisNumber given) {
  const Value v = To(site.Lift(x, dtype), dtype);
  if (v.rank() == 0 || v.type().elements() == 0)
    site.Fail("operand is ", v.type(), "; it needs elements along an axis");
  axis = Axis(site.name, site.at, given, v.rank());
  signals.push_back(AxisToEnd(v, axis));
}
void Spectral::Begin(const Window& window, Length nperseg, Length noverlap, Length nfft, bool wants_one_side) {
  int64_t all = 0;
  for (const Value& v : signals) all = std::max(all, v.dim(v.rank() - 1));
  for (Value& v : signals) v = Lengthened(v, all);
  const int64_t first = in.shape()[static_cast<size_t>(axis)];
  if (nperseg && !window.weights) nperseg = std::min(*nperseg, first);
  if (nperseg && *nperseg < 1) site.Fail("nperseg is ", *nperseg, "; it must be at least 1");
  weights = WeightsOf(site, window, in, PartOf(dtype), nperseg, first);
  if (weights.dim(0) > all) site.Fail("window is ", weights.type(), "; the signal has only ", Count(all, "element"));
  cut = CuttingOf(site, weights.dim(0), noverlap, nfft);
  one_side = wants_one_side && !IsComplex(dtype);
}
// Of each signal: [..., segments, frequencies]; the results have the frequencies in the place of `axis`.
Values Spectral::Transforms(const std::optional<std::string>& detrend) const {
  const Value positions = PositionsOf(in, count(), cut);
  Values out;
  for (const Value& v : signals) {
    Value segments = GatherAlong(v, positions, v.rank() - 1, "clip");
    if (detrend) segments = signal::detrend(Operand(segments, site.at), -1, *detrend);
    const Operand weighted(segments * To(weights, dtype), site.at);
    out.push_back(one_side ? fft::rfft(weighted, cut.transform) : fft::fft(weighted, cut.transform));
  }
  return out;
}
Value Spectral::Frequencies() const {
  const auto f = one_side ? fft::rfftfreq : fft::fftfreq;
  return f(in, cut.transform, 1 / fs, PartOf(dtype));
}
// Of the middle of each segment, from the beginning, or, where half a segment was added there, of the signal.
Value Spectral::Times(bool centered) const {
  const Value begin = Iota(in, PartOf(dtype), {count()}, 0) * static_cast<double>(cut.step);
  return (centered ? begin : begin + static_cast<double>(cut.size) / 2) / fs;
}

// ---- welch and csd ----

Value PowerScale(const Spectral& s, const std::string& scaling) {
  if (scaling != "density" && scaling != "spectrum") {
    s.site.Fail("scaling is ", scaling, "; it must be density or spectrum");
  }
  const Shape all{0};
  if (scaling == "density") return 1 / (lax::reduce_sum(lax::square(s.weights), all) * s.fs);
  return 1 / lax::square(lax::reduce_sum(s.weights, all));
}
// 2 for each frequency that stands for its negative too.
Value Sides(const Spectral& s, const Value& power) {
  const int64_t last = power.rank() - 1, n = power.dim(last);
  const Value k = Positions(power, s.weights.dtype(), last);
  const Value alone = s.cut.transform % 2 == 0 ? (k == 0) | (k == static_cast<double>(n - 1)) : k == 0;
  return Where(alone, 1, Num(k, 2));
}
// The median over the last dimension, divided by its expectation for as many exponential variables of mean 1.
Value MedianOverSegments(const Value& v, const Location& at) {
  const int64_t last = v.rank() - 1, n = v.dim(last);
  double bias = 1;
  for (int64_t k = 1; k <= (n - 1) / 2; ++k) {
    bias += 1 / static_cast<double>(2 * k + 1) - 1 / static_cast<double>(2 * k);
  }
  const auto of = [&](const Value& part) { return median(Operand(part, at), last); };
  const Value out = IsComplex(v.dtype()) ? lax::complex(of(lax::real(v)), of(lax::imag(v))) : of(v);
  return out / bias;
}
Value OverSegments(const CallSite& site, const Value& v, const std::string& average) {
  if (average == "median") return MedianOverSegments(v, site.at);
  if (average != "mean") site.Fail("average is ", average, "; it must be mean or median");
  const int64_t last = v.rank() - 1;
  return lax::reduce_sum(v, {&last, 1}) / static_cast<double>(v.dim(last));
}
std::pair<Value, Value> Density(std::string_view name, std::span<const Operand> xs, double fs,
                                const WelchOptions& options) {
  Spectral s(name, xs, fs, options.axis);
  s.Begin(options.window, options.nperseg, options.noverlap, options.nfft, options.return_onesided);
  const Values z = s.Transforms(options.detrend);
  const Value scale = PowerScale(s, options.scaling);
  const Value product = lax::conj(z[0]) * z.back(), power = z.size() > 1 ? product : lax::real(product);
  const Value factor = s.one_side ? scale * Sides(s, power) : scale;
  const Value density = EndToAxis(power * To(factor, power.dtype()), s.axis);
  return {s.Frequencies(), OverSegments(s.site, density, options.average)};
}

// ---- istft ----

// The segments [..., n, size] added up at the positions where they were cut.
Value Overlapped(const Operand& in, const Value& segments, const Cutting& cut) {
  const int64_t last = segments.rank() - 1, n = segments.dim(last - 1);
  Shape shape(segments.shape().begin(), segments.shape().end() - 1);
  shape.back() = (n - 1) * cut.step + cut.size;
  const Value zeros = BroadcastValue(Scalar(segments, 0), shape), positions = PositionsOf(in, n, cut);
  return at(Operand(zeros, in.at), {kEllipsis, positions}).add(Operand(segments, in.at));
}
// [..., segments, frequencies].
Value SegmentsLast(const Value& z, int64_t time, int64_t frequency) {
  Shape order;
  for (int64_t d = 0; d < z.rank(); ++d) {
    if (d != time && d != frequency) order.push_back(d);
  }
  order.insert(order.end(), {time, frequency});
  return lax::transpose(z, order);
}

}  // namespace

StftResult stft(const Operand& x, double fs, const StftOptions& options) {
  Spectral s("stft", {&x, 1}, fs, options.axis);
  s.Begin(options.window, options.nperseg, options.noverlap, options.nfft, options.return_onesided);
  Value& v = s.signals[0];
  if (options.boundary) v = Extended(s.site, v, s.cut.size / 2, *options.boundary);
  const int64_t over = (s.size() - s.cut.size) % s.cut.step;
  if (options.padded && over > 0) v = Lengthened(v, s.size() + s.cut.step - over);
  const Value z = s.Transforms(options.detrend)[0];
  const Value scaled = z / To(lax::reduce_sum(s.weights, Shape{0}), z.dtype());
  return {s.Frequencies(), s.Times(options.boundary.has_value()), EndToAxis(scaled, s.axis)};
}

std::pair<Value, Value> welch(const Operand& x, double fs, const WelchOptions& options) {
  return Density("welch", {&x, 1}, fs, options);
}
std::pair<Value, Value> csd(const Operand& x, const Operand& y, double fs, const WelchOptions& options) {
  const Operand xs[] = {x, y};
  return Density("csd", xs, fs, options);
}

std::pair<Value, Value> istft(const Operand& z, double fs, const IstftOptions& options) {
  const CallSite site = SiteOf("istft", {&z, 1});
  const Value given = UseInexact("istft", z), v = To(given, ComplexOf(given.dtype()));
  if (v.rank() < 2) site.Fail("operand is ", v.type(), "; it needs at least 2 dimensions");
  const int64_t time = Axis("istft", z.at, options.time_axis, v.rank()),
                frequency = Axis("istft", z.at, options.freq_axis, v.rank());
  if (time == frequency) site.Fail("time_axis and freq_axis are both ", time, "; they must differ");
  if (v.type().elements() == 0) site.Fail("operand is ", v.type(), "; it needs elements");
  const int64_t points = v.dim(frequency), whole = options.input_onesided ? 2 * (points - 1) : points;
  const int64_t size = options.nperseg.value_or(whole);
  const bool odd = options.input_onesided && size == whole + 1;
  const Cutting cut = CuttingOf(site, size, options.noverlap, options.nfft.value_or(odd ? size : whole));
  const Operand columns(SegmentsLast(v, time, frequency), z.at);
  const Value all = options.input_onesided ? fft::irfft(columns, cut.transform) : fft::ifft(columns, cut.transform);
  const Value segments = Cut(all, 0, size, all.rank() - 1);
  const Value w = WeightsOf(site, options.window, z, PartOf(v.dtype()), size, size), sum = lax::reduce_sum(w, Shape{0});
  const Value weighted = segments * To(w * sum, segments.dtype());
  const Value squares = BroadcastValue(lax::square(w), Shape{v.dim(time), size});
  Value x = Overlapped(z, weighted, cut), norm = Overlapped(z, squares, cut);
  if (options.boundary) {
    const int64_t length = norm.dim(0), half = size / 2;
    if (length <= 2 * half) site.Fail("the boundaries of ", half, " elements leave nothing of ", length);
    x = Cut(x, half, length - half, x.rank() - 1);
    norm = Cut(norm, half, length - half, 0);
  }
  x = x / To(Where(norm > 1e-10, norm, 1), x.dtype());
  const Value times = Iota(z, PartOf(x.dtype()), {x.dim(x.rank() - 1)}, 0) / fs;
  return {times, EndToAxis(x, time - (frequency < time ? 1 : 0))};
}

}}}}  // namespace ricci::v0::scipy::signal
