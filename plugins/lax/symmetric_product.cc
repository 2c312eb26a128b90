// symmetric_product: alpha a a^T + beta c, with c symmetric.
//
// A product and two scalings in the order of jax.lax. That has no derivatives for it; these are those of its parts.
#include "matrix.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"alpha", AttrKind::kFloat, "1.0"}, {"beta", AttrKind::kFloat, "0.0"}};

double AlphaOf(const Eqn& e) { return e.number("alpha", 1); }
double BetaOf(const Eqn& e) { return e.number("beta", 0); }

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(2);
  WantMatrices(e, 0, kFloats);
  WantOneBatch(e, {2, 2});
  const ArrayType a = e.in(0), c = e.in(1);
  if (RowsOf(c) != RowsOf(a) || ColumnsOf(c) != RowsOf(a)) {
    e.Fail("operands are ", a, " and ", c, "; the matrices of c must have ", RowsOf(a), " rows and columns");
  }
  return c;
}

Value ByFirst(const Eqn& e, const Value& t, std::span<const Value> in, const Value&) {
  const Value half = MatrixProduct(t, MatrixTranspose(in[0]));
  return mul(add(half, MatrixTranspose(half)), AlphaOf(e));
}
Value BySecond(const Eqn& e, const Value& t, std::span<const Value>, const Value&) { return mul(t, BetaOf(e)); }
Value SecondCt(const Eqn& e, const Value& ct, std::span<const Value>) { return mul(ct, BetaOf(e)); }

Values AsParts(const Eqn& e, std::span<const Value> in) {
  const Value rest = mul(in[1], BetaOf(e));
  return {add(mul(MatrixProduct(in[0], MatrixTranspose(in[0])), AlphaOf(e)), rest)};
}

// Sums over parts of the columns of a add up, but to that c must be added once.
std::string Factors(const Eqn& e) {
  FactorText text;
  Shape batch;
  for (int64_t i = 0; i + 2 < e.in(0).rank(); ++i) batch.push_back(text.Shared());
  const auto with = [&](int64_t row, int64_t column) {
    Shape all = batch;
    all.insert(all.end(), {row, column});
    return all;
  };
  const bool sums = BetaOf(e) == 0;
  const int64_t row = text.Whole(), summed = sums ? text.Shared() : text.Whole();
  if (sums) text.Mark("sum", summed);
  text.AddIn(with(row, summed));
  text.AddIn(with(text.Whole(), text.Whole()));
  text.AddOut(with(text.Whole(), text.Whole()));
  return text.Done();
}

constexpr Row kRows[] = {{.name = "symmetric_product",
                          .doc = "d = symmetric_product(a, c): alpha a a^T + beta c, where c is symmetric",
                          .attrs = kAttrs,
                          .type = Type,
                          .jvp = rules::Terms<ByFirst, BySecond>,
                          .transpose = rules::TransposeEach<nullptr, SecondCt>,
                          .batch = rules::BatchAllFirst<EmitBatched>,
                          .factors_of = Factors,
                          .lowerings = lower::Decompose<AsParts>,
                          .examples = "(f64[3,4], f64[3,3]); (f64[2,2,3], f64[2,2,2]) alpha=0.5 beta=-2.0"}};

}  // namespace

RowList symmetric_product_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
