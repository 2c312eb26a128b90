// Wrong operands and attributes of the rows of linear algebra, with the exact message.
#include "lax/wrong_operands.h"

namespace ricci::testing { namespace {

std::vector<Wrong> Matrices() {
  const auto solve = [](const Values& in) { return One(lax::linalg::triangular_solve(in[0], in[1])); };
  return {
      {{{kF32, {2, 3}}},
       [](const Values& in) { return One(lax::linalg::cholesky(in[0])); },
       "cholesky: operand 0 is f32[2,3]; its last two dimensions must be those of a square matrix"},
      {{{kF32, {3}}},
       [](const Values& in) { return One(lax::linalg::cholesky(in[0])); },
       "cholesky: operand 0 is f32[3]; its last two dimensions must be those of a square matrix"},
      {{{kI32, {3, 3}}},
       [](const Values& in) { return One(lax::linalg::cholesky(in[0])); },
       "cholesky: operand 0 is i32[3,3]; it takes complex, f16, bf16, f32 and f64 dtypes"},
      {{{kF32, {2, 3, 3}}, {kF32, {3, 3}}},
       solve,
       "triangular_solve: operands are f32[2,3,3] and f32[3,3]; they must have one dtype and the same dimensions "
       "before "
       "the last two"},
      {{{kF32, {3, 3}}, {kF32, {3, 2}}},
       solve,
       "triangular_solve: operands are f32[3,3] and f32[3,2]; with left_side=false the matrices of b have 3 columns, "
       "not 2"},
      {{{kF32, {3}}},
       [](const Values& in) { return One(lax::linalg::lu(in[0]).lu); },
       "lu: operand 0 is f32[3]; its last two dimensions must be those of a matrix"},
      {{{kI32, {3, 3}}},
       [](const Values& in) { return One(lax::linalg::lu(in[0]).lu); },
       "lu: operand 0 is i32[3,3]; it takes complex, f16, bf16, f32 and f64 dtypes"},
      {{{kF32, {int64_t{1} << 32, 0}}},
       [](const Values& in) { return One(lax::linalg::lu(in[0]).lu); },
       "lu: dimension 0 of f32[4294967296,0] is too large for indices of i32"},
      {{{DType::kI64, {3}}},
       [](const Values& in) { return One(lax::linalg::lu_pivots_to_permutation(in[0], 3)); },
       "lu_pivots_to_permutation: operand 0 is i64[3]; it takes lists of i32"},
      {{{kI32, {}}},
       [](const Values& in) { return One(lax::linalg::lu_pivots_to_permutation(in[0], 3)); },
       "lu_pivots_to_permutation: operand 0 is i32[]; it takes lists of i32"},
      {{{kI32, {2, 3}}},
       [](const Values& in) { return One(lax::linalg::lu_pivots_to_permutation(in[0], 2)); },
       "lu_pivots_to_permutation: permutation_size 2 must be at least 3, the last dimension of i32[2,3], and at most "
       "2147483648"},
  };
}

std::vector<Wrong> Eigenvalues() {
  const auto eigh = [](const Values& in) { return One(lax::linalg::eigh(in[0]).w); };
  const auto eig = [](const Values& in) { return lax::linalg::eig(in[0]); };
  const auto schur = [](const Values& in) { return lax::linalg::schur(in[0]); };
  const auto values = [](const Values& in) { return One(lax::linalg::svdvals(in[0])); };
  const auto hessenberg = [](const Values& in) { return One(lax::linalg::hessenberg(in[0]).a); };
  const auto tridiagonal = [](const Values& in) { return One(lax::linalg::tridiagonal(in[0]).a); };
  return {
      {{{kF32, {2, 3}}}, eigh, "eigh: operand 0 is f32[2,3]; its last two dimensions must be those of a square matrix"},
      {{{kF16, {3, 3}}}, eigh, "eigh: operand 0 is f16[3,3]; it takes complex, f32 and f64 dtypes"},
      {{{kC64, {3, 2}}}, eig, "eig: operand 0 is c64[3,2]; its last two dimensions must be those of a square matrix"},
      {{{kI32, {3, 3}}}, eig, "eig: operand 0 is i32[3,3]; it takes complex, f32 and f64 dtypes"},
      {{{kF64, {3}}}, schur, "schur: operand 0 is f64[3]; its last two dimensions must be those of a square matrix"},
      {{{kF32, {3}}}, values, "svd: operand 0 is f32[3]; its last two dimensions must be those of a matrix"},
      {{{kBool, {3, 3}}}, values, "svd: operand 0 is bool[3,3]; it takes complex, f32 and f64 dtypes"},
      {{{kF32, {3, 3}}},
       [](const Values& in) { return One(lax::linalg::svd(in[0], {.algorithm = "polar"}).s); },
       "svd: algorithm is `polar`; it must be default, QR, divide_and_conquer or Jacobi"},
      {{{kF32, {0, 0}}}, hessenberg, "hessenberg: operand 0 is f32[0,0]; its matrices must have at least one row"},
      {{{kF32, {2, 0, 0}}},
       tridiagonal,
       "tridiagonal: operand 0 is f32[2,0,0]; its matrices must have at least one row"},
      {{{kF32, {4, 5}}},
       tridiagonal,
       "tridiagonal: operand 0 is f32[4,5]; its last two dimensions must be those of a square matrix"},
  };
}

std::vector<Wrong> Reflectors() {
  const auto product = [](const Values& in) { return One(lax::linalg::householder_product(in[0], in[1])); };
  const auto multiply = [](const Values& in) { return One(lax::linalg::ormqr(in[0], in[1], in[2])); };
  const auto pivots = [](const Values& in) { return One(lax::linalg::geqp3(in[0], in[1]).a); };
  return {
      {{{kI32, {3, 3}}},
       [](const Values& in) { return One(lax::linalg::qr(in[0])[0]); },
       "qr: operand 0 is i32[3,3]; it takes complex, f16, bf16, f32 and f64 dtypes"},
      {{{kF32, {3}}},
       [](const Values& in) { return One(lax::linalg::geqrf(in[0]).a); },
       "geqrf: operand 0 is f32[3]; its last two dimensions must be those of a matrix"},
      {{{kF32, {2, 3}}, {kI32, {2}}},
       pivots,
       "geqp3: operand 1 is i32[2]; it must be i32[3], a number for each column of f32[2,3]"},
      {{{kF32, {0, int64_t{1} << 31}}, {kI32, {1}}},
       pivots,
       "geqp3: dimension 1 of f32[0,2147483648] is too large for indices of i32"},
      {{{kF32, {0, int64_t{1} << 31}}},
       [](const Values& in) { return One(lax::linalg::qr(in[0], /*pivoting=*/true)[0]); },
       "qr: dimension 1 of f32[0,2147483648] is too large for indices of i32"},
      {{{kF32, {2, 3}}, {kF32, {2}}},
       product,
       "householder_product: operand 0 is f32[2,3]; its matrices must have at least as many rows as columns"},
      {{{kF32, {3, 2}}, {kF32, {3}}},
       product,
       "householder_product: operand 0 is f32[3,2]; it cannot have 3 reflectors, the last dimension of f32[3]"},
      {{{kF32, {3, 2}}, {kF64, {2}}},
       product,
       "householder_product: operands 0 and 1 are f32[3,2] and f64[2]; they must have one dtype and 2 and 1 dimensions "
       "after the same batch"},
      {{{kF32, {3, 2}}, {kF32, {3}}, {kF32, {3, 1}}},
       multiply,
       "ormqr: operand 0 is f32[3,2]; it cannot have 3 reflectors, the last dimension of f32[3]"},
      {{{kF32, {3, 2}}, {kF32, {2}}, {kF32, {2, 3}}},
       multiply,
       "ormqr: operands 0 and 2 are f32[3,2] and f32[2,3]; with left=true the matrices of c have 3 rows, not 2"},
  };
}

std::vector<Wrong> Updates() {
  const auto solve = [](const Values& in) { return One(lax::linalg::tridiagonal_solve(in[0], in[1], in[2], in[3])); };
  return {
      {{{kI32, {3}}, {kI32, {3}}, {kI32, {3}}, {kI32, {3, 1}}},
       solve,
       "tridiagonal_solve: operand 0 is i32[3]; it takes complex, f16, bf16, f32 and f64 dtypes"},
      {{{kF32, {}}, {kF32, {}}, {kF32, {}}, {kF32, {1}}},
       solve,
       "tridiagonal_solve: operand 0 is f32[]; its last dimension must be that of a diagonal"},
      {{{kF32, {3}}, {kF32, {3}}, {kF32, {2}}, {kF32, {3, 1}}},
       solve,
       "tridiagonal_solve: operands 0 and 2 are f32[3] and f32[2]; diagonals must have one type"},
      {{{kF32, {3}}, {kF32, {3}}, {kF32, {3}}, {kF32, {3}}},
       solve,
       "tridiagonal_solve: operands 0 and 3 are f32[3] and f32[3]; b must have their dtype and dimensions, then its "
       "columns"},
      {{{kF32, {3, 3}}, {kF32, {2}}},
       [](const Values& in) { return One(lax::linalg::cholesky_update(in[0], in[1])); },
       "cholesky_update: operands are f32[3,3] and f32[2]; w must have 3 elements, one for each row of r"},
      {{{kF32, {3, 2}}, {kF32, {2, 2}}},
       [](const Values& in) { return One(lax::linalg::symmetric_product(in[0], in[1])); },
       "symmetric_product: operands are f32[3,2] and f32[2,2]; the matrices of c must have 3 rows and columns"},
  };
}

TEST(LinalgErrors, Matrices) { ExpectMessages(Matrices()); }
TEST(LinalgErrors, Eigenvalues) { ExpectMessages(Eigenvalues()); }
TEST(LinalgErrors, Reflectors) { ExpectMessages(Reflectors()); }
TEST(LinalgErrors, Updates) { ExpectMessages(Updates()); }

// Vectors whose derivative does not exist, or was not asked for.
TEST(LinalgErrors, NoDerivativeOfVectors) {
  const Bench bench;
  const auto message = [&](const Shape& shape, const Function& f) {
    const auto program = bench.Trace({bench.Type(kF64, shape)}, f);
    const uint8_t active[] = {1};
    ricci_program* jvp = nullptr;
    ricci_status* s = ricci_jvp(program.get(), active, 1, &jvp);
    EXPECT_EQ(ricci_status_code(s), uint32_t{RICCI_UNIMPLEMENTED});
    ricci_str text;
    ricci_status_message(s, &text);
    const std::string out(text.ptr, text.len);
    ricci_status_free(s);
    ricci_program_release(jvp);
    return out;
  };
  EXPECT_EQ(message({3, 2}, [](const Values& in) { return One(lax::linalg::svd(in[0]).u); }),
            "svd: with full_matrices the vectors of f64[3,2] have no derivative, because its matrices are not square");
  EXPECT_EQ(message({2, 2}, [](const Values& in) { return One(lax::linalg::eig(in[0])[1]); }),
            "eig: eigenvectors have derivatives only if all eigenvalues are distinct and no vector has two largest "
            "elements, which is not checked; enable_eigvec_derivs=true asks for them");
}

}  // namespace
}  // namespace ricci::testing
