// ricci/lax.hpp: one function per built-in primitive, with the names and attributes of jax.lax.
//
// As in jax.lax nothing promotes or broadcasts: operands of a binary operation have one shape and dtype. The only
// convenience is that one side of add, sub, mul, div may be a number, which becomes a constant of the other's type.
// Equations get the location set last on the builder. Indexing, products and random bits are in lax_indexing.hpp.
#ifndef RICCI_LAX_HPP_
#define RICCI_LAX_HPP_
#include "ricci/emit.hpp"
#include "ricci/lax_convolution.hpp"
#include "ricci/lax_fft.hpp"
#include "ricci/lax_indexing.hpp"
#include "ricci/lax_linalg.hpp"
#include "ricci/lax_random.hpp"
#include "ricci/lax_special.hpp"
#include "ricci/lax_windows.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// ---- constants ----
template <typename T>
Value full(ricci_builder* b, const ArrayType& type, T value) {
  const Element e = Encode(type.dtype(), value);
  Value out{b};
  Check(ricci_builder_const(b, type.id(), e.bytes.data(), e.size, &out.id));
  return out;
}
template <typename T>
Value full(ricci_builder* b, Dims shape, DType dtype, T value) {
  return full(b, ArrayType::Make(ricci_builder_context(b), dtype, shape), value);
}
template <typename T>
Value full_like(const Value& x, T value) {
  Value out = full(x.builder, x.type(), value);
  out.scope = x.scope;
  return out;
}
inline Value zeros(ricci_builder* b, const ArrayType& type) {
  Value out{b};
  Check(ricci_builder_zero(b, type.id(), &out.id));
  return out;
}
inline Value zeros_like(const Value& x) { return full_like(x, 0); }
inline Value ones_like(const Value& x) { return full_like(x, 1); }
// `v`, or zeros of `type` if it is the symbolic zero.
inline Value instantiate(const Value& v, const ArrayType& type) { return v.is_zero() ? zeros(v.builder, type) : v; }

// ---- elementwise, one operand ----
inline Value abs(const Value& x) { return Emit1("abs", {x}); }
inline Value acos(const Value& x) { return Emit1("acos", {x}); }
inline Value acosh(const Value& x) { return Emit1("acosh", {x}); }
inline Value asin(const Value& x) { return Emit1("asin", {x}); }
inline Value asinh(const Value& x) { return Emit1("asinh", {x}); }
inline Value atan(const Value& x) { return Emit1("atan", {x}); }
inline Value atanh(const Value& x) { return Emit1("atanh", {x}); }
inline Value bitwise_not(const Value& x) { return Emit1("not", {x}); }
inline Value cbrt(const Value& x) { return Emit1("cbrt", {x}); }
inline Value ceil(const Value& x) { return Emit1("ceil", {x}); }
inline Value clz(const Value& x) { return Emit1("clz", {x}); }
inline Value copy(const Value& x) { return Emit1("copy", {x}); }
inline Value cos(const Value& x) { return Emit1("cos", {x}); }
inline Value cosh(const Value& x) { return Emit1("cosh", {x}); }
inline Value exp(const Value& x) { return Emit1("exp", {x}); }
inline Value exp2(const Value& x) { return Emit1("exp2", {x}); }
inline Value expm1(const Value& x) { return Emit1("expm1", {x}); }
inline Value floor(const Value& x) { return Emit1("floor", {x}); }
inline Value integer_pow(const Value& x, int64_t y) { return Emit1("integer_pow", {x}, {{"y", y}}); }
inline Value is_finite(const Value& x) { return Emit1("is_finite", {x}); }
inline Value log(const Value& x) { return Emit1("log", {x}); }
inline Value log1p(const Value& x) { return Emit1("log1p", {x}); }
inline Value logistic(const Value& x) { return Emit1("logistic", {x}); }
inline Value neg(const Value& x) { return Emit1("neg", {x}); }
inline Value population_count(const Value& x) { return Emit1("population_count", {x}); }
// rounding_method: 0 = away from zero, 1 = to nearest even.
inline Value round(const Value& x, int64_t rounding_method = 0) {
  return Emit1("round", {x}, {{"rounding_method", rounding_method}});
}
inline Value rsqrt(const Value& x) { return Emit1("rsqrt", {x}); }
inline Value sign(const Value& x) { return Emit1("sign", {x}); }
inline Value sin(const Value& x) { return Emit1("sin", {x}); }
inline Value sinh(const Value& x) { return Emit1("sinh", {x}); }
inline Value sqrt(const Value& x) { return Emit1("sqrt", {x}); }
inline Value square(const Value& x) { return Emit1("square", {x}); }
inline Value stop_gradient(const Value& x) { return Emit1("stop_gradient", {x}); }
inline Value tan(const Value& x) { return Emit1("tan", {x}); }
inline Value tanh(const Value& x) { return Emit1("tanh", {x}); }
// x itself, under a name for the policies of checkpoint (jax.ad_checkpoint.checkpoint_name).
inline Value name(const Value& x, std::string_view name) { return Emit1("name", {x}, {{"name", name}}); }
inline Value reduce_precision(const Value& x, int64_t exponent_bits, int64_t mantissa_bits) {
  return Emit1("reduce_precision", {x}, {{"exponent_bits", exponent_bits}, {"mantissa_bits", mantissa_bits}});
}
// The parts of a complex number: f32 of c64, f64 of c128.
inline Value real(const Value& z) { return Emit1("real", {z}); }
inline Value imag(const Value& z) { return Emit1("imag", {z}); }
inline Value conj(const Value& z) { return Emit1("conj", {z}); }
// No equation if x already has `dtype`.
inline Value convert_element_type(const Value& x, DType dtype) {
  return x.dtype() == dtype ? x : Emit1("convert_element_type", {x}, {{"new_dtype", dtype}});
}
inline Value bitcast_convert_type(const Value& x, DType dtype) {
  return Emit1("bitcast_convert_type", {x}, {{"new_dtype", dtype}});
}

// ---- elementwise, two operands ----
inline Value add(const Value& x, const Value& y) { return Emit1("add", {x, y}); }
inline Value sub(const Value& x, const Value& y) { return Emit1("sub", {x, y}); }
inline Value mul(const Value& x, const Value& y) { return Emit1("mul", {x, y}); }
inline Value div(const Value& x, const Value& y) { return Emit1("div", {x, y}); }
inline Value rem(const Value& x, const Value& y) { return Emit1("rem", {x, y}); }
inline Value max(const Value& x, const Value& y) { return Emit1("max", {x, y}); }
inline Value min(const Value& x, const Value& y) { return Emit1("min", {x, y}); }
inline Value pow(const Value& x, const Value& y) { return Emit1("pow", {x, y}); }
// x * y + z, rounded once.
inline Value fma(const Value& x, const Value& y, const Value& z) { return Emit1("fma", {x, y, z}); }
// x + iy, of f32 or f64.
inline Value complex(const Value& x, const Value& y) { return Emit1("complex", {x, y}); }
inline Value atan2(const Value& x, const Value& y) { return Emit1("atan2", {x, y}); }
inline Value nextafter(const Value& x, const Value& y) { return Emit1("nextafter", {x, y}); }
// The derivative of order m (whole numbers) of digamma at x; the sum over k of (q + k)^-x.
inline Value mulhi(const Value& x, const Value& y) { return Emit1("mulhi", {x, y}); }
inline Value bitwise_and(const Value& x, const Value& y) { return Emit1("and", {x, y}); }
inline Value bitwise_or(const Value& x, const Value& y) { return Emit1("or", {x, y}); }
inline Value bitwise_xor(const Value& x, const Value& y) { return Emit1("xor", {x, y}); }
inline Value shift_left(const Value& x, const Value& y) { return Emit1("shift_left", {x, y}); }
inline Value shift_right_arithmetic(const Value& x, const Value& y) { return Emit1("shift_right_arithmetic", {x, y}); }
inline Value shift_right_logical(const Value& x, const Value& y) { return Emit1("shift_right_logical", {x, y}); }
inline Value eq(const Value& x, const Value& y) { return Emit1("eq", {x, y}); }
inline Value ne(const Value& x, const Value& y) { return Emit1("ne", {x, y}); }
inline Value lt(const Value& x, const Value& y) { return Emit1("lt", {x, y}); }
inline Value le(const Value& x, const Value& y) { return Emit1("le", {x, y}); }
inline Value gt(const Value& x, const Value& y) { return Emit1("gt", {x, y}); }
inline Value ge(const Value& x, const Value& y) { return Emit1("ge", {x, y}); }
// Comparisons in the total order of floats: -nan < -inf < ... < -0 < 0 < ... < inf < nan.
inline Value eq_to(const Value& x, const Value& y) { return Emit1("eq_to", {x, y}); }
inline Value le_to(const Value& x, const Value& y) { return Emit1("le_to", {x, y}); }
inline Value lt_to(const Value& x, const Value& y) { return Emit1("lt_to", {x, y}); }
inline Value add(const Value& x, double y) { return add(x, full_like(x, y)); }
inline Value sub(const Value& x, double y) { return sub(x, full_like(x, y)); }
inline Value mul(const Value& x, double y) { return mul(x, full_like(x, y)); }
inline Value div(const Value& x, double y) { return div(x, full_like(x, y)); }
inline Value add(double x, const Value& y) { return add(full_like(y, x), y); }
inline Value sub(double x, const Value& y) { return sub(full_like(y, x), y); }
inline Value mul(double x, const Value& y) { return mul(full_like(y, x), y); }
inline Value div(double x, const Value& y) { return div(full_like(y, x), y); }

// ---- choice ----
// cases[which]; `which` is bool or i32, a scalar or of the shape of the cases.
inline Value select_n(const Value& which, std::initializer_list<Value> cases) {
  Values in{which};
  in.insert(in.end(), cases);
  return Emit1("select_n", in);
}
inline Value select(const Value& pred, const Value& on_true, const Value& on_false) {
  return select_n(pred, {on_false, on_true});
}
inline Value clamp(const Value& min, const Value& x, const Value& max) { return Emit1("clamp", {min, x, max}); }

// ---- shape ----
inline Value broadcast_in_dim(const Value& x, Dims shape, Dims broadcast_dimensions) {
  return Emit1("broadcast_in_dim", {x}, {{"shape", shape}, {"broadcast_dimensions", broadcast_dimensions}});
}
// `x` repeated along new leading dimensions.
inline Value broadcast(const Value& x, Dims sizes) {
  Shape shape(sizes.begin(), sizes.end());
  shape.insert(shape.end(), x.shape().begin(), x.shape().end());
  return broadcast_in_dim(x, shape, CountFrom(static_cast<int64_t>(sizes.size()), x.rank()));
}
inline Value reshape(const Value& x, Dims new_sizes) {
  return SameDims(x.shape(), new_sizes) ? x : Emit1("reshape", {x}, {{"new_sizes", new_sizes}});
}
inline Value transpose(const Value& x, Dims permutation) {
  bool identity = static_cast<int64_t>(permutation.size()) == x.rank();
  for (size_t i = 0; i < permutation.size(); ++i) identity &= permutation[i] == static_cast<int64_t>(i);
  return identity ? x : Emit1("transpose", {x}, {{"permutation", permutation}});
}
inline Value squeeze(const Value& x, Dims dimensions) {
  return dimensions.empty() ? x : Emit1("squeeze", {x}, {{"dimensions", dimensions}});
}
// New dimensions of size 1 at these positions of the result.
inline Value expand_dims(const Value& x, Dims dimensions) {
  return dimensions.empty() ? x : Emit1("expand_dims", {x}, {{"dimensions", dimensions}});
}
inline Value rev(const Value& x, Dims dimensions) { return Emit1("rev", {x}, {{"dimensions", dimensions}}); }
inline Value pad(const Value& x, const Value& padding_value, Dims low, Dims high, Dims interior) {
  return Emit1("pad", {x, padding_value}, {{"low", low}, {"high", high}, {"interior", interior}});
}
inline Value concatenate(std::span<const Value> xs, int64_t dimension) {
  return xs.size() == 1 ? xs[0] : Emit1("concatenate", xs, {{"dimension", dimension}});
}
// Joins the operands along a new dimension `axis` of the result.
inline Value stack(std::span<const Value> xs, int64_t axis) { return Emit1("stack", xs, {{"axis", axis}}); }
inline Values unstack(const Value& x, int64_t axis) {
  if (axis < 0 || axis >= x.rank()) Fail("unstack: axis ", axis, " is out of range for ", x.type());
  // Too many are refused by the primitive, with the number.
  const int64_t n = std::min(x.dim(axis), int64_t{RICCI_MAX_RESULTS} + 1);
  return EmitN(static_cast<uint32_t>(n), "unstack", {&x, 1}, {{"axis", axis}});
}
// Pieces of these sizes along `axis`.
inline Values split(const Value& x, Dims sizes, int64_t axis) {
  return EmitN(static_cast<uint32_t>(sizes.size()), "split", {&x, 1}, {{"sizes", sizes}, {"axis", axis}});
}
inline Value tile(const Value& x, Dims reps) { return Emit1("tile", {x}, {{"reps", reps}}); }
// The operands themselves; nothing is simplified, merged or moved across the barrier.
inline Values optimization_barrier(std::span<const Value> xs) {
  return EmitN(static_cast<uint32_t>(xs.size()), "optimization_barrier", xs);
}
inline Value iota(ricci_builder* b, DType dtype, Dims shape, int64_t dimension) {
  return EmitNullary(b, "iota", {{"dtype", dtype}, {"shape", shape}, {"dimension", dimension}});
}
// The number of the group of platforms that the program is compiled for; `platforms` is like "cpu;cuda,rocm;*".
inline Value platform_index(ricci_builder* b, std::string_view platforms) {
  return EmitNullary(b, "platform_index", {{"platforms", platforms}});
}

// ---- reductions and cumulative operations ----
inline Value reduce_sum(const Value& x, Dims axes) { return Emit1("reduce_sum", {x}, {{"axes", axes}}); }
inline Value reduce_prod(const Value& x, Dims axes) { return Emit1("reduce_prod", {x}, {{"axes", axes}}); }
inline Value reduce_max(const Value& x, Dims axes) { return Emit1("reduce_max", {x}, {{"axes", axes}}); }
inline Value reduce_min(const Value& x, Dims axes) { return Emit1("reduce_min", {x}, {{"axes", axes}}); }
inline Value reduce_and(const Value& x, Dims axes) { return Emit1("reduce_and", {x}, {{"axes", axes}}); }
inline Value reduce_or(const Value& x, Dims axes) { return Emit1("reduce_or", {x}, {{"axes", axes}}); }
inline Value reduce_xor(const Value& x, Dims axes) { return Emit1("reduce_xor", {x}, {{"axes", axes}}); }
inline Value argmax(const Value& x, int64_t axis, DType index_dtype) {
  return Emit1("argmax", {x}, {{"axes", Dims(&axis, 1)}, {"index_dtype", index_dtype}});
}
inline Value argmin(const Value& x, int64_t axis, DType index_dtype) {
  return Emit1("argmin", {x}, {{"axes", Dims(&axis, 1)}, {"index_dtype", index_dtype}});
}
inline Value cumulative(std::string_view name, const Value& x, int64_t axis, bool reverse) {
  return Emit1(name, {x}, {{"axis", axis}, {"reverse", reverse}});
}
inline Value cumsum(const Value& x, int64_t axis, bool reverse = false) {
  return cumulative("cumsum", x, axis, reverse);
}
inline Value cumprod(const Value& x, int64_t axis, bool reverse = false) {
  return cumulative("cumprod", x, axis, reverse);
}
inline Value cummax(const Value& x, int64_t axis, bool reverse = false) {
  return cumulative("cummax", x, axis, reverse);
}
inline Value cummin(const Value& x, int64_t axis, bool reverse = false) {
  return cumulative("cummin", x, axis, reverse);
}
inline Value cumlogsumexp(const Value& x, int64_t axis, bool reverse = false) {
  return cumulative("cumlogsumexp", x, axis, reverse);
}

// ---- order ----
// All operands reordered together along `dimension`, so that the first num_keys of them increase. Stable.
inline Values sort(std::span<const Value> xs, int64_t dimension, int64_t num_keys = 1) {
  return EmitN(static_cast<uint32_t>(xs.size()), "sort", xs,
               {{"dimension", dimension}, {"is_stable", true}, {"num_keys", num_keys}});
}
// The k greatest elements along `axis`, the greatest first, and their i32 indices.
inline Values top_k(const Value& x, int64_t k, int64_t axis) {
  return EmitN(2, "top_k", {&x, 1}, {{"k", k}, {"axis", axis}});
}
// The k greatest (or least) elements along `reduction_dimension` and their i32 indices, of which a part `recall_target`
// is wanted: this finds them all. jax.lax.approx_max_k and approx_min_k.
struct ApproxTopKOptions {
  double recall_target = 0.95;
  bool is_max_k = true;
  int64_t reduction_input_size_override = -1;
  bool aggregate_to_topk = true;
};
inline Values approx_top_k(const Value& x, int64_t k, int64_t reduction_dimension, const ApproxTopKOptions& o = {}) {
  return EmitN(2, "approx_top_k", {&x, 1},
               {{"k", k},
                {"reduction_dimension", reduction_dimension},
                {"recall_target", o.recall_target},
                {"is_max_k", o.is_max_k},
                {"reduction_input_size_override", o.reduction_input_size_override},
                {"aggregate_to_topk", o.aggregate_to_topk}});
}

// ---- products ----
// Dimensions of both operands that are contracted (summed over in pairs) and those that are batched (kept in pairs).
struct DotDims {
  Shape lhs_contract, rhs_contract, lhs_batch, rhs_batch;
};
// `preferred`: the dtype of the result and of the sum; if none, that of the operands. `precision`: a jax.lax.Precision
// or DotAlgorithmPreset by name; all that are taken mean the same here, see the row.
inline Value dot_general(const Value& x, const Value& y, const DotDims& d, DType preferred = DType::kNone,
                         std::string_view precision = {}) {
  const auto emit = [&](auto... more) {
    return Emit1("dot_general", {x, y},
                 {{"lhs_contract", d.lhs_contract},
                  {"rhs_contract", d.rhs_contract},
                  {"lhs_batch", d.lhs_batch},
                  {"rhs_batch", d.rhs_batch},
                  more...});
  };
  const Attr p("precision", precision), t("preferred_element_type", preferred);
  if (precision.empty()) return preferred == DType::kNone ? emit() : emit(t);
  return preferred == DType::kNone ? emit(p) : emit(p, t);
}

// A product of x, one of whose dimensions consists of groups of rows, with one factor for each group, as jax.lax's
// ragged_dot_general: the dimension may be free (then y has a dimension for the groups), contracted (then the result
// has one, the first) or a batch.
struct RaggedDotDims {
  DotDims dot;
  Shape lhs_ragged, rhs_group;
};
// `group_sizes`: integers, how many rows are in each group: [groups], or one such list for each point of the dimensions
// before the ragged one.
inline Value ragged_dot_general(const Value& x, const Value& y, const Value& group_sizes, const RaggedDotDims& d,
                                DType preferred = DType::kNone) {
  const auto emit = [&](auto... more) {
    return Emit1("ragged_dot_general", {x, y, group_sizes},
                 {{"lhs_contract", d.dot.lhs_contract},
                  {"rhs_contract", d.dot.rhs_contract},
                  {"lhs_batch", d.dot.lhs_batch},
                  {"rhs_batch", d.dot.rhs_batch},
                  {"lhs_ragged", d.lhs_ragged},
                  {"rhs_group", d.rhs_group},
                  more...});
  };
  return preferred == DType::kNone ? emit() : emit(Attr("preferred_element_type", preferred));
}

}}}  // namespace ricci::v0::lax
#endif
