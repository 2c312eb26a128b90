// The structural primitives: values and every transform, against formulas, finite differences and loops.
#include "support/program_runner.h"

namespace ricci::testing { namespace {

// A damped pendulum for 20 explicit Euler steps; the loss also reads every angle on the way.
constexpr const char kPendulum[] = R"(
program pendulum(%friction: f64[], %state: f64[2]) {
  %h: f64[] = constant 0.05
  %end: f64[2], %angles: f64[20] = scan(%friction, %h, %state) length=20 num_consts=2 num_carry=1 body=program trip(%c: f64[], %dt: f64[], %s: f64[2]) {
    %a: f64[1] = slice(%s) start_indices=[0] limit_indices=[1]
    %w: f64[1] = slice(%s) start_indices=[1] limit_indices=[2]
    %a0: f64[] = reshape(%a) new_sizes=[]
    %w0: f64[] = reshape(%w) new_sizes=[]
    %sin: f64[] = sin(%a0)
    %drag: f64[] = mul(%c, %w0)
    %sum: f64[] = add(%sin, %drag)
    %acc: f64[] = neg(%sum)
    %da: f64[] = mul(%dt, %w0)
    %dw: f64[] = mul(%dt, %acc)
    %a1: f64[] = add(%a0, %da)
    %w1: f64[] = add(%w0, %dw)
    %av: f64[1] = reshape(%a1) new_sizes=[1]
    %wv: f64[1] = reshape(%w1) new_sizes=[1]
    %next: f64[2] = concatenate(%av, %wv) dimension=0
    return %next, %a1
  }
  %sq: f64[20] = mul(%angles, %angles)
  %total: f64[] = reduce_sum(%sq) axes=[0]
  %last: f64[] = reduce_sum(%end) axes=[0]
  %loss: f64[] = add(%total, %last)
  return %loss
})";

double PendulumLoss(double friction, double a, double w) {
  double total = 0;
  for (int i = 0; i < 20; ++i) {
    const double acc = -(std::sin(a) + friction * w);
    a += 0.05 * w;
    w += 0.05 * acc;
    total += a * a;
  }
  return total + a + w;
}

class ControlRules : public ::testing::Test {
 protected:
  ProgramRunner r;
};

TEST_F(ControlRules, ScanRunsAndItsGradientMatchesFiniteDifferences) {
  const Program f = r.Parse(kPendulum);
  const std::vector<Numbers> args = {{0.3}, {1.0, 0.2}};
  EXPECT_NEAR(r.RunEverywhere(f, args)[0][0], PendulumLoss(0.3, 1.0, 0.2), 1e-12);
  const auto gradient = r.RunEverywhere(r.Grad(f, {0, 1}), args);
  ASSERT_EQ(gradient.size(), 2u);
  ExpectNear(gradient[0], FiniteDifferences(r, f, args, 0), 1e-7);
  ExpectNear(gradient[1], FiniteDifferences(r, f, args, 1), 1e-7);
}

TEST_F(ControlRules, SecondDerivativeThroughScan) {
  const Program g = r.Grad(r.Parse(kPendulum));
  const std::vector<Numbers> args = {{0.3}, {1.0, 0.2}};
  ExpectNear(r.RunEverywhere(r.Grad(g), args)[0], FiniteDifferences(r, g, args, 0), 1e-6);
}

TEST_F(ControlRules, VmapOfGradOfScanIsTheLoopOverTheBatch) {
  const Program g = r.Grad(r.Parse(kPendulum));
  const Numbers frictions = {0.1, 0.2, 0.4};
  Numbers want;
  for (double c : frictions) want.push_back(r.RunEverywhere(g, {{c}, {1.0, 0.2}})[0][0]);
  ExpectNear(r.RunEverywhere(r.Vmap(g, {0, -1}, {0}, 3), {frictions, {1.0, 0.2}})[0], want, 1e-12);
  ExpectNear(r.RunEverywhere(r.Batch(g, {1, 0}, 3), {frictions, {1.0, 0.2}})[0], want, 1e-12);
}

TEST_F(ControlRules, GradOfVmapSumsCotangentsOfUnbatchedOperands) {
  const Program sum = r.Parse(R"(
program total(%friction: f64[], %states: f64[2,3]) {
  %each: f64[3] = vmap(%friction, %states) size=3 in_axes=[-1,1] out_axes=[0] body=program one(%c: f64[], %s: f64[2]) {
    %c2: f64[] = mul(%c, %c)
    %b: f64[2] = broadcast_in_dim(%c2) shape=[2] broadcast_dimensions=[]
    %m: f64[2] = mul(%s, %b)
    %e: f64[2] = exp(%m)
    %t: f64[] = reduce_sum(%e) axes=[0]
    return %t
  }
  %all: f64[] = reduce_sum(%each) axes=[0]
  return %all
})");
  const std::vector<Numbers> args = {{0.7}, {0.1, -0.2, 0.3, 0.4, 0.5, -0.6}};
  const auto gradient = r.RunEverywhere(r.Grad(sum, {0, 1}), args);
  ExpectNear(gradient[0], FiniteDifferences(r, sum, args, 0), 1e-7);
  ExpectNear(gradient[1], FiniteDifferences(r, sum, args, 1), 1e-7);
}

constexpr const char kCond[] = R"(
program choose(%i: i32[], %x: f64[3]) {
  %y: f64[3], %k: f64[] = cond(%i, %x) branches=[program a(%v: f64[3]) {
    %s: f64[3] = sin(%v)
    %t: f64[] = reduce_sum(%v) axes=[0]
    return %s, %t
  }, program b(%v: f64[3]) {
    %s: f64[3] = mul(%v, %v)
    %one: f64[] = constant 1.0
    return %s, %one
  }, program c(%v: f64[3]) {
    %zero: f64[] = constant 0.0
    return %v, %zero
  }]
  %sum: f64[] = reduce_sum(%y) axes=[0]
  %r: f64[] = add(%sum, %k)
  return %r
})";

TEST_F(ControlRules, CondChoosesClampsAndDifferentiates) {
  const Program f = r.Parse(kCond);
  const Numbers x = {0.5, -1.0, 2.0};
  const double sines = std::sin(0.5) + std::sin(-1.0) + std::sin(2.0) + 1.5;
  EXPECT_NEAR(r.RunEverywhere(f, {{0}, x})[0][0], sines, 1e-12);
  EXPECT_NEAR(r.RunEverywhere(f, {{-7}, x})[0][0], sines, 1e-12);
  EXPECT_NEAR(r.RunEverywhere(f, {{1}, x})[0][0], 0.25 + 1 + 4 + 1, 1e-12);
  EXPECT_NEAR(r.RunEverywhere(f, {{9}, x})[0][0], 1.5, 1e-12);
  for (double i : {0.0, 1.0, 2.0}) {
    ExpectNear(r.RunEverywhere(r.Grad(f, {1}), {{i}, x})[0], FiniteDifferences(r, f, {{i}, x}, 1), 1e-7);
  }
}

TEST_F(ControlRules, CondUnderBatchedIndexPicksPerElement) {
  const Program g = r.Grad(r.Parse(kCond), {1});
  const Numbers index = {-3, 0, 1, 2, 5};
  Numbers xs, want;
  for (size_t b = 0; b < index.size(); ++b) {
    const Numbers x = {0.1 + b, 0.2 * b, -0.3};
    xs.insert(xs.end(), x.begin(), x.end());
    const Numbers one = r.RunEverywhere(g, {{index[b]}, x})[0];
    want.insert(want.end(), one.begin(), one.end());
  }
  ExpectNear(r.RunEverywhere(r.Batch(g, {1, 1}, 5), {index, xs})[0], want, 1e-12);
  ExpectNear(r.RunEverywhere(r.Vmap(g, {0, 0}, {0}, 5), {index, xs})[0], want, 1e-12);
}

// Newton's cube root: the number of trips depends on the data.
std::string Newton(const std::string& bound) {
  return R"(
program cube_root(%x: f64[]) {
  %one: f64[] = constant 1.0
  %start: f64[] = add(%x, %one)
  %zero: i32[] = constant 0
  %y: f64[], %n: i32[] = while(%x, %x, %start, %zero) cond_nconsts=1 body_nconsts=1)" +
         bound + R"( cond=program go(%x: f64[], %y: f64[], %n: i32[]) {
    %c: f64[] = integer_pow(%y) y=3
    %d: f64[] = sub(%c, %x)
    %e: f64[] = abs(%d)
    %tol: f64[] = constant 1e-12
    %p: bool[] = gt(%e, %tol)
    return %p
  } body=program step(%x: f64[], %y: f64[], %n: i32[]) {
    %c: f64[] = integer_pow(%y) y=3
    %d: f64[] = sub(%c, %x)
    %s: f64[] = integer_pow(%y) y=2
    %three: f64[] = constant 3.0
    %q: f64[] = mul(%s, %three)
    %u: f64[] = div(%d, %q)
    %z: f64[] = sub(%y, %u)
    %i: i32[] = constant 1
    %m: i32[] = add(%n, %i)
    return %z, %m
  }
  return %y
})";
}

TEST_F(ControlRules, WhileRunsForwardModeAndBatches) {
  const Program f = r.Parse(Newton(""));
  EXPECT_NEAR(r.RunEverywhere(f, {{8}})[0][0], 2.0, 1e-12);
  const auto jvp = r.RunEverywhere(r.Jvp(f, {1}), {{8}, {1}});
  EXPECT_NEAR(jvp[1][0], 1.0 / 12, 1e-9);
  const Numbers xs = {1, 8, 27, 1000}, roots = {1, 2, 3, 10};
  ExpectNear(r.RunEverywhere(r.Batch(f, {1}, 4), {xs})[0], roots, 1e-11);
  ExpectNear(r.RunEverywhere(r.Vmap(f, {0}, {0}, 4), {xs})[0], roots, 1e-11);
}

TEST_F(ControlRules, ReverseModeThroughWhileNeedsABound) {
  const Program bounded = r.Parse(Newton(" max_trips=40"));
  EXPECT_NEAR(r.RunEverywhere(r.Grad(bounded), {{8}})[0][0], 1.0 / 12, 1e-9);
  ricci_program* out = nullptr;
  const uint32_t arg = 0;
  const Program unbounded = r.Parse(Newton(""));
  EXPECT_EQ(Message(ricci_grad(unbounded.get(), &arg, 1, 0, &out)),
            "test:6: while: no transpose rule (the number of trips is not known; state a bound with "
            "max_trips, or use scan)");
}

TEST_F(ControlRules, CheckpointKeepsTheGradientAndRecomputes) {
  const char text[] = R"(
program f(%x: f64[4]) {
  %y: f64[4] = checkpoint(%x) policy="nothing" body=program g(%v: f64[4]) {
    %a: f64[4] = sin(%v)
    %b: f64[4] = exp(%a)
    %c: f64[4] = mul(%b, %a)
    return %c
  }
  %s: f64[] = reduce_sum(%y) axes=[0]
  return %s
})";
  const Program f = r.Parse(text);
  const std::vector<Numbers> args = {{0.1, 0.2, -0.4, 1.5}};
  ExpectNear(r.RunEverywhere(r.Grad(f), args)[0], FiniteDifferences(r, f, args), 1e-7);
  uint8_t wanted = 1;
  ricci_program *fwd = nullptr, *bwd = nullptr;
  ASSERT_TRUE(Ok(ricci_vjp(f.get(), &wanted, 1, &fwd, &bwd)));
  const Program forward(fwd), backward(bwd);
  uint32_t n_params, n_results;
  const ricci_type *params, *results;
  ricci_program_signature(fwd, &n_params, &params, &n_results, &results);
  EXPECT_EQ(n_results, 2u) << "the value and one residual, x itself:\n" << r.Print(forward);
}

TEST_F(ControlRules, CustomJvpReplacesTheDerivative) {
  const Program f = r.Parse(R"(
program f(%x: f64[]) {
  %y: f64[] = custom_jvp(%x) call=program g(%v: f64[]) {
    %s: f64[] = sin(%v)
    return %s
  } jvp=program d(%v: f64[], %t: f64[]) {
    %s: f64[] = sin(%v)
    %three: f64[] = constant 3.0
    %u: f64[] = mul(%three, %t)
    return %s, %u
  }
  return %y
})");
  EXPECT_NEAR(r.RunEverywhere(f, {{0.5}})[0][0], std::sin(0.5), 1e-12);
  EXPECT_EQ(r.RunEverywhere(r.Grad(f), {{0.5}})[0][0], 3.0);
  ExpectNear(r.RunEverywhere(r.Vmap(r.Grad(f), {0}, {0}, 2), {{0.5, 0.7}})[0], {3, 3}, 0);
  ExpectNear(r.RunEverywhere(r.Grad(r.Parse(R"(
program sum(%x: f64[2]) {
  %y: f64[2] = vmap(%x) size=2 in_axes=[0] out_axes=[0] body=program g(%v: f64[]) {
    %c: f64[] = custom_jvp(%v) call=program h(%v: f64[]) { %s: f64[] = sin(%v)
      return %s } jvp=program d(%v: f64[], %t: f64[]) { %s: f64[] = sin(%v)
      return %s, %t }
    return %c
  }
  %s: f64[] = reduce_sum(%y) axes=[0]
  return %s
})")),
                             {{0.5, 0.7}})[0],
             {1, 1}, 0);
}

TEST_F(ControlRules, CustomVjpHasAReverseModeOnly) {
  const Program f = r.Parse(R"(
program f(%x: f64[], %y: f64[]) {
  %z: f64[] = custom_vjp(%x, %y) call=program g(%a: f64[], %b: f64[]) {
    %m: f64[] = mul(%a, %b)
    return %m
  } fwd=program fwd(%a: f64[], %b: f64[]) {
    %m: f64[] = mul(%a, %b)
    return %m, %a, %b
  } bwd=program bwd(%a: f64[], %b: f64[], %ct: f64[]) {
    %ten: f64[] = constant 10.0
    %da: f64[] = mul(%ct, %b)
    %db: f64[] = mul(%ct, %a)
    %db10: f64[] = mul(%db, %ten)
    return %da, %db10
  }
  return %z
})");
  const auto gradient = r.RunEverywhere(r.Grad(f, {0, 1}), {{2}, {5}});
  EXPECT_EQ(gradient[0][0], 5);
  EXPECT_EQ(gradient[1][0], 20);
  const auto batched = r.RunEverywhere(r.Vmap(r.Grad(f, {0, 1}), {0, -1}, {0, 0}, 2), {{2, 3}, {5}});
  ExpectNear(batched[0], {5, 5}, 0);
  ExpectNear(batched[1], {20, 30}, 0);
}

TEST_F(ControlRules, CustomLinearSolveOfFourPrograms) {
  const Program matvec = r.Parse("program a(%d: f64[], %x: f64[]) { %y: f64[] = mul(%d, %x) return %y }");
  const Program solve = r.Parse("program s(%r: f64[], %b: f64[]) { %x: f64[] = mul(%r, %b) return %x }");
  const Program wrong = r.Parse("program w() { return }");
  const auto made = [&](const Program& vecmat, const Program& transpose_solve) {
    ricci_program* out = nullptr;
    EXPECT_TRUE(Ok(ricci_custom_linear_solve(matvec.get(), vecmat.get(), solve.get(), transpose_solve.get(), &out)));
    return Program(out);
  };
  // x = b / d, given d and 1 / d: the derivative with respect to the reciprocal, a constant of the solver, is zero.
  const Program both = made(matvec, solve);
  EXPECT_EQ(r.RunEverywhere(both, {{4}, {4}, {0.25}, {0.25}, {2}})[0][0], 0.5);
  const auto gradient = r.RunEverywhere(r.Grad(both, {0, 2, 4}), {{4}, {4}, {0.25}, {0.25}, {2}});
  EXPECT_EQ(gradient[0][0], -0.125);
  EXPECT_EQ(gradient[1][0], 0);
  EXPECT_EQ(gradient[2][0], 0.25);
  EXPECT_EQ(r.RunEverywhere(made({}, {}), {{4}, {0.25}, {2}})[0][0], 0.5);
  ricci_program* out = nullptr;
  ricci_status* s = ricci_custom_linear_solve(matvec.get(), nullptr, wrong.get(), nullptr, &out);
  EXPECT_EQ(ricci_status_code(s), uint32_t{RICCI_INVALID_ARGUMENT});
  EXPECT_EQ(out, nullptr);
  ricci_status_free(s);
}

TEST_F(ControlRules, ErrorsNameThePrimitiveAndBothTypes) {
  EXPECT_EQ(r.ParseError("program f(%x: f64[3]) {\n  %y: f64[3] = scan(%x) length=2 num_consts=0 num_carry=1 "
                         "body=program b(%c: f64[]) { return %c }\n  return %y\n}"),
            "test:2: scan: body parameter 0 is f64[], not f64[3]");
  EXPECT_EQ(r.ParseError("program f(%i: i64[]) {\n  cond(%i) branches=[program b() { return }]\n  return\n}"),
            "test:2: cond: the index is i64[], not i32[]");
}

}  // namespace
}  // namespace ricci::testing
