// Examples without a loop of their own: layers, attention, small matrices, contact laws, pairs of bodies.
#include "ricci/ricci.hpp"
#include "schedule_programs.h"

namespace bench {
namespace {

using ricci::Value;
using ricci::Values;

Value Layers(const Values& in) { return matmul(tanh(matmul(in[0], in[1])), in[2]); }
Value LayersLoss(const Values& in) { return sum(square(Layers({in[2], in[0], in[1]}))); }

// Force of a spring-damper contact with Coulomb friction: position and velocity of one body above the ground.
Value ContactEnergy(const Values& in) {
  const Value &x = in[0], &v = in[1], depth = 0.1f - x[2], speed = sqrt(v[0] * v[0] + v[1] * v[1] + 1e-6f);
  const Value normal = where(depth > 0.0f, 1e4f * depth * sqrt(abs(depth) + 1e-9f) * (1.0f - 0.3f * v[2]), 0.0f);
  const Value friction = minimum(0.6f * normal, 50.0f * speed);
  return normal * depth + friction * speed * tanh(10.0f * speed);
}

// Sum of a repulsive potential over all pairs of 20 bodies.
Value Pairs(const Values& in) {
  const auto energy = [](const Value& a, const Value& b) { return ricci::reciprocal(sum(square(a - b)) + 0.1f); };
  const auto row = ricci::vmap(energy, {ricci::kUnbatched, 0});
  return sum(ricci::vmap(row, {0, ricci::kUnbatched})(in[0], in[0]));
}

// Attention of one head over 32 positions.
Value Attention(const Values& in) { return matmul(ricci::softmax(matmul(in[0], transpose(in[1])) * 0.25f), in[2]); }

// A rotation by a quaternion, of a hundred points.
Value Rotate(const Values& in) {
  const Value &q = in[0], &p = in[1], w = q[0], x = q[1], y = q[2], z = q[3];
  const Value rows =
      ricci::stack({ricci::stack({1.0f - 2.0f * (y * y + z * z), 2.0f * (x * y - w * z), 2.0f * (x * z + w * y)}),
                    ricci::stack({2.0f * (x * y + w * z), 1.0f - 2.0f * (x * x + z * z), 2.0f * (y * z - w * x)}),
                    ricci::stack({2.0f * (x * z - w * y), 2.0f * (y * z + w * x), 1.0f - 2.0f * (x * x + y * y)})});
  return matmul(p, transpose(rows));
}

Value Windows(const Values& in) {
  Value total;
  for (int64_t i = 0; i < 5; ++i) {
    const Value term = ricci::slice(in[0], i, i + 124) * in[1][i];
    total = i == 0 ? term : total + term;
  }
  return ricci::relu(total);
}

Value Products(const Values& in) {
  Value m = in[0];
  for (int i = 0; i < 4; ++i) m = matmul(m, in[1]) * 0.5f + in[0];
  return m;
}

// Products along a chain of joints: each is attached to the one before, turned by its own angle.
Value Arm(const Values& in) {
  const Value &angles = in[0], &lengths = in[1];
  const Value turned = ricci::cumsum(angles, 0);
  return ricci::stack({sum(lengths * cos(turned)), sum(lengths * sin(turned))});
}
Value ArmError(const Values& in) { return sum(square(Arm(in) - 0.5f)); }

Value Normalized(const Values& in) {
  const Value centred = in[0] - ricci::mean(in[0], 1, true);
  return centred * ricci::rsqrt(ricci::mean(square(centred), 1, true) + 1e-5f) * in[1];
}

auto Of(Value (*f)(const Values&)) {
  return [f](const Values& in) { return Values{f(in)}; };
}

// Derivatives of 12 tanh units with respect to weights and inputs along three directions: a map within the map.
Values Nested(const Values& in) {
  const Value &x = in[3], units = tanh(matmul(in[0], x));
  const auto along = [&](const Value& direction) {
    const Value scaled = matmul(direction, in[1]) * units;
    return std::pair(ricci::outer(scaled, x), scaled);
  };
  const auto [by_weights, by_inputs] = ricci::vmap(along)(in[2]);
  return {by_weights, by_inputs};
}

}  // namespace

std::vector<Example> ArrayExamples() {
  const auto gelu = [](const Values& in) { return Values{ricci::gelu(in[0])}; };
  const auto softmax = [](const Values& in) { return Values{ricci::softmax(in[0])}; };
  const auto length = [](const Values& in) { return Values{ricci::norm(in[0])}; };
  const auto sorted = [](const Values& in) { return Values{ricci::sort(in[0])}; };
  const auto sums = [](const Values& in) { return Values{ricci::cumsum(in[0], 0) / sum(in[0])}; };
  return {
      {"layers64", {{{64}}, {{64, 64}}, {{64, 64}}}, {true, false, false}, Of(Layers)},
      {"layers64_grads", {{{64, 64}}, {{64, 64}}, {{64}}}, {false, false, true}, Of(LayersLoss), 2},
      {"layers8", {{{8}}, {{8, 8}}, {{8, 8}}}, {true, false, false}, Of(Layers)},
      {"contact_grad", {{{3}}, {{3}}}, {true, true}, Of(ContactEnergy), 2},
      {"pairs", {{{20, 3}}}, {true}, Of(Pairs)},
      {"pairs_grad", {{{20, 3}}}, {true}, Of(Pairs), 1},
      {"attention", {{{32, 16}}, {{32, 16}}, {{32, 16}}}, {true, true, true}, Of(Attention)},
      {"rotate", {{{4}}, {{100, 3}}}, {true, true}, Of(Rotate)},
      {"windows", {{{128}}, {{5}}}, {true, false}, Of(Windows)},
      {"products4", {{{4, 4}}, {{4, 4}}}, {true, true}, Of(Products)},
      {"products12", {{{12, 12}}, {{12, 12}}}, {true, true}, Of(Products)},
      {"arm_grad", {{{7}}, {{7}}}, {true, false}, Of(ArmError), 1},
      {"normalized", {{{16, 64}}, {{64}}}, {true, false}, Of(Normalized)},
      {"gelu1000", {{{1000}}}, {true}, gelu},
      {"softmax128", {{{128}}}, {true}, softmax},
      {"norm1000", {{{1000}}}, {true}, length},
      {"sort16", {{{16}}}, {true}, sorted},
      {"sort128", {{{128}}}, {true}, sorted},
      {"cumsum100", {{{100}}}, {true}, sums},
      {"nested", {{{12, 6}}, {{3, 12}}, {{3, 3}}, {{6}}}, {false, false, false, true}, Nested},
  };
}

}  // namespace bench
