// The dtypes that each elementwise row takes (those of jax.lax), and that it computes in each of them.
//
// Floating results must be those of f64 on the same inputs, rounded to the dtype; small integers must be exact.
#include <gtest/gtest.h>

#include "lax/traced_function.h"

namespace ricci::testing { namespace {

constexpr DType kDTypes[] = {DType::kBool,      DType::kI8,      DType::kI16, DType::kI32,      DType::kI64,
                             DType::kU8,        DType::kU16,     DType::kU32, DType::kU64,      DType::kF16,
                             DType::kBF16,      DType::kF32,     DType::kF64, DType::kF8E4M3FN, DType::kF8E5M2,
                             DType::kF8E8M0FNU, DType::kF4E2M1FN};

struct Operation {
  std::string_view name;
  uint32_t operands;
  DTypeSet takes;
  // Integers: the exact result from exact operands; null if it is not checked.
  double (*integer)(double x, double y) = nullptr;
};
void PrintTo(const Operation& op, std::ostream* out) { *out << op.name; }
constexpr double kOne = 1;

constexpr Operation kOperations[] = {
    {"add", 2, kNumbers, [](double x, double y) { return x + y; }},
    {"sub", 2, kNumbers, [](double x, double y) { return x - y; }},
    {"mul", 2, kNumbers, [](double x, double y) { return x * y; }},
    {"div", 2, kNumbers, [](double x, double y) { return std::trunc(x / y); }},
    {"rem", 2, kNumbers, [](double x, double y) { return std::fmod(x, y); }},
    {"max", 2, kAny, [](double x, double y) { return std::max(x, y); }},
    {"min", 2, kAny, [](double x, double y) { return std::min(x, y); }},
    {"atan2", 2, kFloats},
    {"pow", 2, kFloats},
    {"nextafter", 2, kFloats},
    {"polygamma", 2, kFloats},
    {"zeta", 2, kFloats},
    {"igamma", 2, kFloats},
    {"igammac", 2, kFloats},
    {"igamma_grad_a", 2, kFloats},
    {"random_gamma_grad", 2, kFloats},
    {"regularized_incomplete_beta", 3, kFloats},
    {"and", 2, kInts | kBools},
    {"or", 2, kInts | kBools},
    {"xor", 2, kInts | kBools},
    {"shift_left", 2, kInts, [](double x, double y) { return std::ldexp(x, static_cast<int>(y)); }},
    {"shift_right_logical", 2, kInts},
    {"shift_right_arithmetic", 2, kInts, [](double x, double y) { return std::floor(std::ldexp(x, -int(y))); }},
    {"mulhi", 2, kInts, [](double, double) { return 0.0; }},
    {"eq", 2, kAny, [](double x, double y) { return double(x == y); }},
    {"ne", 2, kAny, [](double x, double y) { return double(x != y); }},
    {"lt", 2, kAny, [](double x, double y) { return double(x < y); }},
    {"le", 2, kAny, [](double x, double y) { return double(x <= y); }},
    {"gt", 2, kAny, [](double x, double y) { return double(x > y); }},
    {"ge", 2, kAny, [](double x, double y) { return double(x >= y); }},
    {"eq_to", 2, kAny, [](double x, double y) { return double(x == y); }},
    {"le_to", 2, kAny, [](double x, double y) { return double(x <= y); }},
    {"lt_to", 2, kAny, [](double x, double y) { return double(x < y); }},
    {"neg", 1, kNumbers},
    {"sign", 1, kNumbers, [](double x, double) { return std::min(x, kOne); }},
    {"abs", 1, kSigned | kFloats, [](double x, double) { return x; }},
    {"square", 1, kNumbers, [](double x, double) { return x * x; }},
    {"not", 1, kInts | kBools},
    {"population_count", 1, kInts},
    {"clz", 1, kInts},
    {"is_finite", 1, kFloats},
    {"floor", 1, kFloats},
    {"ceil", 1, kFloats},
    {"exp", 1, kFloats},
    {"exp2", 1, kFloats},
    {"expm1", 1, kFloats},
    {"log", 1, kFloats},
    {"log1p", 1, kFloats},
    {"logistic", 1, kFloats},
    {"sin", 1, kFloats},
    {"cos", 1, kFloats},
    {"tan", 1, kFloats},
    {"asin", 1, kFloats},
    {"acos", 1, kFloats},
    {"atan", 1, kFloats},
    {"sinh", 1, kFloats},
    {"cosh", 1, kFloats},
    {"tanh", 1, kFloats},
    {"asinh", 1, kFloats},
    {"acosh", 1, kFloats},
    {"atanh", 1, kFloats},
    {"sqrt", 1, kFloats},
    {"rsqrt", 1, kFloats},
    {"cbrt", 1, kFloats},
    {"erf", 1, kFloats},
    {"erfc", 1, kFloats},
    {"erf_inv", 1, kFloats},
    {"lgamma", 1, kFloats},
    {"digamma", 1, kFloats},
    {"bessel_i0e", 1, kFloats},
    {"bessel_i1e", 1, kFloats},
    {"stop_gradient", 1, kAny, [](double x, double) { return x; }},
    {"copy", 1, kAny, [](double x, double) { return x; }},
};

class RowDTypes : public ::testing::TestWithParam<Operation> {
 protected:
  Program Trace(const Operation& op, DType dtype, int64_t n) const {
    const std::vector<ArrayType> params(op.operands, bench_.Type(dtype, {n}));
    return bench_.Trace(params, [&](const Values& in) { return Values{Emit1(op.name, in)}; });
  }
  bool Takes(const Operation& op, DType dtype) const {
    try {
      Trace(op, dtype, 2);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
  Numbers Run(const Operation& op, DType dtype, std::vector<Numbers> inputs) const {
    inputs.resize(op.operands);
    return bench_.Run(Trace(op, dtype, static_cast<int64_t>(inputs[0].size())), inputs)[0];
  }

  Bench bench_;
};

TEST_P(RowDTypes, AreThoseOfJaxLax) {
  for (DType d : kDTypes) EXPECT_EQ(Takes(GetParam(), d), In(d, GetParam().takes)) << NameOf(d);
}

TEST_P(RowDTypes, IntegersAreExact) {
  const Operation& op = GetParam();
  const Numbers x = {0, 1, 2, 3, 5, 4, 7, 9}, y = {1, 1, 3, 2, 2, 4, 3, 1};
  for (DType d : kDTypes) {
    if (!IsInt(d) || !In(d, op.takes)) continue;
    const Numbers got = Run(op, d, {x, y});
    for (size_t i = 0; op.integer != nullptr && i < x.size(); ++i) {
      double want = op.integer(x[i], y[i]);
      if (want < 0 && In(d, kUnsigned)) want += std::ldexp(1.0, static_cast<int>(BitsOf(d)));
      EXPECT_EQ(got[i], want) << NameOf(d) << ", element " << i;
    }
  }
}

TEST_P(RowDTypes, FloatsAreRoundedFromDouble) {
  const Operation& op = GetParam();
  if (!In(DType::kF64, op.takes) || op.name == "nextafter") return;
  const Numbers x = {0.125, 0.5, 0.75, 0.25, -0.5, 1.5, -1.25, 2.0}, y = {0.5, 0.5, 0.25, 0.75, 1.5, -0.5, 2.0, -0.25};
  const Numbers want = Run(op, DType::kF64, {x, y, x});
  for (DType d : {DType::kF16, DType::kBF16, DType::kF32}) {
    const Numbers got = Run(op, d, {x, y, x});
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(want[i])) {
        EXPECT_TRUE(std::isnan(got[i])) << NameOf(d) << ", element " << i;
      } else if (std::isinf(want[i])) {
        EXPECT_EQ(got[i], want[i]) << NameOf(d) << ", element " << i;
      } else {
        EXPECT_NEAR(got[i], want[i], 2 * InfoOf(d).epsilon * std::fabs(want[i])) << NameOf(d) << ", element " << i;
      }
    }
  }
}

TEST_P(RowDTypes, BoolComputes) {
  const Operation& op = GetParam();
  if (!In(DType::kBool, op.takes)) return;
  for (double v : Run(op, DType::kBool, {{0, 0, 1, 1}, {0, 1, 0, 1}})) EXPECT_TRUE(v == 0 || v == 1);
}

INSTANTIATE_TEST_SUITE_P(All, RowDTypes, ::testing::ValuesIn(kOperations),
                         [](const ::testing::TestParamInfo<Operation>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ricci::testing
