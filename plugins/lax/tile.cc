// tile: x repeated reps[i] times along each dimension i.
#include "factor_text.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"reps", AttrKind::kInts}};

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType x = e.in(0);
  const Dims reps = e.ints("reps");
  if (static_cast<int64_t>(reps.size()) != x.rank())
    e.Fail("reps ", reps, " must have one entry for each dimension of ", x);
  Shape shape;
  for (size_t i = 0; i < reps.size(); ++i) {
    if (reps[i] < 0) e.Fail("reps ", reps, " must not be negative");
    shape.push_back(
        AsDimension(Exact(reps[i]) * x.shape()[i], "tile: reps ", reps, " make dimension ", i, " of ", x, " "));
  }
  return x.WithShape(shape);
}

// The cotangent gets a dimension for the copies and is summed over it.
Value Transposed(const Eqn& e, const Value& ct) {
  Shape split, copies;
  for (size_t i = 0; i < e.ints("reps").size(); ++i) {
    copies.push_back(static_cast<int64_t>(split.size()));
    split.push_back(e.ints("reps")[i]);
    split.push_back(e.in(0).shape()[i]);
  }
  return copies.empty() ? ct : reduce_sum(reshape(ct, split), copies);
}

Batched BatchRule(const Eqn& e, const Batched& x) {
  Shape reps(e.ints("reps").begin(), e.ints("reps").end());
  reps.insert(reps.begin() + x.dim, 1);
  return {e.Emit({x.value}, {{"reps", reps}}), x.dim};
}

Value Simpler(const Eqn& e, std::span<const Value> in) { return e.in(0) == e.out() ? in[0] : Value{}; }

Index FromIndex(KernelBuilder&, const Eqn& e, std::span<const Scalar> at) {
  Index from;
  for (size_t i = 0; i < at.size(); ++i) from.push_back(e.ints("reps")[i] == 1 ? at[i] : at[i] % e.in(0).shape()[i]);
  return from;
}

std::string Factors(const Eqn& e) {
  Shape from;
  for (int64_t i = 0; i < e.out().rank(); ++i) from.push_back(e.ints("reps")[static_cast<size_t>(i)] == 1 ? i : -1);
  return ViewFactors(e, from);
}

constexpr Row kRows[] = {rules::ViewRow<FromIndex, Transposed, BatchRule, Simpler>(
    {.name = "tile",
     .doc = "y = tile(x): x repeated `reps` times along each dimension",
     .attrs = kAttrs,
     .type = Type,
     .factors_of = Factors,
     .examples = "(f64[2,3]) reps=[3,2]"})};

}  // namespace

RowList tile_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
