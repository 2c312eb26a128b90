// The distributions of ricci::random against numbers from JAX 0.10.2 for the key 42, within a few units in the last
// place.
#include "binding_fixture.h"
#include "ricci/lax.hpp"

namespace ricci::testing { namespace {

// A list as a constant of the program of `k`.
Value Numbers(const Value& k, const Floats& numbers) {
  Values all;
  for (float x : numbers) all.push_back(full(k, {}, x));
  return stack(all);
}
Value Parts(const Value& z) { return stack({real(z), imag(z)}); }

struct Distribution {
  std::string name;
  Value (*draw)(Value k);
  Floats want;
  float ulps = 4;
};
void PrintTo(const Distribution& d, std::ostream* out) { *out << d.name; }

const Distribution kDistributions[] = {
    {"truncated_normal",
     [](Value k) { return random::truncated_normal(k, -1.0, 2.0, {3}); },
     {0.147700056f, 0.568444908f, 0.421025515f}},
    {"lognormal", [](Value k) { return random::lognormal(k, 0.5, {3}); }, {0.985947371f, 1.26309609f, 1.15934074f}},
    {"generalized_normal",
     [](Value k) { return random::generalized_normal(k, 3.0, {3}); },
     {-0.693710864f, -0.276244521f, 0.833461165f}},
    {"ball",
     [](Value k) { return random::ball(k, 2, 2, {2}); },
     {0.323456109f, 0.0613489598f, 0.0156185552f, 0.470103651f}},
    {"ball_of_one_norm", [](Value k) { return random::ball(k, 3, 1); }, {0.435272753f, 0.0332196616f, 0.199610814f}},
    {"maxwell", [](Value k) { return random::maxwell(k, {3}); }, {0.553582489f, 0.293285072f, 1.70860302f}},
    {"double_sided_maxwell",
     [](Value k) { return random::double_sided_maxwell(k, 0.5, 2.0, {3}); },
     {-2.26204348f, -0.851377964f, 4.94404268f}},
    {"rayleigh", [](Value k) { return random::rayleigh(k, 2.0, {3}); }, {2.3933022f, 1.75718141f, 1.96787739f}},
    {"wald",
     [](Value k) { return random::wald(k, 1.5, {3}); },
     {1.64612019f, 2.69834661f, 0.351881027f},
     /*ulps=*/8},  // a difference in which terms cancel
    {"gumbel", [](Value k) { return random::gumbel(k, {3}); }, {0.334093392f, 0.952019453f, 0.725530565f}},
    {"exponential", [](Value k) { return random::exponential(k, {3}); }, {0.670817494f, 1.13880062f, 0.957819998f}},
    {"laplace", [](Value k) { return random::laplace(k, {3}); }, {0.0228396524f, -0.445653558f, -0.264672905f}},
    {"logistic", [](Value k) { return random::logistic(k, {3}); }, {-0.0451694131f, 0.752839804f, 0.47375232f}},
    {"cauchy", [](Value k) { return random::cauchy(k, {3}); }, {-0.0354846306f, 0.63372612f, 0.382440567f}},
    {"pareto", [](Value k) { return random::pareto(k, 2.0, {3}); }, {1.39851189f, 1.76720691f, 1.61431384f}},
    {"weibull_min",
     [](Value k) { return random::weibull_min(k, 2.0, 1.5, {3}); },
     {1.53261447f, 2.18103075f, 1.94335699f}},
    {"triangular",
     [](Value k) { return random::triangular(k, -1.0, 0.5, 2.0, {3}); },
     {0.482967615f, 0.799619794f, 0.68593061f}},
    {"gamma", [](Value k) { return random::gamma(k, 2.5, {3}); }, {4.37807512f, 1.50078642f, 4.19411135f}},
    {"gamma_of_small_shape",
     [](Value k) { return random::gamma(k, 0.01, {3}); },
     {8.70839567e-24f, 3.38546613e-08f, 9.36466356e-12f}},
    {"loggamma", [](Value k) { return random::loggamma(k, 0.01, {3}); }, {-53.0977516f, -17.201189f, -25.3940773f}},
    {"beta", [](Value k) { return random::beta(k, 0.5, 2.0, {3}); }, {0.274971455f, 0.157372952f, 0.549462199f}},
    {"dirichlet",
     [](Value k) {
       return random::dirichlet(k, Numbers(k, {0.5f, 1, 2}));
     },
     {0.206803158f, 0.0686100796f, 0.724586785f}},
    {"chisquare", [](Value k) { return random::chisquare(k, 3.0, {3}); }, {5.87071419f, 1.39785099f, 5.55942345f}},
    {"t", [](Value k) { return random::t(k, 3.0, {3}); }, {0.0898747817f, -1.73574674f, 2.35201907f}},
    {"f", [](Value k) { return random::f(k, 3.0, 5.0, {3}); }, {0.728363514f, 0.356925488f, 0.235607371f}},
    {"multivariate_normal",
     [](Value k) {
       return random::multivariate_normal(k, Numbers(k, {1, 2}), reshape(Numbers(k, {2, 0.5f, 0.5f, 1}), {2, 2}), {2});
     },
     {0.959971249f, 2.42695475f, 1.41818714f, 2.24817586f}},
    {"rademacher", [](Value k) { return random::rademacher(k, {6}); }, {1, -1, -1, -1, 1, -1}},
    {"geometric", [](Value k) { return random::geometric(k, 0.2, {4}); }, {4, 2, 3, 3}},
    {"poisson_of_few", [](Value k) { return random::poisson(k, 3.0, {5}); }, {6, 2, 2, 1, 5}},
    {"poisson_of_many", [](Value k) { return random::poisson(k, 40.0, {5}); }, {44, 46, 33, 35, 31}},
    {"poisson_of_all",
     [](Value k) {
       return random::poisson(k, Numbers(k, {0, 2, 9.5f, 10, 300}));
     },
     {0, 1, 13, 8, 275}},
    {"binomial_of_few", [](Value k) { return random::binomial(k, 10.0, 0.3, {5}); }, {2, 5, 2, 2, 4}},
    {"binomial_of_many", [](Value k) { return random::binomial(k, 100.0, 0.7, {5}); }, {67, 66, 75, 73, 77}},
    {"binomial_at_edges",
     [](Value k) {
       return random::binomial(k, Numbers(k, {0, 5, 5, -1, INFINITY, NAN}), Numbers(k, {0.5f, 0, 1, 0.5f, 0.5f, 0.5f}));
     },
     {0, 0, 5, NAN, INFINITY, NAN}},
    {"binomial_without_end_or_chance",
     [](Value k) {
       return random::binomial(k, Numbers(k, {INFINITY, INFINITY, 5}), Numbers(k, {0, 1, 1}));
     },
     {INFINITY, INFINITY, 5}},
    {"multinomial",
     [](Value k) {
       return random::multinomial(k, 50.0, Numbers(k, {0.2f, 0.3f, 0.5f}));
     },
     {13, 16, 21}},
    {"categorical_draws",
     [](Value k) {
       return random::categorical(k, Numbers(k, {0, 1, 2}), -1, {5});
     },
     {2, 2, 2, 2, 1}},
    {"categorical_without_replacement",
     [](Value k) {
       return random::categorical(k, Numbers(k, {0, 1, 2}), -1, {3}, false);
     },
     {2, 1, 0}},
    {"categorical_first_axis",
     [](Value k) {
       return random::categorical(k, reshape(arange(k, 6, DType::kF32), {3, 2}), 0, {3, 2});
     },
     {2, 2, 2, 2, 2, 2}},
    {"choice", [](Value k) { return random::choice(k, 10, {5}); }, {4, 4, 1, 9, 9}},
    {"choice_without_replacement",
     [](Value k) { return random::choice(k, 10, {5}, {.replace = false}); },
     {7, 4, 2, 5, 3}},
    {"choice_by_probability",
     [](Value k) {
       return random::choice(k, 4, {6}, {.p = Numbers(k, {0.1f, 0.2f, 0.3f, 0.4f})});
     },
     {2, 2, 2, 2, 2, 2}},
    {"choice_by_probability_without",
     [](Value k) {
       return random::choice(k, 4, {3}, {.replace = false, .p = Numbers(k, {0.1f, 0.2f, 0.3f, 0.4f})});
     },
     {3, 2, 1}},
    {"choice_of_columns",
     [](Value k) {
       return random::choice(k, reshape(arange(k, 6, DType::kF32), {2, 3}), {2}, {.axis = 1});
     },
     {0, 0, 3, 3}},
    {"choice_of_columns_once",
     [](Value k) {
       return random::choice(k, reshape(arange(k, 6, DType::kF32), {2, 3}), {2}, {.replace = false, .axis = 1});
     },
     {2, 0, 5, 3}},
    {"permutation_of_rows",
     [](Value k) {
       return random::permutation(k, reshape(arange(k, 6), {3, 2}));
     },
     {4, 5, 0, 1, 2, 3}},
    {"permutation_independent",
     [](Value k) {
       return random::permutation(k, reshape(arange(k, 6), {3, 2}), 0, true);
     },
     {4, 5, 2, 3, 0, 1}},
    {"uniform_between",
     [](Value k) {
       return random::uniform(k, {}, DType::kF32, Numbers(k, {0, 2}), Numbers(k, {1, 5}));
     },
     {0.488709569f, 4.03939152f}},
    {"bernoulli_of_each",
     [](Value k) {
       return random::bernoulli(k, Numbers(k, {0.2f, 0.9f, 0.5f, 0.7f}));
     },
     {0, 1, 0, 1}},
    {"normal_of_complex",
     [](Value k) { return Parts(random::normal(k, {2}, DType::kC64)); },
     {0.0536874607f, -0.34389618f, 0.428339839f, 0.565009475f}},
};

class Distributions : public ::testing::TestWithParam<Distribution> {
 protected:
  Context ctx;
};

TEST_P(Distributions, AreThoseOfJax) {
  const Distribution& d = GetParam();
  const Array got = jit([&](Value k) { return astype(d.draw(k), DType::kF32); })(random::key(ctx, 42));
  const Floats v = got.to_vector<float>();
  ASSERT_EQ(v.size(), d.want.size());
  for (size_t i = 0; i < v.size(); ++i) {
    if (std::isnan(d.want[i]) || std::isinf(d.want[i])) {
      EXPECT_EQ(std::isnan(v[i]) ? "nan" : std::to_string(v[i]),
                std::isnan(d.want[i]) ? "nan" : std::to_string(d.want[i]));
    } else {
      EXPECT_NEAR(v[i], d.want[i], d.ulps * 0x1p-23f * std::fabs(d.want[i])) << "element " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Distributions, ::testing::ValuesIn(kDistributions),
                         [](const ::testing::TestParamInfo<Distribution>& info) { return info.param.name; });

class RandomNumbers : public BindingTest {
 protected:
  template <typename F>
  std::string Message(F f) {
    return MessageOf([&] { jit(f)(random::key(ctx, 42)); });
  }
};

TEST_F(RandomNumbers, ErrorsNameTheFunctionAndBothValues) {
  const std::pair<std::string, Value (*)(Value)> wrong[] = {
      {"gamma: parameters of shape [2] do not broadcast to shape [3]",
       [](Value k) {
         return random::gamma(k, Numbers(k, {1, 2}), {3});
       }},
      {"beta: shapes [2] and [3] do not broadcast",
       [](Value k) {
         return random::beta(k, Numbers(k, {1, 2}), Numbers(k, {1, 2, 3}));
       }},
      {"gamma: dtype i32 is not a floating dtype", [](Value k) { return random::gamma(k, 1, {}, DType::kI32); }},
      {"t: needs a key, not f32[]", [](Value k) { return random::t(full(k, {}, 1.0f), 1.0); }},
      {"dirichlet: alpha is a scalar; it needs at least one dimension",
       [](Value k) { return random::dirichlet(k, 1.0); }},
      {"choice: cannot choose 5 of 3 without replacement",
       [](Value k) { return random::choice(k, 3, {5}, {.replace = false}); }},
      {"choice: there is nothing to choose from: dimension 0 of i32[0] is 0",
       [](Value k) { return random::choice(k, 0, {5}); }},
      {"choice: p is f32[2]; it must have one dimension of 3",
       [](Value k) {
         return random::choice(k, 3, {5}, {.p = Numbers(k, {1, 2})});
       }},
      {"categorical: shape [2] must end with [3], that of the slices of f32[3,2]",
       [](Value k) {
         return random::categorical(k, zeros(k, {3, 2}), -1, {2});
       }},
      {"categorical: cannot draw 4 of 2 classes without replacement",
       [](Value k) { return random::categorical(k, zeros(k, {2}), -1, {4}, /*replace=*/false); }},
      {"multivariate_normal: cov is f32[2,3]; for a mean of f32[2] its last dimensions must be 2 and 2",
       [](Value k) {
         return random::multivariate_normal(k, zeros(k, {2}), zeros(k, {2, 3}));
       }},
      {"ball: the number of dimensions, -1, must not be negative", [](Value k) { return random::ball(k, -1); }},
  };
  for (const auto& [message, f] : wrong) {
    EXPECT_NE(Message(f).find(message), std::string::npos) << message << "\n" << Message(f);
  }
}

TEST_F(RandomNumbers, GammaHasTheDerivativeOfItsSamples) {
  const auto f = [](Value a) { return sum(random::gamma(random::key(a, 42), a)); };
  const auto g = [](Value a) { return sum(random::loggamma(random::key(a, 42), a)); };
  ExpectClose(grad(f)(Vec({0.5f, 2, 30})), {1.87778163f, 0.788817048f, 1.09992099f}, 2e-5f);
  ExpectClose(grad(g)(Vec({0.5f, 2, 30})), {1.87880707f, 0.722105086f, 0.0305591151f}, 2e-5f);
}

TEST_F(RandomNumbers, BitsOfXla) {
  using Words = std::vector<uint32_t>;
  const auto bits = [&](lax::RandomAlgorithm how) {
    return jit([how](Value k) { return lax::rng_bit_generator(k, Shape{3}, DType::kU32, how)[1]; })(
        Array(ctx, Words{7, 14, 21, 28}));
  };
  EXPECT_EQ(bits(lax::RandomAlgorithm::kDefault).to_vector<uint32_t>(), (Words{0xaa1ce211, 0x35c32e6f, 0x6b6132e2}));
  EXPECT_EQ(bits(lax::RandomAlgorithm::kPhilox).to_vector<uint32_t>(), (Words{0xaa1ce211, 0x35c32e6f, 0x6b6132e2}));
  EXPECT_EQ(bits(lax::RandomAlgorithm::kThreefry).to_vector<uint32_t>(), (Words{0xcb8e8ea1, 0xf1bfd483, 0x9f3f7d57}));
}

}  // namespace
}  // namespace ricci::testing
