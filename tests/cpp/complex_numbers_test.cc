// Complex numbers through the binding: arrays, literals, promotion, derivatives in JAX's convention.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using C64 = std::complex<float>;
using C128 = std::complex<double>;
using ComplexNumbers = BindingTest;

constexpr C128 kI(0, 1);

void ExpectNumbers(const Array& got, const std::vector<C64>& want, float tolerance = 2e-6f) {
  const std::vector<C64> v = got.to_vector<C64>();
  ASSERT_EQ(v.size(), want.size());
  for (size_t i = 0; i < v.size(); ++i)
    EXPECT_LE(std::abs(v[i] - want[i]), tolerance * std::max(1.0f, std::abs(want[i])));
}

TEST_F(ComplexNumbers, AreElementsOfArrays) {
  const std::vector<C64> z = {{1, 2}, {-3, 0.5f}, {0, -1}};
  const Array a(ctx, z);
  EXPECT_EQ(a.dtype(), DType::kC64);
  const auto [total, size] = jit([](Value x) { return std::tuple(ricci::sum(x * conj(x)), abs(x)); })(a);
  ExpectNumbers(total, {{15.25f, 0}});
  ExpectClose(size, {std::sqrt(5.0f), std::abs(z[1]), 1});
  ExpectNumbers(jit([](Value x) { return exp(x) / (x + 2.0); })(a),
                {std::exp(z[0]) / (z[0] + 2.0f), std::exp(z[1]) / (z[1] + 2.0f), std::exp(z[2]) / (z[2] + 2.0f)});
}

TEST_F(ComplexNumbers, PromoteAsJax) {
  const Array f32(ctx, 1.0f), f64(ctx, 1.0), i32(ctx, 1), c64(ctx, C64(1, 2)), c128(ctx, C128(1, 2));
  const auto times = [](auto number) { return [number](Value x) { return x * number; }; };
  EXPECT_EQ(eval_shape(times(kI), f32).dtype, DType::kC64);
  EXPECT_EQ(eval_shape(times(kI), f64).dtype, DType::kC128);
  EXPECT_EQ(eval_shape(times(kI), i32).dtype, DType::kC64);
  EXPECT_EQ(eval_shape(times(2.5), c64).dtype, DType::kC64);
  const auto product = [](Value x, Value y) { return x * y; };
  EXPECT_EQ(eval_shape(product, c64, f32).dtype, DType::kC64);
  EXPECT_EQ(eval_shape(product, c64, f64).dtype, DType::kC128);
  EXPECT_EQ(eval_shape(product, c64, c128).dtype, DType::kC128);
  EXPECT_EQ(eval_shape(product, c64, i32).dtype, DType::kC64);
}

TEST_F(ComplexNumbers, NumbersAreArguments) {
  ExpectNumbers(jit([](Value x, Value y) { return x * y; })(C64(0, 2), Num(3)), {{0, 6}});
}

TEST_F(ComplexNumbers, PartsOfRealNumbers) {
  const auto [re, im, same] = jit([](Value x) { return std::tuple(real(x), imag(x), conj(x)); })(Vec({1, -2}));
  ExpectClose(re, {1, -2});
  ExpectClose(im, {0, 0});
  ExpectClose(same, {1, -2});
}

// As in JAX the gradient of a real f(x + iy) is df/dx - i df/dy.
TEST_F(ComplexNumbers, GradientsAreConjugated) {
  const Array z(ctx, std::vector<C64>{{1, 2}, {-3, 0.5f}});
  const auto energy = [](Value x) { return sum(real(x * conj(x))); };
  ExpectNumbers(jit(grad(energy))(z), {{2, -4}, {-6, -1}});
  ExpectNumbers(jit(grad([](Value x) { return sum(abs(x)); }))(z),
                {std::conj(C64(1, 2)) / std::sqrt(5.0f), std::conj(C64(-3, 0.5f)) / std::abs(C64(-3, 0.5f))});
  // With respect to a real argument, through complex numbers: d/dt of cos(t).
  ExpectClose(jit(grad([](Value t) { return real(exp(t * kI)); }))(Num(0.7f)), {-std::sin(0.7f)});
}

TEST_F(ComplexNumbers, AbsHasNoSlopeAtZero) {
  const Array zero(ctx, C64(0, 0));
  ExpectNumbers(jit(grad([](Value x) { return abs(x); }))(zero), {{0, 0}});
}

TEST_F(ComplexNumbers, BatchesAreThoseOfALoop) {
  const Array z(ctx, std::vector<C64>{{1, 2}, {-3, 0.5f}, {0, -1}, {2, 2}}, {2, 2});
  const auto f = [](Value x) { return sum(square(x)) / (1.0 + abs(x[0])); };
  const Array got = jit(vmap(f, 0))(z);
  const auto one = [](C64 a, C64 b) { return (a * a + b * b) / (1 + std::abs(a)); };
  ExpectNumbers(got, {one({1, 2}, {-3, 0.5f}), one({0, -1}, {2, 2})});
}

TEST_F(ComplexNumbers, LoopsCarryThem) {
  const auto f = [](Value c) {
    return fori_loop(
        0, 10, [&](Value, Value z) { return z * z + c; }, c * 0.0);
  };
  C64 z = 0;
  const C64 c(-0.4f, 0.3f);
  for (int i = 0; i < 10; ++i) z = z * z + c;
  ExpectNumbers(jit(f)(Array(ctx, c)), {z}, 1e-5f);
}

TEST_F(ComplexNumbers, WhatHasNoMeaningIsRefused) {
  const Array z(ctx, C64(1, 2));
  const auto message = [&](auto f) { return MessageOf([&] { (void)jit(f)(z); }); };
  EXPECT_NE(message([](Value x) { return x % 1.0; }).find("rem: operand 0 is c64[]; it takes integer and floating"),
            std::string::npos);
  EXPECT_NE(message([](Value x) { return erf(x); }).find("erf: operand 0 is c64[]; it takes floating dtypes"),
            std::string::npos);
  EXPECT_NE(message(grad([](Value x) {
              return x * x;
            })).find("c64[], not a floating scalar; take its real or imaginary part, or use vjp"),
            std::string::npos);
  EXPECT_NE(message(jacfwd([](Value x) { return x * x; })).find("an argument is c64[]; it must be floating"),
            std::string::npos);
  EXPECT_NE(
      message(jacrev([](Value x) { return x * x; })).find("it must be floating; take its real and imaginary part"),
      std::string::npos);
}

}  // namespace
}  // namespace ricci::testing
