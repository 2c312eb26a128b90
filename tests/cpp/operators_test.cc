// Operators on Values: promotion, broadcasting, and the caller's place in messages.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using Operators = BindingTest;

DType DTypeAfter(const Array& a, const Array& b) {
  return eval_shape([](Value x, Value y) { return x + y; }, a, b).dtype;
}

TEST_F(Operators, NumbersTakeTheDTypeOfWhatTheyMeet) {
  const Array half(ctx, DType::kF16, {2}, std::vector<uint16_t>{0, 0}.data());
  const Array i8(ctx, std::vector<int8_t>{1, 2}), u8(ctx, std::vector<uint8_t>{1, 2}), flag(ctx, true);
  auto times = [](auto number) { return [number](Value x) { return x * number; }; };
  EXPECT_EQ(eval_shape(times(2.0), half).dtype, DType::kF16);
  EXPECT_EQ(eval_shape(times(2), i8).dtype, DType::kI8);
  EXPECT_EQ(eval_shape(times(2.5), i8).dtype, DType::kF32);
  EXPECT_EQ(eval_shape(times(2), flag).dtype, DType::kI32);
  EXPECT_EQ(eval_shape(times(true), u8).dtype, DType::kU8);
  EXPECT_EQ(eval_shape([](Value x) { return x / 2; }, i8).dtype, DType::kF32);
}

TEST_F(Operators, PromotesAsJax) {
  const Array i8(ctx, int8_t{1}), u8(ctx, uint8_t{1}), i32(ctx, 1), u32(ctx, 1u), i64(ctx, int64_t{1});
  const Array u64(ctx, uint64_t{1}), f32(ctx, 1.0f), f64(ctx, 1.0), flag(ctx, true);
  EXPECT_EQ(DTypeAfter(i8, u8), DType::kI16);
  EXPECT_EQ(DTypeAfter(i32, u8), DType::kI32);
  EXPECT_EQ(DTypeAfter(i32, u32), DType::kI64);
  EXPECT_EQ(DTypeAfter(i64, u64), DType::kF32);
  EXPECT_EQ(DTypeAfter(i64, f32), DType::kF32);
  EXPECT_EQ(DTypeAfter(f32, f64), DType::kF64);
  EXPECT_EQ(DTypeAfter(flag, u8), DType::kU8);
  const uint16_t zero = 0;
  const Array f16(ctx, DType::kF16, {}, &zero), bf16(ctx, DType::kBF16, {}, &zero);
  EXPECT_EQ(DTypeAfter(f16, bf16), DType::kF32);
  EXPECT_EQ(DTypeAfter(f16, i64), DType::kF16);
}

TEST_F(Operators, Broadcast) {
  const Array out = jit([](Value x, Value y) { return x * y + 1; })(Count({2, 1}), Count({3}));
  EXPECT_EQ(Shape(out.shape().begin(), out.shape().end()), (Shape{2, 3}));
  ExpectClose(out, {2, 3, 4, 3, 5, 7});
}

TEST_F(Operators, IntegerDivisionRemainderAndShifts) {
  const Array a(ctx, {-7, 7, -6, 5}), b(ctx, {3, -3, 3, 2});
  const auto [r, q, d, s] =
      jit([](Value x, Value y) { return std::tuple(x % y, floor_divide(x, y), x / y, x >> 1); })(a, b);
  ExpectInts(r, {2, -2, 0, 1});
  ExpectInts(q, {-3, -3, -2, 2});
  ExpectClose(d, {-7.0f / 3, -7.0f / 3, -2, 2.5f});
  ExpectInts(s, {-4, 3, -3, 2});
}

TEST_F(Operators, ComparisonLogicAndAssignment) {
  const Array out = jit([](Value x) {
    Value y = x;
    y += 1;
    y *= 2.0;
    y -= x;
    y /= 2;
    return where((x > 1) & (x != 3), y, -y);
  })(Vec({1, 2, 3}));
  ExpectClose(out, {-1.5f, 2, -2.5f});
}

TEST_F(Operators, ErrorsNameTheCaller) {
  const Array three = Vec({1, 2, 3}), two = Vec({1, 2});
  EXPECT_ERROR_HERE(jit([](Value x, Value y) { return x + y; })(three, two),
                    "add: shapes [3] and [2] do not broadcast");
  EXPECT_ERROR_HERE(jit([](Value x) { return sum(x, 2); })(three),
                    "reduce_sum: axis 2 is out of range for 1 dimension");
  EXPECT_ERROR_HERE(jit([](Value x) { return matmul(x, slice(x, 0, 2)); })(three),
                    "matmul: f32[3] and f32[2] have contracting sizes 3 and 2");
  EXPECT_ERROR_HERE(jit([](Value x) { return reshape(x, {4}); })(three),
                    "reshape: new_sizes [4] holds 4 elements, f32[3] holds 3");
  EXPECT_ERROR_HERE(jit([](Value x) {
                      return reshape(x, {-1, -1});
                    })(three),
                    "reshape: only one size may be -1; sizes are [-1,-1]");
  EXPECT_ERROR_HERE(jit([](Value x) { return x[3]; })(three), "index: index 3 is out of range for axis 0 of f32[3]");
  EXPECT_ERROR_HERE(sin(1), "sin: no operand is an array or a traced value; make one of a context");
  EXPECT_ERROR_HERE(jit([](Value v) { return v; })(1),
                    "jit: no argument is an array; give a context in the options of jit");
}

TEST_F(Operators, AValueThatEscapesIsToldApart) {
  Value kept;
  const auto f = jit([&](Value x) {
    const Value y = vmap([&](Value v) { return kept = v * 2; })(x);
    return y + kept;
  });
  EXPECT_NE(MessageOf([&] {
              f(Vec({1, 2}));
            }).find("used after the function that made it has returned"),
            std::string::npos);
}

}  // namespace
}  // namespace ricci::testing
