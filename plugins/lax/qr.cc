// qr: a = q r with unitary q and upper triangular r; with `pivoting` the columns of a are permuted first.
//
// Made of geqrf (or geqp3) and householder_product, so that q and r are those of LAPACK. The derivative is that of
// jax.lax: J. Townsend, "Differentiating the QR decomposition" (2018); columns of q beyond those of a follow the
// reflectors, as in "Differentiating the full QR decomposition" (arXiv:2409.13374).
//
// With pivots the derivative permutes the columns of tangents in every batch, and of wide matrices too. That of JAX
// 0.10.2 does not.
#include "matrix.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"pivoting", AttrKind::kBool, "false"}, {"full_matrices", AttrKind::kBool, "true"}};

bool Pivots(const Eqn& e) { return e.flag("pivoting", false); }
bool IsFull(const Eqn& e) { return e.flag("full_matrices", true); }
int64_t StepsOf(const ArrayType& a) { return std::min(RowsOf(a), ColumnsOf(a)); }

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  WantMatrices(e, 0, kWideFloats | kComplexes);
  const ArrayType a = e.in(0);
  const int64_t m = RowsOf(a), n = ColumnsOf(a), inner = IsFull(e) ? m : StepsOf(a);
  const auto with = [&](std::initializer_list<int64_t> dims) {
    Shape shape = BatchOf(a);
    shape.insert(shape.end(), dims);
    return shape;
  };
  if (!Pivots(e)) return ArrayTypes{a.WithShape(with({m, inner})), a.WithShape(with({inner, n}))};
  if (n >= int64_t{1} << 31) e.Fail("dimension ", a.rank() - 1, " of ", a, " is too large for indices of i32");
  return ArrayTypes{a.WithShape(with({m, inner})), a.WithShape(with({inner, n})), e.Type(DType::kI32, with({n}))};
}

// ---- parts of matrices ----
Value RowsFrom(const Value& x, int64_t first, int64_t end) { return slice_in_dim(x, first, end, x.rank() - 2); }
Value ColumnsFrom(const Value& x, int64_t first, int64_t end) { return slice_in_dim(x, first, end, x.rank() - 1); }
Value Adjoint(const Value& x) {
  const Value t = MatrixTranspose(x);
  return IsComplex(x.dtype()) ? conj(t) : t;
}
Value Unit(const Value& like) { return convert_element_type(OnDiagonal(like), like.dtype()); }
Value PermutedColumns(const Value& x, const Value& order) {
  return MatrixTranspose(linalg::permuted_rows(MatrixTranspose(x), order));
}

// ---- derivative ----
struct Tangents {
  Value q, r;
};
// Of a with at least as many rows as columns, and q without more.
Tangents OfThin(const Value& q, const Value& r, const Value& da) {
  const Value quotient = linalg::triangular_solve(r, da), inside = MatrixProduct(Adjoint(q), quotient);
  const Value lower = Triangle(inside, /*lower=*/true, /*diagonal=*/false);
  Value turn = sub(lower, Adjoint(lower));  // q^H dq, with an imaginary diagonal
  if (IsComplex(q.dtype())) {
    const Value imaginary = sub(inside, convert_element_type(real(inside), q.dtype()));
    turn = add(turn, mul(Unit(inside), imaginary));
  }
  return {add(MatrixProduct(q, sub(turn, inside)), quotient), MatrixProduct(sub(inside, turn), r)};
}
Tangents OfWide(const Value& q, const Value& r, const Value& a, const Value& da) {
  const int64_t m = RowsOf(a.type()), n = ColumnsOf(a.type());
  const Value da_left = ColumnsFrom(da, 0, m);
  const Tangents left = OfThin(q, ColumnsFrom(r, 0, m), da_left);
  const auto turned = [&](const Value& basis, const Value& x) {
    const Value columns = ColumnsFrom(x, m, n);
    return MatrixProduct(Adjoint(basis), columns);
  };
  const Value by_a = turned(q, da), right = add(turned(left.q, a), by_a);
  return {left.q, concatenate(Values{left.r, right}, r.rank() - 1)};
}
// The x with a^H x = b.
Value SolveAdjoint(const Value& a, const Value& b) {
  const linalg::Lu f = linalg::lu(a);
  const Value x = linalg::triangular_solve(f.lu, b, {.left_side = true, .transpose_a = true, .conjugate_a = true});
  const Value y = linalg::triangular_solve(
      f.lu, x, {.left_side = true, .lower = true, .transpose_a = true, .conjugate_a = true, .unit_diagonal = true});
  const int64_t last = f.permutation.rank() - 1;
  const Value in[] = {f.permutation, iota(b.builder, DType::kI32, f.permutation.shape(), last)};
  return linalg::permuted_rows(y, sort(in, last)[1]);
}
// The columns of q from n on are determined by the n before them: with z = q_pn (q_nn - 1)^-1, where p are the rows
// from n on, dq_p = dq_n z^H - (q_n + q_p z) (dq_pn - z dq_nn)^H.
Value RestOfQ(const Value& q, const Value& dq, int64_t n) {
  const int64_t m = RowsOf(q.type());
  const Value top = ColumnsFrom(RowsFrom(q, 0, n), 0, n), below = ColumnsFrom(RowsFrom(q, n, m), 0, n);
  const Value right = Adjoint(below), adjoint = SolveAdjoint(sub(top, Unit(top)), right), z = Adjoint(adjoint);
  const Value turned = MatrixProduct(ColumnsFrom(q, n, m), z), first = add(ColumnsFrom(q, 0, n), turned);
  const Value moved = MatrixProduct(z, RowsFrom(dq, 0, n)), second = sub(RowsFrom(dq, n, m), moved);
  const Value change = MatrixProduct(first, Adjoint(second));
  return sub(MatrixProduct(dq, adjoint), change);
}
Tangents OfTall(const Eqn& e, const Value& q, const Value& r, const Value& da) {
  const int64_t m = RowsOf(da.type()), n = ColumnsOf(da.type());
  if (!IsFull(e) || m <= n) return OfThin(q, r, da);
  const Value top = RowsFrom(r, 0, n);
  const Tangents thin = OfThin(ColumnsFrom(q, 0, n), top, da);
  const Value zeros = zeros_like(RowsFrom(r, n, m));
  return {concatenate(Values{thin.q, RestOfQ(q, thin.q, n)}, q.rank() - 1),
          concatenate(Values{thin.r, zeros}, r.rank() - 2)};
}
void JvpRule(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (a.tangents[0].is_zero() || e.in(0).elements() == 0) return;
  const auto ordered = [&](const Value& x) { return Pivots(e) ? PermutedColumns(x, a.out[2]) : x; };
  const Value &q = a.out[0], &r = a.out[1], da = ordered(a.tangents[0]);
  const bool wide = RowsOf(e.in(0)) < ColumnsOf(e.in(0));
  const Tangents t = wide ? OfWide(q, r, ordered(a.primals[0]), da) : OfTall(e, q, r, da);
  a.out_tangents[0] = t.q;
  a.out_tangents[1] = t.r;
}

// ---- lowering ----
// Of matrices without elements q is a unit matrix.
Values OfNothing(const Eqn& e, const Value& a) {
  Values out;
  for (uint32_t i = 0; i < e.n_out(); ++i) out.push_back(zeros(a.builder, e.out(i)));
  out[0] = Unit(out[0]);
  return out;
}
Values ByReflectors(const Eqn& e, std::span<const Value> in) {
  const Value& a = in[0];
  const int64_t m = RowsOf(a.type()), n = ColumnsOf(a.type());
  if (m == 0 || n == 0) return OfNothing(e, a);
  Values out(2);
  linalg::Qr f;
  if (Pivots(e)) {
    const linalg::PivotedQr pivoted = linalg::geqp3(a, zeros(a.builder, e.out(2)));
    f = {pivoted.a, pivoted.taus};
    out.push_back(sub(pivoted.jpvt, ones_like(pivoted.jpvt)));
  } else {
    f = linalg::geqrf(a);
  }
  Value reflectors = m < n ? ColumnsFrom(f.a, 0, m) : f.a;
  if (IsFull(e) && m > n) {
    Shape none(static_cast<size_t>(a.rank()), 0), high = none;
    high.back() = m - n;  // exact: of dimensions
    reflectors = pad(reflectors, zeros(a.builder, a.type().WithShape({})), none, high, none);
  }
  out[0] = linalg::householder_product(reflectors, f.taus);
  out[1] = Triangle(IsFull(e) || m < n ? f.a : RowsFrom(f.a, 0, n), /*lower=*/false, /*diagonal=*/true);
  return out;
}
constexpr Lowering kLowerings[] = {{.decompose = ByReflectors, .match = IsWide}, {.decompose = InF32}};

// Columns of different norms, and far from multiples of each other.
constexpr std::string_view kExamples =
    "program (%s: f64[3,3] in -0.5..0.5) {"
    "  %d: f64[3,3] = constant [0.0, 2.0, 0.0, 0.0, 0.0, 3.0, -4.0, 0.0, 0.0] %a: f64[3,3] = add(%s, %d)"
    "  %q: f64[3,3], %r: f64[3,3] = qr(%a) return %q, %r }; "
    "program (%s: f64[2,4,2] in -0.5..0.5) {"
    "  %d: f64[2,4,2] = constant [0.0, 0.0, 0.0, 3.0, 2.0, 0.0, 0.0, 1.0,"
    "                             0.0, 2.0, 0.0, 0.0, 0.0, 0.0, -4.0, 0.0] %a: f64[2,4,2] = add(%s, %d)"
    "  %q: f64[2,4,4], %r: f64[2,4,2] = qr(%a) return %q, %r }; "
    "program (%s: f64[4,2] in -0.5..0.5) {"
    "  %d: f64[4,2] = constant [0.0, 0.0, 0.0, 3.0, 1.0, 0.0, 0.0, 1.0] %a: f64[4,2] = add(%s, %d)"
    "  %q: f64[4,2], %r: f64[2,2], %p: i32[2] = qr(%a) full_matrices=false pivoting=true return %q, %r, %p }; "
    "program (%s: f64[2,4] in -0.5..0.5) {"
    "  %d: f64[2,4] = constant [0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0] %a: f64[2,4] = add(%s, %d)"
    "  %q: f64[2,2], %r: f64[2,4], %p: i32[4] = qr(%a) pivoting=true return %q, %r, %p }; "
    "program (%s: f64[10,9] in -0.1..0.1) {"
    "  %i: i32[10,9] = iota() dtype=i32 shape=[10,9] dimension=0"
    "  %j: i32[10,9] = iota() dtype=i32 shape=[10,9] dimension=1 %n: i32[10,9] = rev(%j) dimensions=[1]"
    "  %e: bool[10,9] = eq(%i, %n) %t: f64[10,9] = convert_element_type(%e) new_dtype=f64"
    "  %a: f64[10,9] = add(%s, %t) %q: f64[10,10], %r: f64[10,9] = qr(%a) return %q, %r }";

constexpr Row kRows[] = {
    {.name = "qr",
     .doc =
         "ys... = qr(a): q and r with a = q r, or with `pivoting` also the order of the columns of a of which q r is; "
         "q has all columns of a basis with `full_matrices`, else those that r needs",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_EXPENSIVE,
     .type = Type,
     .jvp = JvpRule,
     .batch = rules::BatchAllFirst<EmitBatched>,
     .factors_of = BatchFactors,
     .lowerings = kLowerings,
     .missing = rules::kNotLinear,
     .examples = kExamples}};

}  // namespace

RowList qr_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
