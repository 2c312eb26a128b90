// jax.numpy.linalg: eigenvalues, singular values, pseudo-inverses, ranks and norms of matrices.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

class Spectrum : public BindingTest {
 protected:
  Array Symmetric() { return Mat(3, 3, {2, 1, 0, 1, 2, 0, 0, 0, 5}); }  // eigenvalues 1, 3, 5
  Array Wide() { return Mat(2, 3, {3, 0, 0, 0, 0, -4}); }
};

TEST_F(Spectrum, Eigh) {
  const auto both = [](Value a) { return linalg::eigh(a); };
  const auto image = [both](Value a) {
    const auto [w, v] = both(a);
    return matmul(v * w, swapaxes(v, -1, -2));
  };
  ExpectClose(jit(image)(Symmetric()), {2, 1, 0, 1, 2, 0, 0, 0, 5}, 1e-5f);
  ExpectClose(jit(linalg::eigvalsh)(Symmetric()), {1, 3, 5}, 1e-5f);
  // The symmetric part of what is given.
  ExpectClose(jit(linalg::eigvalsh)(Mat(2, 2, {1, 4, 0, 1})), {-1, 3}, 1e-5f);
  // The gradient of the largest eigenvalue is v v^T.
  ExpectClose(grad([](Value a) { return linalg::eigvalsh(a)[2]; })(Symmetric()), {0, 0, 0, 0, 0, 0, 0, 0, 1}, 1e-5f);
  ExpectClose(grad([](Value a) { return linalg::eigvalsh(a)[1]; })(Symmetric()),
              {0.5f, 0.5f, 0, 0.5f, 0.5f, 0, 0, 0, 0}, 1e-5f);
  const Array two = Array(ctx, Floats{2, 1, 1, 2, 0, 3, 3, 0}, {2, 2, 2});
  ExpectClose(vmap(linalg::eigvalsh)(two), {1, 3, -3, 3}, 1e-5f);
  ExpectClose(jit(linalg::eigvalsh)(two), {1, 3, -3, 3}, 1e-5f);
}

TEST_F(Spectrum, Eig) {
  const Array turn = Mat(2, 2, {1, 2, -2, 1});  // 1 + 2i, 1 - 2i
  ExpectClose(jit([](Value a) { return real(linalg::eigvals(a)); })(turn), {1, 1}, 1e-5f);
  ExpectClose(jit([](Value a) { return imag(linalg::eigvals(a)); })(turn), {2, -2}, 1e-5f);
  const auto residual = [](Value a) {
    const auto [w, v] = linalg::eig(a);
    return abs(matmul(a, v) - v * w);
  };
  ExpectClose(jit(residual)(Mat(3, 3, {1, 2, 3, 4, 5, 6, 7, 8, -9})), Floats(9, 0), 1e-5f);
  // The gradient of the sum of the eigenvalues is an identity.
  ExpectClose(grad([](Value a) { return sum(real(linalg::eigvals(a))); })(turn), {1, 0, 0, 1}, 1e-5f);
}

TEST_F(Spectrum, Svd) {
  ExpectClose(jit(linalg::svdvals)(Wide()), {4, 3}, 1e-5f);
  const auto image = [](Value a) {
    const auto [u, s, vh] = linalg::svd(a, /*full_matrices=*/false);
    return matmul(u * s, vh);
  };
  ExpectClose(jit(image)(Wide()), {3, 0, 0, 0, 0, -4}, 1e-5f);
  const auto product = [](Value a) {
    const auto [u, s, vh] = linalg::svd(a);
    return matmul(vh, swapaxes(vh, -1, -2));
  };
  ExpectClose(jit(product)(Wide()), {1, 0, 0, 0, 1, 0, 0, 0, 1}, 1e-5f);
  ExpectClose(grad([](Value a) { return sum(linalg::svdvals(a)); })(Wide()), {1, 0, 0, 0, 0, -1}, 1e-5f);
}

TEST_F(Spectrum, PseudoInverse) {
  const auto pinv = [](Value a) { return linalg::pinv(a); };
  ExpectClose(jit(pinv)(Wide()), {1.0f / 3, 0, 0, 0, 0, -0.25f}, 1e-5f);
  ExpectClose(jit(pinv)(Mat(2, 2, {1, 1, 1, 1})), Floats(4, 0.25f), 1e-5f);
  ExpectClose(jit([](Value a) { return linalg::pinv(a, 0.9); })(Wide()), {0, 0, 0, 0, 0, -0.25f}, 1e-5f);
  // Of a matrix that has an inverse, p, the gradient of the sum of p is -p^T 1 1^T p^T.
  const Array a = Mat(2, 2, {2, 1, 1, 3});
  const auto expected = [](Value a) {
    const Value p = linalg::inv(a);
    return -outer(sum(p, 0), sum(p, 1));
  };
  const Floats wanted = jit(expected)(a).to_vector<float>();
  ExpectClose(grad([](Value a) { return sum(linalg::pinv(a)); })(a), wanted, 1e-4f);
  const auto length = [](Value a) { return sum(square(linalg::pinv(a))); };
  const Array tall = Mat(3, 2, {1, 2, 0, 3, -1, 1});
  const Floats slope = grad(length)(tall).to_vector<float>();
  for (size_t i = 0; i < 6; ++i) {
    Floats up = tall.to_vector<float>(), down = up;
    up[i] += 1e-2f, down[i] -= 1e-2f;
    const float difference = jit(length)(Mat(3, 2, up)).item<float>() - jit(length)(Mat(3, 2, down)).item<float>();
    EXPECT_NEAR(slope[i], difference / 2e-2f, 1e-3f);
  }
  EXPECT_EQ(jit(pinv)(Array(ctx, Floats{}, {0, 3})).shape()[0], 3);
}

TEST_F(Spectrum, Ranks) {
  const auto rank = [](Value a) { return linalg::matrix_rank(a); };
  EXPECT_EQ(jit(rank)(Mat(2, 2, {1, 1, 1, 1})).item<int32_t>(), 1);
  EXPECT_EQ(jit(rank)(Wide()).item<int32_t>(), 2);
  EXPECT_EQ(jit(rank)(Mat(2, 2, {0, 0, 0, 0})).item<int32_t>(), 0);
  EXPECT_EQ(jit(rank)(Vec({0, 2})).item<int32_t>(), 1);
  EXPECT_EQ(jit([](Value a) { return linalg::matrix_rank(a, 3.5); })(Wide()).item<int32_t>(), 1);
}

TEST_F(Spectrum, Norms) {
  const auto by_name = [](const char* ord) { return [ord](Value a) { return linalg::matrix_norm(a, ord); }; };
  const auto by_number = [](double ord) { return [ord](Value a) { return linalg::matrix_norm(a, ord); }; };
  const Array a = Mat(2, 2, {1, -2, 3, 4});
  ExpectClose(jit([](Value a) { return linalg::matrix_norm(a); })(a), {std::sqrt(30.0f)}, 1e-5f);
  ExpectClose(jit(by_name("nuc"))(Wide()), {7}, 1e-5f);
  ExpectClose(jit(by_number(2))(Wide()), {4}, 1e-5f);
  ExpectClose(jit(by_number(-2))(Wide()), {3}, 1e-5f);
  ExpectClose(jit(by_number(1))(a), {6}, 1e-5f);
  ExpectClose(jit(by_number(-1))(a), {4}, 1e-5f);
  ExpectClose(jit(by_number(INFINITY))(a), {7}, 1e-5f);
  ExpectClose(jit(by_number(-INFINITY))(a), {3}, 1e-5f);
  ExpectClose(grad(by_number(2))(Wide()), {0, 0, 0, 0, 0, -1}, 1e-5f);
}

TEST_F(Spectrum, SaysWhatIsWrong) {
  EXPECT_ERROR_HERE(jit([](Value a) { return linalg::eigvalsh(a); })(Wide()),
                    "eigvalsh: operand is f32[2,3]; its last two dimensions must be those of a square matrix");
  EXPECT_ERROR_HERE(jit([](Value a) { return linalg::svdvals(a); })(Vec({1, 2})),
                    "svdvals: operand is f32[2]; its last two dimensions must be those of a matrix");
  EXPECT_ERROR_HERE(jit([](Value a) { return linalg::matrix_norm(a, 3); })(Wide()),
                    "matrix_norm: order is 3.000000; it must be 1, -1, 2, -2, inf, -inf, fro or nuc");
  EXPECT_ERROR_HERE(jit([](Value a) { return linalg::matrix_norm(a, "two"); })(Wide()),
                    "matrix_norm: order is `two`; it must be fro, nuc or a number");
}

}}  // namespace ricci::testing
