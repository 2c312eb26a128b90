// ricci/lax_fft.hpp: discrete Fourier transforms, as jax.lax.fft.
#ifndef RICCI_LAX_FFT_HPP_
#define RICCI_LAX_FFT_HPP_
#include "ricci/emit.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// Along the last dimensions but `trailing` ones. `fft_type`: FFT, IFFT (scaled by one over the product of the lengths),
// RFFT (of a real x; the last dimension becomes length / 2 + 1) or IRFFT, its inverse. `fft_lengths`: 1 to 3, of the
// dimensions before they are halved.
inline Value fft(const Value& x, std::string_view fft_type, Dims fft_lengths, int64_t trailing = 0) {
  return Emit1("fft", {x}, {{"fft_type", fft_type}, {"fft_lengths", fft_lengths}, {"trailing", trailing}});
}

}}}  // namespace ricci::v0::lax
#endif
