// jax.numpy.fft.
#include "case.h"
#include "ricci/fft.hpp"

namespace ricci::testing {
namespace {

const Case kCases[] = {
    {"jnp.fft.fft(x)", [](const Given& g) -> Results { return fft::fft(g.x); }, 32},
    {"jnp.fft.fft(t, 5, 1, 'ortho')", [](const Given& g) -> Results { return fft::fft(g.t, 5, 1, "ortho"); }, 32},
    {"jnp.fft.fft(z, axis=0, norm='forward')",
     [](const Given& g) -> Results { return fft::fft(g.z, {}, 0, "forward"); }, 32},
    {"jnp.fft.ifft(z)", [](const Given& g) -> Results { return fft::ifft(g.z); }, 32},
    {"jnp.fft.ifft(z, 2, norm='ortho')", [](const Given& g) -> Results { return fft::ifft(g.z, 2, -1, "ortho"); }, 32},
    {"jnp.fft.ifft(i, norm='forward')", [](const Given& g) -> Results { return fft::ifft(g.i, {}, -1, "forward"); },
     32},
    {"jnp.fft.rfft(t)", [](const Given& g) -> Results { return fft::rfft(g.t); }, 32},
    {"jnp.fft.rfft(x, 4, 0)", [](const Given& g) -> Results { return fft::rfft(g.x, 4, 0); }, 32},
    {"jnp.fft.irfft(z)", [](const Given& g) -> Results { return fft::irfft(g.z); }, 32},
    {"jnp.fft.irfft(z, 5, norm='ortho')", [](const Given& g) -> Results { return fft::irfft(g.z, 5, -1, "ortho"); },
     32},
    {"jnp.fft.hfft(z)", [](const Given& g) -> Results { return fft::hfft(g.z); }, 32},
    {"jnp.fft.ihfft(x, norm='ortho')", [](const Given& g) -> Results { return fft::ihfft(g.x, {}, -1, "ortho"); }, 32},
    {"jnp.fft.fftn(t)", [](const Given& g) -> Results { return fft::fftn(g.t); }, 64},
    {"jnp.fft.fftn(t, (2, 5))",
     [](const Given& g) -> Results {
       return fft::fftn(g.t, {2, 5});
     },
     64},
    {"jnp.fft.ifftn(t, axes=(2, 0))",
     [](const Given& g) -> Results {
       return fft::ifftn(g.t, {}, {2, 0});
     },
     64},
    {"jnp.fft.rfftn(t, axes=(0, 1), norm='forward')",
     [](const Given& g) -> Results {
       return fft::rfftn(g.t, {}, {0, 1}, "forward");
     },
     64},
    {"jnp.fft.irfftn(t)", [](const Given& g) -> Results { return fft::irfftn(g.t); }, 64},
    {"jnp.fft.fft2(t)", [](const Given& g) -> Results { return fft::fft2(g.t); }, 64},
    {"jnp.fft.ifft2(z)", [](const Given& g) -> Results { return fft::ifft2(g.z); }, 64},
    {"jnp.fft.rfft2(t)", [](const Given& g) -> Results { return fft::rfft2(g.t); }, 64},
    {"jnp.fft.irfft2(t, (4, 4))",
     [](const Given& g) -> Results {
       return fft::irfft2(g.t, {4, 4});
     },
     64},
    {"jnp.fft.fftfreq(5, 0.5)", [](const Given& g) -> Results { return fft::fftfreq(g.ctx, 5, 0.5); }},
    {"jnp.fft.fftfreq(6)", [](const Given& g) -> Results { return fft::fftfreq(g.ctx, 6); }},
    {"jnp.fft.rfftfreq(7, 2.0)", [](const Given& g) -> Results { return fft::rfftfreq(g.ctx, 7, 2.0); }},
    {"jnp.fft.fftshift(t)", [](const Given& g) -> Results { return fft::fftshift(g.t); }},
    {"jnp.fft.ifftshift(x, axes=1)", [](const Given& g) -> Results { return fft::ifftshift(g.x, 1); }},
};

}  // namespace

std::span<const Case> FftCases() { return kCases; }

}  // namespace ricci::testing
