// layer_norm and rms_norm: each slice along `axes` normalised, then scaled by parameters of the shape of a slice.
//
// layer_norm: Ba, Kiros and Hinton, "Layer normalization", 2016; the variance is the mean square of the differences
// from the mean, which does not cancel. rms_norm: Zhang and Sennrich, "Root mean square layer normalization", 2019.
// Derivatives are those of the decomposition. A batch of x stays in the operation; a batch of parameters is applied to
// the result of the operation with parameters that change nothing.
#include "along_axes.hpp"

namespace ricci { inline namespace v0 { namespace nn { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"axes", AttrKind::kInts}, {"epsilon", AttrKind::kFloat}};

// ---- type: x, then `n_in` - 1 parameters ----
template <uint32_t n_in>
ArrayTypes Type(const Eqn& e) {
  e.WantOperands(n_in);
  rules::WantDType(e, 0, kFloats);
  const ArrayType x = e.in(0);
  WantIncreasingAxes(e);
  if (!(e.number("epsilon") >= 0)) e.Fail("epsilon ", e.number("epsilon"), " must be at least 0");
  const ArrayType slice = x.WithShape(rules::Pick(x.shape(), e.ints("axes")));
  for (uint32_t i = 1; i < n_in; ++i) {
    if (e.in_id(i) != slice.id()) {
      e.Fail("operand ", i, " is ", e.in(i), "; it must be ", slice, ", a slice of ", x, " along axes ",
             e.ints("axes"));
    }
  }
  return x;
}

// ---- the decompositions ----
Value Scaled(const Eqn& e, const Value& x, const Value& mean_square) {
  return lax::mul(x, lax::rsqrt(lax::add(mean_square, e.number("epsilon"))));
}
// A parameter in every slice.
Value InEverySlice(const Eqn& e, const Value& parameter) {
  return lax::broadcast_in_dim(Widened(parameter), e.in(0).shape(), e.ints("axes"));
}
Values LayerNorm(const Eqn& e, std::span<const Value> in) {
  const Value x = Widened(in[0]), centred = lax::sub(x, MeanAlong(x, e.ints("axes")));
  const Value y = Scaled(e, centred, MeanAlong(lax::square(centred), e.ints("axes")));
  const Value offset = InEverySlice(e, in[2]), out = lax::add(lax::mul(y, InEverySlice(e, in[1])), offset);
  return {lax::convert_element_type(out, e.in(0).dtype())};
}
Values RmsNorm(const Eqn& e, std::span<const Value> in) {
  const Value x = Widened(in[0]), y = Scaled(e, x, MeanAlong(lax::square(x), e.ints("axes")));
  return {lax::convert_element_type(lax::mul(y, InEverySlice(e, in[1])), e.in(0).dtype())};
}
template <DecomposeRule rule>
constexpr Lowering kLowering[] = {{.decompose = rule, .flags = RICCI_LOWERING_TRANSFORMABLE}};

// ---- batch ----
// A batched parameter in every slice of the result, whose batch is dimension 0.
Value InItsSlices(const Eqn& e, const Batched& parameter, int64_t size) {
  Shape shape = {size}, dims = {0};
  const Dims inner = e.in(0).shape();
  shape.insert(shape.end(), inner.begin(), inner.end());
  for (int64_t a : e.ints("axes")) dims.push_back(a + 1);  // exact: a dimension
  return lax::broadcast_in_dim(rules::BatchFirst(parameter, size), shape, dims);
}
void BatchRule(const Eqn& e, Batch& a) {
  const bool only_x = std::none_of(a.in.begin() + 1, a.in.end(), [](const Batched& p) { return p.is_batched(); });
  const Batched& x = a.in[0];
  Values in = {x.value};
  for (size_t i = 1; i < a.in.size(); ++i) {
    const ArrayType slice = e.in(static_cast<uint32_t>(i));
    in.push_back(only_x ? a.in[i].value : lax::full(e.builder(), slice, i == 1 ? 1 : 0));
  }
  const Shape axes(e.ints("axes").begin(), e.ints("axes").end());
  a.out[0] = {e.Emit(in, {{"axes", x.is_batched() ? rules::Shifted(axes, x.dim) : axes}}), x.dim};
  if (only_x) return;
  const Value scale = InItsSlices(e, a.in[1], a.size);
  Value y = lax::mul(rules::BatchFirst(a.out[0], a.size), scale);
  if (a.in.size() > 2) y = lax::add(y, InItsSlices(e, a.in[2], a.size));
  a.out[0] = {y, 0};
}

std::string Factors(const Eqn& e) {
  const Dims axes = e.ints("axes");
  const std::string all = rules::Letters(rules::Range(e.in(0).rank()));
  std::string in = all;
  for (uint32_t i = 1; i < e.n_in(); ++i) in += ", " + rules::Letters(axes);
  return in + " -> " + all + WholeAlong(axes);
}

constexpr Row kRows[] = {
    {.name = "layer_norm",
     .doc = "y = layer_norm(x, scale, bias): (x - mean) / sqrt(variance + `epsilon`) * scale + bias, with mean and "
            "variance along `axes`",
     .attrs = kAttrs,
     .type = Type<3>,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = kLowering<LayerNorm>,
     .examples = "(f64[2,3,4], f64[4], f64[4]) axes=[2] epsilon=1e-05; "
                 "(f64[3,2,4], f64[3,4], f64[3,4]) axes=[0,2] epsilon=0.001"},
    {.name = "rms_norm",
     .doc = "y = rms_norm(x, scale): x / sqrt(the mean of its squares along `axes` + `epsilon`) * scale",
     .attrs = kAttrs,
     .type = Type<2>,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = kLowering<RmsNorm>,
     .examples = "(f64[2,3,4], f64[4]) axes=[2] epsilon=1e-06; "
                 "(f64[3,2,4], f64[3,4]) axes=[0,2] epsilon=0.001"}};

}  // namespace

RowList normalization_rows() { return kRows; }

}}}}  // namespace ricci::v0::nn::rows
