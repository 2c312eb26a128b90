// The numpy-like functions, against numbers from JAX.
#include "binding_fixture.h"
#include "ricci/lax.hpp"

namespace ricci::testing { namespace {

using Numpy = BindingTest;
const Floats kX = {1, -2, 3, 0.5f, 4, -1};

template <typename F>
Array On(const Array& x, F f) {
  return jit(f)(x);
}

TEST_F(Numpy, Reductions) {
  const Array x = Mat(2, 3, kX);
  ExpectClose(On(x, [](Value v) { return sum(v, -1); }), {2, 3.5f});
  ExpectClose(On(x, [](Value v) { return mean(v, {0, 1}); }), {5.5f / 6});
  ExpectClose(On(x, [](Value v) { return max(v, 0, /*keepdims=*/true); }), {1, 4, 3});
  ExpectClose(On(x, [](Value v) { return min(v); }), {-2});
  ExpectClose(On(x, [](Value v) { return prod(v, 1); }), {-6, -2});
  ExpectClose(On(x, [](Value v) { return var(v, 0, /*ddof=*/1); }), {0.125f, 18, 8});
  ExpectClose(On(x, [](Value v) { return std(v); }), {2.0899894f});
  ExpectClose(On(x, [](Value v) { return norm(v, 1); }), {std::sqrt(14.0f), std::sqrt(17.25f)});
  ExpectInts(On(x, [](Value v) { return argmax(v, 1); }), {2, 1});
  ExpectInts(On(x, [](Value v) { return argmin(v); }), {1});
  ExpectClose(On(x, [](Value v) { return cumsum(v, 1); }), {1, -1, 2, 0.5f, 4.5f, 3.5f});
  EXPECT_EQ(On(x, [](Value v) { return any(v > 3, 1); }).to_vector<bool>(), (std::vector<bool>{false, true}));
  EXPECT_TRUE(On(x, [](Value v) { return all(v > -3); }).item<bool>());
  EXPECT_EQ(On(Array(ctx, {true, true}), [](Value v) { return sum(v); }).item<int32_t>(), 2);
}

TEST_F(Numpy, SoftmaxAndActivations) {
  const Array x = Mat(2, 3, kX);
  ExpectClose(On(x, [](Value v) { return softmax(v); }),
              {0.1184997f, 0.00589975f, 0.8756006f, 0.0291218f, 0.9643803f, 0.0064979f}, 2e-5f);
  ExpectClose(On(x, [](Value v) { return log_softmax(v, 0); }),
              {-0.474077f, -6.002476f, -0.01815f, -0.974077f, -0.002476f, -4.01815f}, 2e-5f);
  ExpectClose(On(x, [](Value v) { return logsumexp(v); }), {4.3764348f});
  ExpectClose(On(x, [](Value v) { return relu(v); }), {1, 0, 3, 0.5f, 4, 0});
  ExpectClose(On(x, [](Value v) { return gelu(v); }),
              {0.841192f, -0.0454023f, 2.99636f, 0.345714f, 3.99993f, -0.158808f}, 2e-5f);
  ExpectClose(On(x, [](Value v) { return sigmoid(v * 0.0); }), Floats(6, 0.5f));
  ExpectClose(On(x, [](Value v) { return clip(v, -1, 1.0); }), {1, -1, 1, 0.5f, 1, -1});
}

TEST_F(Numpy, Order) {
  const Array x = Mat(2, 3, kX);
  ExpectClose(On(x, [](Value v) { return sort(v); }), {-2, 1, 3, -1, 0.5f, 4});
  ExpectClose(On(x, [](Value v) { return sort(v, 0); }), {0.5f, -2, -1, 1, 4, 3});
  ExpectInts(On(x, [](Value v) { return argsort(v); }), {1, 0, 2, 2, 0, 1});
  ExpectClose(On(x, [](Value v) { return top_k(v, 2).first; }), {3, 1, 4, 0.5f});
  ExpectInts(On(x, [](Value v) { return top_k(v, 1, 0).second; }), {0, 1, 0});
  ExpectClose(On(x, [](Value v) { return take_along_axis(v, argsort(v, 1), 1) - sort(v, 1); }), Floats(6, 0));
  // The derivative follows the order.
  const Array g = jit(grad([](Value v) { return sum(sort(v) * arange(v, 3, DType::kF32)); }))(x);
  ExpectClose(g, {1, 0, 2, 1, 2, 0});
  try {
    On(x, [](Value v) { return top_k(v, 4).first; });
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("top_k: k 4 must be from 0 to 3, the size of axis 1"), std::string::npos)
        << e.what();
  }
}

TEST_F(Numpy, UpdatesAtIndices) {
  const Array x = Count({3});  // 1, 2, 3
  const Array i(ctx, {0, 2, 0});
  const Array u(ctx, {2.0f, 5.0f, 4.0f});
  const auto with = [&](auto f) { return jit(f)(x, i, u); };
  ExpectClose(with([](Value a, Value k, Value w) { return add_at(a, k, w); }), {7, 2, 8});
  ExpectClose(with([](Value a, Value k, Value w) { return sub_at(a, k, w); }), {-5, 2, -2});
  ExpectClose(with([](Value a, Value k, Value w) { return mul_at(a, k, w); }), {8, 2, 15});
  ExpectClose(with([](Value a, Value k, Value w) { return min_at(a, k, w); }), {1, 2, 3});
  ExpectClose(with([](Value a, Value k, Value w) { return max_at(a, k, w); }), {4, 2, 5});
}

TEST_F(Numpy, LaxFunctionsThatNothingElseCalls) {
  const Array x = Mat(2, 3, kX);
  ExpectClose(On(x, [](Value v) { return lax::stack(lax::unstack(v, 0), 1); }), {1, 0.5f, -2, 4, 3, -1});
  const int64_t sizes[] = {1, 2}, reps[] = {1, 2};
  ExpectClose(On(x, [&](Value v) { return lax::split(v, sizes, 1)[1]; }), {-2, 3, 4, -1});
  ExpectClose(On(x, [&](Value v) { return lax::tile(v, reps); }), {1, -2, 3, 1, -2, 3, 0.5f, 4, -1, 0.5f, 4, -1});
  ExpectClose(On(x, [](Value v) { return lax::optimization_barrier({&v, 1})[0]; }), kX);
  const auto pair = [&](auto f) { return On(x, [&](Value v) { return all(f(v, v)); }).template item<bool>(); };
  EXPECT_TRUE(pair(lax::eq_to));
  EXPECT_TRUE(pair(lax::le_to));
  EXPECT_FALSE(pair(lax::lt_to));
}

TEST_F(Numpy, Shapes) {
  const Array x = Count({2, 3});
  ExpectClose(On(x, [](Value v) { return transpose(v); }), {1, 4, 2, 5, 3, 6});
  ExpectClose(On(x, [](Value v) { return reshape(v, {-1, 2})[1]; }), {3, 4});
  ExpectClose(On(x, [](Value v) { return concatenate({v[0], v[1]}); }), {1, 2, 3, 4, 5, 6});
  ExpectClose(On(x, [](Value v) { return stack({v[0], v[1]}, 1); }), {1, 4, 2, 5, 3, 6});
  ExpectClose(On(x, [](Value v) { return split(v, 3, 1)[1]; }), {2, 5});
  ExpectClose(On(x, [](Value v) { return tile(v[0], {2}); }), {1, 2, 3, 1, 2, 3});
  ExpectClose(On(x, [](Value v) { return flip(v, 1); }), {3, 2, 1, 6, 5, 4});
  ExpectClose(On(x, [](Value v) { return roll(v, 1, 1); }), {3, 1, 2, 6, 4, 5});
  ExpectClose(On(x, [](Value v) { return roll(v, INT64_MIN, 1); }), {3, 1, 2, 6, 4, 5});
  ExpectClose(On(x, [](Value v) { return roll(v, -4, 1); }), {2, 3, 1, 5, 6, 4});
  ExpectClose(On(x, [](Value v) { return pad(v, {{0, 0}, {1, 0}}); }), {0, 1, 2, 3, 0, 4, 5, 6});
  ExpectClose(On(x, [](Value v) { return squeeze(expand_dims(v, -1)) - moveaxis(moveaxis(v, 0, 1), 1, 0); }),
              Floats(6, 0));
  ExpectClose(On(x, [](Value v) { return tril(ones(v, {3, 3})); }), {1, 0, 0, 1, 1, 0, 1, 1, 1});
  ExpectClose(On(x, [](Value v) { return tril(ones(v, {2, 2}), int64_t{1} << 32); }), {1, 1, 1, 1});
  ExpectClose(On(x, [](Value v) { return tril(ones(v, {2, 2}), INT64_MIN); }), {0, 0, 0, 0});
  ExpectClose(On(x, [](Value v) { return triu(ones(v, {2, 2}), INT64_MIN); }), {1, 1, 1, 1});
  ExpectClose(On(x, [](Value v) { return eye(v, 2) + broadcast_to(v[0][0], {2, 2}); }), {2, 1, 1, 2});
  ExpectClose(On(x, [](Value v) { return linspace(v, 0, 1, 5); }), {0, 0.25f, 0.5f, 0.75f, 1});
  ExpectInts(On(x, [](Value v) { return arange(v, 4) * 2; }), {0, 2, 4, 6});
  ExpectClose(On(Array(ctx, {2, 0}), [](Value v) { return one_hot(v, 3); }), {0, 0, 1, 1, 0, 0});
}

TEST_F(Numpy, Products) {
  const Array a = Count({2, 3}), b = Count({3, 2});
  auto f = [](auto op) { return jit(op); };
  ExpectClose(f([](Value x, Value y) { return matmul(x, y); })(a, b), {22, 28, 49, 64});
  ExpectClose(f([](Value x, Value y) { return dot(x[0], y); })(a, b), {22, 28});
  ExpectClose(f([](Value x, Value y) { return outer(x[0], y[0]); })(a, b), {1, 2, 2, 4, 3, 6});
  const Array batch = f([](Value x, Value y) { return matmul(broadcast_to(x, {4, 2, 3}), y); })(a, b);
  EXPECT_EQ(batch.type(), ArrayType::Make(ctx.handle(), DType::kF32, Shape{4, 2, 2}));
  const Array both = f([](Value x, Value y) {
    return matmul(reshape(x, {2, 1, 1, 3}), broadcast_to(y, {5, 3, 2}));
  })(a, b);
  EXPECT_EQ(both.type(), ArrayType::Make(ctx.handle(), DType::kF32, Shape{2, 5, 1, 2}));
  EXPECT_EQ(both.to_vector<float>()[0], 22);
}

TEST_F(Numpy, Indexing) {
  const Array x = Count({3, 4});
  ExpectClose(On(x, [](Value v) { return v[-1]; }), {9, 10, 11, 12});
  ExpectClose(On(x, [](Value v) { return index(v, {Slice{1, {}}, 0}); }), {5, 9});
  ExpectClose(On(x, [](Value v) { return index(v, {kEllipsis, Slice{{}, {}, -2}}); }), {4, 2, 8, 6, 12, 10});
  ExpectClose(On(x, [](Value v) { return index(v, {0, kNewAxis, Slice{0, 2}}); }), {1, 2});
  const auto with = [&](auto f, const Array& i) { return jit(f)(x, i); };
  ExpectClose(with([](Value v, Value i) { return v[i]; }, Array(ctx, 2)), {9, 10, 11, 12});
  ExpectClose(with([](Value v, Value i) { return v[i]; }, Array(ctx, -3)), {1, 2, 3, 4});
  ExpectClose(with([](Value v, Value i) { return take(v, i, 1); }, Array(ctx, {3, 0})), {4, 1, 8, 5, 12, 9});
  ExpectClose(with([](Value v, Value i) { return index(v, {kAll, i}); }, Array(ctx, 1)), {2, 6, 10});
  ExpectClose(with([](Value v, Value i) { return take_along_axis(v, i, 1); }, Array(ctx, {1, 0, 3}, {3, 1})),
              {2, 5, 12});
  ExpectClose(with([](Value v, Value i) { return add_at(v[0], i, 10.0); }, Array(ctx, {1, 1, 9})), {1, 22, 3, 4});
  ExpectClose(with([](Value v, Value i) { return set_at(v, i, v[0])[2]; }, Array(ctx, 2)), {1, 2, 3, 4});
  EXPECT_TRUE(std::isnan(with([](Value v, Value i) { return take(v[0], i); }, Array(ctx, 7)).item<float>()));
  const auto outside = [](Value v, Value i) { return take(lax::convert_element_type(v[0], DType::kI32), i); };
  EXPECT_EQ(with(outside, Array(ctx, 7)).item<int32_t>(), INT32_MIN) << "as jnp.take";
}

}  // namespace
}  // namespace ricci::testing
