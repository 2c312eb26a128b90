// Accuracy of the special functions: f32 against the C library in double, f64 against it in long double, special values
// with the signs of their zeros, and bits that do not depend on the thread count or on the neighbours of a value.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "ricci/ricci.h"

namespace ricci::testing { namespace {

void Must(ricci_status* s) {
  if (s == nullptr) return;
  ricci_str text;
  ricci_status_message(s, &text);
  ADD_FAILURE() << std::string(text.ptr, text.len);
  ricci_status_free(s);
}

class Cpu : public ::testing::Test {
 protected:
  void SetUp() override {
    Must(ricci_context_create(nullptr, &ctx_));
    Must(ricci_context_add_plugin(ctx_, ricci_plugin_query_lax));
    Must(ricci_context_add_plugin(ctx_, ricci_plugin_query_cpu));
    cpu_ = ricci_device_find(ctx_, "cpu", 3);
    ASSERT_NE(cpu_, nullptr);
  }
  void TearDown() override { ricci_context_release(ctx_); }

  // Runs a program on arrays; one result.
  template <typename T>
  std::vector<T> Run(const std::string& text, const std::vector<std::vector<T>>& in, size_t n_out) {
    ricci_program* f = nullptr;
    Must(ricci_program_parse(ctx_, text.data(), text.size(), "test", 4, &f));
    ricci_compile_opts o{};
    o.hdr.size = sizeof o;
    o.devices = &cpu_;
    o.n_devices = 1;
    ricci_executable* e = nullptr;
    Must(ricci_compile(f, &o, &e));
    ricci_program_release(f);
    std::vector<T> out(n_out);
    ricci_call* call = nullptr;
    Must(ricci_call_create(e, &call));
    uint32_t slot = 0;
    for (const std::vector<T>& x : in)
      Must(ricci_call_bind(call, slot++, const_cast<T*>(x.data()), x.size() * sizeof(T)));
    Must(ricci_call_bind(call, slot, out.data(), n_out * sizeof(T)));
    Must(ricci_call_run(call));
    ricci_call_release(call);
    ricci_executable_release(e);
    return out;
  }
  template <typename T>
  std::vector<T> Map(const std::string& prim, const std::vector<T>& x) {
    const std::string t = TypeOf<T>(x.size());
    return Run<T>("program f(%x: " + t + ") {\n  %y: " + t + " = " + prim + "(%x)\n  return %y\n}", {x}, x.size());
  }
  template <typename T>
  std::vector<T> Map(const std::string& prim, const std::vector<T>& x, const std::vector<T>& y) {
    const std::string t = TypeOf<T>(x.size());
    const std::string text =
        "program f(%x: " + t + ", %y: " + t + ") {\n  %z: " + t + " = " + prim + "(%x, %y)\n  return %z\n}";
    return Run<T>(text, {x, y}, x.size());
  }
  template <typename T>
  static std::string TypeOf(size_t n) {
    return (sizeof(T) == 4 ? "f32[" : "f64[") + std::to_string(n) + "]";
  }

  ricci_ctx* ctx_ = nullptr;
  ricci_device* cpu_ = nullptr;
};

// |got - want| in units of the last place of want as a T.
template <typename T, typename Exact>
double Ulps(T got, Exact want) {
  const auto rounded = static_cast<T>(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  if (rounded == 0 && got == 0) return std::signbit(rounded) == std::signbit(got) ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : INFINITY;
  const T next = std::nextafter(std::fabs(rounded), std::numeric_limits<T>::infinity());
  const Exact unit = static_cast<Exact>(next) - static_cast<Exact>(std::fabs(rounded));
  return static_cast<double>(std::fabs(static_cast<Exact>(got) - want) / unit);
}

using Wide = long double;
Wide Logistic(Wide x) { return 1 / (1 + std::exp(-x)); }

// By bisection on erfc, which keeps its digits where erf is nearly 1.
Wide ErfInv(Wide x) {
  if (std::fabs(x) == 1) return x * std::numeric_limits<Wide>::infinity();
  Wide low = 0, high = 6;
  for (int i = 0; i < 60; ++i) {
    const Wide middle = (low + high) / 2;
    (std::erfc(middle) > 1 - std::fabs(x) ? low : high) = middle;
  }
  return std::copysign(low, x);
}

// Recurrence up to 30, then the asymptotic series (Abramowitz and Stegun 6.3.18); reflection below 0.
Wide Digamma(Wide x) {
  const Wide pi = 3.14159265358979323846264338327950288L;
  if (x <= 0 && x == std::floor(x)) return NAN;
  if (x < 0) return Digamma(1 - x) - pi / std::tan(pi * (x - std::round(x)));
  Wide r = 0;
  for (; x < 30; x += 1) r -= 1 / x;
  const Wide i = 1 / (x * x);
  return r + std::log(x) - 0.5L / x -
         i * (1 / 12.0L - i * (1 / 120.0L - i * (1 / 252.0L - i * (1 / 240.0L - i * (1 / 132.0L)))));
}

struct Function {
  const char* name;
  Wide (*exact)(Wide);
  double low, high, bound;
};
struct Binary {
  const char* name;
  Wide (*exact)(Wide, Wide);
  double low, high, low_y, high_y, bound;
};

// Half of the values come from the whole interval, half from near 0, where functions bend.
template <typename T>
std::vector<T> Points(double low, double high, size_t n) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> wide(low, high), near(std::max(low, -3.0), std::min(high, 3.0));
  std::vector<T> x;
  for (size_t i = 0; i < n; ++i) x.push_back(static_cast<T>(i % 2 || low > 3 ? wide(random) : near(random)));
  return x;
}

constexpr size_t kPoints = 30000;
constexpr Function kBothWidths[] = {
    {"exp", std::exp, -104, 89, 2},        {"log", std::log, 0, 1e4, 2},          {"log", std::log, 0.9, 1.1, 2},
    {"sin", std::sin, -20000, 20000, 2},   {"sin", std::sin, -0.1, 0.1, 2},       {"sin", std::sin, -1e9, 1e9, 2},
    {"cos", std::cos, -20000, 20000, 2},   {"cos", std::cos, 1e30, 1e35, 2},      {"tanh", std::tanh, -10, 10, 2},
    {"tanh", std::tanh, -0.1, 0.1, 2},     {"erf", std::erf, -4, 4, 2},           {"erf", std::erf, -0.1, 0.1, 2},
    {"log1p", std::log1p, -1, 10, 2},      {"log1p", std::log1p, -1e-3, 1e-3, 2}, {"expm1", std::expm1, -20, 20, 2},
    {"expm1", std::expm1, -1e-3, 1e-3, 2}, {"expm1", std::expm1, -3, 89, 2},      {"logistic", Logistic, -80, 80, 3},
    {"exp2", std::exp2, -120, 120, 2},     {"sinh", std::sinh, -20, 20, 3},       {"sinh", std::sinh, -90, 90, 3},
    {"cosh", std::cosh, -90, 90, 2},       {"tan", std::tan, -100, 100, 3},       {"tan", std::tan, -1e9, 1e9, 3},
    {"atan", std::atan, -100, 100, 2},     {"atan", std::atan, -0.5, 0.5, 3},     {"asin", std::asin, -1, 1, 3},
    {"acos", std::acos, -1, 1, 3},         {"acos", std::acos, 0.999, 1, 3},      {"asinh", std::asinh, -100, 100, 3},
    {"acosh", std::acosh, 1, 100, 3},      {"acosh", std::acosh, 1, 1.01, 3},     {"atanh", std::atanh, -1, 1, 3},
    {"atanh", std::atanh, -1e-2, 1e-2, 3}, {"erfc", std::erfc, -3, 8, 4},         {"cbrt", std::cbrt, -100, 100, 2},
    {"asinh", std::asinh, -1e-2, 1e-2, 3}, {"log1p", std::log1p, 1e3, 1e9, 2},    {"erfc", std::erfc, 0, 0.5, 4}};
constexpr Binary kBinary[] = {
    {"pow", std::pow, 0, 10, -30, 30, 2},         {"pow", std::pow, 0.999, 1.001, -80000, 80000, 2},
    {"pow", std::pow, 1e-30, 1, -1, 1, 2},        {"atan2", std::atan2, -3, 3, -3, 3, 3},
    {"atan2", std::atan2, -1e-3, 1e-3, -2, 2, 3}, {"atan2", std::atan2, -1e30, 1e30, -1e30, 1e30, 3}};

template <typename T>
void CheckWorst(const char* name, const std::vector<T>& x, const std::vector<T>& y, const std::vector<Wide>& want,
                double bound) {
  double worst = 0;
  T at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double ulps = Ulps(y[i], want[i]);
    if (ulps > worst) worst = ulps, at = x[i];
  }
  EXPECT_LE(worst, bound) << name << " of f" << 8 * sizeof(T) << " at " << std::hexfloat << at;
  if (std::getenv("RICCI_PRINT_ULPS") != nullptr) std::printf("%-9s f%zu %.3f\n", name, 8 * sizeof(T), worst);
}

template <typename T>
class Accuracy : public Cpu {};
using Widths = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Accuracy, Widths);

TYPED_TEST(Accuracy, FunctionsStayWithinTheirBounds) {
  for (const Function& f : kBothWidths) {
    const auto x = Points<TypeParam>(f.low, f.high, kPoints);
    std::vector<Wide> want;
    for (TypeParam v : x) want.push_back(f.exact(v));
    CheckWorst(f.name, x, this->Map(f.name, x), want, f.bound);
  }
}

TYPED_TEST(Accuracy, FunctionsOfTwoStayWithinTheirBounds) {
  for (const Binary& f : kBinary) {
    const auto x = Points<TypeParam>(f.low, f.high, kPoints);
    auto y = Points<TypeParam>(f.low_y, f.high_y, kPoints);
    std::reverse(y.begin(), y.end());
    std::vector<Wide> want;
    for (size_t i = 0; i < x.size(); ++i) want.push_back(f.exact(x[i], y[i]));
    CheckWorst(f.name, x, this->Map(f.name, x, y), want, f.bound);
  }
}

TYPED_TEST(Accuracy, SpecialValues) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  const T inf = L::infinity();
  std::vector<T> x;
  for (T v : {T{0}, inf, L::quiet_NaN(), L::denorm_min(), L::min(), L::min() / 3, L::max(), T(1e30), T(25000), T(1),
              T(2), T(0.5), T(3), T(709.5), T(88.7), T(0.25)}) {
    x.push_back(v);
    x.push_back(-v);
  }
  for (const Function& f : kBothWidths) {
    const std::vector<T> y = this->Map(f.name, x);
    for (size_t i = 0; i < x.size(); ++i) EXPECT_LE(Ulps(y[i], f.exact(x[i])), f.bound) << f.name << " of " << x[i];
  }
  for (const Binary& f : kBinary) {
    std::vector<T> a, b;
    for (T v : x) {
      for (T w : x) a.push_back(v), b.push_back(w);
    }
    const std::vector<T> y = this->Map(f.name, a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_LE(Ulps(y[i], f.exact(a[i], b[i])), f.bound) << f.name << " of " << a[i] << ", " << b[i];
    }
  }
}

// Exact for operands of any size, including the sign of a zero: numbers of all exponents, quotients next to whole
// numbers and near the size at which they have no fraction left, and special values.
TYPED_TEST(Accuracy, RemIsExact) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> mantissa(1, 2);
  std::uniform_int_distribution<int> any(L::min_exponent - L::digits, L::max_exponent - 1), near(-3, L::digits + 3),
      small(0, 1000);
  std::vector<T> x, y;
  const auto add = [&](T a, T b) {
    for (const T u : {a, -a}) {
      for (const T v : {b, -b}) x.push_back(u), y.push_back(v);
    }
  };
  for (int i = 0; i < 20000; ++i) {
    const T b = std::ldexp(static_cast<T>(mantissa(random)), any(random));
    add(std::ldexp(static_cast<T>(mantissa(random)), any(random)), b);
    add(b * std::ldexp(static_cast<T>(mantissa(random)), near(random)), b);
    const T whole = b * static_cast<T>(small(random));
    for (const T a : {whole, std::nextafter(whole, T{0}), std::nextafter(whole, L::infinity())}) add(a, b);
  }
  const T specials[] = {0, L::denorm_min(), L::min(), 1, 3, L::max(), L::infinity(), L::quiet_NaN()};
  for (const T a : specials) {
    for (const T b : specials) add(a, b);
  }
  const std::vector<T> got = this->Map("rem", x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    const T want = std::fmod(x[i], y[i]);
    const bool same = std::isnan(want) ? std::isnan(got[i]) : std::memcmp(&got[i], &want, sizeof(T)) == 0;
    ASSERT_TRUE(same) << std::hexfloat << "rem of " << x[i] << ", " << y[i] << ": " << got[i] << ", not " << want;
  }
}

// One value among others that take another path, and by itself.
TYPED_TEST(Accuracy, BitsDoNotDependOnNeighbours) {
  using T = TypeParam;
  const auto x = Points<T>(-2, 2, 200);
  for (const Function& f : kBothWidths) {
    std::vector<T> mixed = x;
    for (size_t i = 0; i < mixed.size(); i += 3) mixed[i] = i % 2 ? T(1e9) : T(-50);
    const std::vector<T> y = this->Map(f.name, x), z = this->Map(f.name, mixed);
    const std::vector<T> alone = this->Map(f.name, std::vector<T>{x[4]});
    EXPECT_EQ(std::memcmp(&alone[0], &y[4], sizeof(T)), 0) << f.name;
    for (size_t i = 0; i < x.size(); ++i) {
      const bool same = std::memcmp(&y[i], &z[i], sizeof(T)) == 0;
      EXPECT_TRUE(i % 3 == 0 || same) << f.name << " of " << x[i];
    }
  }
}

TEST_F(Cpu, SpecialFunctionsOfF32StayWithinTheirBounds) {
  const Function functions[] = {{"lgamma", std::lgamma, 0.1, 50, 4}, {"lgamma", std::lgamma, -20, 3, 4},
                                {"digamma", Digamma, 1e-3, 50, 4},   {"digamma", Digamma, -20, 3, 4},
                                {"erf_inv", ErfInv, -1, 1, 4},       {"erf_inv", ErfInv, 0.99, 1, 4}};
  for (const Function& f : functions) {
    const auto x = Points<float>(f.low, f.high, kPoints);
    std::vector<Wide> want;
    for (float v : x) want.push_back(f.exact(v));
    CheckWorst(f.name, x, Map(f.name, x), want, f.bound);
  }
}

TEST_F(Cpu, SpecialValuesOfTheGammaFunction) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.0F, -0.0F, 1, 2, -1, -2, inf, std::nanf(""), 1e-40F, 1e30F, 3e38F, -1e9F, -0.5F};
  for (const Function& f : {Function{"lgamma", std::lgamma}, Function{"digamma", Digamma}}) {
    const std::vector<float> y = Map(f.name, x);
    for (size_t i = 0; i < x.size(); ++i) {
      const Wide want = std::isinf(x[i]) ? Wide{inf} : f.exact(x[i]);
      EXPECT_LE(Ulps(y[i], want), 1) << f.name << " of " << x[i];
    }
  }
}

// A long chain takes two vectors of lanes at once if there are many points, also for the last, partial ones.
TEST_F(Cpu, LongChainsHaveTheBitsOfShortBatches) {
  const auto roll = [&](const std::vector<float>& x) {
    const std::string n = std::to_string(x.size()), t = "f32[" + n + "]";
    return Run<float>("program f(%x: " + t + ") {\n  %y: " + t + " = vmap(%x) size=" + n +
                          " in_axes=[0] out_axes=[0] axis_name=\"\" body=program(%a: f32[]) {\n"
                          "    %b: f32[] = scan(%a) length=500 reverse=false num_consts=0 num_carry=1 unroll=1 "
                          "body=program(%c: f32[]) {\n"
                          "      %s: f32[] = sin(%c)\n      %d: f32[] = add(%c, %s)\n      return %d\n    }\n"
                          "    return %b\n  }\n  return %y\n}",
                      {x}, x.size());
  };
  const auto x = Points<float>(-1, 1, 1100);
  const std::vector<float> all = roll(x), few = roll({x.end() - 20, x.end()});
  EXPECT_EQ(std::memcmp(&all[1080], few.data(), 20 * sizeof(float)), 0);
}

TEST_F(Cpu, BitsDoNotDependOnTheThreadCount) {
  constexpr size_t kN = 1'000'003;
  std::vector<float> x(kN);
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (float& v : x) v = normal(random);
  const std::string t = "f32[" + std::to_string(kN) + "]";
  const std::string sum =
      "program f(%x: " + t + ") {\n  %e: " + t + " = exp(%x)\n  %s: f32[] = reduce_sum(%e) axes=[0]\n  return %s\n}";
  std::vector<float> first;
  for (const char* threads : {"1", "2", "3", "7"}) {
    Must(ricci_context_config(ctx_, "threads", 7, threads, 1));
    const std::vector<float> got = Run<float>(sum, {x}, 1);
    if (first.empty()) first = got;
    EXPECT_EQ(std::memcmp(first.data(), got.data(), sizeof(float)), 0) << threads << " threads";
  }
  double want = 0;
  for (float v : x) want += std::exp(static_cast<double>(v));
  EXPECT_NEAR(first[0], want, 1e-5 * want);
}

}  // namespace
}  // namespace ricci::testing
