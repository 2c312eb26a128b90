// ricci/scipy_signal.hpp: jax.scipy.signal: convolutions, detrend and spectra. Include it next to ricci.hpp.
#ifndef RICCI_SCIPY_SIGNAL_HPP_
#define RICCI_SCIPY_SIGNAL_HPP_
#include <optional>
#include <string>

#include "ricci/axes.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace signal {

// Of arrays with the same number of dimensions, at least 1. `mode`: full, same (the middle part, of the shape of a) or
// valid (where one lies inside the other). correlate conjugates a complex b.
Value convolve(const Operand& a, const Operand& b, std::string_view mode = "full");
Value correlate(const Operand& a, const Operand& b, std::string_view mode = "full");
Value convolve2d(const Operand& a, const Operand& b, std::string_view mode = "full");
Value correlate2d(const Operand& a, const Operand& b, std::string_view mode = "full");
// Without its mean along `axis`, or with type `linear` without the line that is nearest to it; `breaks` are the indices
// at which another line begins.
Value detrend(const Operand& x, AxisNumber axis = -1, std::string_view type = "linear", const Shape& breaks = {});
// The same as convolve by Fourier transforms, for at most 3 dimensions: quicker for large arrays.
Value fftconvolve(const Operand& a, const Operand& b, std::string_view mode = "full");

// ---- spectra ----
// The weights of a segment: by name, hann, hamming, blackman, bartlett or boxcar, or a vector of them.
struct Window {
  Window(std::string name) : name(std::move(name)) {}                                  // NOLINT
  Window(const char* name) : name(name) {}                                             // NOLINT
  Window(const Value& v, Location at = Location::Here()) : weights(Operand(v, at)) {}  // NOLINT
  Window(const Array& a, Location at = Location::Here()) : weights(Operand(a, at)) {}  // NOLINT
  std::string name;
  std::optional<Operand> weights;
};
// A signal is cut into segments of `nperseg` elements, without it all of the signal or as many as the window has; of
// them `noverlap`, without it half, are shared with the next. Each is transformed with zeros up to `nfft` elements.
struct StftOptions {
  Window window = "hann";
  std::optional<int64_t> nperseg = 256, noverlap, nfft;
  std::optional<std::string> detrend;             // of each segment: constant or linear
  bool return_onesided = true;                    // a complex signal has both sides anyhow
  std::optional<std::string> boundary = "zeros";  // beyond both ends: zeros, even, odd or constant
  bool padded = true;                             // zeros at the end, so that all elements are in a segment
  AxisNumber axis = -1;
};
struct StftResult {
  Value f, t;  // the frequencies and the times of the segments
  Value z;     // the frequencies in the place of `axis`, the segments along a new last dimension
};
// The short-time Fourier transform of x, of which there are `fs` elements in a unit of time.
StftResult stft(const Operand& x, double fs = 1, const StftOptions& options = {});

struct IstftOptions {
  Window window = "hann";
  std::optional<int64_t> nperseg, noverlap, nfft;  // without them those that stft has from nperseg alone
  bool input_onesided = true, boundary = true;     // as given to stft
  AxisNumber time_axis = -1, freq_axis = -2;
};
// {times, signal}: the inverse of stft.
std::pair<Value, Value> istft(const Operand& z, double fs = 1, const IstftOptions& options = {});

struct WelchOptions {
  Window window = "hann";
  std::optional<int64_t> nperseg, noverlap, nfft;
  std::optional<std::string> detrend = "constant";
  bool return_onesided = true;
  std::string scaling = "density";  // per frequency, or spectrum
  AxisNumber axis = -1;
  std::string average = "mean";  // over the segments, or median
};
// {frequencies, power spectral density of x} by Welch's method.
std::pair<Value, Value> welch(const Operand& x, double fs = 1, const WelchOptions& options = {});
// {frequencies, cross spectral density of x and y}, complex; zeros lengthen the shorter of the two.
std::pair<Value, Value> csd(const Operand& x, const Operand& y, double fs = 1, const WelchOptions& options = {});

}}}}  // namespace ricci::v0::scipy::signal
#endif
