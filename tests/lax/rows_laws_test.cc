// The laws over the elementwise rows, conversions, reductions, views and products.
#include "lax/laws.h"

namespace ricci::testing {
namespace {

using Unary = Value (*)(const Value&);
using Binary = Value (*)(const Value&, const Value&);
constexpr DType kReal = DType::kF64;

Case Of(std::string name, Unary f, double low = -2, double high = 2) {
  return {name, {{kReal, {2, 3}}}, [f](const Values& in) { return Values{f(in[0])}; }, low, high};
}
Case Of(std::string name, Binary f, double low = -2, double high = 2) {
  return {
      name, {{kReal, {2, 3}}, {kReal, {2, 3}}}, [f](const Values& in) { return Values{f(in[0], in[1])}; }, low, high};
}
Case On(std::string name, std::vector<Shape> shapes, Function f, double low = -2, double high = 2) {
  Case c{std::move(name), {}, std::move(f), low, high};
  for (Shape& s : shapes) c.inputs.push_back({kReal, std::move(s)});
  return c;
}
Case Discrete(Case c) {
  c.differentiable = false;
  return c;
}

std::vector<Case> Elementwise() {
  return {
      Of("sin", lax::sin),
      Of("cos", lax::cos),
      Of("tan", lax::tan, -1, 1),
      Of("asin", lax::asin, -0.8, 0.8),
      Of("acos", lax::acos, -0.8, 0.8),
      Of("atan", lax::atan),
      Of("atan2", lax::atan2, 0.3, 2),
      Of("sinh", lax::sinh),
      Of("cosh", lax::cosh),
      Of("tanh", lax::tanh),
      Of("asinh", lax::asinh),
      Of("acosh", lax::acosh, 1.2, 3),
      Of("atanh", lax::atanh, -0.8, 0.8),
      Of("exp", lax::exp),
      Of("exp2", lax::exp2),
      Of("expm1", lax::expm1),
      Of("log", lax::log, 0.3, 3),
      Of("log1p", lax::log1p, -0.5, 3),
      Of("logistic", lax::logistic),
      Of("sqrt", lax::sqrt, 0.3, 3),
      Of("rsqrt", lax::rsqrt, 0.3, 3),
      Of("cbrt", lax::cbrt, 0.3, 3),
      Of("square", lax::square),
      Of("erf", lax::erf),
      Of("erfc", lax::erfc),
      Of("erf_inv", lax::erf_inv, -0.8, 0.8),
      Of("neg", lax::neg),
      Of("abs", lax::abs, 0.1, 2),
      Of("sign", lax::sign, 0.1, 2),
      Of("floor", lax::floor, 0.1, 0.9),
      Of("copy", lax::copy),
      Of("add", lax::add),
      Of("sub", lax::sub),
      Of("mul", lax::mul),
      Of("div", lax::div, 0.5, 2),
      Of("rem", lax::rem, 0.5, 2),
      Of("max", lax::max),
      Of("min", lax::min),
      Of("pow", lax::pow, 0.3, 2),
      Discrete(Of("nextafter", lax::nextafter)),
      Discrete(Of("stop_gradient", lax::stop_gradient)),
      Of("lgamma", lax::lgamma, 0.3, 3),
      Of("digamma", lax::digamma, 0.3, 3),
      Of(
          "digamma_negative", [](const Value& x) { return lax::digamma(lax::sub(x, 20.0)); }, 0.2, 0.8),
      Of(
          "polygamma_2", [](const Value& x) { return lax::polygamma(lax::full_like(x, 2), x); }, 0.5, 3),
      Of(
          "zeta_3", [](const Value& x) { return lax::zeta(lax::full_like(x, 3), x); }, 0.5, 3),
      Discrete(Of("eq", lax::eq)),
      Discrete(Of("lt", lax::lt)),
      Discrete(Of("is_finite", lax::is_finite)),
      On("integer_pow_5", {{2, 3}}, [](const Values& in) { return Values{lax::integer_pow(in[0], 5)}; }),
      On("integer_pow_2", {{2, 3}}, [](const Values& in) { return Values{lax::integer_pow(in[0], 2)}; }),
      On("integer_pow_1", {{2, 3}}, [](const Values& in) { return Values{lax::integer_pow(in[0], 1)}; }),
      On("integer_pow_0", {{2, 3}}, [](const Values& in) { return Values{lax::integer_pow(in[0], 0)}; }),
      On(
          "integer_pow_m3", {{2, 3}}, [](const Values& in) { return Values{lax::integer_pow(in[0], -3)}; }, 0.5, 2),
      On("clamp", {{2, 3}, {2, 3}, {2, 3}},
         [](const Values& in) { return Values{lax::clamp(lax::sub(in[0], 2.0), in[1], lax::add(in[2], 2.0))}; }),
      On("clamp_scalar_limits", {{}, {2, 3}, {}},
         [](const Values& in) { return Values{lax::clamp(lax::sub(in[0], 2.0), in[1], lax::add(in[2], 2.0))}; }),
      {"pow_integer_exponent",
       {{kReal, {2, 3}}, {DType::kI32, {2, 3}}},
       [](const Values& in) { return Values{lax::pow(in[0], in[1])}; },
       0.5,
       3},
      {"select_n",
       {{DType::kBool, {2, 3}}, {kReal, {2, 3}}, {kReal, {2, 3}}},
       [](const Values& in) {
         return Values{lax::select_n(in[0], {in[1], in[2]})};
       }},
      {"select_n_scalar",
       {{DType::kI32, {}}, {kReal, {2, 3}}, {kReal, {2, 3}}, {kReal, {2, 3}}},
       [](const Values& in) {
         return Values{lax::select_n(in[0], {in[1], in[2], in[3]})};
       }},
      {"convert_to_f32",
       {{DType::kI32, {2, 3}}},
       [](const Values& in) { return Values{lax::convert_element_type(in[0], DType::kF32)}; },
       -2,
       2,
       false},
      {"convert_and_back",
       {{kReal, {2, 3}}},
       [](const Values& in) {
         return Values{lax::convert_element_type(lax::convert_element_type(in[0], DType::kI32), kReal)};
       },
       0.1,
       0.9},
      {"bitcast_narrow",
       {{kReal, {2, 3}}},
       [](const Values& in) { return Values{lax::bitcast_convert_type(in[0], DType::kU32)}; },
       -2,
       2,
       false},
      {"bitcast_wide",
       {{DType::kU32, {3, 2}}},
       [](const Values& in) { return Values{lax::bitcast_convert_type(in[0], DType::kI64)}; },
       0,
       100,
       false},
  };
}

std::vector<Case> Structured() {
  const auto reduce = [](Value (*f)(const Value&, Dims), Shape axes) {
    return [f, axes](const Values& in) { return Values{f(in[0], axes)}; };
  };
  const auto dot = [](lax::DotDims d) {
    return [d](const Values& in) { return Values{lax::dot_general(in[0], in[1], d)}; };
  };
  const auto cumulative = [](const char* name, int64_t axis, bool reverse) {
    return [=](const Values& in) { return Values{lax::cumulative(name, in[0], axis, reverse)}; };
  };
  return {
      On("reduce_sum", {{2, 3, 4}}, reduce(lax::reduce_sum, {1})),
      On("reduce_sum_two", {{2, 3, 4}}, reduce(lax::reduce_sum, {2, 0})),
      On("reduce_sum_all", {{2, 3}}, reduce(lax::reduce_sum, {0, 1})),
      On("reduce_sum_none", {{2, 3}}, reduce(lax::reduce_sum, {})),
      On("reduce_prod", {{5, 2}}, reduce(lax::reduce_prod, {0})),
      On("reduce_prod_two", {{2, 3, 2}}, reduce(lax::reduce_prod, {0, 2})),
      On("reduce_max", {{2, 3, 4}}, reduce(lax::reduce_max, {1})),
      On("reduce_min", {{2, 3, 4}}, reduce(lax::reduce_min, {0, 2})),
      Discrete(On("argmax", {{2, 5}}, [](const Values& in) { return Values{lax::argmax(in[0], 1, DType::kI32)}; })),
      Discrete(On("argmin", {{5, 2}}, [](const Values& in) { return Values{lax::argmin(in[0], 0, DType::kI64)}; })),
      {"reduce_or",
       {{DType::kBool, {2, 3}}},
       [](const Values& in) { return Values{lax::reduce_or(in[0], Shape{1})}; },
       0,
       2,
       false},
      {"reduce_xor",
       {{DType::kI32, {2, 3}}},
       [](const Values& in) { return Values{lax::reduce_xor(in[0], Shape{0})}; },
       0,
       50,
       false},
      On("cumsum", {{2, 5}}, cumulative("cumsum", 1, false)),
      On("cumsum_reverse", {{5, 2}}, cumulative("cumsum", 0, true)),
      On("cumprod", {{2, 5}}, cumulative("cumprod", 1, false)),
      On("cumprod_reverse", {{5, 2}}, cumulative("cumprod", 0, true)),
      On("cummax", {{2, 5}}, cumulative("cummax", 1, false)),
      On("cummin_reverse", {{2, 5}}, cumulative("cummin", 1, true)),
      On("cumlogsumexp", {{5, 2}}, cumulative("cumlogsumexp", 0, false)),
      On("broadcast_in_dim", {{3, 1}},
         [](const Values& in) {
           return Values{lax::broadcast_in_dim(in[0], Shape{2, 3, 4}, Shape{1, 2})};
         }),
      On("broadcast_scalar", {{}},
         [](const Values& in) {
           return Values{lax::broadcast_in_dim(in[0], Shape{2, 3}, {})};
         }),
      On("transpose", {{2, 3, 4}},
         [](const Values& in) {
           return Values{lax::transpose(in[0], Shape{2, 0, 1})};
         }),
      On("reshape", {{2, 6}},
         [](const Values& in) {
           return Values{lax::reshape(in[0], Shape{2, 3, 1, 2})};
         }),
      On("reshape_mixed", {{4, 3}},
         [](const Values& in) {
           return Values{lax::reshape(in[0], Shape{6, 2})};
         }),
      On("dot_matrix", {{2, 3}, {3, 4}}, dot({{1}, {0}, {}, {}})),
      On("dot_vector", {{3}, {3}}, dot({{0}, {0}, {}, {}})),
      On("dot_outer", {{2}, {3}}, dot({})),
      On("dot_batched", {{2, 3, 4}, {4, 2, 5}}, dot({{2}, {0}, {0}, {1}})),
      On("dot_two_contracted", {{2, 3, 4}, {4, 5, 3}}, dot({{1, 2}, {2, 0}, {}, {}})),
  };
}

class RowLaws : public ::testing::TestWithParam<Case> {};
TEST_P(RowLaws, Hold) { Laws(GetParam()).CheckAll(); }
std::string NameOfCase(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Elementwise, RowLaws, ::testing::ValuesIn(Elementwise()), NameOfCase);
INSTANTIATE_TEST_SUITE_P(Structured, RowLaws, ::testing::ValuesIn(Structured()), NameOfCase);

}  // namespace
}  // namespace ricci::testing
