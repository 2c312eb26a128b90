// Wrong operands and attributes of the rows, with the exact message.
#include <gtest/gtest.h>

#include "lax/traced_function.h"

namespace ricci::testing { namespace {

struct Wrong {
  std::vector<std::pair<DType, Shape>> inputs;
  Function f;
  std::string message;
};

constexpr DType kF16 = DType::kF16, kF32 = DType::kF32, kF64 = DType::kF64, kC64 = DType::kC64, kI32 = DType::kI32,
                kBool = DType::kBool;

Values One(Value v) { return {v}; }

std::vector<Wrong> Elementwise() {
  return {
      {{{kF32, {2, 3}}, {kF32, {3, 2}}},
       [](const Values& in) { return One(lax::add(in[0], in[1])); },
       "add: operands 0 and 1 are f32[2,3] and f32[3,2]; they must have one type"},
      {{{kF32, {2}}, {kI32, {2}}},
       [](const Values& in) { return One(lax::mul(in[0], in[1])); },
       "mul: operands 0 and 1 are f32[2] and i32[2]; they must have one type"},
      {{{kBool, {2}}, {kBool, {2}}},
       [](const Values& in) { return One(lax::add(in[0], in[1])); },
       "add: operand 0 is bool[2]; it takes integer, floating and complex dtypes"},
      {{{kF32, {2}}, {kF64, {2}}},
       [](const Values& in) { return One(lax::igamma(in[0], in[1])); },
       "igamma: operands 0 and 1 are f32[2] and f64[2]; they must have one type"},
      {{{kC64, {2}}},
       [](const Values& in) { return One(lax::bessel_i0e(in[0])); },
       "bessel_i0e: operand 0 is c64[2]; it takes floating dtypes"},
      {{{kF32, {2}}, {kF32, {2}}, {kF32, {}}},
       [](const Values& in) { return One(lax::betainc(in[0], in[1], in[2])); },
       "regularized_incomplete_beta: operands 0 and 2 are f32[2] and f32[]; they must have one type"},
      {{{kI32, {2}}},
       [](const Values& in) { return One(lax::sin(in[0])); },
       "sin: operand 0 is i32[2]; it takes floating and complex dtypes"},
      {{{DType::kU32, {2}}},
       [](const Values& in) { return One(lax::abs(in[0])); },
       "abs: operand 0 is u32[2]; it takes signed, floating and complex dtypes"},
      {{{kF32, {2}}, {kF32, {2}}},
       [](const Values& in) { return One(lax::bitwise_and(in[0], in[1])); },
       "and: operand 0 is f32[2]; it takes bool and integer dtypes"},
      {{{kF32, {2}}},
       [](const Values& in) { return One(Emit1("add", {in[0]})); },
       "add: takes 2 operands (x, y), not 1"},
      {{{kF32, {2}}, {kI32, {3}}},
       [](const Values& in) { return One(lax::pow(in[0], in[1])); },
       "pow: operands 0 and 1 are f32[2] and i32[3]; they must have one shape"},
      {{{kI32, {2}}},
       [](const Values& in) { return One(lax::integer_pow(in[0], -1)); },
       "integer_pow: exponent -1 of an integer base i32[2] must not be negative"},
      {{{kF32, {2}}},
       [](const Values& in) { return One(lax::round(in[0], 2)); },
       "round: rounding_method 2 must be 0 (away from zero) or 1 (to nearest even)"},
      {{{kF32, {2}}, {kF32, {2}}},
       [](const Values& in) {
         return One(lax::select_n(in[0], {in[0], in[1]}));
       },
       "select_n: the selector is f32[2]; it takes bool or i32"},
      {{{kBool, {3}}, {kF32, {2}}},
       [](const Values& in) {
         return One(lax::select_n(in[0], {in[1], in[1]}));
       },
       "select_n: the selector is bool[3]; it must be a scalar or have the shape of the cases, f32[2]"},
      {{{kF32, {2}}, {kF32, {3}}},
       [](const Values& in) { return One(lax::clamp(in[0], in[1], in[1])); },
       "clamp: operand 0 is f32[2]; it must have the dtype of operand 1, f32[3], and its shape or none"},
      {{{kF32, {3}}},
       [](const Values& in) { return One(lax::bitcast_convert_type(in[0], DType::kF64)); },
       "bitcast_convert_type: operand f32[3] must have a last dimension of 2 to become f64"},
  };
}

std::vector<Wrong> Structured() {
  return {
      {{{kF32, {2, 3}}, {kF32, {4, 5}}},
       [](const Values& in) {
         return One(lax::dot_general(in[0], in[1], {{1}, {0}, {}, {}}));
       },
       "dot_general: contracting sizes 3 and 4 differ; operands are f32[2,3] and f32[4,5]"},
      {{{kF32, {2, 3}}, {kF32, {3, 5}}},
       [](const Values& in) {
         return One(lax::dot_general(in[0], in[1], {{2}, {0}, {}, {}}));
       },
       "dot_general: lhs_contract [2] is out of range for operand 0 of f32[2,3]"},
      {{{kF32, {2, 3}}, {kF32, {3, 5}}},
       [](const Values& in) {
         return One(lax::dot_general(in[0], in[1], {{1}, {}, {}, {}}));
       },
       "dot_general: lhs has 1 contracting dimensions and rhs 0"},
      {{{kF32, {2}}, {DType::kF64, {2}}},
       [](const Values& in) {
         return One(lax::dot_general(in[0], in[1], {{0}, {0}, {}, {}}));
       },
       "dot_general: operands are f32[2] and f64[2]; they must have one dtype or preferred_element_type be given"},
      {{{kF32, {2, 3}}},
       [](const Values& in) { return One(lax::reduce_sum(in[0], Shape{2})); },
       "reduce_sum: axes [2] is out of range for operand 0 of f32[2,3]"},
      {{{kF32, {2, 3}}},
       [](const Values& in) {
         return One(lax::reduce_max(in[0], Shape{1, 1}));
       },
       "reduce_max: axes [1,1] names dimension 1 twice"},
      {{{kF32, {2, 0}}},
       [](const Values& in) { return One(lax::argmax(in[0], 1, kI32)); },
       "argmax: dimension 1 of f32[2,0] is empty and has no extremum"},
      {{{kF32, {2, 3}}},
       [](const Values& in) { return One(lax::cumsum(in[0], 2)); },
       "cumsum: axis 2 is out of range for f32[2,3]"},
      {{{kF32, {2, 3}}},
       [](const Values& in) { return One(lax::reshape(in[0], Shape{4})); },
       "reshape: new_sizes [4] holds 4 elements, f32[2,3] holds 6"},
      {{{kF32, {2, 3}}},
       [](const Values& in) {
         return One(lax::transpose(in[0], Shape{1, 1}));
       },
       "transpose: permutation [1,1] names dimension 1 twice"},
      {{{kF32, {2}}},
       [](const Values& in) {
         return One(lax::broadcast_in_dim(in[0], Shape{3, 4}, Shape{0}));
       },
       "broadcast_in_dim: dimension 0 of f32[2] cannot become 3 of shape [3,4]"},
      {{{kF32, {2, 3}}},
       [](const Values& in) {
         return One(lax::broadcast_in_dim(in[0], Shape{3, 2}, Shape{1, 0}));
       },
       "broadcast_in_dim: broadcast_dimensions [1,0] must increase and lie inside shape [3,2]"},
      {{{kF32, {2}}},
       [](const Values& in) { return One(lax::iota(in[0].builder, kBool, Shape{2}, 0)); },
       "iota: dtype bool must be an integer, floating or complex dtype"},
      {{{kF32, {2}}},
       [](const Values& in) { return One(Emit1("reduce_sum", {in[0]})); },
       "reduce_sum: attribute axes (ints) is missing"},
      {{{kF32, {2}}},
       [](const Values& in) { return One(Emit1("sine", {in[0]})); },
       "sine: no such primitive; add the plugin that provides it"},
  };
}

void ExpectMessages(const std::vector<Wrong>& cases) {
  const Bench bench;
  for (const Wrong& wrong : cases) {
    std::vector<ArrayType> params;
    for (const auto& [dtype, shape] : wrong.inputs) params.push_back(bench.Type(dtype, shape));
    try {
      bench.Trace(params, wrong.f);
      ADD_FAILURE() << "no error, expected: " << wrong.message;
    } catch (const Error& e) {
      EXPECT_EQ(e.message(), wrong.message);
    }
  }
}

std::vector<Wrong> ComplexNumbers() {
  const auto one = [](Value (*f)(const Value&)) { return [f](const Values& in) { return One(f(in[0])); }; };
  const auto two = [](Value (*f)(const Value&, const Value&)) {
    return [f](const Values& in) { return One(f(in[0], in[1])); };
  };
  return {
      {{{kF16, {2}}, {kF16, {2}}}, two(lax::complex), "complex: operand 0 is f16[2]; it takes f32 and f64"},
      {{{kF32, {2}}, {kF64, {2}}},
       two(lax::complex),
       "complex: operands 0 and 1 are f32[2] and f64[2]; they must have one type"},
      {{{kF32, {2}}}, one(lax::real), "real: operand 0 is f32[2]; it takes complex dtypes"},
      {{{kC64, {2}}}, one(lax::sign), "sign: operand 0 is c64[2]; it takes integer and floating dtypes"},
      {{{kC64, {2}}, {kC64, {2}}},
       two(lax::max),
       "max: operand 0 is c64[2]; it takes bool, integer and floating dtypes"},
      {{{kC64, {2}}},
       [](const Values& in) { return One(lax::bitcast_convert_type(in[0], kF32)); },
       "bitcast_convert_type: operand 0 is c64[2]; it takes integer and floating dtypes"},
  };
}

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
       "cholesky: operand 0 is i32[3,3]; it takes floating dtypes"},
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
       "lu: operand 0 is i32[3,3]; it takes floating and complex dtypes"},
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

std::vector<Wrong> RandomNumbers() {
  const auto bits = [](DType dtype, int64_t algorithm, const Shape& shape) {
    return [=](const Values& in) {
      return lax::rng_bit_generator(in[0], shape, dtype, static_cast<lax::RandomAlgorithm>(algorithm));
    };
  };
  const auto gamma = [](const Values& in) { return One(lax::random_gamma(in[0], in[1])); };
  return {
      {{{DType::kU32, {2}}, {kF32, {2}}}, gamma, "random_gamma: operand 0 is u32[2]; it must be a key"},
      {{{DType::kKey, {}}, {kI32, {2}}}, gamma, "random_gamma: operand 1 is i32[2]; it takes floating dtypes"},
      {{{DType::kKey, {3}}, {kF32, {2, 3}}},
       gamma,
       "random_gamma: keys key[3] must have the shape of the first dimensions of f32[2,3]"},
      {{{DType::kKey, {3, 2}}, {kF32, {3}}},
       gamma,
       "random_gamma: keys key[3,2] must have the shape of the first dimensions of f32[3]"},
      {{{DType::kU32, {2}}},
       bits(DType::kU32, 0, {3}),
       "rng_bit_generator: operand 0 is u32[2]; it takes u32[..., 4] or u64[..., 2]"},
      {{{DType::kU64, {}}},
       bits(DType::kU32, 0, {3}),
       "rng_bit_generator: operand 0 is u64[]; it takes u32[..., 4] or u64[..., 2]"},
      {{{DType::kU32, {4}}}, bits(kI32, 0, {3}), "rng_bit_generator: dtype i32 must be u8, u16, u32 or u64"},
      {{{DType::kU32, {4}}},
       bits(DType::kU8, 3, {3}),
       "rng_bit_generator: algorithm 3 must be 0 (the default), 1 (Threefry) or 2 (Philox)"},
      {{{DType::kU32, {4}}}, bits(DType::kU8, 1, {3, -1}), "rng_bit_generator: shape [3,-1] must not be negative"},
  };
}

std::vector<Wrong> Reflectors() {
  const auto product = [](const Values& in) { return One(lax::linalg::householder_product(in[0], in[1])); };
  const auto multiply = [](const Values& in) { return One(lax::linalg::ormqr(in[0], in[1], in[2])); };
  const auto pivots = [](const Values& in) { return One(lax::linalg::geqp3(in[0], in[1]).a); };
  return {
      {{{kI32, {3, 3}}},
       [](const Values& in) { return One(lax::linalg::qr(in[0])[0]); },
       "qr: operand 0 is i32[3,3]; it takes floating and complex dtypes"},
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
       "tridiagonal_solve: operand 0 is i32[3]; it takes floating and complex dtypes"},
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

TEST(RowErrors, Reflectors) { ExpectMessages(Reflectors()); }
TEST(RowErrors, Updates) { ExpectMessages(Updates()); }
TEST(RowErrors, Elementwise) { ExpectMessages(Elementwise()); }
TEST(RowErrors, Structured) { ExpectMessages(Structured()); }
TEST(RowErrors, ComplexNumbers) { ExpectMessages(ComplexNumbers()); }
TEST(RowErrors, Matrices) { ExpectMessages(Matrices()); }
TEST(RowErrors, Eigenvalues) { ExpectMessages(Eigenvalues()); }

// Vectors whose derivative does not exist, or was not asked for.
TEST(RowErrors, NoDerivativeOfVectors) {
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
TEST(RowErrors, RandomNumbers) { ExpectMessages(RandomNumbers()); }

// These have a derivative with respect to the last operand only.
TEST(RowErrors, NoDerivativeByAnOrder) {
  const Bench bench;
  for (const std::string name : {"polygamma", "zeta", "igamma_grad_a", "random_gamma_grad"}) {
    const ArrayType x = bench.Type(DType::kF64, {2});
    const auto f = bench.Trace({x, x}, [&](const Values& in) { return Values{Emit1(name, {in[0], in[1]})}; });
    for (const uint8_t by_order : {0, 1}) {
      const uint8_t active[] = {by_order, 1};
      ricci_program* jvp = nullptr;
      ricci_status* s = ricci_jvp(f.get(), active, 2, &jvp);
      EXPECT_EQ(ricci_status_code(s), by_order != 0 ? uint32_t{RICCI_UNIMPLEMENTED} : 0u);
      if (by_order != 0) {
        ricci_str text;
        ricci_status_message(s, &text);
        EXPECT_EQ(std::string(text.ptr, text.len), name + ": it has no derivative with respect to operand 0");
      }
      ricci_status_free(s);
      ricci_program_release(jvp);
    }
  }
}

TEST(RowErrors, SiteNamesPrimitiveAndRule) {
  const Bench bench;
  const Function f = [](const Values& in) {
    SetLocation(in[0].builder, {"host.cc", 7, "main"});
    return Values{lax::sin(in[0])};
  };
  try {
    bench.Trace({bench.Type(kI32, {2})}, f);
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "host.cc:7: sin: operand 0 is i32[2]; it takes floating and complex dtypes");
    EXPECT_EQ(e.code(), static_cast<uint32_t>(RICCI_INVALID_ARGUMENT));
    EXPECT_EQ(e.primitive(), "sin");
    EXPECT_EQ(e.rule(), "abstract_eval");
    EXPECT_EQ(e.file(), "host.cc");
    EXPECT_EQ(e.line(), 7u);
  }
}

}  // namespace
}  // namespace ricci::testing
