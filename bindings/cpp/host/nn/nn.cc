// The neural primitives with the operands of jax.nn: lengths become masks, what lacks a batch gets one.
#include "ricci/nn.hpp"

#include "host/core/plain_math.h"

namespace ricci { inline namespace v0 { namespace nn {

using namespace plain;

namespace {

// All operands as Values of one program; numbers become scalars of the dtype of the first one.
Values UseAll(std::string_view name, std::span<const Operand> xs, DType dtype) {
  const CallSite site = SiteOf(name, xs);
  Values out;
  for (const Operand& x : xs) out.push_back(site.Lift(x, dtype, x.shape()));
  return out;
}
// x and its parameters in the dtype of x, each parameter with the shape of a slice along `list`.
Values WithParameters(std::string_view name, std::span<const Operand> xs, const Axes& axes, Shape& list) {
  Values v = UseAll(name, xs, xs[0].dtype());
  list = axes.Of(name, xs[0].at, v[0].rank());
  Shape slice;
  for (int64_t a : list) slice.push_back(v[0].dim(a));
  for (size_t i = 1; i < v.size(); ++i) v[i] = BroadcastValue(To(v[i], v[0].dtype()), slice);
  return v;
}

}  // namespace

Value layer_norm(const Operand& x, const Operand& scale, const Operand& bias, const Axes& axes, double epsilon) {
  const Operand all[] = {x, scale, bias};
  Shape list;
  const Values v = WithParameters("layer_norm", all, axes, list);
  return Emit1("layer_norm", v, {{"axes", list}, {"epsilon", epsilon}});
}
Value rms_norm(const Operand& x, const Operand& scale, const Axes& axes, double epsilon) {
  const Operand all[] = {x, scale};
  Shape list;
  const Values v = WithParameters("rms_norm", all, axes, list);
  return Emit1("rms_norm", v, {{"axes", list}, {"epsilon", epsilon}});
}

Value softmax(const Operand& x, const Axes& axes, const SoftmaxOptions& options) {
  std::vector<Operand> all = {x};
  if (options.where) all.push_back(*options.where);
  Values v = UseAll("softmax", all, DType::kBool);
  if (v.size() > 1) v[1] = BroadcastValue(v[1], v[0].shape());
  return Emit1("softmax", v, {{"axes", axes.Of("softmax", x.at, v[0].rank())}, {"scale", options.scale}});
}

Value scaled_matmul(const Operand& lhs, const Operand& rhs, const Operand& lhs_scales, const Operand& rhs_scales,
                    DType preferred_element_type) {
  const Operand all[] = {lhs, rhs, lhs_scales, rhs_scales};
  const Values v = UseAll("scaled_matmul", all, DType::kF32);
  return Emit1("scaled_matmul", v, {{"preferred_element_type", preferred_element_type}});
}

namespace {

constexpr std::string_view kScaledDot = "scaled_dot_general";

// The global scale as an operand of the primitive.
Operand GlobalScale(const BlockScaleConfig& config, const Operand& of) {
  const Operand scale = config.global_scale.value_or(Operand(1.0, of.at));
  if (ElementCount(scale.shape()) != 1) {
    FailAt(of.at, kScaledDot, ": a global scale has shape ", scale.shape(), "; it must have one element");
  }
  return scale;
}

}  // namespace

BlockScaleConfig get_scaled_dot_general_config(std::string_view mode, const std::optional<Operand>& global_scale) {
  if (mode != "mxfp8" && mode != "nvfp4") {
    Fail("get_scaled_dot_general_config: mode ", mode, " must be mxfp8 or nvfp4");
  }
  if (mode == "mxfp8" && global_scale) Fail("get_scaled_dot_general_config: mxfp8 has no global scale");
  return {mode, global_scale};
}
Value scaled_dot_general(const Operand& lhs, const Operand& rhs, const lax::DotDims& dims, DType preferred_element_type,
                         const std::vector<BlockScaleConfig>& configs) {
  std::vector<Operand> all = {lhs, rhs};
  if (configs.empty()) {
    const Values v = UseAll(kScaledDot, all, DType::kF32);
    return lax::dot_general(v[0], v[1], dims, preferred_element_type);
  }
  if (configs.size() != 3) {
    FailAt(lhs.at, kScaledDot, ": takes 3 configs, of lhs, rhs and gradients, not ", configs.size());
  }
  for (const BlockScaleConfig& c : configs) {
    if (c.mode != configs[0].mode) {
      FailAt(lhs.at, kScaledDot, ": configs are of modes ", configs[0].mode, " and ", c.mode, "; they must have one");
    }
  }
  for (size_t i = 0; i < 2 && configs[0].mode == "nvfp4"; ++i) all.push_back(GlobalScale(configs[i], all[i]));
  Values v = UseAll(kScaledDot, all, DType::kF32);
  for (size_t i = 2; i < v.size(); ++i) v[i] = lax::reshape(To(v[i], DType::kF32), Shape{});
  return Emit1(kScaledDot, v,
               {{"lhs_contract", dims.lhs_contract},
                {"rhs_contract", dims.rhs_contract},
                {"lhs_batch", dims.lhs_batch},
                {"rhs_batch", dims.rhs_batch},
                {"mode", configs[0].mode},
                {"preferred_element_type", preferred_element_type}});
}
Value amax(const Operand& x, const Axes& axes) {
  const Value v = UseInexact("amax", x);
  return Emit1("amax", {v}, {{"axes", axes.Of("amax", x.at, v.rank())}});
}

namespace {

constexpr std::string_view kAttention = "dot_product_attention";

// Whether the position along dimension `dim` of [B, ...] is below the length of each sequence; `rank` dimensions, those
// that are not 0 or `dim` of size 1.
Value BelowLength(const Value& lengths, int64_t count, int64_t dim, int64_t rank) {
  Shape shape(static_cast<size_t>(rank), 1);
  shape[0] = lengths.dim(0);
  shape[static_cast<size_t>(dim)] = count;
  const int64_t first[] = {0};
  return lax::lt(Positions(lax::broadcast_in_dim(lengths, shape, first), lengths.dtype(), dim),
                 lax::broadcast_in_dim(lengths, shape, first));
}
// Leading dimensions of size 1, up to four dimensions.
Value WithBatch(const Value& v) { return v.rank() < 4 ? lax::expand_dims(v, CountFrom(0, 4 - v.rank())) : v; }

const Operand& KeyOfDropout(const Operand& query, const AttentionOptions& o) {
  if (!o.dropout_key) FailAt(query.at, kAttention, ": dropout_rate ", o.dropout_rate, " needs a dropout_key");
  return *o.dropout_key;
}

// The operands of the primitive: query, key, value, bias, mask and key of dropout; and the lengths of queries, or
// nothing.
struct AttentionOperands {
  AttentionOperands(std::span<const Operand> arrays, const AttentionOptions& o) {
    std::vector<Operand> all(arrays.begin(), arrays.end());
    for (const auto* x : {&o.bias, &o.mask, &o.key_value_seq_lengths, &o.query_seq_lengths}) {
      if (*x) all.push_back(**x);
    }
    if (o.dropout_rate != 0) all.push_back(KeyOfDropout(all[0], o));
    const Values v = UseAll(kAttention, all, all[0].dtype());
    auto next = v.begin() + 3;
    for (auto i = v.begin(); i != next; ++i) in.push_back(WithBatch(*i));
    if (o.bias) in.push_back(WithBatch(*next++));
    Value mask;
    if (o.mask) mask = WithBatch(*next++);
    if (o.key_value_seq_lengths) {
      const Value counts = BelowLength(*next++, in[1].dim(1), 3, 4);
      mask = mask.is_none() ? counts : mask & counts;
    }
    if (!mask.is_none()) in.push_back(mask);
    if (o.query_seq_lengths) query_counts = BelowLength(*next++, in[0].dim(1), 1, 3);
    if (o.dropout_rate != 0) in.push_back(lax::expand_dims(*next++, Shape{0}));
    has_batch = v[0].rank() == 4;
  }
  Values in;
  Value query_counts;  // [B, T, 1], or unset
  bool has_batch = true;
};

Values Attention(std::span<const Value> in, const AttentionOptions& o) {
  std::vector<Attr> attrs = {{"is_causal", o.is_causal}};
  Shape window;
  if (o.scale) attrs.push_back({"scale", *o.scale});
  if (o.local_window_size) {
    window = {o.local_window_size->first, o.local_window_size->second};
    attrs.push_back({"local_window_size", window});
  }
  if (o.dropout_rate != 0) attrs.push_back({"dropout_rate", o.dropout_rate});
  const Operands operands(in);
  const ricci_prim prim = FindPrimitive(ricci_builder_context(operands.builder), "dot_product_attention");
  const std::vector<ricci_attr> plain(attrs.begin(), attrs.end());
  return Emit(operands.builder, operands.scope, prim, plain, operands.ids, 2);
}

}  // namespace

AttentionResult dot_product_attention_with_residual(const Operand& query, const Operand& key, const Operand& value,
                                                    const AttentionOptions& options) {
  const Operand arrays[] = {query, key, value};
  const AttentionOperands o(arrays, options);
  Values out = Attention(o.in, options);
  if (!o.query_counts.is_none()) {
    const Value counts = lax::squeeze(o.query_counts, Shape{2});
    const int64_t by_query[] = {0, 1};
    out[0] = Where(lax::broadcast_in_dim(counts, out[0].shape(), by_query), out[0], 0);
  }
  out[1] = lax::stop_gradient(To(out[1], out[0].dtype()));
  if (!o.has_batch) {
    for (Value& v : out) v = lax::squeeze(v, Shape{0});
  }
  return {out[0], out[1]};
}
Value dot_product_attention(const Operand& query, const Operand& key, const Operand& value,
                            const AttentionOptions& options) {
  return dot_product_attention_with_residual(query, key, value, options).encoded;
}

}}}  // namespace ricci::v0::nn
