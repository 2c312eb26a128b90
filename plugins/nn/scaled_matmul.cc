// scaled_matmul: products of matrices whose elements share scales in blocks; jax.nn.scaled_matmul.
//
// MXFP8 has elements of f8e4m3fn or f8e5m2 and blocks of 32 with scales of f8e8m0fnu, NVFP4 elements of f4e2m1fn and
// blocks of 16 with scales of f8e4m3fn (OCP Microscaling Formats 1.0, 2023); the row takes any floats and any size of
// blocks. Elements times scales are exact in f32 in both, unless they leave its range, so only the sums are rounded.
// Derivatives are those of the decomposition. The batch of vmap becomes part of dimension 0.
#include "along_axes.hpp"
#include "lax/factor_text.hpp"
#include "merged_batch.hpp"

namespace ricci { inline namespace v0 { namespace nn { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"preferred_element_type", AttrKind::kDType, "f32"}};

DType ResultDType(const Eqn& e) { return e.dtype("preferred_element_type", DType::kF32); }

// Operand `i` are the scales of operand `i` - 2: its shape with fewer, equal blocks in dimension 2.
void CheckScales(const Eqn& e, uint32_t i) {
  const ArrayType x = e.in(i - 2), scales = e.in(i);
  const int64_t k = x.dim(2), blocks = scales.dim(2);
  const bool fits = scales.dim(0) == x.dim(0) && scales.dim(1) == x.dim(1);
  if (!fits || (blocks == 0 ? k != 0 : k % blocks != 0)) {
    e.Fail("operand ", i, " is ", scales, ", the scales of ", x,
           "; they must agree in dimensions 0 and 1, and dimension 2 be a divisor");
  }
}
ArrayTypes Type(const Eqn& e) {
  e.WantOperands(4);
  for (uint32_t i = 0; i < 4; ++i) {
    rules::WantDType(e, i, kFloats);
    if (e.in(i).rank() != 3) e.Fail("operand ", i, " is ", e.in(i), "; it must have 3 dimensions");
  }
  const ArrayType lhs = e.in(0), rhs = e.in(1);
  if (lhs.dim(0) != rhs.dim(0) || lhs.dim(2) != rhs.dim(2)) {
    e.Fail("operands 0 and 1 are ", lhs, " and ", rhs, "; they must agree in dimensions 0 and 2");
  }
  CheckScales(e, 2);
  CheckScales(e, 3);
  if (e.in(2).dim(2) != e.in(3).dim(2)) {
    e.Fail("scales are ", e.in(2), " and ", e.in(3), "; they must agree in dimension 2");
  }
  if (!IsFloat(ResultDType(e))) e.Fail("preferred_element_type ", ResultDType(e), " must be a floating dtype");
  return e.Type(ResultDType(e), Shape{lhs.dim(0), lhs.dim(1), rhs.dim(1)});
}

// x times the scales of its blocks along dimension 2, in `wide`.
Value Scaled(const Value& x, const Value& scales, DType wide) {
  const int64_t blocks = scales.dim(2), size = blocks == 0 ? 1 : x.dim(2) / blocks;
  const int64_t split[] = {x.dim(0), x.dim(1), blocks, size}, kept[] = {0, 1, 2};
  const Value of_each = lax::broadcast_in_dim(lax::convert_element_type(scales, wide), split, kept);
  const Value factors = lax::reshape(of_each, x.shape());
  return lax::mul(lax::convert_element_type(x, wide), factors);
}
Values Decompose(const Eqn& e, std::span<const Value> in) {
  const DType wide = lax::SumDType(ResultDType(e));
  const lax::DotDims dims{{2}, {2}, {0}, {0}};
  const Value rhs = Scaled(in[1], in[3], wide), product = lax::dot_general(Scaled(in[0], in[2], wide), rhs, dims);
  return {lax::convert_element_type(product, ResultDType(e))};
}
constexpr Lowering kLowerings[] = {{.decompose = Decompose, .flags = RICCI_LOWERING_TRANSFORMABLE}};

void BatchRule(const Eqn& e, Batch& a) {
  Values in;
  for (const Batched& x : a.in) in.push_back(Merged(x, a.size, e.in(0).dim(0)));
  SetUnmerged(e, e.EmitN(in), a);
}

// Batch, rows and columns are parallel.
std::string Factors(const Eqn&) {
  lax::FactorText text;
  const int64_t b = text.Shared(), m = text.Shared(), n = text.Shared(), k = text.Whole(), blocks = text.Whole();
  text.AddIn(Shape{b, m, k});
  text.AddIn(Shape{b, n, k});
  text.AddIn(Shape{b, m, blocks});
  text.AddIn(Shape{b, n, blocks});
  text.AddOut(Shape{b, m, n});
  return text.Done();
}

constexpr Row kRows[] = {
    {.name = "scaled_matmul",
     .doc =
         "y = scaled_matmul(lhs, rhs, lhs_scales, rhs_scales): lhs rhs^T for each batch, of lhs [B,M,K] and rhs "
         "[B,N,K], each element times the scale of its block: lhs_scales [B,M,C] and rhs_scales [B,N,C], C a divisor "
         "of K; computed in f32 (f64 if `preferred_element_type`, the dtype of y, is f64)",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_EXPENSIVE,
     .type = Type,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = kLowerings,
     .examples = "(f64[2,2,4], f64[2,3,4], f64[2,2,2], f64[2,3,2]) preferred_element_type=f64"}};

}  // namespace

RowList scaled_matmul_rows() { return kRows; }

}}}}  // namespace ricci::v0::nn::rows
