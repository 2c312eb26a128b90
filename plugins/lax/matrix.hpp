// What the rows of linear algebra share. The last two dimensions of an operand are a matrix, those before a batch.
//
// Matrices of up to 8 rows are factorised and solved with scalar values only: they stay in registers, also in lanes,
// and fuse. On two cores of a shared Xeon 20,000 systems of six equations take 0.45 ms (JAX 18). lu of 10,000 matrices
// of six rows takes 0.14 ms (JAX 3.7). Large ones are library calls of plugins/cpu: a Cholesky factor of 1000 rows
// takes 9.4 ms (JAX 8.5). qr, eigh, eig, svd and schur are loops for every size; of large ones plugins/lapack has
// others.
#ifndef RICCI_LAX_MATRIX_HPP_
#define RICCI_LAX_MATRIX_HPP_
#include "factor_text.hpp"
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// Up to this size matrices are computed with scalar values only, without loops or arrays, so they stay in registers.
inline constexpr int64_t kSmallMatrix = 8;
// Up to this size what is found of a result stays in a private array until the end: where lanes are over a batch, their
// elements are then side by side in memory, and in the result they are not.
inline constexpr int64_t kPrivateRows = 64;

inline int64_t RowsOf(const ArrayType& t) { return t.dim(t.rank() - 2); }
inline int64_t ColumnsOf(const ArrayType& t) { return t.dim(t.rank() - 1); }
inline Shape BatchOf(const ArrayType& t) { return Shape(t.shape().begin(), t.shape().end() - 2); }

// Fails unless operand `i` is a batch of matrices of numbers of `set`.
inline void WantMatrices(const Eqn& e, uint32_t i, DTypeSet set = kWideFloats) {
  rules::WantDType(e, i, set);
  if (e.in(i).rank() < 2) e.Fail("operand ", i, " is ", e.in(i), "; its last two dimensions must be those of a matrix");
}
// The same for square matrices, with a dtype of `set`.
inline void WantSquare(const Eqn& e, uint32_t i, DTypeSet set = kWideFloats) {
  const ArrayType t = e.in(i);
  rules::WantDType(e, i, set);
  if (t.rank() < 2 || RowsOf(t) != ColumnsOf(t)) {
    e.Fail("operand ", i, " is ", t, "; its last two dimensions must be those of a square matrix");
  }
}

// The dtypes of operations that have no form for 16-bit floats, as in jax.lax.
inline constexpr DTypeSet kLapackDTypes = SetOf(DType::kF32) | SetOf(DType::kF64) | kComplexes;
inline DType RealOf(DType d) { return IsComplex(d) ? PartOf(d) : d; }

// Fails unless the operands have one dtype and the same batch, with ranks[i] dimensions after it in operand i.
inline void WantOneBatch(const Eqn& e, std::initializer_list<int64_t> ranks) {
  const auto fits = [&](uint32_t i, int64_t rank) {
    const Dims shape = e.in(i).shape(), first = e.in(0).shape();
    const int64_t batch = e.in(0).rank() - *ranks.begin();
    return batch >= 0 && e.in(i).dtype() == e.in(0).dtype() && e.in(i).rank() == batch + rank &&
           std::equal(first.begin(), first.begin() + batch, shape.begin());
  };
  for (uint32_t i = 0; i < e.n_in(); ++i) {
    if (fits(i, ranks.begin()[i])) continue;
    e.Fail("operands 0 and ", i, " are ", e.in(0), " and ", e.in(i), "; they must have one dtype and ",
           ranks.begin()[0], " and ", ranks.begin()[i], " dimensions after the same batch");
  }
}

// One matrix of an operand or result of a kernel.
class KernelMatrix {
 public:
  KernelMatrix(KernelArray array, Index batch) : array_(array), batch_(std::move(batch)) {}
  Scalar Load(Scalar row, Scalar column) const { return array_.Load(At(row, column)); }
  void Store(Scalar row, Scalar column, Scalar v) const { array_.Store(At(row, column), v); }

 private:
  Index At(Scalar row, Scalar column) const {
    Index at = batch_;
    at.insert(at.end(), {row, column});
    return at;
  }
  KernelArray array_;
  Index batch_;
};

// One list of an operand or result of a kernel.
class KernelList {
 public:
  KernelList(KernelArray array, Index batch) : array_(array), batch_(std::move(batch)) {}
  Scalar Load(Scalar i) const { return array_.Load(At(i)); }
  void Store(Scalar i, Scalar v) const { array_.Store(At(i), v); }

 private:
  Index At(Scalar i) const {
    Index at = batch_;
    at.push_back(i);
    return at;
  }
  KernelArray array_;
  Index batch_;
};

// 16-bit floats are computed in f32 and rounded once.
inline bool IsWide(const Eqn& e) { return BitsOf(e.in(0).dtype()) >= 32; }
inline Values InF32(const Eqn& e, std::span<const Value> in) {
  Values wide;
  for (const Value& v : in) wide.push_back(convert_element_type(v, DType::kF32));
  Values out = e.EmitN(wide);
  for (uint32_t i = 0; i < e.n_out(); ++i) out[i] = convert_element_type(out[i], e.out(i).dtype());
  return out;
}
template <LoopsRule loops>
inline constexpr Lowering kWideLoops[] = {{.loops = loops, .match = IsWide}, {.decompose = InF32}};

// ---- rules ----
// For the batches of matrices of operand 0: only the dimensions before the last two pass through.
inline std::string BatchFactors(const Eqn& e) {
  FactorText text;
  Shape batch;
  for (int64_t i = 0; i + 2 < e.in(0).rank(); ++i) batch.push_back(text.Shared());
  const auto of = [&](const ArrayType& t) {
    Shape all = batch;
    while (static_cast<int64_t>(all.size()) < t.rank()) all.push_back(text.Whole());
    return all;
  };
  for (uint32_t i = 0; i < e.n_in(); ++i) text.AddIn(of(e.in(i)));
  for (uint32_t i = 0; i < e.n_out(); ++i) text.AddOut(of(e.out(i)));
  return text.Done();
}
// The operation itself with the batch of every operand first: for BatchAllFirst.
inline Values EmitBatched(const Eqn& e, std::span<const Value> in, int64_t) { return e.EmitN(in); }
// a b, of batches of matrices.
inline Value MatrixProduct(const Value& a, const Value& b) {
  const int64_t rank = a.rank();
  const Shape batch = rules::Range(rank - 2);
  return dot_general(a, b, {{rank - 1}, {rank - 2}, batch, batch});
}
inline Value MatrixTranspose(const Value& a) {
  Shape order = rules::Range(a.rank());
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(a, order);
}
inline Value Adjoint(const Value& a) { return IsComplex(a.dtype()) ? conj(MatrixTranspose(a)) : MatrixTranspose(a); }
// (a + a^H) / 2
inline Value Symmetrized(const Value& a) { return div(add(a, Adjoint(a)), 2.0); }
inline Value RealPart(const Value& a) { return IsComplex(a.dtype()) ? real(a) : a; }
inline Value InDType(const Value& a, DType d) { return a.dtype() == d ? a : convert_element_type(a, d); }
// The row or column number of each element.
inline Value RowNumbers(const Value& a) { return iota(a.builder, DType::kI32, a.shape(), a.rank() - 2); }
inline Value ColumnNumbers(const Value& a) { return iota(a.builder, DType::kI32, a.shape(), a.rank() - 1); }
inline Value OnDiagonal(const Value& a) {
  const Value column = ColumnNumbers(a);
  return eq(RowNumbers(a), column);
}
// The part below the diagonal, or above it; with the diagonal or without.
inline Value Triangle(const Value& a, bool lower, bool diagonal) {
  const Value row = RowNumbers(a), column = ColumnNumbers(a);
  const Value &more = lower ? row : column, &less = lower ? column : row;
  const Value zero = zeros_like(a);
  return select(diagonal ? ge(more, less) : gt(more, less), a, zero);
}

// The diagonal of square matrices.
inline Value Diagonal(const Value& a) {
  const int64_t last[] = {a.rank() - 1};
  const Value zero = zeros_like(a);
  return reduce_sum(select(OnDiagonal(a), a, zero), last);
}
// Lists as the rows, or the columns, of all elements: element (i, j) of matrices like `like` is x[j], or x[i].
inline Value AcrossRows(const Value& x, const Value& like) {
  Shape dims = rules::Range(like.rank() - 2);
  dims.push_back(like.rank() - 1);
  return broadcast_in_dim(x, like.shape(), dims);
}
inline Value AcrossColumns(const Value& x, const Value& like) {
  return broadcast_in_dim(x, like.shape(), rules::Range(like.rank() - 1));
}

}}}  // namespace ricci::v0::lax
#endif
