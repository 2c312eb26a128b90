// One step of gradient descent of a small network: its run time, and the time to trace and compile a fresh one.
#include <cmath>

#include "bench_program.h"

namespace bench {
namespace {

using namespace ricci::lax;  // NOLINT: the programs read like jax.lax
using ricci::Shape;
using ricci::Value;
using ricci::Values;

struct Sizes {
  int64_t batch;
  Shape widths;
};
Sizes SizesOf(const Settings& s) { return s.small ? Sizes{8, {12, 16, 16, 10}} : Sizes{128, {784, 512, 512, 10}}; }

// Weights and biases, then x and y.
std::vector<Param> Params(const Sizes& n) {
  std::vector<Param> out;
  for (size_t i = 0; i + 1 < n.widths.size(); ++i) {
    out.push_back({{n.widths[i], n.widths[i + 1]}});
    out.push_back({{n.widths[i + 1]}});
  }
  out.push_back({{n.batch, n.widths.front()}});
  out.push_back({{n.batch, n.widths.back()}});
  return out;
}

Value Layer(const Value& x, const Value& w, const Value& b) {
  const Value product = dot_general(x, w, {.lhs_contract = {1}, .rhs_contract = {0}});
  return add(product, broadcast_in_dim(b, product.shape(), Shape{1}));
}

// Mean cross-entropy.
Values Loss(const Values& in) {
  Value x = in[in.size() - 2];
  const size_t n_params = in.size() - 2;
  for (size_t i = 0; i + 2 < n_params; i += 2) {
    const Value layer = Layer(x, in[i], in[i + 1]);
    x = max(layer, zeros_like(layer));
  }
  const Value logits = Layer(x, in[n_params - 2], in[n_params - 1]), y = in.back();
  const Value top = stop_gradient(reduce_max(logits, Shape{1}));
  const Value shifted = sub(logits, broadcast_in_dim(top, logits.shape(), Shape{0}));
  const Value total = log(reduce_sum(exp(shifted), Shape{1}));
  const Value log_softmax = sub(shifted, broadcast_in_dim(total, logits.shape(), Shape{0}));
  return {mul(reduce_sum(mul(log_softmax, y), Shape{0, 1}), -1.0 / static_cast<double>(y.dim(0)))};
}

ProgramRef Step(ricci_ctx* ctx, const Sizes& n) {
  const std::vector<Param> params = Params(n);
  const auto n_params = static_cast<uint32_t>(params.size() - 2);
  const ProgramRef grad = Grad(Trace(ctx, params, Loss).get(), n_params);
  return Trace(ctx, params, [&](const Values& in) {
    Values out = Inline(grad.get(), in);
    for (size_t i = 0; i < out.size(); ++i) out[i] = sub(in[i], mul(1e-2, out[i]));
    return out;
  });
}

std::vector<std::vector<float>> Inputs(const Sizes& n) {
  std::vector<std::vector<float>> out;
  for (size_t i = 0; i + 1 < n.widths.size(); ++i) {
    out.push_back(Uniform(n.widths[i] * n.widths[i + 1], static_cast<uint32_t>(i)));
    for (float& v : out.back()) v *= static_cast<float>(1 / std::sqrt(static_cast<double>(n.widths[i])));
    out.emplace_back(static_cast<size_t>(n.widths[i + 1]), 0.0f);
  }
  out.push_back(Uniform(n.batch * n.widths.front(), 9));
  const auto classes = static_cast<size_t>(n.widths.back()), batch = static_cast<size_t>(n.batch);
  out.emplace_back(batch * classes, 0.0f);
  for (size_t i = 0; i < batch; ++i) out.back()[i * classes + i % 10] = 1;
  return out;
}

Prepared Train(ricci_ctx* ctx, const Settings& s) {
  const Sizes n = SizesOf(s);
  return Ready(ctx, Step(ctx, n).get(), Inputs(n));
}

Prepared TraceTime(ricci_ctx* ctx, const Settings& s) {
  Prepared p;
  p.once = [=] {
    const double start = Now();
    const ProgramRef step = Step(ctx, SizesOf(s));
    return Now() - start;
  };
  return p;
}

// In a context of its own, so that nothing is found in a cache.
Prepared CompileTime(const Settings& s) {
  Prepared p;
  p.once = [=] {
    const ContextRef fresh = MakeContext();
    const ProgramRef step = Step(fresh.get(), SizesOf(s));
    const double start = Now();
    const ExecutableRef x = Compile(step.get());
    return Now() - start;
  };
  return p;
}

}  // namespace

std::vector<Case> TrainingCases(ricci_ctx* ctx) {
  return {
      {"mlp", "ms", [=](const Settings& s) { return Train(ctx, s); }},
      {"mlp_trace", "s", [=](const Settings& s) { return TraceTime(ctx, s); }},
      {"mlp_compile", "s", CompileTime},
  };
}

}  // namespace bench
