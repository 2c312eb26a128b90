// What the loops of a host cost: how often a function is traced and a program compiled, when only numbers change.
//
// Operations on Arrays give pending Values; a transformed function takes them as it takes Arrays, and numbers in such
// operations are operands, so neither costs another compilation.
#include <functional>

#include "binding_fixture.h"

namespace ricci::testing { namespace {

// A context that counts what it compiles.
class Compilations : public ::testing::Test {
 protected:
  struct Case {
    const char* name;
    std::function<Value(int)> run;
  };
  // Every case, for other numbers, runs the programs that it compiled for the first. All from one line, since a loop
  // without a bound is of its line, which errors name.
  void ExpectCompiledOnce(const std::vector<Case>& cases) {
    for (const Case& c : cases) {
      size_t before = 0;
      for (int i = 1; i < 7; ++i) {
        Array(c.run(i)).block_until_ready();
        if (i == 1) before = compiled;
      }
      EXPECT_EQ(compiled, before) << c.name;
    }
  }

  size_t compiled = 0;
  Context ctx = Counting(this);
  const Array x = Array(ctx, Floats{1, 2, 3}), rows = Array(ctx, Floats{1, 2, 3, 4, 5, 6}, {2, 3}),
              key = random::key(ctx, 7);

 private:
  static Context Counting(Compilations* self) {
    ricci_hooks hooks{};
    hooks.hdr.size = sizeof hooks;
    hooks.log_self = self;
    hooks.log = [](void* to, uint32_t, const char* text, size_t n) {
      static_cast<Compilations*>(to)->compiled += std::string_view(text, n).find(" miss") != std::string_view::npos;
    };
    ricci_context_opts opts = ricci_context_opts_default();
    opts.hooks = &hooks;
    Context c(opts);
    c.config("log_compiles", "1");
    return c;
  }
};

Value Cube(Value v) { return sum(v * v * v); }

// ---- functions that a host transforms once ----

TEST_F(Compilations, TransformedFunctionsAreTracedOnceForPendingValues) {
  int traced = 0;
  const auto f = [&](Value v) {
    ++traced;
    return Cube(v);
  };
  const auto rule = [](auto in, auto tangents) {
    return std::pair(Cube(std::get<0>(in)), Cube(std::get<0>(tangents)));
  };
  const auto fwd = [&](Value v) { return std::pair(f(v), v); };
  const auto bwd = [](Value v, Value ct) { return std::tuple(v * ct); };
  const auto expect = [&](const char* name, auto transformed) {
    traced = 0;
    Array(transformed(x)).block_until_ready();
    const int once = traced;
    for (int i = 0; i < 5; ++i) {
      const Array of_array = transformed(Array(x * i));
      EXPECT_EQ(of_array.to_vector<float>(), Array(transformed(x * i)).to_vector<float>()) << name;
    }
    EXPECT_EQ(traced, once) << name;
  };
  expect("jit", jit(f));
  expect("grad", grad(f));
  expect("jit of grad", jit(grad(f)));
  expect("vmap", vmap(f));
  expect("jacfwd", jacfwd(f));
  expect("jacrev", jacrev(f));
  expect("hessian", hessian(f));
  expect("checkpoint", checkpoint(f));
  expect("custom_jvp", custom_jvp(f, rule));
  expect("custom_vjp", custom_vjp(f, fwd, bwd));
}

TEST_F(Compilations, OneEntryServesArraysNumbersAndPendingValues) {
  int traced = 0;
  const auto f = jit([&](Value k, Value v, Weights<Value> w, Static<int> n) {
    ++traced;
    return Weights<Value>{random::uniform(k) * v * n.value, w.w + w.b};
  });
  const Static<int> two{2};
  const Weights<Array> w{x, x};
  const Weights<Array> of_arrays = f(random::key(ctx, 7), Array(ctx, 2.0f), w, two);
  for (int i = 0; i < 5; ++i) {
    const Weights<Value> out = f(random::fold_in(key, i), 0.5 * i, Weights<Value>{x * i, x - i}, two);
    EXPECT_EQ(Array(out.w).shape().size(), 0u);
    const auto n = static_cast<float>(i);
    ExpectClose(out.b, {1, n + 2, 2 * n + 3});
  }
  EXPECT_EQ(traced, 1);
  EXPECT_EQ(f.cache_size(), 1u);
  EXPECT_EQ(f.lower(random::fold_in(key, 1), 1.5, Weights<Value>{x + 1, x * 2}, two).executable.result_count(), 2u);
  EXPECT_EQ(traced, 1);
}

TEST_F(Compilations, ResultsOfPendingValuesGoOn) {
  const auto step = jit([](Value v) { return v * 2 + 1; });
  Value v = x * 1;
  for (int i = 0; i < 4; ++i) v = step(v);
  ExpectClose(v, {31, 47, 63});
  ExpectClose(step(v + x) + v, {31 + 65, 47 + 99, 63 + 133});
  const auto [a, b] = jit([](Value p, Value q) { return std::pair(q, p); })(x, v);  // arguments as results
  ExpectClose(a, {31, 47, 63});
  ExpectClose(b, {1, 2, 3});
  ExpectInts(jit([](Value) { return 3; })(v), {3});
}

TEST_F(Compilations, ArgumentsAreComputedTogether) {
  const auto f = jit([](Value a, Value b, Value c) { return a + b * c; });
  const auto run = [&](int i) {
    const Value shared = x * i;
    return f(shared + 1, shared, random::uniform(random::fold_in(key, i), {3}));
  };
  Array(run(1)).block_until_ready();
  EXPECT_EQ(compiled, 2u);  // the arguments, the function
  ExpectCompiledOnce({{"again", run}});
}

// Where f is used inside of another function, it is a part of that.
TEST_F(Compilations, InsideOfATraceNothingRuns) {
  int traced = 0;
  const auto f = jit([&](Value v, Value k) {
    ++traced;
    return v * k;
  });
  const Value outside = x * 3;
  const auto g = jit([&](Value v) { return f(v, outside) + grad([](Value u) { return sum(u * u); })(v); });
  ExpectClose(g(x), {3 + 2, 12 + 4, 27 + 6});
  ExpectClose(g(x), {3 + 2, 12 + 4, 27 + 6});
  EXPECT_EQ(traced, 1);
  EXPECT_EQ(f.cache_size(), 0u);
}

TEST_F(Compilations, MisuseOfPendingValues) {
  const auto f = jit([](Value a, Value b) { return a + b; });
  const Context other;
  EXPECT_NE(MessageOf([&] { f(x * 2, Array(other, 1.0f) * 2); }).find("operands belong to two contexts"),
            std::string::npos);
  EXPECT_NE(MessageOf([&] {
              jit([&](Value v) { return f.lower(v, v).text().empty() ? v : v; })(x);
            }).find("a value of a function that is being traced has no elements yet"),
            std::string::npos);
}

// ---- numbers ----

TEST_F(Compilations, NumbersInOperationsAreOperands) {
  ExpectCompiledOnce({
      {"x * i", [&](int i) { return x * i; }},
      {"0.5 i - x", [&](int i) { return 0.5 * i - x; }},
      {"x += i", [&](int i) { return sin(x) + i; }},
      {"pow", [&](int i) { return pow(x, 0.25 * i); }},
      {"pow of a number", [&](int i) { return pow(1.5 * i, x); }},
      {"x > i", [&](int i) { return x > i; }},
      {"maximum", [&](int i) { return maximum(x, i); }},
      {"clip", [&](int i) { return clip(x, -i, 0.5 * i); }},
      {"where", [&](int i) { return where(x > i, x, 2 * i); }},
      {"full", [&](int i) { return full(ctx, {3}, i); }},
      {"full_like", [&](int i) { return full_like(x, 0.5 * i); }},
      {"linspace", [&](int i) { return linspace(ctx, 0.5, 2.0 * i, 4); }},
      {"logspace", [&](int i) { return logspace(ctx, 0.5, 0.25 * i, 4); }},
      {"geomspace", [&](int i) { return geomspace(ctx, 0.5 * i, 2.0 * i, 4); }},
      {"arange", [&](int i) { return arange(ctx, i, i + 6, 2); }},
      {"arange of fractions", [&](int i) { return arange(ctx, 0.5 * i, 0.5 * i + 3, 0.5); }},
      {"complex", [&](int i) { return x * std::complex<float>(0.5f, static_cast<float>(i)); }},
      {"x[i]", [&](int i) { return index(x, {i % 3}); }},
      {"x[-i]", [&](int i) { return index(x, {-(i % 3) - 1}); }},
      {"index",
       [&](int i) {
         return index(rows, {kAll, i % 3});
       }},
      {"index with an array",
       [&](int i) {
         return index(rows, {Array(ctx, Ints{0, 1}), i % 3});
       }},
      {"set_at", [&](int i) { return set_at(x, i % 3, 0.5 * i); }},
      {"at", [&](int i) { return at(rows, {i % 2}).add(i); }},
      {"fold_in", [&](int i) { return random::key_data(random::fold_in(key, i)); }},
      {"key", [&](int i) { return random::key_data(random::key(Operand(x), i)); }},
      {"uniform", [&](int i) { return random::uniform(key, {2}, DType::kF32, -i, 2 * i); }},
      {"stack",
       [&](int i) {
         return concatenate({x, full(ctx, {1}, 1.5 * i)});
       }},
  });
}

TEST_F(Compilations, TransformsOnValuesOfNumbers) {
  const auto f = [](Value v) { return Cube(v); };
  ExpectCompiledOnce({
      {"scan", [&](int i) { return scan([](Value c, Value v) { return std::pair(c + v, c); }, sum(x) * i, x).first; }},
      {"while",
       [&](int i) {
         return while_loop([](Value c) { return c < 100; }, [](Value c) { return c * 2; }, index(x, {0}) * i);
       }},
      {"fori",
       [&](int i) {
         return fori_loop(
             0, 3, [](Value, Value c) { return c * 2; }, x * i);
       }},
      {"fori to a value",
       [&](int i) {
         return fori_loop(
             0, Array(ctx, i) * 1, [](Value, Value c) { return c + 1; }, x * i);
       }},
      {"cond",
       [&](int i) {
         return cond(
             index(x, {0}) > i, [](Value v) { return v; }, [](Value v) { return -v; }, x * i);
       }},
      {"switch",
       [&](int i) {
         return switch_(Array(ctx, i) % 2, std::tuple([](Value v) { return v; }, [](Value v) { return -v; }), x * i);
       }},
      {"jvp", [&](int i) { return jvp(f, std::tuple(x * i), std::tuple(x)).second; }},
      {"vjp",
       [&](int i) {
         const auto [y, pull] = vjp(f, x * i);
         return std::get<0>(pull(y * i));
       }},
      {"linearize",
       [&](int i) {
         const auto [y, map] = linearize(f, x * i);
         return map(x + i);
       }},
      {"grad", [&](int i) { return grad(f)(x * i); }},
      {"vmap", [&](int i) { return vmap(f)(rows * i); }},
  });
}

// What a loop of a training program does outside of its step.
TEST_F(Compilations, ATrainingLoopCompilesItsStepOnce) {
  int traced = 0;
  const auto loss = [](Value w, Value noise) { return sum(square(w * noise)); };
  const auto step = jit([&](Value w, Value k, Value rate) {
    ++traced;
    return w - rate * grad(loss)(w, random::normal(k, {3}));
  });
  Value w = x * 1;
  for (int i = 0; i < 20; ++i) w = step(w, random::fold_in(key, i), 0.1 / (1 + i));
  EXPECT_EQ(traced, 1);
  EXPECT_LE(compiled, 4u);
  EXPECT_EQ(Array(w).dim(0), 3);
}

// A map of pending values keeps what the point determines: applying it compiles and computes its own part alone.
TEST_F(Compilations, PullbacksOfPendingValuesKeepTheirResiduals) {
  const auto [y, pull] = vjp([](Value v) { return sin(v) * v; }, x * 2);
  const Array first = std::get<0>(pull(ones(ctx, {3})));
  const size_t before = compiled;
  for (int i = 0; i < 3; ++i) {
    const Array again = std::get<0>(pull(ones(ctx, {3})));
    EXPECT_EQ(first.to_vector<float>(), again.to_vector<float>());
  }
  EXPECT_EQ(compiled, before);
  const auto [z, of_array] = vjp([](Value v) { return sin(v) * v; }, Array(x * 2));
  EXPECT_EQ(first.to_vector<float>(), std::get<0>(of_array(Array(ones(ctx, {3})))).to_vector<float>());
}

TEST_F(Compilations, NumbersStayWeak) {
  const Array half(ctx, DType::kF16, {2}, std::array<uint16_t, 2>{0x3c00, 0x4000}.data());
  const Array ints(ctx, Ints{1, 2}), bytes(ctx, std::vector<uint8_t>{200, 100}),
      flags(ctx, std::vector<bool>{true, false});
  EXPECT_EQ(Array(half * 2.5).dtype(), DType::kF16);
  EXPECT_EQ(Array(ints * 2).dtype(), DType::kI32);
  EXPECT_EQ(Array(ints * 0.5).dtype(), DType::kF32);
  EXPECT_EQ(Array(bytes + 100).to_vector<uint8_t>(), (std::vector<uint8_t>{44, 200}));
  EXPECT_EQ(Array(flags * 3).dtype(), DType::kI32);
  EXPECT_EQ(Array(flags & true).dtype(), DType::kBool);
  EXPECT_EQ(Array(x * std::complex<double>(0, 1)).dtype(), DType::kC64);
  EXPECT_EQ(Array(ints * int64_t{1} << 40).dtype(), DType::kI32);
}

}  // namespace
}  // namespace ricci::testing
