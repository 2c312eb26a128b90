// Examples that are loops or branches: recurrent networks, filters, integrators, root finders.
#include "ricci/ricci.hpp"
#include "schedule_programs.h"

namespace bench {
namespace {

using ricci::None;
using ricci::Value;
using ricci::Values;

Value Repeat(int64_t length, const Value& start, const std::function<Value(const Value&)>& step) {
  const auto body = [&](const Value& c, None) { return std::pair(step(c), None{}); };
  return ricci::scan(body, start, None{}, {.length = length}).first;
}

// One step of decoding: attention over a cache that grows.
Value Decode(const Values& in) {
  const Value &w = in[1], &positions = in[2];
  const auto step = [&](const std::vector<Value>& s, const Value& at) {
    const Value &x = s[0], q = matmul(x, w[0]);
    const Value keys = ricci::set_at(s[1], at, matmul(x, w[1])), values = ricci::set_at(s[2], at, matmul(x, w[2]));
    const Value scores = where(ricci::arange(x, 64) <= at, matmul(keys, q) * 0.2f, -1e9f);
    return std::pair(std::vector<Value>{tanh(x + matmul(ricci::softmax(scores), values)), keys, values}, None{});
  };
  const Value cache = ricci::zeros(in[0], {64, 32});
  return ricci::scan(step, std::vector<Value>{in[0], cache, cache}, positions).first[0];
}

// Log likelihood of observations under a hidden Markov model of eight states.
Value Markov(const Value& transitions, const Value& likelihoods) {
  const auto step = [&](const Value& belief, const Value& likelihood) {
    return std::pair(ricci::logsumexp(ricci::expand_dims(belief, 1) + transitions, 0) + likelihood, None{});
  };
  return ricci::logsumexp(ricci::scan(step, likelihoods[0], likelihoods).first);
}

Value Gru(const Value& inputs, const Value& w, const Value& u) {
  const auto step = [&](const Value& h, const Value& x) {
    const Value update = ricci::sigmoid(matmul(x, w[0]) + matmul(h, u[0]));
    const Value reset = ricci::sigmoid(matmul(x, w[1]) + matmul(h, u[1]));
    const Value next = tanh(matmul(x, w[2]) + matmul(reset * h, u[2]));
    return std::pair(update * h + (1.0f - update) * next, None{});
  };
  return ricci::scan(step, ricci::zeros(inputs, {32}), inputs).first;
}

// A Kalman filter of four states and two measurements (the inverse written out).
Value Kalman(const Value& model, const Value& measure, const Value& seen) {
  const auto step = [&](const std::vector<Value>& s, const Value& z) {
    const Value x = matmul(model, s[0]), p = matmul(matmul(model, s[1]), transpose(model)) + 0.1f * ricci::eye(z, 4);
    const Value s2 = matmul(matmul(measure, p), transpose(measure)) + ricci::eye(z, 2);
    const Value det = s2[0][0] * s2[1][1] - s2[0][1] * s2[1][0];
    const Value inverse =
        ricci::stack({ricci::stack({s2[1][1], -s2[0][1]}), ricci::stack({-s2[1][0], s2[0][0]})}) / det;
    const Value gain = matmul(matmul(p, transpose(measure)), inverse);
    const Value next = x + matmul(gain, z - matmul(measure, x));
    return std::pair(std::vector<Value>{next, matmul(ricci::eye(z, 4) - matmul(gain, measure), p)}, None{});
  };
  return ricci::scan(step, std::vector<Value>{ricci::zeros(seen, {4}), ricci::eye(seen, 4)}, seen).first[0];
}

Value Pendulum(const Value& start) {
  const auto change = [](const Value& s) { return ricci::stack({s[1], -sin(s[0]) - 0.1f * s[1]}); };
  return Repeat(200, start, [&](const Value& s) {
    const Value a = change(s), b = change(s + 0.005f * a), c = change(s + 0.005f * b), d = change(s + 0.01f * c);
    return s + 0.01f / 6 * (a + 2.0f * b + 2.0f * c + d);
  });
}

Value Root(const Value& a) {
  const auto goes = [&](const Value& x) { return abs(x * x * x - a) > 1e-4f; };
  const auto step = [&](const Value& x) { return x - (x * x * x - a) / (3.0f * x * x); };
  return ricci::while_loop(goes, step, a + 2.0f);
}

// Trips until z = z^2 + c leaves the disc.
Value Escape(const Value& c) {
  const auto goes = [](const std::vector<Value>& s) { return (s[0] * s[0] + s[1] * s[1] < 4.0f) & (s[2] < 300.0f); };
  const auto step = [&](const std::vector<Value>& s) {
    return std::vector<Value>{s[0] * s[0] - s[1] * s[1] + c[0], 2.0f * s[0] * s[1] + c[1], s[2] + 1.0f};
  };
  const Value zero = ricci::zeros_like(c[0]);
  return ricci::while_loop(goes, step, std::vector<Value>{zero, zero, zero})[2];
}

Value Heat(const Value& start) {
  return Repeat(50, start,
                [](const Value& u) { return u + 0.2f * (ricci::roll(u, 1, 0) + ricci::roll(u, -1, 0) - 2.0f * u); });
}

Value Branches(const Value& x) {
  const auto heavy = [](const Value& v) { return Repeat(50, v, [](const Value& c) { return sin(c) * 1.1f; }); };
  const auto light = [](const Value& v) { return v * 0.5f; };
  return Repeat(4, x, [&](const Value& v) { return ricci::cond(sum(v) > 0.0f, heavy, light, v); });
}

// Values from the functions of one, two and three arguments.
auto One(Value (*f)(const Value&)) {
  return [f](const Values& in) { return Values{f(in[0])}; };
}
auto Summed(Value (*f)(const Value&)) {
  return [f](const Values& in) { return Values{sum(f(in[0]))}; };
}

}  // namespace

std::vector<Example> LoopExamples() {
  const auto tanhs = [](int64_t trips) {
    return [=](const Values& in) {
      return Values{Repeat(trips, in[1], [&](const Value& c) { return tanh(in[0] * c + 0.2f); })};
    };
  };
  const auto matvecs = [](const Values& in) {
    return Values{Repeat(10, in[1], [&](const Value& c) { return tanh(matmul(in[0], c)); })};
  };
  const auto markov = [](const Values& in) { return Values{Markov(in[0], in[1])}; };
  const auto gru = [](const Values& in) { return Values{Gru(in[0], in[1], in[2])}; };
  const auto gru_loss = [](const Values& in) { return Values{sum(square(Gru(in[0], in[1], in[2])))}; };
  const auto kalman = [](const Values& in) { return Values{Kalman(in[0], in[1], in[2])}; };
  return {
      {"scan_tanh64", {{{64}}, {{64}}}, {true, true}, tanhs(20)},
      {"scan_tanh8", {{{8}}, {{8}}}, {true, true}, tanhs(100)},
      {"scan_tanh300", {{{300}}, {{300}}}, {true, true}, tanhs(20)},
      {"scan_matvec32", {{{32, 32}}, {{32}}}, {false, true}, matvecs},
      {"scan_matvec32_own", {{{32, 32}}, {{32}}}, {true, true}, matvecs},
      {"scan_matvec6", {{{6, 6}}, {{6}}}, {false, true}, matvecs},
      {"decoder",
       {{{32}}, {{3, 32, 32}}, {{8}, ricci::DType::kI32}},
       {true, false, false},
       [](const Values& in) { return Values{Decode(in)}; }},
      {"markov", {{{8, 8}}, {{30, 8}}}, {false, true}, markov},
      {"markov_grad", {{{8, 8}}, {{30, 8}}}, {false, true}, markov, 2},
      {"gru", {{{20, 16}}, {{3, 16, 32}}, {{3, 32, 32}}}, {true, false, false}, gru},
      {"gru_grad", {{{20, 16}}, {{3, 16, 32}}, {{3, 32, 32}}}, {true, false, false}, gru_loss, 1},
      {"kalman", {{{4, 4}}, {{2, 4}}, {{20, 2}}}, {false, false, true}, kalman},
      {"kalman_own", {{{4, 4}}, {{2, 4}}, {{20, 2}}}, {true, true, true}, kalman},
      {"pendulum", {{{2}}}, {true}, One(Pendulum)},
      {"pendulum_grad", {{{2}}}, {true}, Summed(Pendulum), 1},
      {"root", {{}}, {true}, One(Root)},
      {"escape", {{{2}}}, {true}, One(Escape)},
      {"heat", {{{256}}}, {true}, One(Heat)},
      {"heat_grad", {{{256}}}, {true}, Summed(Heat), 1},
      {"branches", {{{4}}}, {true}, One(Branches)},
  };
}

}  // namespace bench
