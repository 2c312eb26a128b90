// Custom derivatives whose rules apply the function itself, as plain recursive C++.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

class RecursiveRules : public BindingTest {
 protected:
  static void Expect(const Array& got, const std::vector<double>& want) {
    ExpectClose(got, Floats(want.begin(), want.end()), 1e-5f);
  }
};

Value LogSumExp(Value x) {
  return custom_jvp(
      [](Value v) {
        const Value m = max(v);
        return m + log(sum(exp(v - m)));
      },
      [](const std::tuple<Value>& v, const std::tuple<Value>& t) {
        const Value y = LogSumExp(std::get<0>(v));
        return std::pair(y, sum(exp(std::get<0>(v) - y) * std::get<0>(t)));
      })(x);
}

TEST_F(RecursiveRules, LogSumExpHasDerivativesOfEveryOrder) {
  const Array x = Vec({1, 2});
  const double p = 1 / (1 + std::exp(1.0)), q = 1 - p;  // softmax of (1, 2)
  Expect(jit(LogSumExp)(x), {static_cast<float>(1 - std::log(p))});
  Expect(grad(LogSumExp)(x), {p, q});
  Expect(hessian(LogSumExp)(x), {p * q, -p * q, -p * q, p * q});
  auto along = [](Value t) { return LogSumExp(stack({t, 2.0 * ones_like(t)})); };  // its second argument stays
  Expect(grad(grad(grad(along)))(Num(1)), {p * q * (q - p)});
  Expect(vmap(grad(grad(along)))(Vec({1, 1})), {p * q, p * q});
  Expect(grad([&](Value t) { return sum(vmap(grad(along))(stack({t, t}))); })(Num(1)), {2 * p * q});
}

Value Cosine(Value x);
Value Sine(Value x) {
  return custom_jvp([](Value v) { return sin(v); },
                    [](const std::tuple<Value>& v, const std::tuple<Value>& t) {
                      return std::pair(Sine(std::get<0>(v)), Cosine(std::get<0>(v)) * std::get<0>(t));
                    })(x);
}
Value Cosine(Value x) {
  return custom_jvp([](Value v) { return cos(v); },
                    [](const std::tuple<Value>& v, const std::tuple<Value>& t) {
                      return std::pair(Cosine(std::get<0>(v)), -Sine(std::get<0>(v)) * std::get<0>(t));
                    })(x);
}

TEST_F(RecursiveRules, FunctionsMayNeedEachOther) {
  const Array x = Num(0.5);
  Expect(grad(Sine)(x), {std::cos(0.5)});
  Expect(grad(grad(Sine))(x), {-std::sin(0.5)});
  Expect(grad(grad(grad(Sine)))(x), {-std::cos(0.5)});
  Expect(vmap(grad(grad(grad(Cosine))))(Vec({0.5, 1})), {std::sin(0.5), std::sin(1.0)});
}

// Captures distinguish functions: the rule calls that of the next lower power, which is not the function itself.
Value Power(Value x, int n) {
  return custom_jvp([n](Value v) { return n == 0 ? ones_like(v) : pow(v, n); },
                    [n](const std::tuple<Value>& v, const std::tuple<Value>& t) {
                      const Value base = std::get<0>(v);
                      const Value slope = n == 0 ? zeros_like(base) : double(n) * Power(base, n - 1);
                      return std::pair(Power(base, n), slope * std::get<0>(t));
                    })(x);
}

TEST_F(RecursiveRules, CapturedNumbersTellFunctionsApart) {
  auto cube = [](Value x) { return Power(x, 3); };
  Expect(grad(cube)(Num(2)), {12});
  Expect(grad(grad(cube))(Num(2)), {12});
  Expect(grad(grad(grad(cube)))(Num(2)), {6});
  Expect(grad(grad(grad(grad(cube))))(Num(2)), {0});
}

// Only the rule reads the array, so that the call in it is traced before all operands are known.
const Array* rate = nullptr;
Value Growth(Value x) {
  return custom_jvp([](Value v) { return exp(v); },
                    [](const std::tuple<Value>& v, const std::tuple<Value>& t) {
                      const Value y = Growth(std::get<0>(v));
                      return std::pair(y, y * std::get<0>(t) * *rate);
                    })(x);
}

TEST_F(RecursiveRules, ArraysMayBeCapturedByTheRuleAlone) {
  const Array ten = Num(10);
  rate = &ten;
  Expect(grad(Growth)(Num(0)), {10});
  Expect(grad(grad(Growth))(Num(0)), {100});
  Expect(vmap(grad(grad(Growth)))(Vec({0, 0})), {100, 100});
}

Value ReverseExp(Value x) {
  return custom_vjp([](Value v) { return exp(v); }, [](Value v) { return std::pair(ReverseExp(v), v); },
                    [](Value v, Value ct) { return std::tuple(ReverseExp(v) * ct); })(x);
}

TEST_F(RecursiveRules, ReverseRulesToo) {
  const double e = std::exp(0.5);
  Expect(grad(ReverseExp)(Num(0.5)), {e});
  Expect(grad(grad(grad(ReverseExp)))(Num(0.5)), {e});
  Expect(vmap(grad(grad(ReverseExp)))(Vec({0.5, 0})), {e, 1});
}

// At another type the rule is another function: the recursion ends because the sizes decrease.
Value Halves(Value x) {
  return custom_jvp([](Value v) { return sum(v); },
                    [](const std::tuple<Value>& v, const std::tuple<Value>& t) {
                      const Value x = std::get<0>(v), dx = std::get<0>(t);
                      const int64_t half = x.shape()[0] / 2;
                      Value slope = sum(dx);
                      if (half > 0) slope = slope + 0.0 * Halves(slice(x, 0, half));
                      return std::pair(Halves(x), slope);
                    })(x);
}

TEST_F(RecursiveRules, OtherTypesAreOtherFunctions) {
  Expect(grad(Halves)(Vec({1, 2, 3, 4})), {1, 1, 1, 1});
  Expect(hessian(Halves)(Vec({1, 2})), {0, 0, 0, 0});
}

Value Endless(Value x, std::shared_ptr<int> state) {
  return custom_jvp([state](Value v) { return v * 2.0; },
                    [state](const std::tuple<Value>& v, const std::tuple<Value>& t) {
                      return std::pair(Endless(std::get<0>(v), state), std::get<0>(t));
                    })(x);
}
Value Circular(Value x) {
  return custom_jvp([](Value v) { return Circular(v) * 2.0; },
                    [](const std::tuple<Value>&, const std::tuple<Value>& t) {
                      return std::pair(std::get<0>(t), std::get<0>(t));
                    })(x);
}

TEST_F(RecursiveRules, EndlessRecursionIsAnError) {
  const char* const text = "the function applies itself again and again";
  const auto endless = [](Value x) { return Endless(x, std::make_shared<int>(1)); };
  EXPECT_NE(MessageOf([&] { grad(endless)(Num(1)); }).find(text), std::string::npos);
  EXPECT_NE(MessageOf([&] { grad(Circular)(Num(1)); }).find(text), std::string::npos);
}

}  // namespace
}  // namespace ricci::testing
