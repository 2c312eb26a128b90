// BindingTest: a context with every backend that is linked, and arrays of numbers in and out.
#ifndef RICCI_TESTS_CPP_BINDING_FIXTURE_H_
#define RICCI_TESTS_CPP_BINDING_FIXTURE_H_
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "ricci/ricci.hpp"

namespace ricci::testing {

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;

// Trees for the tests of every transform: a struct, a struct of structs with a list, a map and a number.
template <typename T>
struct Weights {
  T w, b;
};
template <typename T>
struct Model {
  Weights<T> first;
  std::vector<Weights<T>> rest;
  std::map<std::string, T> named;
  int depth = 0;
};

class BindingTest : public ::testing::Test {
 protected:
  Array Vec(const Floats& v) { return Array(ctx, v); }
  Array Mat(int64_t rows, int64_t columns, const Floats& v) { return Array(ctx, v, {rows, columns}); }
  // 1, 2, ..., n as f32 of this shape, times a factor.
  Array Count(const Shape& shape, float factor = 1) {
    Floats v(static_cast<size_t>(ElementCount(shape)));
    for (size_t i = 0; i < v.size(); ++i) v[i] = factor * static_cast<float>(i + 1);
    return Array(ctx, v, shape);
  }
  Array F64(const std::vector<double>& v) { return Array(ctx, v); }
  Array Num(float v) { return Array(ctx, v); }
  Context ctx;
};

inline Shape ShapeOfArray(const Array& a) { return Shape(a.shape().begin(), a.shape().end()); }

inline void ExpectClose(const Array& got, const Floats& want, float tolerance = 2e-6f) {
  const Floats v = got.to_vector<float>();
  ASSERT_EQ(v.size(), want.size());
  for (size_t i = 0; i < v.size(); ++i) {
    EXPECT_NEAR(v[i], want[i], tolerance * std::max(1.0f, std::fabs(want[i]))) << "element " << i;
  }
}
inline void ExpectInts(const Array& got, const Ints& want) { EXPECT_EQ(got.to_vector<int32_t>(), want); }

// The message of the Error that `f` throws.
template <typename F>
std::string MessageOf(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}
inline std::string At(int line, const std::string& text) { return "FILE:" + std::to_string(line) + ": " + text; }
// The message with the path of this test's file as FILE.
inline std::string Shortened(std::string message, const std::string& file) {
  const size_t at = message.find(file);
  return at == std::string::npos ? message : message.replace(at, file.size(), "FILE");
}
#define EXPECT_ERROR_HERE(statement, text) \
  EXPECT_EQ(Shortened(MessageOf([&] { statement; }), __FILE__), At(__LINE__, text))

}  // namespace ricci::testing
#endif
