// ricci/fft.hpp: jax.numpy.fft. Include it next to ricci.hpp.
//
// Real operands of the complex transforms become complex; f16 and bf16 become f32. `n` and `s` are the lengths: the
// operand is cut or padded with zeros at the end. `norm` says where the factor 1/n is: backward (in the inverse), ortho
// (its root in both) or forward.
#ifndef RICCI_FFT_HPP_
#define RICCI_FFT_HPP_
#include <optional>

#include "ricci/shaping.hpp"

namespace ricci { inline namespace v0 { namespace fft {

using Length = std::optional<int64_t>;
Value fft(const Operand& x, Length n = {}, AxisNumber axis = -1, std::string_view norm = "backward");
Value ifft(const Operand& x, Length n = {}, AxisNumber axis = -1, std::string_view norm = "backward");
// Of real x; the result has n / 2 + 1 elements.
Value rfft(const Operand& x, Length n = {}, AxisNumber axis = -1, std::string_view norm = "backward");
Value irfft(const Operand& x, Length n = {}, AxisNumber axis = -1, std::string_view norm = "backward");
// Of what is the transform of a real signal: its result is real; and the inverse.
Value hfft(const Operand& x, Length n = {}, AxisNumber axis = -1, std::string_view norm = "backward");
Value ihfft(const Operand& x, Length n = {}, AxisNumber axis = -1, std::string_view norm = "backward");

// Along several axes: the last ones of as many as `s` has, or all. No lengths are an empty s.
Value fftn(const Operand& x, const Shape& s = {}, const Shape& axes = {}, std::string_view norm = "backward");
Value ifftn(const Operand& x, const Shape& s = {}, const Shape& axes = {}, std::string_view norm = "backward");
Value rfftn(const Operand& x, const Shape& s = {}, const Shape& axes = {}, std::string_view norm = "backward");
Value irfftn(const Operand& x, const Shape& s = {}, const Shape& axes = {}, std::string_view norm = "backward");
Value fft2(const Operand& x, const Shape& s = {}, const Shape& axes = {-2, -1}, std::string_view norm = "backward");
Value ifft2(const Operand& x, const Shape& s = {}, const Shape& axes = {-2, -1}, std::string_view norm = "backward");
Value rfft2(const Operand& x, const Shape& s = {}, const Shape& axes = {-2, -1}, std::string_view norm = "backward");
Value irfft2(const Operand& x, const Shape& s = {}, const Shape& axes = {-2, -1}, std::string_view norm = "backward");

// The frequencies of the elements of a transform of n points at distance d.
Value fftfreq(const Operand& in, int64_t n, double d = 1, DType dtype = kDefaultFloat);
Value rfftfreq(const Operand& in, int64_t n, double d = 1, DType dtype = kDefaultFloat);
// The frequency 0 moved to the middle, and back.
Value fftshift(const Operand& x, const Axes& axes = {});
Value ifftshift(const Operand& x, const Axes& axes = {});

}}}  // namespace ricci::v0::fft
#endif
