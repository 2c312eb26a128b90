// Factorisations of matrices and solutions with them.
#include "fuzz/generators.h"

namespace ricci::testing {
namespace {

// A batch of n x n matrices, with n near the size up to which they are computed in registers.
Shape SomeSquare(Draft& d) {
  constexpr int64_t kSizes[] = {0, 1, 2, 3, 4, 6, 8, 9, 12};
  const int64_t n = d.dice().Pick(kSizes), batch = d.dice().Between(1, 3);
  return d.dice().Chance(0.4) ? Shape{batch, n, n} : Shape{n, n};
}

// `x` with `v` added to the diagonals.
Value OnDiagonal(const Value& x, double v) {
  const auto number = [&](int64_t dim) { return lax::iota(x.builder, DType::kI32, x.shape(), x.rank() - dim); };
  return lax::add(x, lax::select(lax::eq(number(2), number(1)), lax::full_like(x, v), lax::zeros_like(x)));
}

// With elements in [-1, 1], or parts in it, so that what is added to the diagonals dominates them.
Value Small(const Value& x) {
  if (!IsComplex(x.dtype())) return lax::tanh(x);
  return lax::complex(lax::tanh(lax::real(x)), lax::tanh(lax::imag(x)));
}

Value Positive(const Value& x) {
  Shape order = rules::Range(x.rank());
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  const Value s = Small(x);
  const Value t = lax::transpose(s, order);
  return OnDiagonal(lax::add(s, IsComplex(t.dtype()) ? lax::conj(t) : t),
                    3.0 * static_cast<double>(x.dim(x.rank() - 1)));
}

// A matrix that is positive definite, or sometimes one that is not.
void Factorise(Draft& d) {
  const Value x = d.Of(d.SomeDType(kInexact), SomeSquare(d));
  const bool any = !d.palette().smooth && d.dice().Chance(0.1);
  const Values l = d.Emit("cholesky", {any ? x : Positive(x)});
  if (l.empty() || d.dice().Chance(0.5)) return;
  d.Emit("triangular_solve", {l[0], d.Of(x.type())}, {{"lower", true}, {"left_side", d.dice().Chance(0.5)}});
}

void Solve(Draft& d) {
  const Shape square = SomeSquare(d);
  const DType dtype = d.SomeDType(kInexact);
  const bool left = d.dice().Chance(0.5), unit = square.back() <= 4 && d.dice().Chance(0.3);
  Shape right = square;
  right[right.size() - (left ? 1 : 2)] = d.dice().Between(0, 5);
  const Value a = OnDiagonal(Small(d.Of(dtype, square)), d.dice().Chance(0.5) ? 3.0 : -3.0), b = d.Of(dtype, right);
  d.Emit("triangular_solve", {a, b},
         {{"left_side", left},
          {"lower", d.dice().Chance(0.5)},
          {"transpose_a", d.dice().Chance(0.5)},
          {"conjugate_a", d.dice().Chance(0.3)},
          {"unit_diagonal", unit}});
}

// A matrix of any shape whose pivots differ clearly from what they are compared with, and whose columns differ in norm,
// or sometimes any matrix: then rounding decides between rows.
Value SomeMatrix(Draft& d) {
  Shape shape = SomeSquare(d);
  if (d.dice().Chance(0.5)) shape.back() = d.dice().Between(0, 10);
  const Value x = d.Of(d.SomeDType(kInexact), shape);
  if (!d.palette().smooth && d.dice().Chance(0.1)) return x;
  const int64_t rows = shape[shape.size() - 2];
  const int64_t row[] = {x.rank() - 2};
  return lax::rev(OnDiagonal(Small(x), 2.0 * static_cast<double>(rows) + 1), row);
}

void SwapRows(Draft& d) {
  const Value x = SomeMatrix(d);
  const Values out = d.Emit("lu", {x});
  if (out.empty() || d.dice().Chance(0.5)) return;
  const int64_t rows = x.dim(x.rank() - 2);
  d.Emit("lu_pivots_to_permutation", {out[1]}, {{"permutation_size", rows + d.dice().Between(0, 2)}});
}

// `x`, with elements in [-1, 1], with numbers on its diagonals that differ by more than the other elements add up to:
// so eigenvalues and singular values are well apart.
Value Apart(const Value& x) {
  const Value row = lax::iota(x.builder, DType::kI32, x.shape(), x.rank() - 2);
  const Value column = lax::iota(x.builder, DType::kI32, x.shape(), x.rank() - 1);
  const double gap = 4.0 * static_cast<double>(std::max(x.dim(x.rank() - 2), x.dim(x.rank() - 1))) + 1;
  const Value numbers = lax::mul(lax::add(lax::convert_element_type(row, x.dtype()), 1.0), gap);
  return lax::add(x, lax::select(lax::eq(row, column), numbers, lax::zeros_like(x)));
}
Value Hermitian(const Value& x) {
  Shape order = rules::Range(x.rank());
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  const Value t = lax::transpose(x, order);
  return lax::mul(lax::add(x, IsComplex(x.dtype()) ? lax::conj(t) : t), 0.5);
}
// A matrix with values well apart, or sometimes any: then vectors are determined by rounding. Complex ones only outside
// of smooth programs: their vectors have derivatives up to a multiple of each only.
Value SomeApart(Draft& d, bool is_square, bool is_hermitian) {
  const bool is_complex = !d.palette().smooth && d.dice().Chance(0.3);
  const DType dtype = d.SomeDType(is_complex ? kComplexes : SetOf(DType::kF32) | SetOf(DType::kF64));
  Shape shape = SomeSquare(d);
  if (!is_square && d.dice().Chance(0.6)) shape.back() = d.dice().Between(0, 8);
  const Value any = d.Of(dtype, shape);
  if (!d.palette().smooth && d.dice().Chance(0.1)) return any;
  const Value x = IsComplex(dtype) ? d.Bounded(any) : Small(any);
  return Apart(is_hermitian ? Hermitian(x) : x);
}
void Eigh(Draft& d) {
  d.Emit("eigh", {SomeApart(d, /*is_square=*/true, /*is_hermitian=*/true)},
         {{"lower", d.dice().Chance(0.5)}, {"sort_eigenvalues", d.dice().Chance(0.5)}});
}
// With all attributes in smooth programs: those that are left out ask for vectors that have no derivative.
void Svd(Draft& d) {
  constexpr std::string_view kAlgorithms[] = {"default", "QR", "divide_and_conquer", "Jacobi"};
  const Value x = SomeApart(d, /*is_square=*/false, /*is_hermitian=*/false);
  if (d.palette().smooth) {
    const bool is_square = x.dim(x.rank() - 1) == x.dim(x.rank() - 2), full = is_square && d.dice().Chance(0.5);
    const lax::linalg::Svd all = lax::linalg::svd(x, {.full_matrices = full});
    return d.Add(d.dice().Chance(0.3) ? Values{lax::linalg::svdvals(x)} : Values{all.s, all.u, all.vt});
  }
  d.Emit("svd", {x},
         {{"full_matrices", d.dice().Chance(0.5)},
          {"compute_uv", d.dice().Chance(0.7)},
          {"algorithm", d.dice().Pick(kAlgorithms)}});
}
void Eig(Draft& d) {
  const Value x = SomeApart(d, /*is_square=*/true, /*is_hermitian=*/false);
  const bool left = d.dice().Chance(0.5), right = d.dice().Chance(0.5);
  if (d.palette().smooth) return d.Add(lax::linalg::eig(x, {left, right, /*enable_eigvec_derivs=*/true}));
  d.Emit("eig", {x},
         {{"compute_left_eigenvectors", left},
          {"compute_right_eigenvectors", right},
          {"enable_eigvec_derivs", d.dice().Chance(0.5)}});
}
void Reduce(Draft& d) {
  const Value x = SomeApart(d, /*is_square=*/true, /*is_hermitian=*/false);
  if (d.dice().Chance(0.4)) return (void)d.Emit("hessenberg", {x});
  d.Emit("tridiagonal", {x}, {{"lower", d.dice().Chance(0.5)}});
}
// Rounding decides the order of the eigenvalues in Schur's form, unless the matrix has that form: else only what the
// form and its vectors stand for is compared.
void Schur(Draft& d) {
  const Value x = SomeApart(d, /*is_square=*/true, /*is_hermitian=*/false);
  if (d.dice().Chance(0.3)) {
    const Value row = lax::iota(x.builder, DType::kI32, x.shape(), x.rank() - 2);
    const Value column = lax::iota(x.builder, DType::kI32, x.shape(), x.rank() - 1);
    const Value upper = lax::select(lax::le(row, column), x, lax::zeros_like(x));
    return (void)d.Emit("schur", {upper}, {{"compute_schur_vectors", d.dice().Chance(0.7)}});
  }
  const Values form = lax::linalg::schur(x);
  const int64_t last = x.rank() - 1;
  const Shape batch = rules::Range(x.rank() - 2);
  const Value left = lax::dot_general(form[1], form[0], {{last}, {last - 1}, batch, batch});
  const Value right = IsComplex(x.dtype()) ? lax::conj(form[1]) : form[1];
  d.Add({lax::dot_general(left, right, {{last}, {last}, batch, batch})});
}

// Else rounding decides between columns of equal norms, of which constants are full.
Value WithNormsApart(const Value& x) {
  const Value column = lax::iota(x.builder, DType::kI32, x.shape(), x.rank() - 1);
  return lax::mul(x, lax::convert_element_type(lax::add(column, lax::ones_like(column)), x.dtype()));
}
void Orthogonal(Draft& d) {
  const bool pivoting = d.dice().Chance(0.3);
  Value x = SomeMatrix(d);
  if (pivoting) x = WithNormsApart(x);
  d.Emit("qr", {x}, {{"pivoting", pivoting}, {"full_matrices", d.dice().Chance(0.5)}});
}

// Factors with reflectors, and products with them.
void Reflect(Draft& d) {
  Value x = SomeMatrix(d);
  const int64_t rows = x.dim(x.rank() - 2), columns = x.dim(x.rank() - 1);
  Shape batch(x.shape().begin(), x.shape().end() - 2), list = batch, other = batch;
  list.push_back(columns);
  const bool pivots = d.dice().Chance(0.4), left = d.dice().Chance(0.5);
  if (pivots) x = WithNormsApart(x);
  const Values f = pivots ? d.Emit("geqp3", {x, d.Indices(list, 2)}) : d.Emit("geqrf", {x});
  if (f.empty()) return;
  if (rows >= columns && d.dice().Chance(0.5)) d.Emit("householder_product", {f[0], f.back()});
  const int64_t lines = d.dice().Between(0, 4);
  other.insert(other.end(), {left ? rows : lines, left ? lines : rows});
  if (d.dice().Chance(0.4)) return;
  d.Emit("ormqr", {f[0], f.back(), d.Of(x.dtype(), other)}, {{"left", left}, {"transpose", d.dice().Chance(0.5)}});
}

// Diagonals whose elements are far from those of the pivots that are compared, or sometimes any.
void SolveTridiagonal(Draft& d) {
  constexpr int64_t kSizes[] = {0, 1, 2, 3, 5, 8, 9, 13};
  Shape shape = {d.dice().Pick(kSizes)};
  if (d.dice().Chance(0.4)) shape.insert(shape.begin(), d.dice().Between(1, 3));
  Shape right = shape;
  right.push_back(d.dice().Between(0, 4));
  const DType dtype = d.SomeDType(kInexact);
  const bool any = !d.palette().smooth && d.dice().Chance(0.1), below = d.dice().Chance(0.3);
  Values in;
  for (int i = 0; i < 3; ++i) {
    const Value x = d.Of(dtype, shape);
    in.push_back(any ? x : lax::add(Small(x), (i == 1) == below ? 0.0 : 4.0));
  }
  in.push_back(d.Of(dtype, right));
  d.Emit("tridiagonal_solve", in, {{"perturb_singular", d.dice().Chance(0.2)}});
}

void Update(Draft& d) {
  const Value r = OnDiagonal(Small(d.Of(d.SomeDType(kFloats), SomeSquare(d))), 3.0);
  d.Emit("cholesky_update", {r, d.Of(r.dtype(), r.shape().first(r.shape().size() - 1))});
}

void Square(Draft& d) {
  const Shape square = SomeSquare(d);
  Shape any = square;
  any.back() = d.dice().Between(0, 5);
  const DType dtype = d.SomeDType(kFloats);
  d.Emit("symmetric_product", {d.Of(dtype, any), d.Of(dtype, square)},
         {{"alpha", d.dice().Real(-2, 2)}, {"beta", d.dice().Real(-2, 2)}});
}

constexpr Generator kGenerators[] = {
    {1, true, Factorise},  {1, true, Solve},    {1, true, SwapRows},         {1, true, Eigh},
    {1, true, Svd},        {1, true, Eig},      {1, false, Reduce},          {1, false, Schur},
    {1, true, Orthogonal}, {1, false, Reflect}, {1, true, SolveTridiagonal}, {1, false, Update},
    {1, true, Square}};

}  // namespace

std::span<const Generator> LinalgGenerators() { return kGenerators; }

}  // namespace ricci::testing
