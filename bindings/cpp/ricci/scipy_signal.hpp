// ricci/scipy_signal.hpp: convolutions and detrend of jax.scipy.signal. Include it next to ricci.hpp.
#ifndef RICCI_SCIPY_SIGNAL_HPP_
#define RICCI_SCIPY_SIGNAL_HPP_
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

}}}}  // namespace ricci::v0::scipy::signal
#endif
