// transpose: dimension i of the result is dimension permutation[i] of x.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"permutation", AttrKind::kInts}};

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType x = e.in(0);
  const Dims permutation = e.ints("permutation");
  if (static_cast<int64_t>(permutation.size()) != x.rank()) {
    e.Fail("permutation ", permutation, " must have one entry for each dimension of ", x);
  }
  rules::WantAxes(e, 0, "permutation", permutation);
  return x.WithShape(rules::Pick(x.shape(), permutation));
}

Shape Inverse(Dims permutation) {
  Shape out(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) out[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return out;
}
Value Transposed(const Eqn& e, const Value& ct) { return transpose(ct, Inverse(e.ints("permutation"))); }

Batched BatchRule(const Eqn& e, const Batched& x) {
  Shape permutation = rules::Shifted(e.ints("permutation"), x.dim);
  permutation.insert(permutation.begin(), x.dim);
  return {transpose(x.value, permutation), 0};
}

Index FromIndex(KernelBuilder&, const Eqn& e, std::span<const Scalar> at) {
  Index from;
  for (int64_t i : Inverse(e.ints("permutation"))) from.push_back(at[static_cast<size_t>(i)]);
  return from;
}

// Nothing to move, or a transpose of a transpose.
Value Simpler(const Eqn& e, std::span<const Value> in) {
  const Dims permutation = e.ints("permutation");
  if (std::is_sorted(permutation.begin(), permutation.end())) return in[0];
  const Producer p(in[0]);
  if (!p.Is("transpose")) return {};
  return transpose(p.operand(0), rules::Pick(p.eqn().ints("permutation"), permutation));
}

std::string Factors(const Eqn& e) {
  return rules::Letters(rules::Range(e.in(0).rank())) + " -> " + rules::Letters(e.ints("permutation"));
}

std::optional<ViewMap> ViewMapOf(const Eqn& e, uint32_t operand) {
  ViewMap map(e, operand);
  map.from.assign(e.ints("permutation").begin(), e.ints("permutation").end());
  return map;
}

constexpr Row kRows[] = {rules::ViewRow<FromIndex, Transposed, BatchRule, Simpler>(
    {.name = "transpose",
     .doc = "y = transpose(x): x with its dimensions in the order `permutation`",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_VIEW,
     .type = Type,
     .factors_of = Factors,
     .view_map = ViewMapOf,
     .examples = "(f64[2,3,4]) permutation=[2,0,1]"})};

}  // namespace

RowList permute_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
