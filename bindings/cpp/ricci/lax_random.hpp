// ricci/lax_random.hpp: samples and bits of jax.lax and jax.random as single operations; lax.hpp includes it.
#ifndef RICCI_LAX_RANDOM_HPP_
#define RICCI_LAX_RANDOM_HPP_
#include "ricci/emit.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// Samples of the gamma distribution of shape `a`, or their logarithms. The first dimensions of `a` are those of `key`.
inline Value random_gamma(const Value& key, const Value& a, bool log_space = false) {
  return Emit1("random_gamma", {key, a}, {{"log_space", log_space}});
}
// The algorithms of rng_bit_generator, numbered as in jax.lax. The default is Philox.
enum class RandomAlgorithm : int64_t { kDefault = 0, kThreefry = 1, kPhilox = 2 };
// The next key and random bits of `shape`; `key` is u32[4] or u64[2], `dtype` unsigned.
inline Values rng_bit_generator(const Value& key, Dims shape, DType dtype = DType::kU32,
                                RandomAlgorithm algorithm = RandomAlgorithm::kDefault) {
  return EmitN(2, "rng_bit_generator", {&key, 1},
               {{"shape", shape}, {"dtype", dtype}, {"algorithm", static_cast<int64_t>(algorithm)}});
}

}}}  // namespace ricci::v0::lax
#endif
