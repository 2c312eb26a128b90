// Accuracy of the special functions in f32 against the C library in double, and bits that do not depend on the thread
// count.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "ricci/ricci.h"

namespace ricci::testing {
namespace {

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

  // Runs a program of one f32 parameter and one f32 result.
  std::vector<float> Run(const std::string& text, const std::vector<float>& x, size_t n_out) {
    ricci_program* f = nullptr;
    Must(ricci_program_parse(ctx_, text.data(), text.size(), "test", 4, &f));
    ricci_compile_opts o{};
    o.hdr.size = sizeof o;
    o.device = cpu_;
    ricci_executable* e = nullptr;
    Must(ricci_compile(f, &o, &e));
    ricci_program_release(f);
    std::vector<float> out(n_out);
    ricci_call* call = nullptr;
    Must(ricci_call_create(e, &call));
    Must(ricci_call_bind(call, 0, const_cast<float*>(x.data()), x.size() * sizeof(float)));
    Must(ricci_call_bind(call, 1, out.data(), n_out * sizeof(float)));
    Must(ricci_call_run(call));
    ricci_call_release(call);
    ricci_executable_release(e);
    return out;
  }
  std::vector<float> Map(const std::string& prim, const std::vector<float>& x) {
    const std::string t = "f32[" + std::to_string(x.size()) + "]";
    return Run("program f(%x: " + t + ") {\n  %y: " + t + " = " + prim + "(%x)\n  return %y\n}", x, x.size());
  }

  ricci_ctx* ctx_ = nullptr;
  ricci_device* cpu_ = nullptr;
};

// |got - want| in units of the last place of want as f32.
double Ulps(float got, double want) {
  const auto rounded = static_cast<float>(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : INFINITY;
  const float next = std::nextafter(std::fabs(rounded), std::numeric_limits<float>::infinity());
  return std::fabs(got - want) / (static_cast<double>(next) - std::fabs(rounded));
}

struct Function {
  const char* name;
  double (*exact)(double);
  double low, high, bound;
};

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

// By bisection on erfc, which keeps its digits where erf is nearly 1.
double ErfInv(double x) {
  if (std::fabs(x) == 1) return x * std::numeric_limits<double>::infinity();
  double low = 0, high = 6;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(middle) > 1 - std::fabs(x) ? low : high) = middle;
  }
  return std::copysign(low, x);
}

TEST_F(Cpu, SpecialFunctionsOfF32StayWithinTheirBounds) {
  const Function functions[] = {
      {"exp", std::exp, -104, 89, 2},      {"log", std::log, 0, 1e4, 2},        {"sin", std::sin, -20000, 20000, 2},
      {"cos", std::cos, -20000, 20000, 2}, {"tanh", std::tanh, -10, 10, 2},     {"erf", std::erf, -4, 4, 2},
      {"logistic", Logistic, -90, 90, 4},  {"log1p", std::log1p, -1, 10, 4},    {"expm1", std::expm1, -20, 20, 4},
      {"sinh", std::sinh, -20, 20, 4},     {"atan", std::atan, -100, 100, 4},   {"cbrt", std::cbrt, -100, 100, 4},
      {"tan", std::tan, -100, 100, 4},     {"asin", std::asin, -1, 1, 4},       {"acosh", std::acosh, 1, 100, 4},
      {"erfc", std::erfc, -3, 8, 4},       {"exp2", std::exp2, -120, 120, 4},   {"lgamma", std::lgamma, 0.1, 50, 4},
      {"expm1", std::expm1, -0.7, 0.7, 4}, {"log1p", std::log1p, -0.3, 0.3, 4}, {"expm1", std::expm1, -3, 89, 4},
      {"erf_inv", ErfInv, -1, 1, 4},       {"erf_inv", ErfInv, 0.99, 1, 4}};
  std::mt19937 random(7);
  for (const Function& f : functions) {
    std::vector<float> x;
    std::uniform_real_distribution<double> wide(f.low, f.high), near(std::max(f.low, -3.0), std::min(f.high, 3.0));
    for (int i = 0; i < 30000; ++i) x.push_back(static_cast<float>(i % 2 ? wide(random) : near(random)));
    const std::vector<float> y = Map(f.name, x);
    double worst = 0;
    float at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double ulps = Ulps(y[i], f.exact(x[i]));
      if (ulps > worst) worst = ulps, at = x[i];
    }
    EXPECT_LE(worst, f.bound) << f.name << " at " << at;
  }
}

TEST_F(Cpu, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {0.0F, -0.0F, inf, -inf, nan, 1e-45F, -1e-45F, 3.4e38F, -3.4e38F, 1e30F, 25000.0F};
  for (const Function& f : {Function{"exp", std::exp}, Function{"log", std::log}, Function{"sin", std::sin},
                            Function{"cos", std::cos}, Function{"tanh", std::tanh}, Function{"logistic", Logistic},
                            Function{"erf", std::erf}, Function{"expm1", std::expm1}, Function{"log1p", std::log1p}}) {
    const std::vector<float> y = Map(f.name, x);
    for (size_t i = 0; i < x.size(); ++i) EXPECT_LE(Ulps(y[i], f.exact(x[i])), 2) << f.name << " of " << x[i];
  }
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
    const std::vector<float> got = Run(sum, x, 1);
    if (first.empty()) first = got;
    EXPECT_EQ(std::memcmp(first.data(), got.data(), sizeof(float)), 0) << threads << " threads";
  }
  double want = 0;
  for (float v : x) want += std::exp(static_cast<double>(v));
  EXPECT_NEAR(first[0], want, 1e-5 * want);
}

}  // namespace
}  // namespace ricci::testing
