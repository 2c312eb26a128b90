// Arrays of a host, and shapes that it gives: their contents, and that every error names the caller's place.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using HostArrays = BindingTest;

TEST_F(HostArrays, DataThatDoNotFillTheShape) {
  EXPECT_ERROR_HERE(Array(ctx, {1.0f, 2.0f, 3.0f}, {2, 2}), "array: 3 elements do not fill shape [2,2]");
  EXPECT_ERROR_HERE(Array(ctx, std::vector<int>{1}, {0, 1}), "array: 1 element does not fill shape [0,1]");
  EXPECT_ERROR_HERE(Array(ctx, std::vector<float>(4), {-2, -2}), "array: size -2 in shape [-2,-2] is negative");
  const int64_t large = int64_t{1} << 32;
  EXPECT_ERROR_HERE(Array(ctx, std::vector<float>(0), {large, large}),
                    "array: 0 elements do not fill shape [4294967296,4294967296]");
  const float data[] = {1, 2};
  EXPECT_ERROR_HERE(Array(ctx, DType::kF32, {-2}, data), "type: negative dimension in f32[-2]");
  EXPECT_ERROR_HERE(Array(ctx, std::span<const float>(data), Shape{3}), "array: 2 elements do not fill shape [3]");
}

TEST_F(HostArrays, ShapesOfData) {
  EXPECT_EQ(ShapeOfArray(Array(ctx, {1, 2, 3})), (Shape{3}));
  EXPECT_EQ(ShapeOfArray(Array(ctx, {1}, {})), (Shape{}));
  EXPECT_EQ(ShapeOfArray(Array(ctx, std::vector<float>{}, {0, 1})), (Shape{0, 1}));
  EXPECT_EQ(ShapeOfArray(Array(ctx, std::vector<float>{}, {0, 1, 0})), (Shape{0, 1, 0}));
  EXPECT_EQ(ShapeOfArray(Array(ctx, std::vector<bool>{true, false}, {2, 1})), (Shape{2, 1}));
}

TEST_F(HostArrays, ReadingNamesThePlace) {
  const Array x = Vec({1, 2});
  EXPECT_ERROR_HERE(x.to_vector<double>(), "array: its elements are f32, not f64");
  EXPECT_ERROR_HERE(x.item<float>(), "array: item() needs one element, not f32[2]");
  EXPECT_ERROR_HERE(Array().item<float>(), "array: the Array is empty (default-constructed or moved from)");
}

TEST_F(HostArrays, DonatedArraysNameThePlace) {
  const Array x = Vec({1, 2});
  auto f = jit([](Value v) { return v * 2; }, {.donate_argnums = {0}});
  const int line = __LINE__ - 1;
  Array gone = Vec({3, 4});
  f(gone);
  EXPECT_ERROR_HERE(gone.to_vector<float>(),
                    "ricci_array_copy_to_host: the array was donated to a run and has no data");
  EXPECT_EQ(Shortened(MessageOf([&] { f(gone); }), __FILE__),
            At(line, "argument 0 of program jit was donated to an earlier run and has no data any more"));
  EXPECT_ERROR_HERE(vjp([](Value v) { return v * 2; }, gone),
                    "argument 0 of program vjp was donated to an earlier run and has no data any more");
}

TEST_F(HostArrays, NegativeSizesNameThePlace) {
  const Array x = Vec({1, 2});
#define EXPECT_SIZE(statement, text) EXPECT_ERROR_HERE(jit([](Value v) { return statement; })(x), text)
  EXPECT_SIZE(zeros(v, {-1}), "type: negative dimension in f32[-1]");
  EXPECT_SIZE(full(v, {2, -3}, 1), "type: negative dimension in i32[2,-3]");
#undef EXPECT_SIZE
  // Functions that make equations name it too, each with the message of its primitive.
  const auto names_line = [&](auto f, int line) {
    const std::string message = Shortened(MessageOf([&] { jit(f)(x); }), __FILE__);
    const Error e = [&] {
      try {
        jit(f)(x);
      } catch (const Error& error) {
        return error;
      }
      return Error(RICCI_INTERNAL, "no error");
    }();
    EXPECT_TRUE(e.line() == static_cast<uint32_t>(line) || message.find(At(line, "")) == 0) << message;
  };
  names_line([](Value v) { return eye(v, -1); }, __LINE__);
  names_line([](Value v) { return reshape(v, {-2}); }, __LINE__);
  names_line([](Value v) { return broadcast_to(v, {-2, 2}); }, __LINE__);
  names_line([](Value v) { return random::uniform(random::key(v, 0), {-2}); }, __LINE__);
  names_line([](Value v) { return one_hot(astype(v, DType::kI32), -2); }, __LINE__);
}

TEST_F(HostArrays, ElementTypesOfNumbersAndArrays) {
  const Array x = Vec({1, 2});
  const auto times = [](Value v, Value s) { return v * s; };
  EXPECT_EQ(jit(times)(x, Array(ctx, 0.5)).dtype(), DType::kF64);  // an f64 scalar promotes
  EXPECT_EQ(jit(times)(x, Array(ctx, 0.5f)).dtype(), DType::kF32);
  EXPECT_EQ(jit([](Value v) { return v * 0.5; })(x).dtype(), DType::kF32);  // a number does not
}

TEST_F(HostArrays, MemoryOfTheirDevice) {
  const Device device = ctx.device();
  const uint64_t before = device.memory_stats().bytes_in_use;
  const Array x = Vec(Floats(1000, 1.0f));
  EXPECT_EQ(device.memory_stats().bytes_in_use, before + 4000);
  device.set_memory_limit(before + 5000);
  EXPECT_NE(MessageOf([&] { Vec(Floats(1000, 1.0f)); }).find("the limit is " + std::to_string(before + 5000)),
            std::string::npos);
  device.set_memory_limit(0);
  device.trim();
  EXPECT_EQ(device.memory_stats().largest_allocation, 4000u);
}

TEST_F(HostArrays, ACapturedNumberStaysAsTraced) {
  double rate = 2;
  const auto f = jit([&](Value v) { return v * rate; });
  EXPECT_EQ(f(Num(1)).item<float>(), 2);
  rate = 3;
  EXPECT_EQ(f(Num(1)).item<float>(), 2);
  EXPECT_EQ(f(Vec({1})).to_vector<float>()[0], 3);  // for another kind of argument f is traced again
}

}  // namespace
}  // namespace ricci::testing
