// Attention of any form, normalisations, softmax and scaled products.
#include "fuzz/generators.h"

namespace ricci::testing {
namespace {

// Some dimensions of x, in order.
Shape SomeAxes(Draft& d, const Value& x) {
  Shape axes;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (d.dice().Chance(0.6)) axes.push_back(i);
  }
  return axes;
}

void Normalize(Draft& d) {
  const Value x = d.AnyOfRank(1, 4, kFloats);
  const Shape axes = SomeAxes(d, x);
  const ArrayType slice = x.type().WithShape(rules::Pick(x.shape(), axes));
  constexpr double kEpsilons[] = {1e-5, 0.01, 0.5};
  const Attr epsilon("epsilon", d.dice().Pick(kEpsilons)), along("axes", axes);
  if (d.dice().Chance(0.5)) {
    d.Emit("layer_norm", {x, d.Of(slice), d.Of(slice)}, {along, epsilon});
  } else {
    d.Emit("rms_norm", {x, d.Of(slice)}, {along, epsilon});
  }
}

void Softmax(Draft& d) {
  const Value x = d.AnyOfRank(0, 4, kFloats);
  Values in = {x};
  if (d.dice().Chance(0.4)) in.push_back(d.Of(DType::kBool, x.shape()));
  constexpr double kScales[] = {0.5, 1, 2};
  d.Emit("softmax", in, {{"axes", SomeAxes(d, x)}, {"scale", d.dice().Pick(kScales)}});
}

// [B, N, T, S], sizes of which are 1 by chance.
Shape Broadcastable(Draft& d, const Shape& full) {
  Shape shape = full;
  for (int64_t& n : shape) n = d.dice().Chance(0.4) ? 1 : n;
  return shape;
}
void Attention(Draft& d) {
  const int64_t batch = d.dice().Between(1, 2), queries = d.dice().Between(1, 6), keys = d.dice().Between(1, 6);
  const int64_t key_heads = d.dice().Between(1, 2), heads = key_heads * d.dice().Between(1, 2);
  const int64_t features = d.dice().Between(1, 4);
  const Shape scores = {batch, heads, queries, keys};
  if (ElementCount(scores) * features > d.palette().max_elements) return;
  const DType dtype = d.SomeDType(kFloats);
  const Shape key_shape = {batch, keys, key_heads, features};
  Values in = {d.Of(dtype, Shape{batch, queries, heads, features}), d.Of(dtype, key_shape), d.Of(dtype, key_shape)};
  if (d.dice().Chance(0.3)) in.push_back(d.Of(dtype, Broadcastable(d, scores)));
  if (d.dice().Chance(0.3)) in.push_back(d.Of(DType::kBool, Broadcastable(d, scores)));
  const Shape window = {d.dice().Between(0, 3), d.dice().Between(0, 3)};
  constexpr double kScales[] = {0.25, 1};
  std::vector<Attr> attrs = {{"scale", d.dice().Pick(kScales)},
                             {"is_causal", d.dice().Chance(0.5)},
                             {"local_window_size", window},
                             {"block_size", d.dice().Between(1, 7)}};
  Values random;
  if (d.dice().Chance(0.3))
    random = d.Emit("random_seed", {d.Of(DType::kI32, Shape{d.dice().Chance(0.5) ? 1 : batch})});
  if (!random.empty()) {
    in.push_back(random[0]);
    attrs.push_back({"dropout_rate", 0.5});
  }
  const std::vector<ricci_attr> plain(attrs.begin(), attrs.end());
  d.Emit("dot_product_attention", in, plain);
}

void ScaledProduct(Draft& d) {
  const int64_t batch = d.dice().Between(1, 2), m = d.dice().Between(1, 3), n = d.dice().Between(0, 3);
  const int64_t blocks = d.dice().Between(1, 3), k = blocks * d.dice().Between(1, 3);
  const DType dtype = d.SomeDType(kFloats), result = dtype == DType::kF64 ? dtype : DType::kF32;
  const Values in = {d.Of(dtype, Shape{batch, m, k}), d.Of(dtype, Shape{batch, n, k}),
                     d.Of(dtype, Shape{batch, m, blocks}), d.Of(dtype, Shape{batch, n, blocks})};
  d.Emit("scaled_matmul", in, {{"preferred_element_type", result}});
}

// Quantization has no derivative but that which stands for it.
void QuantizedProduct(Draft& d) {
  const bool has_global = d.dice().Chance(0.5);
  const int64_t k = has_global ? 16 : 32, m = d.dice().Between(1, 2), n = d.dice().Between(0, 2);
  constexpr DType kResults[] = {DType::kF32, DType::kF32, DType::kBF16, DType::kF16};
  const DType dtype = d.SomeDType(kWideFloats);
  Values in = {d.Of(dtype, Shape{m, k}), d.Of(dtype, Shape{k, n})};
  if (has_global) in.insert(in.end(), 2, d.Positive(d.Of(DType::kF32, Shape{})));
  for (Value& v : in) v = lax::stop_gradient(v);
  d.Emit("scaled_dot_general", in,
         {{"lhs_contract", Shape{1}},
          {"rhs_contract", Shape{0}},
          {"mode", has_global ? "nvfp4" : "mxfp8"},
          {"preferred_element_type", d.dice().Pick(kResults)}});
}
void GreatestMagnitude(Draft& d) {
  const Value x = d.AnyOfRank(0, 4, kFloats);
  d.Emit("amax", {x}, {{"axes", SomeAxes(d, x)}});
}

constexpr Generator kGenerators[] = {{1, true, Normalize},         {1, true, Softmax},
                                     {2, true, Attention},         {1, true, ScaledProduct},
                                     {1, false, QuantizedProduct}, {1, true, GreatestMagnitude}};

}  // namespace

std::span<const Generator> NeuralGenerators() { return kGenerators; }

}  // namespace ricci::testing
