// ricci/random.hpp: random numbers from explicit keys, as jax.random with its default generator.
//
// Bits, uniform, randint, permutation and bernoulli equal those of JAX bit for bit; what is computed from these differs
// in the last places only. A key is a Value (or Array) of dtype key; every use of one key gives the same numbers, so
// split it. Of the names in jax.random only those are missing that the types of keys make needless: PRNGKey, key_impl,
// key_dtype.
#ifndef RICCI_RANDOM_HPP_
#define RICCI_RANDOM_HPP_
#include <optional>

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
// A key for another use of the same numbers.
Value clone(const Operand& k);
// The slices of `x` along `axis` in random order; if `independent`, each row along `axis` in an order of its own.
Value permutation(const Operand& k, const Operand& x, AxisNumber axis = 0, bool independent = false);
// 0, ..., n - 1 in random order.
Value permutation(const Operand& k, int64_t n);
struct ChoiceOptions {
  bool replace = true;
  std::optional<Operand> p = {};  // the probability of each element; all alike if it is absent
  int64_t axis = 0;
};
// Slices of `x` along an axis, chosen at random: `shape` of them, in place of that axis. A number n stands for 0, ...,
// n - 1.
Value choice(const Operand& k, const Operand& x, const Shape& shape = {}, const ChoiceOptions& options = {});

// ---- distributions ----
// The result has `shape`, or if that is empty the shape of the parameters together. Parameters become `dtype`, except
// probabilities, which keep theirs.

// Uniform in [low, high).
Value uniform(const Operand& k, const Shape& shape = {}, DType dtype = kDefaultFloat, const Operand& low = 0.0,
              const Operand& high = 1.0);
// Integers in [low, high).
Value randint(const Operand& k, const Shape& shape, int64_t low, int64_t high, DType dtype = kDefaultInt);
// Standard normal, by the inverse of its distribution; of a complex dtype, with parts of variance 1/2.
Value normal(const Operand& k, const Shape& shape = {}, DType dtype = kDefaultFloat);
// Standard normal between `lower` and `upper`.
Value truncated_normal(const Operand& k, const Operand& lower, const Operand& upper, const Shape& shape = {},
                       DType dtype = kDefaultFloat);
// `mean` is [..., n], `cov` [..., n, n] and symmetric; `shape` is that of the batch alone.
Value multivariate_normal(const Operand& k, const Operand& mean, const Operand& cov, const Shape& shape = {},
                          DType dtype = kDefaultFloat);
// Uniform among the orthogonal (unitary, if complex) matrices n x n, or the first columns or rows of one, n x m;
// `shape` is that of the batch alone.
Value orthogonal(const Operand& k, int64_t n, const Shape& shape = {}, DType dtype = kDefaultFloat,
                 std::optional<int64_t> m = {});
// exp(sigma z) for a standard normal z.
Value lognormal(const Operand& k, const Operand& sigma = 1.0, const Shape& shape = {}, DType dtype = kDefaultFloat);
// With a density in proportion to exp(-|x|^p).
Value generalized_normal(const Operand& k, double p, const Shape& shape = {}, DType dtype = kDefaultFloat);
// Points of the unit ball of the norm p in d dimensions, along a new last dimension.
Value ball(const Operand& k, int64_t d, double p = 2, const Shape& shape = {}, DType dtype = kDefaultFloat);
// Length of a normal vector with three components; with a random sign, times `scale`, plus `loc`. The result of the
// second has `shape` (or that of its parameters), and then that of its parameters.
Value maxwell(const Operand& k, const Shape& shape = {}, DType dtype = kDefaultFloat);
Value double_sided_maxwell(const Operand& k, const Operand& loc, const Operand& scale, const Shape& shape = {},
                           DType dtype = kDefaultFloat);
Value rayleigh(const Operand& k, const Operand& scale, const Shape& shape = {}, DType dtype = kDefaultFloat);
Value wald(const Operand& k, const Operand& mean, const Shape& shape = {}, DType dtype = kDefaultFloat);

Value gumbel(const Operand& k, const Shape& shape = {}, DType dtype = kDefaultFloat);
Value exponential(const Operand& k, const Shape& shape = {}, DType dtype = kDefaultFloat);
Value laplace(const Operand& k, const Shape& shape = {}, DType dtype = kDefaultFloat);
Value logistic(const Operand& k, const Shape& shape = {}, DType dtype = kDefaultFloat);
Value cauchy(const Operand& k, const Shape& shape = {}, DType dtype = kDefaultFloat);
Value pareto(const Operand& k, const Operand& b, const Shape& shape = {}, DType dtype = kDefaultFloat);
Value weibull_min(const Operand& k, const Operand& scale, const Operand& concentration, const Shape& shape = {},
                  DType dtype = kDefaultFloat);
Value triangular(const Operand& k, const Operand& left, const Operand& mode, const Operand& right,
                 const Shape& shape = {}, DType dtype = kDefaultFloat);

// Of shape `a` and scale 1; loggamma is its logarithm, also where the sample would be 0.
Value gamma(const Operand& k, const Operand& a, const Shape& shape = {}, DType dtype = kDefaultFloat);
Value loggamma(const Operand& k, const Operand& a, const Shape& shape = {}, DType dtype = kDefaultFloat);
Value beta(const Operand& k, const Operand& a, const Operand& b, const Shape& shape = {}, DType dtype = kDefaultFloat);
// `alpha` is [..., n]; `shape` is that of the batch alone.
Value dirichlet(const Operand& k, const Operand& alpha, const Shape& shape = {}, DType dtype = kDefaultFloat);
Value chisquare(const Operand& k, const Operand& df, const Shape& shape = {}, DType dtype = kDefaultFloat);
// Student's t, and Fisher's F with degrees of freedom of numerator and denominator.
Value t(const Operand& k, const Operand& df, const Shape& shape = {}, DType dtype = kDefaultFloat);
Value f(const Operand& k, const Operand& dfnum, const Operand& dfden, const Shape& shape = {},
        DType dtype = kDefaultFloat);

// True with probability `p`.
Value bernoulli(const Operand& k, const Operand& p = 0.5, const Shape& shape = {});
// 1 or -1.
Value rademacher(const Operand& k, const Shape& shape = {}, DType dtype = kDefaultInt);
// A class for each slice along `axis`, drawn with the probabilities softmax(logits). `shape` ends with that of the
// slices; what comes before counts draws, of which none is drawn twice without `replace`.
Value categorical(const Operand& k, const Operand& logits, AxisNumber axis = -1, const Shape& shape = {},
                  bool replace = true);
// The number of trials up to the first success, each with probability `p`.
Value geometric(const Operand& k, const Operand& p, const Shape& shape = {}, DType dtype = kDefaultInt);
Value poisson(const Operand& k, const Operand& lam, const Shape& shape = {}, DType dtype = kDefaultInt);
// The number of successes in `n` trials, as a floating number.
Value binomial(const Operand& k, const Operand& n, const Operand& p, const Shape& shape = {},
               DType dtype = kDefaultFloat);
// How often each outcome occurs in `n` trials; `p` is [..., outcomes], `shape` that of the result.
Value multinomial(const Operand& k, const Operand& n, const Operand& p, const Shape& shape = {},
                  DType dtype = kDefaultFloat);

}}}  // namespace ricci::v0::random
#endif
