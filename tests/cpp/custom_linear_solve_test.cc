// custom_linear_solve: solvers of any kind, derivatives at the solution, trees, and its messages for wrong parts.
#include "binding_fixture.h"
#include "ricci/lax.hpp"

namespace ricci::testing { namespace {

using CustomLinearSolve = BindingTest;
using lax::custom_linear_solve;

// Conjugate gradients, with a loop that has no reverse mode.
constexpr auto kConjugateGradients = [](const auto& matvec, Value b) {
  using State = std::vector<Value>;
  const auto step = [&](const State& s) {
    const Value q = matvec(s[2]), alpha = s[3] / sum(s[2] * q);
    const Value r = s[1] - alpha * q, rr = sum(r * r);
    return State{s[0] + alpha * s[2], r, r + rr / s[3] * s[2], rr};
  };
  return while_loop([](const State& s) { return s[3] > 1e-13; }, step, State{zeros_like(b), b, b, sum(b * b)})[0];
};

Value Solved(Value a, Value b) {
  return custom_linear_solve([&](Value x) { return matmul(a, x); }, b, kConjugateGradients, {.symmetric = true});
}
Value SumOfSolved(Value a, Value b) { return sum(Solved(a, b)); }

// The inverse of [4 1; 1 3] is [3 -1; -1 4] / 11, so x = [1 7] / 11. The gradient of the sum of x with respect to b is
// y = A^-1 [1 1] = [2 3] / 11, that with respect to A is -y x^T.
TEST_F(CustomLinearSolve, LoopsInTheSolverNeedNoReverseMode) {
  const Array a = Mat(2, 2, {4, 1, 1, 3}), b = Vec({1, 2});
  ExpectClose(jit(Solved)(a, b), {1.0f / 11, 7.0f / 11}, 1e-5f);
  const auto [da, db] = grad<0, 1>(SumOfSolved)(a, b);
  ExpectClose(da, {-2.0f / 121, -14.0f / 121, -3.0f / 121, -21.0f / 121}, 1e-5f);
  ExpectClose(db, {2.0f / 11, 3.0f / 11}, 1e-5f);
  ExpectClose(jvp(SumOfSolved, std::tuple(a, b), std::tuple(a, b)).second, {0}, 1e-5f);
}

TEST_F(CustomLinearSolve, UnderVmap) {
  const Array a = Mat(2, 2, {4, 1, 1, 3}), rows = Mat(2, 2, {1, 2, 11, 0});
  ExpectClose(vmap(Solved, {kUnbatched, 0})(a, rows), {1.0f / 11, 7.0f / 11, 3, -1}, 1e-5f);
  ExpectClose(vmap(grad<1>(SumOfSolved), {kUnbatched, 0})(a, rows), {2.0f / 11, 3.0f / 11, 2.0f / 11, 3.0f / 11},
              1e-5f);
  const Array scaled = Array(ctx, Floats{4, 1, 1, 3, 8, 2, 2, 6}, {2, 2, 2});
  ExpectClose(vmap(Solved, {0, kUnbatched})(scaled, Vec({1, 2})), {1.0f / 11, 7.0f / 11, 0.5f / 11, 3.5f / 11}, 1e-5f);
}

// A is not symmetric, so reverse mode needs the other solver.
Value SolvedByTriangle(Value a, Value b) {
  const auto solve = [&](bool transposed) {
    return [=](const auto&, Value v) {
      const Value x =
          lax::linalg::triangular_solve(a, reshape(v, {2, 1}), {.left_side = true, .transpose_a = transposed});
      return reshape(x, {2});
    };
  };
  return custom_linear_solve([&](Value x) { return matmul(a, x); }, b, solve(false), solve(true));
}

TEST_F(CustomLinearSolve, TransposeSolve) {
  const Array a = Mat(2, 2, {2, 1, 0, 4}), b = Vec({3, 8});
  const auto f = [](Value a, Value b) { return sum(SolvedByTriangle(a, b)); };
  ExpectClose(jit(SolvedByTriangle)(a, b), {0.5f, 2});
  const auto [da, db] = grad<0, 1>(f)(a, b);
  ExpectClose(db, {0.5f, 0.125f});
  ExpectClose(da, {-0.25f, -1, -0.0625f, -0.25f});
  ExpectClose(grad<1>([&](Value a, Value b) { return sum(grad<1>(f)(a, b) * b); })(a, b), {0.5f, 0.125f});
}

// The solver may ask for A^T, which is made of matvec.
TEST_F(CustomLinearSolve, TreesAndTheTransposedMap) {
  using Pair = Weights<Value>;
  const auto f = [](Value d, const Pair& right) {
    const auto matvec = [&](const Pair& v) { return Pair{d * v.w + v.b, d * v.b}; };
    const auto solve = [&](const auto&, const Pair& v) {
      const Value y = v.b / d;
      return Pair{(v.w - y) / d, y};
    };
    // One step of an iteration that ends at once: x + D^-1 (c - A^T x) for the exact x.
    const auto transpose_solve = [&](const auto& vecmat, const Pair& c) {
      const Value x = c.w / d;
      const Pair y{x, (c.b - x) / d}, image = vecmat(y);
      return Pair{y.w + (c.w - image.w) / d, y.b + (c.b - image.b) / d};
    };
    const Pair x = custom_linear_solve(matvec, right, solve, transpose_solve);
    return x.w + x.b * 3;
  };
  const auto [dd, dr] = grad<0, 1>(f)(Num(2), Weights<Array>{Num(6), Num(4)});
  ExpectClose(dr.w, {0.5f});
  ExpectClose(dr.b, {1.25f});
  ExpectClose(dd, {-3.5f});
}

// x = b / d by a solver that also says how large b was, and how many steps it took. Only x has a derivative.
TEST_F(CustomLinearSolve, SolverGivesMore) {
  const auto f = [](Value d, Value b) {
    const auto solve = [&](const auto& matvec, Value v) {
      return std::pair(v / d, Weights<Value>{matvec(v), sum(v * v)});
    };
    return custom_linear_solve([&](Value x) { return d * x; }, b, solve, {.symmetric = true});
  };
  const auto [x, more] = jit(f)(Vec({2, 4}), Vec({6, 8}));
  ExpectClose(x, {3, 2});
  ExpectClose(more.w, {12, 32});
  ExpectClose(more.b, {100});
  const auto loss = [&](Value d, Value b) {
    const auto [x, more] = f(d, b);
    return sum(x) * more.b;
  };
  const auto [dd, db] = grad<0, 1>(loss)(Vec({2, 4}), Vec({6, 8}));
  ExpectClose(db, {50, 25}, 1e-5f);
  ExpectClose(dd, {-150, -50}, 1e-5f);
  const auto [rows, of_rows] = vmap(f, {kUnbatched, 0})(Vec({2, 4}), Mat(2, 2, {6, 8, 2, 0}));
  ExpectClose(rows, {3, 2, 1, 0});
  ExpectClose(of_rows.b, {100, 4});
}

TEST_F(CustomLinearSolve, OfIntegers) {
  const auto f = [](Value b) {
    return custom_linear_solve([](Value x) { return -x; }, b, [](const auto&, Value v) { return -v; });
  };
  EXPECT_EQ(jit(f)(Array(ctx, {3, -4})).to_vector<int32_t>(), (std::vector<int32_t>{-3, 4}));
}

TEST_F(CustomLinearSolve, SaysWhatIsWrong) {
  const auto same = [](const auto&, Value v) { return v; };
  EXPECT_ERROR_HERE(
      grad([&](Value b) { return sum(custom_linear_solve([](Value x) { return x * 2; }, b, same)); })(Vec({1, 2})),
      "custom_linear_solve: reverse mode needs vecmat and transpose_solve, which were not given");
  EXPECT_ERROR_HERE(
      jit([&](Value b) { return custom_linear_solve([](Value x) { return sum(x); }, b, same); })(Vec({1})),
      "custom_linear_solve: matvec gives f32[] as array 0; that of b is f32[1]");
  EXPECT_ERROR_HERE(jit([&](Value b) {
                      return custom_linear_solve([](Value x) { return x; }, b,
                                                 [](const auto&, Value v) { return astype(v, DType::kF64); });
                    })(Vec({1})),
                    "custom_linear_solve: solve gives f64[1] as array 0; that of b is f32[1]");
}

}  // namespace
}  // namespace ricci::testing
