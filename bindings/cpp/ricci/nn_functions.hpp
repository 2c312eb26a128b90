// ricci/nn_functions.hpp: activation functions and what else jax.nn has beside its operations; in ricci/nn.hpp.
//
// Element by element unless `axes` are given; the result has the shape of x. Integers become f32. Derivatives are those
// of jax.nn, also where a function has a corner.
#ifndef RICCI_NN_FUNCTIONS_HPP_
#define RICCI_NN_FUNCTIONS_HPP_
#include <optional>

#include "ricci/reductions.hpp"

namespace ricci { inline namespace v0 { namespace nn {

using ricci::gelu;
using ricci::relu;
using ricci::sigmoid;
using ricci::silu;
using ricci::softplus;
using ricci::tanh;

// ---- with corners ----
Value identity(const Operand& x);
Value relu6(const Operand& x);  // min(max(x, 0), 6); the derivatives at 0 and 6 are 0
Value leaky_relu(const Operand& x, double negative_slope = 0.01);
Value hard_tanh(const Operand& x);       // x between -1 and 1
Value hard_sigmoid(const Operand& x);    // relu6(x + 3) / 6
Value hard_silu(const Operand& x);       // x hard_sigmoid(x)
Value hard_swish(const Operand& x);      // hard_silu
Value sparse_plus(const Operand& x);     // 0 up to -1, (x + 1)^2 / 4 up to 1, x
Value sparse_sigmoid(const Operand& x);  // 0 up to -1, (x + 1) / 2 up to 1, 1

// ---- smooth ----
Value log_sigmoid(const Operand& x);
Value squareplus(const Operand& x, double b = 4);  // (x + sqrt(x^2 + b)) / 2
Value soft_sign(const Operand& x);                 // x / (|x| + 1)
Value swish(const Operand& x);                     // silu
Value mish(const Operand& x);                      // x tanh(softplus(x))
Value elu(const Operand& x, double alpha = 1);     // x, or alpha (exp(x) - 1) where it is negative
Value celu(const Operand& x, double alpha = 1);    // x, or alpha (exp(x / alpha) - 1) where it is negative
Value selu(const Operand& x);                      // elu with the constants of Klambauer and others, 2017
Value log1mexp(const Operand& x);                  // log(1 - exp(-x)), for x >= 0 (Maechler 2012)
// The first half of x along `axis` times the sigmoid of the second.
Value glu(const Operand& x, AxisNumber axis = -1);

// ---- along axes ----
// Which elements count: bool, broadcasts to x.
struct WhereOption {
  std::optional<Operand> where = {};
};
// x minus the logarithm of the sum of exp(x); -infinity where elements do not count.
Value log_softmax(const Operand& x, const Axes& axes = -1, const WhereOption& options = {});
Value logsumexp(const Operand& x, const Axes& axes = {}, bool keepdims = false, const WhereOption& options = {});
// log(mean(exp(x))).
Value logmeanexp(const Operand& x, const Axes& axes = {}, bool keepdims = false, const WhereOption& options = {});
struct StandardizeOptions {
  std::optional<Operand> mean = {}, variance = {};  // broadcast to x; of x along `axes` if not given
  double epsilon = 1e-5;                            // added to the variance
  std::optional<Operand> where = {};                // bool, broadcasts to x: elements that mean and variance count
};
// (x - mean) / sqrt(variance + epsilon), with mean((x - mean)^2) as the variance (JAX: algorithm="stable").
Value standardize(const Operand& x, const Axes& axes = -1, const StandardizeOptions& options = {});
// 1 where the new dimension `axis`, of `num_classes` elements, is at the number in x, 0 elsewhere.
Value one_hot(const Operand& x, int64_t num_classes, DType dtype = kDefaultFloat, AxisNumber axis = -1);

}}}  // namespace ricci::v0::nn
#endif
