// Matrices large enough for what objects have in place of the routines of a host: products in blocks, factors by
// halves.
//
// Operands are views in many programs (transposed, a part, several dimensions as one), because blocks are read through
// them. Sizes are next to those of blocks (24, 32, 64, 96) and between them.
#include "fuzz/generators.h"

namespace ricci::testing {
namespace {

constexpr int64_t kSizes[] = {1, 3, 12, 23, 24, 25, 31, 32, 33, 40, 47, 48, 49, 64, 65, 80, 96, 97, 100, 130};
constexpr DTypeSet kUsual = SetOf(DType::kF32) | SetOf(DType::kF64);

int64_t SomeSize(Draft& d, int64_t least = 1) { return std::max(d.dice().Pick(kSizes), least); }
DType SomeDType(Draft& d) { return d.SomeDType(d.dice().Chance(0.7) ? kUsual : kInexact); }

// [rows, columns], perhaps with a batch.
struct Part {
  int64_t rows, columns;
  Shape batch;
  Shape shape() const {
    Shape out = batch;
    out.insert(out.end(), {rows, columns});
    return out;
  }
};

Value Turned(const Value& x) {
  Shape order = rules::Range(x.rank());
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return lax::transpose(x, order);
}

// A matrix that is an argument, or a view of one.
Value SomeView(Draft& d, DType dtype, const Part& p) {
  const int64_t roll = d.dice().Below(6);
  if (roll == 0) return Turned(d.Of(dtype, Part{p.columns, p.rows, p.batch}.shape()));
  if (roll == 1) {
    const int64_t from = d.dice().Between(1, 5), step = d.dice().Between(1, 2);
    const auto axis = static_cast<size_t>(p.batch.size());
    Shape starts(axis + 2, 0), strides(axis + 2, 1), limits = p.shape();
    starts[axis] = from, strides[axis] = step, limits[axis] = from + (p.rows - 1) * step + 1;
    return lax::slice(d.Of(dtype, limits), starts, limits, strides);
  }
  if (roll == 2) return lax::rev(d.Of(dtype, p.shape()), Shape{static_cast<int64_t>(p.batch.size())});
  if (roll == 3 && !IsComplex(dtype)) return lax::tanh(d.Of(dtype, p.shape()));
  return d.Of(dtype, p.shape());
}

Shape SomeBatch(Draft& d) { return d.dice().Chance(0.25) ? Shape{d.dice().Between(1, 3)} : Shape{}; }

void Product(Draft& d) {
  const DType dtype = SomeDType(d);
  const Shape batch = SomeBatch(d), axes = rules::Range(static_cast<int64_t>(batch.size()));
  const int64_t m = SomeSize(d), k = SomeSize(d), n = SomeSize(d), last = static_cast<int64_t>(batch.size()) + 1;
  const bool left = d.dice().Chance(0.3), right = d.dice().Chance(0.3);
  const Value x = SomeView(d, dtype, left ? Part{k, m, batch} : Part{m, k, batch});
  const Value y = SomeView(d, dtype, right ? Part{n, k, batch} : Part{k, n, batch});
  const Value z = lax::dot_general(x, y, {{left ? last - 1 : last}, {right ? last : last - 1}, axes, axes});
  d.Add({z});
  if (d.dice().Chance(0.3) && !IsComplex(dtype)) d.Add({lax::tanh(z)});
}

// Contracted over two dimensions, with a free one between them.
void SplitProduct(Draft& d) {
  const int64_t a = d.dice().Between(1, 9), b = d.dice().Between(1, 9), m = SomeSize(d), n = SomeSize(d);
  const DType dtype = SomeDType(d);
  const Value x = d.Of(dtype, Shape{a, m, b}), y = d.Of(dtype, Shape{b, n, a});
  d.Add({lax::dot_general(x, y, {{0, 2}, {2, 0}, {}, {}})});
}

Value OnDiagonal(const Value& x, double v) {
  const auto number = [&](int64_t dim) { return lax::iota(x.builder, DType::kI32, x.shape(), x.rank() - dim); };
  return lax::add(x, lax::select(lax::eq(number(2), number(1)), lax::full_like(x, v), lax::zeros_like(x)));
}
// With elements of which a row adds up to less than `bound`.
Value Small(const Value& x, double bound) {
  const double each = bound / static_cast<double>(x.dim(x.rank() - 1));
  if (!IsComplex(x.dtype())) return lax::mul(lax::tanh(x), each);
  return lax::mul(lax::complex(lax::tanh(lax::real(x)), lax::tanh(lax::imag(x))), each);
}

void Factor(Draft& d) {
  const int64_t n = SomeSize(d, 23);
  const Value x = Small(SomeView(d, SomeDType(d), {n, n, SomeBatch(d)}), 1.0);
  const Value turned = IsComplex(x.dtype()) ? lax::conj(Turned(x)) : Turned(x);
  const Value whole = OnDiagonal(lax::add(x, turned), d.dice().Chance(0.9) ? 3.0 : 0.1);  // 0.1: there is none
  const Values l = d.Emit("cholesky", {whole});
  if (d.dice().Chance(0.3)) d.Emit("lu", {OnDiagonal(x, 3.0)});
  if (l.empty() || d.dice().Chance(0.5)) return;
  d.Emit("triangular_solve", {l[0], d.Of(x.type())}, {{"lower", true}, {"left_side", d.dice().Chance(0.5)}});
}

void Solve(Draft& d) {
  const int64_t n = SomeSize(d, 23), other = SomeSize(d);
  const bool left = d.dice().Chance(0.5);
  const Shape batch = SomeBatch(d);
  const DType dtype = SomeDType(d);
  const Value a = OnDiagonal(Small(SomeView(d, dtype, {n, n, batch}), 1.0), d.dice().Chance(0.5) ? 2.0 : -2.0);
  const Value b = SomeView(d, dtype, left ? Part{n, other, batch} : Part{other, n, batch});
  d.Emit("triangular_solve", {a, b},
         {{"left_side", left},
          {"lower", d.dice().Chance(0.5)},
          {"transpose_a", d.dice().Chance(0.5)},
          {"conjugate_a", d.dice().Chance(0.3)},
          {"unit_diagonal", d.dice().Chance(0.3)}});
}

constexpr void (*kGenerators[])(Draft& d) = {Product, Product, Product, SplitProduct, Factor, Solve};

}  // namespace

void EmitLargeMatrices(Draft& d) {
  for (int64_t n = d.dice().Between(1, 2); n > 0; --n) {
    d.dice().Pick(kGenerators)(d);
  }
}

}  // namespace ricci::testing
