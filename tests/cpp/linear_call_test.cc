// linear_call: its transpose is what the caller says, under every transform; messages for wrong transposes.
#include "ricci/linear_call.hpp"

#include "binding_fixture.h"

namespace ricci::testing { namespace {

using LinearCall = BindingTest;

// x r, whose transpose claims to be 10 ct r, so that a test sees which was used.
Value Tenfold(Value r, Value x) {
  return lax::linear_call([](Value r, Value x) { return x * r; }, [](Value r, Value ct) { return 10 * ct * r; },
                          stop_gradient(r), x);
}

TEST_F(LinearCall, ReverseModeUsesTheTranspose) {
  const Array r = Vec({1, 2}), x = Vec({3, 4});
  ExpectClose(jit(Tenfold)(r, x), {3, 8});
  ExpectClose(jvp(Tenfold, std::tuple(r, x), std::tuple(r, Vec({1, 1}))).second, {1, 2});
  const auto f = [](Value r, Value x) { return sum(Tenfold(r, x)); };
  ExpectClose(grad<1>(f)(r, x), {10, 20});
  ExpectClose(vmap(grad<1>(f), 0)(r, x), {10, 20});
  ExpectClose(vmap(grad<1>(f), {kUnbatched, 0})(r, Mat(2, 2, {1, 2, 3, 4})), {10, 20, 10, 20});
  // The transpose of the transpose is the function.
  const auto back = [](Value r, Value ct) {
    return sum(std::get<0>(vjp([&](Value x) { return Tenfold(r, x); }, ct).second(ct)));
  };
  ExpectClose(grad<1>(back)(r, x), {1, 2});
}

TEST_F(LinearCall, CapturesAndTrees) {
  const auto f = [](Value x, Value y) {
    const Value two = stop_gradient(y) * 0 + 2;
    using Pair = std::pair<Value, Value>;
    return lax::linear_call([&](Value r, const Pair& v) { return v.first * two + v.second * r; },
                            [&](Value r, Value ct) { return Pair(ct * two, ct * r); }, two + 1, Pair(x, y));
  };
  EXPECT_FLOAT_EQ(jit(f)(Num(5), Num(7)).item<float>(), 31);
  const auto [dx, dy] = grad<0, 1>(f)(Num(5), Num(7));
  EXPECT_FLOAT_EQ(dx.item<float>(), 2);
  EXPECT_FLOAT_EQ(dy.item<float>(), 3);
}

TEST_F(LinearCall, WrongTransposesAndResidualsWithTangents) {
  const auto wrong = [](Value r, Value x) {
    return lax::linear_call([](Value r, Value x) { return x * r; }, [](Value, Value ct) { return sum(ct); }, r, x);
  };
  EXPECT_NE(MessageOf([&] {
              jit(wrong)(Vec({1, 2}), Vec({3, 4}));
            }).find("linear_call: the transpose gives another type for array 0 of x, which is f32[2]"),
            std::string::npos);
  const auto held = [](Value r, Value x) {
    return sum(
        lax::linear_call([](Value r, Value x) { return x * r; }, [](Value r, Value ct) { return r * ct; }, r, x));
  };
  EXPECT_NE(MessageOf([&] {
              grad(held)(Vec({1, 2}), Vec({3, 4}));
            }).find("linear_call: residual 0 has a tangent"),
            std::string::npos);
}

}}  // namespace ricci::testing
