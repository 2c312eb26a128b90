// rev: the elements in reverse order along `dimensions`. Its own transpose.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"dimensions", AttrKind::kInts}};

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  rules::WantAxes(e, 0, "dimensions", e.ints("dimensions"));
  return e.in(0);
}
Value Transposed(const Eqn& e, const Value& ct) { return rev(ct, e.ints("dimensions")); }
Batched BatchRule(const Eqn& e, const Batched& x) {
  return {rev(x.value, rules::Shifted(e.ints("dimensions"), x.dim)), x.dim};
}
Value Simpler(const Eqn& e, std::span<const Value> in) {
  if (e.ints("dimensions").empty()) return in[0];
  const Producer p(in[0]);
  return p.Is("rev") && SameDims(p.eqn().ints("dimensions"), e.ints("dimensions")) ? p.operand(0) : Value{};
}
Index FromIndex(KernelBuilder&, const Eqn& e, std::span<const Scalar> at) {
  Index from(at.begin(), at.end());
  for (int64_t d : e.ints("dimensions")) from[static_cast<size_t>(d)] = e.in(0).dim(d) - 1 - at[static_cast<size_t>(d)];
  return from;
}
std::string Factors(const Eqn& e) {
  const std::string all = rules::Letters(rules::Range(e.out().rank()));
  const std::string text = all + " -> " + all;
  return e.ints("dimensions").empty() ? text : text + "; whole " + rules::Letters(e.ints("dimensions"));
}

constexpr Row kRows[] = {
    rules::ViewRow<FromIndex, Transposed, BatchRule, Simpler>({.name = "rev",
                                                               .doc = "y = rev(x): x reversed along `dimensions`",
                                                               .attrs = kAttrs,
                                                               .type = Type,
                                                               .factors_of = Factors,
                                                               .examples = "(f64[2,3,4]) dimensions=[0,2]"})};

}  // namespace

RowList rev_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
