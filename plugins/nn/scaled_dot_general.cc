// scaled_dot_general: dot_general of operands that are quantized by blocks along what is contracted;
// jax.nn.scaled_dot_general with the configurations `mxfp8` and `nvfp4` of jax.nn.get_scaled_dot_general_config.
//
// Quantization has no derivative. As in JAX, that of the product stands for it: in mxfp8 the products of the reverse
// mode are quantized too, along what they contract, and in nvfp4 they are not, but what was out of range gets 0.
// Forward mode is not supported, and the global scales have no derivative. The jvp emits a `custom_linear`, so that a
// program keeps the row until it is transposed.
//
// Pairs of contracted dimensions are taken in the order in which they are listed, where JAX takes those of each operand
// in the order of the operand, which pairs others if the orders differ.
#include "block_scales.hpp"
#include "lax/body_reduction.hpp"
#include "lax/dot_dims.hpp"

namespace ricci { inline namespace v0 { namespace nn { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {
    {"lhs_contract", AttrKind::kInts},    {"rhs_contract", AttrKind::kInts},
    {"lhs_batch", AttrKind::kInts, "[]"}, {"rhs_batch", AttrKind::kInts, "[]"},
    {"mode", AttrKind::kString},          {"preferred_element_type", AttrKind::kDType, "f32"}};
constexpr DTypeSet kResults = SetOf(DType::kF32) | SetOf(DType::kBF16) | SetOf(DType::kF16);

DType ResultDType(const Eqn& e) { return e.dtype("preferred_element_type", DType::kF32); }
const BlockFormat& FormatOfMode(const Eqn& e) {
  for (const BlockFormat& f : kBlockFormats) {
    if (f.name == e.str("mode")) return f;
  }
  e.Fail("mode ", e.str("mode"), " must be mxfp8 or nvfp4");
}

// ---- type ----
// Fails unless `size` elements, those of `what`, are whole blocks.
void WantBlocks(const Eqn& e, std::string_view what, int64_t size) {
  const BlockFormat& f = FormatOfMode(e);
  if (size < f.block || size % f.block != 0) {
    e.Fail(what, " have ", size, " elements; ", f.name, " takes blocks of ", f.block);
  }
}
int64_t SizeOfDims(const lax::Side& s, Dims dims) { return ElementCount(rules::Pick(s.type.shape(), dims)); }

ArrayTypes Type(const Eqn& e) {
  const BlockFormat& f = FormatOfMode(e);
  e.WantOperands(f.has_global ? 4 : 2);
  for (uint32_t i = 0; i < 2; ++i) rules::WantDType(e, i, kWideFloats);
  for (uint32_t i = 2; i < e.n_in(); ++i) {
    if (e.in(i).dtype() != DType::kF32 || e.in(i).rank() != 0) {
      e.Fail("operand ", i, " is ", e.in(i), ", a global scale; it must be f32[]");
    }
  }
  if (!In(ResultDType(e), kResults)) e.Fail("preferred_element_type ", ResultDType(e), " must be f32, bf16 or f16");
  const Shape shape = lax::DotShape(e);
  const lax::Side lhs = lax::SideOf(e, 0);
  WantBlocks(e, "the contracted dimensions", SizeOfDims(lhs, lhs.contract));
  return e.Type(ResultDType(e), shape);
}

// ---- decomposition ----
// An operand as [B,M,K]: batch, free and contracted dimensions.
Value AsMatrices(const Value& x, const lax::Side& s) {
  Shape order(s.batch.begin(), s.batch.end());
  order.insert(order.end(), s.free.begin(), s.free.end());
  order.insert(order.end(), s.contract.begin(), s.contract.end());
  return lax::reshape(lax::transpose(x, order),
                      Shape{SizeOfDims(s, s.batch), SizeOfDims(s, s.free), SizeOfDims(s, s.contract)});
}
Values Decompose(const Eqn& e, std::span<const Value> in) {
  const BlockFormat& f = FormatOfMode(e);
  Quantized q[2];
  for (uint32_t i = 0; i < 2; ++i) {
    q[i] = Quantize(AsMatrices(in[i], lax::SideOf(e, i)), f, f.has_global ? in[2 + i] : Value{});
  }
  const DType dtype = f.has_global ? DType::kF32 : ResultDType(e);
  Value y = Emit1("scaled_matmul", {q[0].elements, q[1].elements, q[0].scales, q[1].scales},
                  {{"preferred_element_type", dtype}});
  if (f.has_global) y = lax::mul(y, lax::broadcast(lax::mul(in[2], in[3]), y.shape()));
  return {lax::reshape(lax::convert_element_type(y, ResultDType(e)), e.out().shape())};
}

// ---- derivative ----
// The cotangent of operand `i`: that of the result times the other operand, contracted along the free dimensions of the
// latter.
Value CtOf(const Eqn& e, uint32_t i, const Value& ct, const Value& other) {
  const lax::Side own = lax::SideOf(e, i), theirs = lax::SideOf(e, 1 - i);
  const auto n = static_cast<int64_t>(own.batch.size()), free = static_cast<int64_t>(theirs.free.size());
  const Shape batch = CountFrom(0, n);
  const Shape contract = CountFrom(i == 0 ? n + static_cast<int64_t>(own.free.size()) : n, free);
  const Shape other_batch(theirs.batch.begin(), theirs.batch.end());
  const Value product = FormatOfMode(e).has_global
                            ? lax::dot_general(ct, other, {contract, theirs.free, batch, other_batch}, ResultDType(e))
                            : Emit1("scaled_dot_general", {ct, other},
                                    {{"lhs_contract", contract},
                                     {"rhs_contract", theirs.free},
                                     {"lhs_batch", batch},
                                     {"rhs_batch", theirs.batch},
                                     {"mode", e.str("mode")},
                                     {"preferred_element_type", ResultDType(e)}});
  // Its dimensions: batch, free, then the contracted ones in the order in which the other operand has them.
  Shape from(own.batch.begin(), own.batch.end());
  from.insert(from.end(), own.free.begin(), own.free.end());
  for (int64_t d = 0; d < theirs.type.rank(); ++d) {
    const auto at = std::find(theirs.contract.begin(), theirs.contract.end(), d);
    if (at != theirs.contract.end()) from.push_back(own.contract[static_cast<size_t>(at - theirs.contract.begin())]);
  }
  Shape order(from.size());
  for (size_t k = 0; k < from.size(); ++k) order[static_cast<size_t>(from[k])] = static_cast<int64_t>(k);
  return lax::convert_element_type(lax::transpose(product, order), own.type.dtype());
}
// The cotangent where the operand `x` is in the range that nvfp4 has with that global scale, 0 elsewhere.
Value WithinRange(const BlockFormat& f, const Value& ct, const Value& x, const Value& global) {
  const Value size = lax::abs(Widened(x));
  const Value elements = lax::mul(lax::convert_element_type(global, size.dtype()), InfoOf(f.elements).max);
  const Value bound = lax::broadcast(lax::mul(elements, InfoOf(f.scales).max), size.shape());
  const Value zero = lax::zeros_like(ct);
  return lax::select(lax::le(size, bound), ct, zero);
}
// From the operands and the cotangent of the result to the cotangents of the operands that are active.
lax::OwnedProgram Backward(const Eqn& e, std::span<const uint32_t> active) {
  const BlockFormat& f = FormatOfMode(e);
  std::vector<ricci_type> types;
  for (uint32_t i = 0; i < e.n_in(); ++i) types.push_back(e.in_id(i));
  types.push_back(e.out().id());
  return lax::ProgramOf(e, types, [&](const Values& in) {
    Values cts;
    for (uint32_t i : active) {
      const Value ct = CtOf(e, i, in.back(), in[1 - i]);
      cts.push_back(f.has_global ? WithinRange(f, ct, in[i], in[2 + i]) : ct);
    }
    return cts;
  });
}
void JvpRule(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  std::vector<uint32_t> active;
  for (uint32_t i = 0; i < 2; ++i) {
    if (a.tangents[i].is_zero()) continue;
    active.push_back(i);
    const lax::Side other = lax::SideOf(e, 1 - i);
    if (FormatOfMode(e).has_global) continue;
    WantBlocks(e, Text("for the derivative by operand ", i, ", the free dimensions of operand ", 1 - i),
               SizeOfDims(other, other.free));
  }
  if (active.empty()) return;
  const lax::OwnedProgram backward = Backward(e, active);
  ricci_program* const bwd = backward.handle();
  Values in = a.primals;
  for (uint32_t i : active) in.push_back(a.tangents[i]);
  a.out_tangents[0] = Emit1("custom_linear", in, {{"bwd", bwd}, {"num_residuals", e.n_in()}});
}

// ---- batch ----
Shape BatchDims(Dims dims) {
  Shape out{0};
  for (int64_t d : dims) out.push_back(d + 1);
  return out;
}
// Of global scales with a batch of their own: that of the decomposition.
Values BatchOfParts(const Eqn& e, const Values& in, int64_t size) {
  std::vector<ricci_type> types;
  for (uint32_t i = 0; i < e.n_in(); ++i) types.push_back(e.in_id(i));
  const auto parts = lax::ProgramOf(e, types, [&](const Values& of_one) { return Decompose(e, of_one); });
  return lax::Inlined(lax::OverRows(parts, size).handle(), in, 1);
}
void BatchRule(const Eqn& e, Batch& a) {
  Values in;
  bool own_scales = false;
  for (uint32_t i = 2; i < e.n_in(); ++i) own_scales = own_scales || a.in[i].is_batched();
  for (uint32_t i = 0; i < e.n_in(); ++i) {
    in.push_back(i < 2 || own_scales ? rules::BatchFirst(a.in[i], a.size) : a.in[i].value);
  }
  const auto shifted = [](Dims dims) { return rules::Shifted(dims, 0); };
  const Values out = own_scales ? BatchOfParts(e, in, a.size)
                                : e.EmitN(in, {{"lhs_contract", shifted(e.ints("lhs_contract"))},
                                               {"rhs_contract", shifted(e.ints("rhs_contract"))},
                                               {"lhs_batch", BatchDims(e.ints("lhs_batch"))},
                                               {"rhs_batch", BatchDims(e.ints("rhs_batch"))}});
  a.out[0] = {out[0], 0};
}

// Blocks lie along contracted dimensions; all others are parallel.
std::string Factors(const Eqn& e) {
  lax::FactorText text;
  Shape in[2], out;
  for (int64_t i : {0, 1}) {
    const lax::Side s = lax::SideOf(e, static_cast<uint32_t>(i));
    Shape& dims = in[i];
    dims.assign(static_cast<size_t>(s.type.rank()), 0);
    for (size_t k = 0; k < s.batch.size(); ++k) {
      const int64_t shared = i == 0 ? text.Shared() : out[k];
      dims[static_cast<size_t>(s.batch[k])] = shared;
      if (i == 0) out.push_back(shared);
    }
    for (int64_t d : s.free) out.push_back(dims[static_cast<size_t>(d)] = text.Shared());
    for (int64_t d : s.contract) dims[static_cast<size_t>(d)] = text.Whole();
  }
  for (uint32_t i = 0; i < e.n_in(); ++i) text.AddIn(i < 2 ? in[i] : Shape{});
  text.AddOut(out);
  return text.Done();
}

constexpr Row kRows[] = {
    {.name = "scaled_dot_general",
     .doc =
         "y = scaled_dot_general(lhs, rhs, global_scales...): dot_general of the operands quantized by blocks along "
         "what is contracted, to f8e4m3fn with a scale for 32 (`mode` mxfp8), or to f4e2m1fn with a scale for 16 and "
         "a global scale f32[] for each operand (nvfp4)",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_EXPENSIVE,
     .type = Type,
     .jvp = JvpRule,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = lower::Decompose<Decompose>,
     .missing = "transpose: not linear, it rounds; its derivative has one",
     .examples = "order=0 (f32[3,32], f32[2,32]) lhs_contract=[1] rhs_contract=[1] mode=\"mxfp8\"; "
                 "order=0 (f32[32,2,3], f32[2,2,32]) lhs_contract=[0] rhs_contract=[2] lhs_batch=[1] rhs_batch=[0] "
                 "mode=\"mxfp8\" preferred_element_type=bf16; "
                 "order=0 (f32[4,8,2], f32[4,3,8], f32[] in 0.5..2, f32[] in 0.5..2) lhs_contract=[1,0] "
                 "rhs_contract=[2,0] lhs_batch=[] rhs_batch=[] mode=\"nvfp4\""}};

}  // namespace

RowList scaled_dot_general_rows() { return kRows; }

}}}}  // namespace ricci::v0::nn::rows
