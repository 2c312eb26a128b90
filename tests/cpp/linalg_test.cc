// jax.numpy.linalg: solutions, inverses, determinants, their derivatives, batches and errors.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

class LinearAlgebra : public BindingTest {
 protected:
  // Rows must be swapped; the determinant is -24.
  Array Four() { return Mat(4, 4, {0, 2, 0, 1, 0, 0, 3, 0, -1, 1, 0, 0, 0, 0, 1, 4}); }
};

TEST_F(LinearAlgebra, Solve) {
  const auto image = [](Value a, Value b) { return matmul(a, linalg::solve(a, b)); };
  ExpectClose(jit(image)(Four(), Vec({1, 2, 3, 4})), {1, 2, 3, 4}, 1e-5f);
  ExpectClose(jit(linalg::solve)(Mat(2, 2, {4, 1, 1, 3}), Mat(2, 2, {11, 22, 0, 11})), {3, 5, -1, 2}, 1e-5f);
  // Integers become floats.
  ExpectClose(
      jit([](Value a) { return linalg::solve(a, 1.0 + zeros_like(a[0])); })(Array(ctx, Ints{2, 0, 0, 4}, {2, 2})),
      {0.5f, 0.25f});
}

TEST_F(LinearAlgebra, BatchesBroadcast) {
  const Array a = Array(ctx, Floats{4, 1, 1, 3, 2, 0, 0, 4}, {2, 2, 2});
  ExpectClose(jit(linalg::solve)(a, Vec({11, 22})), {1, 7, 5.5f, 5.5f}, 1e-5f);
  ExpectClose(jit(linalg::solve)(a, Mat(2, 1, {11, 22})), {1, 7, 5.5f, 5.5f}, 1e-5f);
  ExpectClose(vmap(linalg::solve)(a, Mat(2, 2, {11, 22, 2, 4})), {1, 7, 1, 1}, 1e-5f);
  ExpectClose(jit(linalg::det)(a), {11, 8}, 1e-5f);
  ExpectClose(jit(linalg::inv)(a), {3.0f / 11, -1.0f / 11, -1.0f / 11, 4.0f / 11, 0.5f, 0, 0, 0.25f}, 1e-5f);
}

// The gradient of the sum of x with respect to b is a^-T [1 ... 1] = y, with respect to a it is -y x^T.
TEST_F(LinearAlgebra, GradientsOfSolve) {
  const auto f = [](Value a, Value b) { return sum(linalg::solve(a, b)); };
  const auto expected = [](Value a, Value b) {
    const Value inverse = linalg::inv(a), y = sum(inverse, 0);
    return std::pair(-outer(y, matmul(inverse, b)), y);
  };
  const Array a = Four(), b = Vec({1, -2, 3, 0.5f});
  const auto [da, db] = grad<0, 1>(f)(a, b);
  const auto [want_a, want_b] = jit(expected)(a, b);
  ExpectClose(da, want_a.to_vector<float>(), 1e-5f);
  ExpectClose(db, want_b.to_vector<float>(), 1e-5f);
  Floats twice = want_b.to_vector<float>();
  twice.insert(twice.end(), twice.begin(), twice.begin() + 4);
  ExpectClose(vmap(grad<1>(f), {kUnbatched, 0})(a, Count({2, 4})), twice, 1e-5f);
}

TEST_F(LinearAlgebra, Determinants) {
  const auto sign = [](Value a) { return linalg::slogdet(a).sign; };
  const auto log = [](Value a) { return linalg::slogdet(a).logabsdet; };
  for (const auto& [a, d] : {std::pair(Mat(1, 1, {-3}), -3.0f), std::pair(Mat(2, 2, {0, 2, 3, 1}), -6.0f),
                             std::pair(Mat(3, 3, {0, 2, 0, 0, 0, 3, 4, 5, 6}), 24.0f), std::pair(Four(), -24.0f)}) {
    ExpectClose(jit(linalg::det)(a), {d}, 1e-5f);
    ExpectClose(jit(sign)(a), {d < 0 ? -1.0f : 1.0f});
    ExpectClose(jit(log)(a), {std::log(std::fabs(d))}, 1e-5f);
    const Floats inverse = jit([](Value m) { return swapaxes(linalg::inv(m), -1, -2); })(a).to_vector<float>();
    ExpectClose(grad(log)(a), inverse, 1e-5f);
    Floats scaled = inverse;
    for (float& v : scaled) v *= d;
    ExpectClose(grad(linalg::det)(a), scaled, 1e-5f);
  }
  ExpectClose(jit(linalg::det)(Mat(4, 4, Floats(16, 1))), {0});
  ExpectClose(jit(sign)(Mat(4, 4, Floats(16, 1))), {0});
  EXPECT_EQ(jit(log)(Mat(4, 4, Floats(16, 1))).item<float>(), -INFINITY);
}

// The cofactors, which are finite for singular matrices too. The first has rank 3, the second 1; numbers are JAX's.
TEST_F(LinearAlgebra, DeterminantsOfSingularMatricesHaveGradients) {
  const Array a = Mat(4, 4, {1, 2, 3, 4, 2, 1, 0, 1, 0, 1, 3, 2, 3, 3, 3, 5}), ones = Mat(4, 4, Floats(16, 1));
  const Floats cofactors = {3, -9, 1, 3, 3, -9, 1, 3, 0, 0, 0, 0, -3, 9, -1, -3};
  ExpectClose(grad(linalg::det)(a), cofactors, 1e-4f);
  ExpectClose(grad(linalg::det)(ones), Floats(16, 0));
  const Array invertible = Mat(4, 4, {4, 1, 2, 3, 1, 3, 0, 1, 2, 0, 5, 1, 0, 1, 1, 2});
  const Floats of_invertible = {22, -11, -11, 11, 4, 34, 2, -18, -2, 5, 21, -13, -34, -3, 5, 43};
  ExpectClose(grad(linalg::det)(invertible), of_invertible, 1e-4f);
  Floats both = a.to_vector<float>(), want = cofactors;
  const Floats second = invertible.to_vector<float>();
  both.insert(both.end(), second.begin(), second.end());
  want.insert(want.end(), of_invertible.begin(), of_invertible.end());
  ExpectClose(vmap(grad(linalg::det))(Array(ctx, both, {2, 4, 4})), want, 1e-4f);
  const auto first_row = [](Value m) { return grad(linalg::det)(m)[0][1]; };
  ExpectClose(grad(first_row)(invertible), {0, 0, 0, 0, -9, 0, 4, -2, -1, 0, -2, 1, 5, 0, -1, -5}, 1e-3f);
}

// The signs are those of LAPACK.
TEST_F(LinearAlgebra, Qr) {
  const Array a = Mat(3, 2, {3, 2, 4, 1, 0, 1});
  const auto [q, r] = jit([](Value m) {
    const linalg::QAndR f = linalg::qr(m);
    return std::pair(f.q, f.r);
  })(a);
  EXPECT_EQ(Shape(q.shape().begin(), q.shape().end()), (Shape{3, 2}));
  ExpectClose(r, {-5, -2, 0, std::sqrt(2.0f)}, 1e-5f);
  const auto product = [](Value m) {
    const linalg::QAndR f = linalg::qr(m, /*complete=*/true);
    return std::pair(matmul(f.q, f.r), matmul(swapaxes(f.q, -1, -2), f.q));
  };
  const auto [same, unit] = jit(product)(a);
  ExpectClose(same, a.to_vector<float>(), 1e-5f);
  ExpectClose(unit, {1, 0, 0, 0, 1, 0, 0, 0, 1}, 1e-5f);
  // |det r| = |det a|, and the gradient of its logarithm is the inverse.
  const auto log = [](Value m) { return linalg::slogdet(linalg::qr(m).r).logabsdet; };
  const Floats inverse = jit([](Value m) { return swapaxes(linalg::inv(m), -1, -2); })(Four()).to_vector<float>();
  ExpectClose(grad(log)(Four()), inverse, 1e-5f);
}

TEST_F(LinearAlgebra, SaysWhatIsWrong) {
  EXPECT_ERROR_HERE(jit([](Value a) { return linalg::qr(a).r; })(Vec({1, 2})),
                    "qr: operand is f32[2]; its last two dimensions must be those of a matrix");
  EXPECT_ERROR_HERE(jit([](Value a) { return linalg::inv(a); })(Mat(1, 2, {1, 2})),
                    "inv: operand is f32[1,2]; its last two dimensions must be those of a square matrix");
  EXPECT_ERROR_HERE(jit([](Value a) { return linalg::solve(a, a[0]); })(Mat(1, 2, {1, 2})),
                    "solve: operand is f32[1,2]; its last two dimensions must be those of a square matrix");
  EXPECT_ERROR_HERE(jit([](Value a, Value b) { return linalg::solve(a, b); })(Mat(2, 2, {1, 2, 3, 4}), Vec({1, 2, 3})),
                    "solve: operands are f32[2,2] and f32[3]; b must have 2 rows");
}

}  // namespace
}  // namespace ricci::testing
