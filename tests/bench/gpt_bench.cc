// One step of gradient descent of a small language model, in f32 and in bf16, written as a host writes it: numpy-like
// functions, a struct of parameters, `jit` of a step. Also the time to trace and compile a fresh one.
#include <algorithm>
#include <utility>

#include "bench_program.h"
#include "ricci/nn.hpp"
#include "ricci/ricci.hpp"

namespace bench {
namespace {

using ricci::Array;
using ricci::DType;
using ricci::Shape;
using ricci::Value;
using ricci::Values;

struct Sizes {
  int64_t vocabulary, features, layers, heads, sequences, length;
};
Sizes SizesOf(const Settings& s, int64_t layers) {
  return s.small ? Sizes{64, 16, 2, 2, 2, 8} : Sizes{8192, 256, layers, 4, 4, 256};
}

// ---- the model ----
template <class T>
struct Block {
  T norm1, qkv, out, norm2, up, down;
};
template <class T>
struct Model {
  T embedding, position;
  std::vector<Block<T>> blocks;
  T norm;
};

Value RmsNorm(const Value& x, const Value& gain) { return x * rsqrt(mean(x * x, -1, /*keepdims=*/true) + 1e-6) * gain; }

Value Attention(const Block<Value>& p, const Value& x, int64_t heads) {
  const int64_t b = x.dim(0), t = x.dim(1), d = x.dim(2);
  const Value qkv = reshape(matmul(RmsNorm(x, p.norm1), p.qkv), {b, t, 3 * heads, d / heads});
  const Values parts = split(qkv, 3, 2);
  const Value attended = ricci::nn::dot_product_attention(parts[0], parts[1], parts[2], {.is_causal = true});
  return matmul(reshape(attended, {b, t, d}), p.out);
}

Value Logits(const Model<Value>& p, const Value& tokens, int64_t heads) {
  Value x = take(p.embedding, tokens) + p.position;
  for (const Block<Value>& block : p.blocks) {
    x += Attention(block, x, heads);
    x += matmul(ricci::nn::gelu(matmul(RmsNorm(x, block.norm2), block.up)), block.down);
  }
  return matmul(RmsNorm(x, p.norm), transpose(p.embedding));
}

// Mean cross-entropy of each next token.
Value Loss(const Model<Value>& p, const Value& tokens, int64_t heads) {
  const int64_t last = tokens.dim(1) - 1;
  const Value logits = astype(Logits(p, slice(tokens, 0, last, 1), heads), DType::kF32);
  const Value next = expand_dims(slice(tokens, 1, last + 1, 1), -1);
  return -mean(take_along_axis(ricci::nn::log_softmax(logits), next, -1));
}

auto MakeStep(int64_t heads) {
  return ricci::jit([heads](const Model<Value>& p, const Value& tokens) {
    const auto loss = [&](const Model<Value>& model) { return Loss(model, tokens, heads); };
    const auto [value, gradient] = ricci::value_and_grad(loss)(p);
    const auto next = ricci::tree_map([](const Value& a, const Value& g) { return a - 0.5 * g; }, p, gradient);
    return std::pair(next, value);
  });
}

// ---- its inputs ----
Array Weight(const ricci::Context& ctx, uint32_t seed, const Shape& shape) {
  int64_t n = 1;
  for (int64_t dim : shape) n *= dim;
  std::vector<float> values = Uniform(n, seed);
  for (float& v : values) v *= 0.03f;
  return Array(ctx, values, shape);
}

Model<Array> Weights(const ricci::Context& ctx, const Sizes& n, DType dtype) {
  const auto d = n.features;
  const Array gain(ctx, std::vector<float>(static_cast<size_t>(d), 1.0f));
  Model<Array> m{Weight(ctx, 0, {n.vocabulary, d}), Weight(ctx, 1, {n.length, d}), {}, gain};
  for (int64_t i = 0; i < n.layers; ++i) {
    const auto weight = [&](int64_t seed, const Shape& shape) {
      return Weight(ctx, static_cast<uint32_t>(10 * i + seed), shape);
    };
    m.blocks.push_back(
        {gain, weight(2, {d, 3 * d}), weight(3, {d, d}), gain, weight(4, {d, 4 * d}), weight(5, {4 * d, d})});
  }
  return ricci::jit([dtype](const Model<Value>& model) {
    return ricci::tree_map([dtype](const Value& v) { return astype(v, dtype); }, model);
  })(m);
}

Array Tokens(const ricci::Context& ctx, const Sizes& n) {
  const int64_t length = n.length + 1;
  std::vector<int32_t> tokens;
  for (float v : Uniform(n.sequences * length, 99)) {
    const auto number = static_cast<int64_t>((v + 1) * static_cast<float>(n.vocabulary / 2));
    tokens.push_back(static_cast<int32_t>(std::min(number, n.vocabulary - 1)));
  }
  return Array(ctx, tokens, {n.sequences, length});
}

// ---- the cases ----
Prepared Train(ricci_ctx* ctx, const Sizes& n, DType dtype) {
  const ricci::Context host(ctx);
  const auto step = MakeStep(n.heads);
  const Model<Array> model = Weights(host, n, dtype);
  const Array tokens = Tokens(host, n);
  Prepared p;
  p.run = [=] { step(model, tokens).second.block_until_ready(); };
  p.check = [=] {  // the losses of some steps, which depend on the gradients of those before
    auto [now, loss] = step(model, tokens);
    double total = loss.item<float>();
    for (int i = 1; i < 4; ++i) {
      std::tie(now, loss) = step(now, tokens);
      total += loss.item<float>();
    }
    return total;
  };
  p.flops = static_cast<double>(step.lower(model, tokens).stats().flops);
  return p;
}

// In a context of its own, so that nothing is found in a cache.
Prepared CompileTime(const Settings& s) {
  const Sizes n = SizesOf(s, 4);
  Prepared p;
  p.once = [=] {
    const ContextRef fresh = MakeContext();
    const ricci::Context host(fresh.get());
    const Model<Array> model = Weights(host, n, DType::kF32);
    const Array tokens = Tokens(host, n);
    const double start = Now();
    MakeStep(n.heads).lower(model, tokens);
    return Now() - start;
  };
  return p;
}

}  // namespace

std::vector<Case> GptCases(ricci_ctx* ctx) {
  return {
      {"gpt", "ms", [=](const Settings& s) { return Train(ctx, SizesOf(s, 4), DType::kF32); }},
      {"gpt_bf16", "ms", [=](const Settings& s) { return Train(ctx, SizesOf(s, 2), DType::kBF16); }},
      {"gpt_compile", "s", CompileTime},
  };
}

}  // namespace bench
