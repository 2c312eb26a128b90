// The binding's messages for values of finished traces, of other traces and other contexts, and for shapes only.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using Misuse = BindingTest;

TEST_F(Misuse, AValueOfAFinishedTrace) {
  Value kept;
  jit([&](Value x) { return kept = x * 2; })(Vec({1, 2}));
  const std::string ended = ": a value is used after the function that made it has returned; return it instead";
  EXPECT_ERROR_HERE(jit([&](Value x) { return x + kept; })(Vec({1, 2})), "add" + ended);
  EXPECT_ERROR_HERE(kept + 1, "add" + ended);
  EXPECT_ERROR_HERE(sum(kept), "reduce_sum" + ended);
  EXPECT_ERROR_HERE(jit([&](Value) { return kept; })(Vec({1, 2})), "jit" + ended);
  EXPECT_ERROR_HERE(grad([&](Value) { return kept; })(Vec({1, 2})), "grad" + ended);
  EXPECT_ERROR_HERE(vmap([](Value v) { return v; })(kept), "vmap" + ended);
  EXPECT_EQ(MessageOf([&] { kept.shape(); }),
            "a value is used after the function that made it has returned; return it instead");
  EXPECT_ERROR_HERE(jit([&](Value x) {
                      Value inner;
                      vmap([&](Value v) { return inner = v * 2; })(x);
                      return scan([&](Value c, Value e) { return std::pair(c + inner, e); }, x[0], x).first;
                    })(Vec({1, 2})),
                    "add" + ended);
}

TEST_F(Misuse, AValueThatWasNeverSet) {
  EXPECT_ERROR_HERE(jit([](Value x) { return x + Value(); })(Num(1)), "add: a value was never set");
  EXPECT_ERROR_HERE(jit([](Value) { return Weights<Value>{}; })(Num(1)), "jit: a value was never set");
  EXPECT_ERROR_HERE(jit([](Value x) { return x; })(Array()),
                    "jit: leaf 0 of the arguments is an array that was never set");
  EXPECT_ERROR_HERE(jit([](Value x) { return x + Array(); })(Num(1)), "add: an array was never set");
}

TEST_F(Misuse, ValuesOfTwoTraces) {
  EXPECT_ERROR_HERE(jit([&](Value x) { return jit([&](Value y) { return x + y; })(Num(1)); })(Vec({1, 2})),
                    "add: operands belong to two functions, neither nested in the other: f32[] and a value of the one "
                    "being traced; pass it as an argument");
}

TEST_F(Misuse, TwoContexts) {
  Context other;
  const Array theirs(other, 1.0f), ours = Num(2);
  EXPECT_ERROR_HERE(
      jit([](Value x, Value y) { return x + y; })(ours, theirs),
      "jit: leaf 1 of the arguments, f32[], belongs to another context than the leaves before it; make all "
      "arrays of a call in one");
  EXPECT_ERROR_HERE(jit([&](Value x) { return x + theirs; })(ours),
                    "add: the array f32[] belongs to another context; make all arrays of a call in one");
  EXPECT_ERROR_HERE(
      vjp([](Value x, Value y) { return x + y; }, ours, theirs),
      "vjp: the array f32[] belongs to another context than those before it; make all arrays of a call in "
      "one");
  const auto f = jit([](Value x) { return x * 2; });
  EXPECT_EQ(f(ours).item<float>(), 4);
  EXPECT_EQ(f(theirs).item<float>(), 2);  // each context has its own entry
  EXPECT_EQ(f.cache_size(), 2u);
  EXPECT_ERROR_HERE(jit([&](Value x) {
                      Value sum = x;
                      jit([&](Value y) { return sum = x + y; })(theirs);
                      return sum;
                    })(ours),
                    "add: operands belong to two contexts: f32[] and a value of another; use one for all");
}

TEST_F(Misuse, GradientsThatDoNotExist) {
  auto f = [](Value x, Value n) { return sum(x * n); };
  const Array x = Vec({1, 2}), n(ctx, {1, 2});
  EXPECT_ERROR_HERE(grad<1>(f)(x, n),
                    "grad: leaf 0 of argument 1 is i32[2], which has no derivative; convert it with astype, or choose "
                    "other arguments as in grad<1>(f)");
  EXPECT_ERROR_HERE(
      value_and_grad([](const Weights<Value>& a) { return sum(a.w); })(Weights<Array>{x, n}),
      "value_and_grad: leaf 1 of argument 0 is i32[2], which has no derivative; convert it with astype, or "
      "choose other arguments as in value_and_grad<1>(f)");
  EXPECT_ERROR_HERE(grad([](Value v) { return v; })(x),
                    "grad: the function gives f32[2], not a floating scalar; reduce it to one, or use jacrev");
  EXPECT_ERROR_HERE(grad([](Value v) { return astype(sum(v), DType::kI32); })(x),
                    "grad: the function gives i32[], not a floating scalar; reduce it to one, or use jacrev");
}

TEST_F(Misuse, TheContextStaysUsable) {
  const Array x = Vec({1, 2});
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(MessageOf([&] { jit([](Value v) { return v + reshape(v, {3}); })(x); }), "no error");
    EXPECT_NE(MessageOf([&] {
                jit([](Value v) {
                  return vmap([](Value e) -> Value {
                    throw Error(3, "mine");
                    return e;
                  })(v);
                })(x);
              }),
              "no error");
  }
  ExpectClose(jit([](Value v) { return v + 1; })(x), {2, 3});
}

TEST_F(Misuse, ShapesAlone) {
  const ShapeDType m{{2, 3}, DType::kF32}, v{{3}, DType::kF64};
  auto f = [](Value a, Value b, Value n) {
    return std::pair(matmul(a, astype(b, DType::kF32)), Weights<Value>{n, b > 0});
  };
  const auto [y, w] = eval_shape(ctx, f, m, v, 2);
  EXPECT_EQ(y, (ShapeDType{{2}, DType::kF32}));
  EXPECT_EQ(w.w, (ShapeDType{{}, DType::kI32}));
  EXPECT_EQ(w.b, (ShapeDType{{3}, DType::kBool}));
  EXPECT_EQ(eval_shape(ctx, grad([](const Weights<Value>& a) { return sum(a.w) * a.b; }),
                       Weights<ShapeDType>{{{1 << 20, 1 << 20}, DType::kF32}, {{}, DType::kF32}})
                .w,
            (ShapeDType{{1 << 20, 1 << 20}, DType::kF32}));
  EXPECT_EQ(eval_shape(f, Count({2, 3}), v, 2).first, (ShapeDType{{2}, DType::kF32}));  // mixed with an Array
  EXPECT_EQ(make_program(
                ctx, [](Value x) { return x * 2.0; }, ShapeDType{{2}, DType::kF32})
                .params()
                .size(),
            1u);
  EXPECT_EQ(MessageOf([&] { eval_shape(f, m, v, 2); }),
            "eval_shape: no argument is an array; give the context as first argument");
  EXPECT_ERROR_HERE(eval_shape(
                        ctx, [](Value a) { return a; }, ShapeDType{{-1}, DType::kF32}),
                    "type: negative dimension in f32[-1]");
}

}  // namespace
}  // namespace ricci::testing
