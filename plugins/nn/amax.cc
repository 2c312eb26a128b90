// amax: the greatest magnitude along `axes`, from which scales of narrow floats are computed.
//
// Its derivatives are those of the decomposition, the maximum of absolute values.
#include "along_axes.hpp"

namespace ricci { inline namespace v0 { namespace nn { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"axes", AttrKind::kInts}};

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  rules::WantDType(e, 0, kFloats);
  WantIncreasingAxes(e);
  return e.in(0).WithShape(rules::Without(e.in(0).shape(), e.ints("axes")));
}

Values Decompose(const Eqn& e, std::span<const Value> in) { return {lax::reduce_max(lax::abs(in[0]), e.ints("axes"))}; }
constexpr Lowering kLowerings[] = {{.decompose = Decompose, .flags = RICCI_LOWERING_TRANSFORMABLE}};

Batched BatchRule(const Eqn& e, const Batched& x) {
  const Value first = rules::MoveDim(x.value, x.dim, 0);
  return {e.Emit({first}, {{"axes", rules::Shifted(e.ints("axes"), 0)}}), 0};
}

std::string Factors(const Eqn& e) {
  const Dims axes = e.ints("axes");
  const std::string all = rules::Letters(rules::Range(e.in(0).rank()));
  const std::string kept = rules::Letters(rules::Complement(axes, e.in(0).rank()));
  return Text(all, " -> ", kept, axes.empty() ? "" : "; max " + rules::Letters(axes));
}

constexpr Row kRows[] = {{.name = "amax",
                          .doc = "y = amax(x): the greatest of the absolute values of x along `axes`, NaN if one is",
                          .attrs = kAttrs,
                          .type = Type,
                          .batch = rules::BatchFirstOperand<BatchRule>,
                          .factors_of = Factors,
                          .lowerings = kLowerings,
                          .examples = "(f64[2,3]) axes=[1]; (f64[2,3,2]) axes=[0,2]; (f64[3]) axes=[0]"}};

}  // namespace

RowList amax_rows() { return kRows; }

}}}}  // namespace ricci::v0::nn::rows
