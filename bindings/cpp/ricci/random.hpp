// ricci/random.hpp: random numbers from explicit keys, as jax.random with its default generator.
//
// Bits, uniform, randint, permutation and bernoulli equal those of JAX bit for bit; normal and what is made from it
// differ in the last places only. A key is a Value (or Array) of dtype key; every use of one key gives the same
// numbers, so split it.
#ifndef RICCI_RANDOM_HPP_
#define RICCI_RANDOM_HPP_
#include "ricci/axes.hpp"

namespace ricci { inline namespace v0 { namespace random {

// A key from an integer Value.
Value key(const Operand& seed);
// A key from a number, in the program of `in`.
Value key(const Operand& in, int64_t seed);
// A key outside of a trace.
Array key(const Context& ctx, uint64_t seed);
// The two u32 words of each key along a new last dimension, and back.
Value wrap_key_data(const Operand& words);
Value key_data(const Operand& k);
// `n` new keys along a new last dimension.
Value split_array(const Operand& k, int64_t n = 2);
// `n` new keys.
Values split(const Operand& k, int64_t n = 2);
// A new key from a key and a number.
Value fold_in(const Operand& k, const Operand& number);
// Unsigned integers, all bits random. `dtype`: u8, u16, u32 or u64.
Value bits(const Operand& k, const Shape& shape = {}, DType dtype = DType::kU32);
// Uniform in [low, high).
Value uniform(const Operand& k, const Shape& shape = {}, DType dtype = kDefaultFloat, double low = 0, double high = 1);
// Standard normal, by the inverse of its distribution.
Value normal(const Operand& k, const Shape& shape = {}, DType dtype = kDefaultFloat);
// True with probability `p`.
Value bernoulli(const Operand& k, const Operand& p = 0.5, const Shape& shape = {});
// Integers in [low, high).
Value randint(const Operand& k, const Shape& shape, int64_t low, int64_t high, DType dtype = kDefaultInt);
// The slices of `x` along `axis` in random order.
Value permutation(const Operand& k, const Operand& x, AxisNumber axis = 0);
// 0, ..., n - 1 in random order.
Value permutation(const Operand& k, int64_t n);
Value gumbel(const Operand& k, const Shape& shape = {}, DType dtype = kDefaultFloat);
// A class for each slice along `axis`, drawn with the probabilities softmax(logits).
Value categorical(const Operand& k, const Operand& logits, AxisNumber axis = -1);
Value exponential(const Operand& k, const Shape& shape = {}, DType dtype = kDefaultFloat);

}}}  // namespace ricci::v0::random
#endif
