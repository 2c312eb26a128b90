// jax.nn: the functions of ricci/nn.hpp, what they add to the primitives, and memory.
#include "binding_fixture.h"
#include "ricci/nn.hpp"
#include "ricci/random.hpp"

namespace ricci::testing { namespace {

class Neural : public BindingTest {};

TEST_F(Neural, Normalisations) {
  const auto layer = [](Value x, Value s, Value b) { return nn::layer_norm(x, s, b, -1, 0); };
  ExpectClose(jit(layer)(Mat(2, 2, {1, 3, 5, 1}), Vec({1, 2}), Vec({10, 20})), {9, 22, 11, 18});
  const auto rms = [](Value x) { return nn::rms_norm(x, 2, {0, 1}, 0); };
  ExpectClose(jit(rms)(Mat(2, 2, {1, 1, -1, 1})), {2, 2, -2, 2});
}

TEST_F(Neural, SoftmaxCountsWhatTheMaskAllows) {
  const auto f = [](Value x) { return nn::softmax(x, -1, {.where = x < 50, .scale = std::log(2.0)}); };
  ExpectClose(jit(f)(Mat(2, 3, {0, 1, 99, 77, 88, 99})), {1 / 3.0f, 2 / 3.0f, 0, 0, 0, 0});
}

TEST_F(Neural, BlocksHaveScales) {
  const auto f = [](Value x, Value scales) { return nn::scaled_matmul(x, x, scales, scales); };
  const Array x(ctx, Floats{1, 2, 3, 4}, {1, 1, 4}), scales(ctx, Floats{1, 2}, {1, 1, 2});
  ExpectClose(jit(f)(x, scales), {1 + 4 + 36 + 64});
}

void ExpectEnd(const std::string& message, std::string_view end) { EXPECT_TRUE(message.ends_with(end)) << message; }

// Blocks of 32 ones and of 32 threes: exact in either form.
TEST_F(Neural, ProductsOfQuantizedOperands) {
  const Array x = Count({32, 32}, 0) + 3.0f, y = x;  // exact in both, also over a global scale of 1 / 2
  const lax::DotDims dims{{1}, {1}, {}, {}};
  const auto mx = std::vector(3, nn::get_scaled_dot_general_config("mxfp8"));
  const auto nv = std::vector(3, nn::get_scaled_dot_general_config("nvfp4", 0.5));
  for (const auto& configs : {mx, nv}) {
    const auto f = [&](Value a, Value b) { return nn::scaled_dot_general(a, b, dims, DType::kF32, configs); };
    ExpectClose(jit(f)(x, y), Floats(32 * 32, 288.0f));
    const auto loss = [&](Value a, Value b) { return sum(f(a, b)); };
    ExpectClose(grad(loss)(x, y), Floats(32 * 32, 96.0f));
  }
  const auto plain = [&](Value a, Value b) { return nn::scaled_dot_general(a, b, dims); };
  ExpectClose(jit(plain)(x, y), Floats(32 * 32, 288.0f));
  // Its gradient in mxfp8 has blocks along all other dimensions.
  const auto narrow = [&](Value a, Value b) { return sum(nn::scaled_dot_general(a, b, dims, DType::kF32, mx)); };
  ExpectEnd(MessageOf([&] {
              grad(narrow)(x, Count({5, 32}));
            }),
            "scaled_dot_general: for the derivative by operand 0, the free dimensions of operand 1 have 5 elements; "
            "mxfp8 takes blocks of 32");
}

TEST_F(Neural, WrongConfigurationsAreNamed) {
  const Array x = Count({2, 32});
  const auto mx = nn::get_scaled_dot_general_config("mxfp8"), nv = nn::get_scaled_dot_general_config("nvfp4");
  const auto message = [&](const std::vector<nn::BlockScaleConfig>& configs) {
    const auto f = [&](Value a) { return nn::scaled_dot_general(a, a, {{1}, {1}, {}, {}}, DType::kF32, configs); };
    return MessageOf([&] { jit(f)(x); });
  };
  ExpectEnd(message({mx}), "scaled_dot_general: takes 3 configs, of lhs, rhs and gradients, not 1");
  ExpectEnd(message({mx, mx, nv}), "scaled_dot_general: configs are of modes mxfp8 and nvfp4; they must have one");
  ExpectEnd(MessageOf([] { nn::get_scaled_dot_general_config("fp8"); }),
            "get_scaled_dot_general_config: mode fp8 must be mxfp8 or nvfp4");
  ExpectEnd(MessageOf([] { nn::get_scaled_dot_general_config("mxfp8", 2); }),
            "get_scaled_dot_general_config: mxfp8 has no global scale");
}

TEST_F(Neural, GreatestMagnitude) {
  ExpectClose(jit([](Value x) { return nn::amax(x); })(Vec({1, -5, 3})), {5});
  ExpectClose(jit([](Value x) { return nn::amax(x, 0); })(Mat(2, 2, {1, -5, -3, 2})), {3, 5});
  ExpectClose(grad([](Value x) { return nn::amax(x); })(Vec({1, -5, 3})), {0, -1, 0});
}

// The first half of a short sequence sees half of the keys, so a quarter of the products is left out.
TEST_F(Neural, ShortCausalSequencesLeaveOutKeys) {
  const Array x = Count({1, 256, 1, 4});
  const auto flops = [&](bool is_causal) {
    const auto f = [=](Value v) { return nn::dot_product_attention(v, v, v, {.is_causal = is_causal}); };
    return static_cast<double>(jit(f).lower(x).stats().flops);
  };
  EXPECT_LT(flops(true), 0.8 * flops(false));
}

// Equal scores: the mean of the values that a query may see.
TEST_F(Neural, LengthsOfSequences) {
  const auto f = [](Value q, Value k, Value v, Value queries, Value keys) {
    return nn::dot_product_attention(q, k, v, {.query_seq_lengths = queries, .key_value_seq_lengths = keys});
  };
  const Array zeros = Count({2, 3, 1, 1}, 0), v = Count({2, 3, 1, 1});
  const Array queries(ctx, Ints{3, 1}), keys(ctx, Ints{2, 1});
  ExpectClose(jit(f)(zeros, zeros, v, queries, keys), {1.5f, 1.5f, 1.5f, 4, 0, 0});
}

TEST_F(Neural, AttentionWithoutBatch) {
  const auto f = [](Value q, Value k, Value v) {
    const nn::AttentionResult r = nn::dot_product_attention_with_residual(
        q, k, v, {.is_causal = true, .local_window_size = std::pair<int64_t, int64_t>(1, 0)});
    return std::pair(r.encoded, r.residual);
  };
  const auto [encoded, residual] = jit(f)(Count({3, 2, 1}, 0), Count({3, 1, 1}, 0), Count({3, 1, 1}));
  EXPECT_EQ(ShapeOfArray(encoded), (Shape{3, 2, 1}));
  ExpectClose(encoded, {1, 1, 1.5f, 1.5f, 2.5f, 2.5f});
  const float two = std::log(2.0f);
  ExpectClose(residual, {0, 0, two, two, two, two});
}

// Equal scores and values of 1: each result is the share of 64 probabilities that stay, over 1 - rate.
TEST_F(Neural, DropoutKeepsTheMeanAndFollowsItsKey) {
  const auto run = jit([](Value q, Value v, Value key) {
    return nn::dot_product_attention(q, q, v, {.dropout_rate = 0.25, .dropout_key = key});
  });
  const Array zeros = Count({4, 64, 4, 1}, 0), ones(ctx, Floats(1024, 1), {4, 64, 4, 1});
  const Array y = run(zeros, ones, random::key(ctx, 1));
  ExpectClose(jit([](Value x) { return mean(x); })(y), {1}, 0.01f);  // 4 standard deviations of 65,536 draws
  const Floats first = y.to_vector<float>();
  EXPECT_EQ(first, run(zeros, ones, random::key(ctx, 1)).to_vector<float>());
  EXPECT_NE(first, run(zeros, ones, random::key(ctx, 2)).to_vector<float>());
}
// The result is linear in the values, so its sum is that of the values times their gradient, if both draw the same.
TEST_F(Neural, TheGradientDropsTheSame) {
  const auto f = [](Value v, Value q, Value key) {
    return sum(nn::dot_product_attention(q, q, v, {.is_causal = true, .dropout_rate = 0.5, .dropout_key = key}));
  };
  const auto difference = [f](Value v, Value q, Value key) {
    const auto [y, ct] = value_and_grad(f)(v, q, key);
    return (sum(v * ct) - y) / y;
  };
  const Array v = Count({2, 300, 2, 1}, 0.01f), q = Count({2, 300, 2, 1}, 0.001f);
  ExpectClose(jit(difference)(v, q, random::key(ctx, 3)), {0}, 1e-5f);
}
TEST_F(Neural, DropoutNeedsAKey) {
  const int line = __LINE__ + 1;
  const auto f = [](Value q) { return nn::dot_product_attention(q, q, q, {.dropout_rate = 0.5}); };
  EXPECT_EQ(Shortened(MessageOf([&] {
                        jit(f)(Count({1, 2, 1, 1}));
                      }),
                      __FILE__),
            At(line, "dot_product_attention: dropout_rate 0.500000 needs a dropout_key"));
}

}}  // namespace ricci::testing
