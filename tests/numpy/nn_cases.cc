// jax.nn: activation functions at both sides of their corners and at them, their derivatives, and what goes along axes.
#include <deque>
#include <string>

#include "case.h"
#include "ricci/nn.hpp"

namespace ricci::testing {
namespace {

// -16, ..., 16 by halves: all corners are among them.
Array Range(const Given& g) { return astype(arange(g.ctx, -32, 33), DType::kF32) / 2.0f; }
template <typename F>
Results GradOf(const F& f, const Array& x) {
  return grad([&](Value a) { return sum(f(a)); })(x);
}

// Of derivatives near 1 or 0 that are sums of larger terms, which JAX rounds to f32.
constexpr double kOfSums = 128;
// One activation function: its values and derivatives, its result for NaN and infinities, and in f16.
template <auto kFunction>
void AddActivation(std::vector<Case>& cases, std::deque<std::string>& expressions, const std::string& name,
                   double of_derivative = 8) {
  const auto add = [&](const std::string& expression, Results (*run)(const Given&), double tolerance = 8) {
    cases.push_back({expressions.emplace_back(expression).c_str(), run, tolerance});
  };
  const std::string f = "jax.nn." + name;
  add(f + "(jnp.arange(-32, 33) / 2.0)", [](const Given& g) -> Results { return kFunction(Range(g)); });
  add(
      "jax.grad(lambda a: " + f + "(a).sum())(jnp.arange(-32, 33) / 2.0)",
      [](const Given& g) -> Results { return GradOf([](const Value& a) { return kFunction(a); }, Range(g)); },
      of_derivative);
  // The second derivative, of which corners also have one.
  add(
      "jax.grad(lambda b: jax.grad(lambda a: " + f + "(a).sum())(b).sum())(jnp.arange(-32, 33) / 2.0)",
      [](const Given& g) -> Results {
        const auto slope = grad([](Value a) { return sum(kFunction(a)); });
        return GradOf(slope, Range(g));
      },
      16 * of_derivative);
  add(f + "(n)", [](const Given& g) -> Results { return kFunction(g.n); });
  add(f + "(h)", [](const Given& g) -> Results { return kFunction(g.h); });
}
Value LeakyRelu(const Operand& x) { return nn::leaky_relu(x); }
Value Squareplus(const Operand& x) { return nn::squareplus(x); }
Value Elu(const Operand& x) { return nn::elu(x); }
Value Celu(const Operand& x) { return nn::celu(x); }
Value Gelu(const Operand& x) { return nn::gelu(x); }

void AddActivations(std::vector<Case>& cases, std::deque<std::string>& expressions) {
  AddActivation<nn::identity>(cases, expressions, "identity");
  AddActivation<nn::relu>(cases, expressions, "relu");
  AddActivation<nn::relu6>(cases, expressions, "relu6");
  AddActivation<nn::hard_tanh>(cases, expressions, "hard_tanh");
  AddActivation<nn::hard_sigmoid>(cases, expressions, "hard_sigmoid");
  AddActivation<nn::hard_silu>(cases, expressions, "hard_silu");
  AddActivation<nn::hard_swish>(cases, expressions, "hard_swish");
  AddActivation<nn::sparse_plus>(cases, expressions, "sparse_plus");
  AddActivation<nn::sparse_sigmoid>(cases, expressions, "sparse_sigmoid");
  AddActivation<nn::sigmoid>(cases, expressions, "sigmoid");
  AddActivation<nn::log_sigmoid>(cases, expressions, "log_sigmoid");
  AddActivation<nn::softplus>(cases, expressions, "softplus");
  AddActivation<nn::soft_sign>(cases, expressions, "soft_sign");
  AddActivation<nn::silu>(cases, expressions, "silu");
  AddActivation<nn::swish>(cases, expressions, "swish");
  AddActivation<nn::mish>(cases, expressions, "mish", kOfSums);
  AddActivation<nn::tanh>(cases, expressions, "tanh");
  AddActivation<nn::selu>(cases, expressions, "selu");
  AddActivation<LeakyRelu>(cases, expressions, "leaky_relu");
  AddActivation<Squareplus>(cases, expressions, "squareplus");
  AddActivation<Elu>(cases, expressions, "elu");
  AddActivation<Celu>(cases, expressions, "celu");
  AddActivation<Gelu>(cases, expressions, "gelu", kOfSums);
}

const Case kCases[] = {
    {"jax.nn.gelu(x, approximate=False)", [](const Given& g) -> Results { return nn::gelu(g.x, false); }},
    {"jax.nn.leaky_relu(d, 0.25)", [](const Given& g) -> Results { return nn::leaky_relu(g.d, 0.25); }},
    {"jax.nn.elu(d, 0.5)", [](const Given& g) -> Results { return nn::elu(g.d, 0.5); }},
    {"jax.nn.celu(d, 0.5)", [](const Given& g) -> Results { return nn::celu(g.d, 0.5); }},
    {"jax.nn.squareplus(d, 0.5)", [](const Given& g) -> Results { return nn::squareplus(g.d, 0.5); }},
    {"jax.nn.elu(i)", [](const Given& g) -> Results { return nn::elu(g.i); }},
    {"jax.nn.log1mexp(p)", [](const Given& g) -> Results { return nn::log1mexp(g.p); }},
    {"jax.nn.log1mexp(p.astype('float64'))",
     [](const Given& g) -> Results { return nn::log1mexp(astype(g.p, DType::kF64)); }},
    {"jax.grad(lambda a: jax.nn.log1mexp(a).sum())(p)",
     [](const Given& g) -> Results { return GradOf([](const Value& a) { return nn::log1mexp(a); }, g.p); }},
    {"jax.nn.glu(t)", [](const Given& g) -> Results { return nn::glu(g.t); }},
    {"jax.nn.glu(t, axis=0)", [](const Given& g) -> Results { return nn::glu(g.t, 0); }},
    {"jax.nn.log_softmax(t)", [](const Given& g) -> Results { return nn::log_softmax(g.t); }},
    {"jax.nn.log_softmax(t, axis=(0, 2))",
     [](const Given& g) -> Results {
       return nn::log_softmax(g.t, {0, 2});
     }},
    {"jax.nn.log_softmax(x, where=b)",
     [](const Given& g) -> Results { return nn::log_softmax(g.x, -1, {.where = g.b}); }},
    {"jax.grad(lambda a: (jax.nn.log_softmax(a) * y).sum())(x)",
     [](const Given& g) -> Results {
       const Array y = g.y;
       return GradOf([y](const Value& a) { return nn::log_softmax(a) * y; }, g.x);
     }},
    {"jax.nn.logsumexp(t)", [](const Given& g) -> Results { return nn::logsumexp(g.t); }},
    {"jax.nn.logsumexp(x, axis=1, where=b)",
     [](const Given& g) -> Results { return nn::logsumexp(g.x, 1, false, {.where = g.b}); }},
    {"jax.nn.logmeanexp(t)", [](const Given& g) -> Results { return nn::logmeanexp(g.t); }},
    {"jax.nn.logmeanexp(t, axis=(0, 2), keepdims=True)",
     [](const Given& g) -> Results {
       return nn::logmeanexp(g.t, {0, 2}, true);
     }},
    {"jax.nn.logmeanexp(x, axis=1, where=b)",
     [](const Given& g) -> Results { return nn::logmeanexp(g.x, 1, false, {.where = g.b}); }},
    {"jax.nn.standardize(t, algorithm='stable')", [](const Given& g) -> Results { return nn::standardize(g.t); }, 16},
    {"jax.nn.standardize(t, axis=(0, 2), epsilon=0.1, algorithm='stable')",
     [](const Given& g) -> Results {
       return nn::standardize(g.t, {0, 2}, {.epsilon = 0.1});
     },
     16},
    {"jax.nn.standardize(x, mean=jnp.array([[1.0], [2.0]]), variance=p)",
     [](const Given& g) -> Results {
       return nn::standardize(g.x, -1, {.mean = Array(g.ctx, {1.0f, 2.0f}, {2, 1}), .variance = g.p});
     },
     16},
    {"jax.nn.one_hot(j, 4)", [](const Given& g) -> Results { return nn::one_hot(g.j, 4); }},
    {"jax.nn.one_hot(j, 3, dtype='int32', axis=0)",
     [](const Given& g) -> Results { return nn::one_hot(g.j, 3, DType::kI32, 0); }},
    {"jax.nn.one_hot(i, 6, axis=1)", [](const Given& g) -> Results { return nn::one_hot(g.i, 6, DType::kF32, 1); }},
};

}  // namespace

std::span<const Case> NnCases() {
  static std::deque<std::string> expressions;
  static const std::vector<Case> cases = [] {
    std::vector<Case> all(std::begin(kCases), std::end(kCases));
    AddActivations(all, expressions);
    return all;
  }();
  return cases;
}

}  // namespace ricci::testing
