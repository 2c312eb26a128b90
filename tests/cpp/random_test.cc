// Random numbers, against those from JAX for the key 42.
#include "binding_fixture.h"
#include "ricci/lax.hpp"

namespace ricci::testing { namespace {

class Random : public BindingTest {
 protected:
  template <typename F>
  Array With(F f) {
    return jit(f)(random::key(ctx, 42));
  }
};

TEST_F(Random, KeysAndBits) {
  using Words = std::vector<uint32_t>;
  auto words = [](const Value& k) { return Emit1("random_unwrap", {k}); };
  EXPECT_EQ(With([&](Value k) { return words(random::split_array(k)); }).to_vector<uint32_t>(),
            (Words{1832780943, 270669613, 64467757, 2916123636}));
  EXPECT_EQ(With([&](Value k) { return words(random::fold_in(k, 3)); }).to_vector<uint32_t>(),
            (Words{3134548294, 894150801}));
  EXPECT_EQ(With([](Value k) { return random::bits(k, {3}); }).to_vector<uint32_t>(),
            (Words{2098992034, 2919706841, 2646866425}));
  EXPECT_EQ(With([](Value k) { return random::bits(random::key(k, 42), {3}); }).to_vector<uint32_t>(),
            (Words{2098992034, 2919706841, 2646866425}));
  EXPECT_EQ(With([](Value k) { return random::bits(k, {3}, DType::kU8); }).to_vector<uint8_t>(),
            (std::vector<uint8_t>{162, 217, 249}));
}

TEST_F(Random, KeysAreTwoWords) {
  auto there_and_back = [](Value k) { return random::key_data(random::wrap_key_data(random::key_data(k))); };
  EXPECT_EQ(With(there_and_back).to_vector<uint32_t>(), (std::vector<uint32_t>{0, 42}));
}

TEST_F(Random, BitExactDistributions) {
  EXPECT_EQ(With([](Value k) { return random::uniform(k, {3}); }).to_vector<float>(),
            (Floats{0x1.f47048p-2f, 0x1.5c0e6p-1f, 0x1.3b87fp-1f}));
  ExpectInts(With([](Value k) { return random::randint(k, {5}, -10, 1000); }), {424, 784, 561, 579, 269});
  EXPECT_EQ(With([](Value k) { return random::randint(k, {5}, 0, 200, DType::kU8); }).to_vector<uint8_t>(),
            (std::vector<uint8_t>{44, 114, 71, 169, 109}));
  ExpectInts(With([](Value k) { return random::permutation(k, 10); }), {7, 4, 2, 5, 3, 6, 8, 9, 0, 1});
  EXPECT_EQ(With([](Value k) { return random::bernoulli(k, 0.3, {8}); }).to_vector<bool>(),
            (std::vector<bool>{false, false, false, false, false, false, true, false}));
  auto as_f32 = [](DType d) { return [d](Value k) { return astype(random::uniform(k, {3}, d), DType::kF32); }; };
  EXPECT_EQ(With(as_f32(DType::kF16)).to_vector<float>(), (Floats{0.076171875f, 0.1904296875f, 0.9755859375f}));
  EXPECT_EQ(With(as_f32(DType::kBF16)).to_vector<float>(), (Floats{0.6328125f, 0.84375f, 0.96875f}));
  EXPECT_EQ(With(as_f32(DType::kF8E4M3FN)).to_vector<float>(), (Floats{0.625f, 0.75f, 0.875f}));
  EXPECT_EQ(With(as_f32(DType::kF8E5M2)).to_vector<float>(), (Floats{0.5f, 0.75f, 0.75f}));
  const std::string refusal = MessageOf([&] { With(as_f32(DType::kF4E2M1FN)); });
  EXPECT_TRUE(refusal.ends_with("uniform: there are no random numbers of f4e2m1fn; draw f32 and convert them"))
      << refusal;
}

TEST_F(Random, NormalOfEightBits) {
  const auto normal = [](DType d) { return [d](Value k) { return astype(random::normal(k, {5}, d), DType::kF32); }; };
  EXPECT_EQ(With(normal(DType::kF8E4M3FN)).to_vector<float>(), (Floats{0.375f, 0.75f, 1.25f, 0.75f, -1.875f}));
  EXPECT_EQ(With(normal(DType::kF8E5M2)).to_vector<float>(), (Floats{0.15625f, 1, 1, 1, -1.5f}));
}

TEST_F(Random, NormalAndCategorical) {
  ExpectClose(With([](Value k) { return random::normal(k, {3}); }), {-0.028304616f, 0.46713185f, 0.29570296f}, 1e-6f);
  ExpectInts(With([](Value k) { return random::categorical(k, zeros(k, {4, 3})); }), {1, 2, 1, 2});
  EXPECT_ERROR_HERE(jit([](Value x) { return random::split(x)[0]; })(Vec({1})),
                    "random_split: needs a key, not f32[1]");
}

TEST_F(Random, KeysAreBatchedAndShuffleRows) {
  const auto rows =
      jit([](Value k, Value x) { return random::permutation(k, x); })(random::key(ctx, 42), Count({3, 1}));
  const Floats v = rows.to_vector<float>();
  EXPECT_EQ(v[0] + v[1] + v[2], 6);
  const auto many = With(
      [](Value k) { return vmap([](Value one) { return random::uniform(one, {2}); })(random::split_array(k, 3)); });
  EXPECT_EQ(many.rank(), 2);
}

}  // namespace
}  // namespace ricci::testing
