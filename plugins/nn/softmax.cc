// softmax: exp(x) over its sum along `axes`, of x times `scale`, where a mask allows it; jax.nn.softmax.
//
// What the mask leaves out gives 0, and a slice without any element gives zeros. The derivative needs the result only:
// y (dx - sum(y dx)), in which the greatest element that is subtracted first does not occur.
#include "along_axes.hpp"

namespace ricci { inline namespace v0 { namespace nn { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"axes", AttrKind::kInts}, {"scale", AttrKind::kFloat, "1"}};

ArrayTypes Type(const Eqn& e) {
  if (e.n_in() != 1 && e.n_in() != 2) e.Fail("takes x and at most one mask, not ", Count(e.n_in(), "operand"));
  rules::WantDType(e, 0, kFloats);
  WantIncreasingAxes(e);
  const ArrayType mask = e.in(0).WithDType(DType::kBool);
  if (e.n_in() == 2 && e.in_id(1) != mask.id()) e.Fail("operand 1 is ", e.in(1), "; it must be ", mask);
  return e.in(0);
}

Values Decompose(const Eqn& e, std::span<const Value> in) {
  const Dims axes = e.ints("axes");
  const bool masked = in.size() > 1;
  Value x = Widened(in[0]);
  if (e.has("scale")) x = lax::mul(x, e.number("scale"));
  if (masked) x = lax::select(in[1], x, lax::full_like(x, -lax::kInfinity));
  const Value top = SpreadAlong(lax::reduce_max(x, axes), x.shape(), axes);
  const Value terms = lax::exp(lax::sub(x, top));
  const Value y = lax::convert_element_type(lax::div(terms, SumAlong(terms, axes)), in[0].dtype());
  return {masked ? lax::select(in[1], y, lax::zeros_like(y)) : y};
}

void JvpRule(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (a.tangents[0].is_zero()) return;
  const Dims axes = e.ints("axes");
  const Value y = Widened(a.out[0]);
  Value t = Widened(a.tangents[0]);
  if (e.has("scale")) t = lax::mul(t, e.number("scale"));
  const Value change = lax::mul(y, lax::sub(t, SumAlong(lax::mul(y, t), axes)));
  a.out_tangents[0] = lax::convert_element_type(change, e.in(0).dtype());
}

// The batch of x and that of a mask go where x has its own, or first.
void BatchRule(const Eqn& e, Batch& a) {
  const int64_t dim = a.in[0].is_batched() ? a.in[0].dim : 0;
  Values in;
  for (const Batched& x : a.in) {
    in.push_back(x.dim == dim ? x.value : rules::MoveDim(rules::BatchFirst(x, a.size), 0, dim));
  }
  a.out[0] = {e.Emit(in, {{"axes", rules::Shifted(e.ints("axes"), dim)}}), dim};
}

std::string Factors(const Eqn& e) {
  const std::string all = rules::Letters(rules::Range(e.in(0).rank()));
  return Text(e.n_in() == 2 ? all + ", " : "", all, " -> ", all, WholeAlong(e.ints("axes")));
}

constexpr Row kRows[] = {{.name = "softmax",
                          .doc =
                              "y = softmax(x, mask...): exp(x * `scale`) over its sum along `axes`; where the mask is "
                              "false, x does not count and y is 0",
                          .attrs = kAttrs,
                          .type = Type,
                          .jvp = JvpRule,
                          .batch = BatchRule,
                          .factors_of = Factors,
                          .lowerings = lower::Decompose<Decompose>,
                          .missing = rules::kNotLinear,
                          .examples = "(f64[2,3]) axes=[1]; "
                                      "(f64[2,3,2]) axes=[0,2] scale=0.5; "
                                      "(f64[3,4], bool[3,4]) axes=[0] scale=2.0"}};

}  // namespace

RowList softmax_rows() { return kRows; }

}}}}  // namespace ricci::v0::nn::rows
