// Rows that each break one law: right in everything except one rule, or one primitive that a rule emits.
//
// A second-order mistake is in the primitive that a rule emits: its value is right, so the first order sees nothing.
#ifndef RICCI_TESTS_CHECK_MUTATED_ROWS_H_
#define RICCI_TESTS_CHECK_MUTATED_ROWS_H_
#include <algorithm>

#include "ricci/attr.h"
#include "ricci/plugin.hpp"

namespace ricci::testing::mutated {

// ---- x^3: elementwise ----
inline Value CubeDerivative(const Value& x, const Value&) { return lax::mul(3.0, lax::square(x)); }
inline Value WrongSign(const Value& x, const Value&) { return lax::mul(-3.0, lax::square(x)); }
// Of complex numbers; wrong in the imaginary part of the slope.
inline Value OtherPart(const Value& x, const Value&) {
  const Value slope = CubeDerivative(x, x);
  return lax::complex(lax::real(slope), lax::mul(2.0, lax::imag(slope)));
}
inline Scalar Cube(KernelBuilder&, const Eqn&, std::span<const Scalar> in) { return in[0] * in[0] * in[0]; }
inline Scalar Halved(KernelBuilder&, const Eqn&, std::span<const Scalar> in) { return in[0] * in[0]; }
inline Scalar Copied(KernelBuilder&, const Eqn&, std::span<const Scalar> in) { return in[0]; }
inline Values Itself(const Eqn&, std::span<const Value> in) { return {in[0]}; }

template <ScalarRule scalar = Cube>
constexpr Row Elementwise(std::string_view name, JvpRule jvp, std::string_view examples = rules::kOneReal) {
  return {.name = name,
          .type = rules::Same<1, kInexact>,
          .jvp = jvp,
          .batch = rules::kElementwise,
          .lowerings = lower::Scalar<scalar>,
          .missing = rules::kNotLinear,
          .examples = examples};
}
constexpr Row WithFactors(Row row, std::string_view factors) {
  row.factors = factors;
  return row;
}
constexpr Row WithSimplify(Row row, SimplifyRule simplify) {
  row.simplify = simplify;
  return row;
}
constexpr Row WithViewMap(Row row, ViewMapRule map) {
  row.view_map = map;
  return row;
}
inline std::optional<ViewMap> Unmoved(const Eqn& e, uint32_t operand) {
  ViewMap map(e, operand);
  map.from = rules::Range(e.out().rank());
  return map;
}
inline std::optional<ViewMap> HalfUnmoved(const Eqn& e, uint32_t operand) {
  std::optional<ViewMap> map = Unmoved(e, operand);
  map->limit[0] /= 2;
  return map;
}
inline std::optional<ViewMap> OneFurther(const Eqn& e, uint32_t operand) {
  std::optional<ViewMap> map = Unmoved(e, operand);
  map->shift[0] = 1;
  return map;
}
constexpr Row WithoutReason(Row row) {
  row.missing = {};
  return row;
}

// Its slope is another primitive, `slope`.
template <const char* slope>
Value Through(const Value& x, const Value&) {
  return Emit1(slope, {x});
}
inline Scalar Slope(KernelBuilder& k, const Eqn& e, std::span<const Scalar> in) {
  return k.Constant(e.in(0).dtype(), 3.0) * in[0] * in[0];
}
inline Value WrongCurvature(const Value& x, const Value&) { return lax::mul(5.0, x); }
// 6 x t, linear in t.
inline void CurvatureByProduct(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  a.out_tangents[0] = Emit1("test.product", {lax::mul(6.0, a.primals[0]), a.tangents[0]});
}
inline Scalar Product(KernelBuilder&, const Eqn&, std::span<const Scalar> in) { return in[0] * in[1]; }
inline Value ByFirst(const Eqn&, const Value& t, std::span<const Value> in, const Value&) { return lax::mul(t, in[1]); }
inline Value BySecond(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  return lax::mul(in[0], t);
}
inline Value TwiceBySecond(const Eqn& e, const Value& t, std::span<const Value> in, const Value& out) {
  return lax::mul(2.0, BySecond(e, t, in, out));
}
inline Value WrongCt(const Eqn&, const Value& ct, std::span<const Value>) { return ct; }

// ---- log(e^x + e^y): smooth, and wrong only where both are equal ----
inline Scalar LogAdd(KernelBuilder&, const Eqn&, std::span<const Scalar> in) {
  return Apply(RICCI_S_LOG, {Apply(RICCI_S_EXP, {in[0]}) + Apply(RICCI_S_EXP, {in[1]})});
}
// The slopes of max(x, y) + log1p(exp(-|x - y|)) at ties: 0 and 1.
inline Value UnevenFirst(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  const Value weight = lax::logistic(lax::sub(in[0], in[1]));
  return lax::mul(t, lax::select(lax::eq(in[0], in[1]), lax::zeros_like(weight), weight));
}
inline Value UnevenSecond(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  const Value weight = lax::logistic(lax::sub(in[1], in[0]));
  return lax::mul(t, lax::select(lax::eq(in[0], in[1]), lax::ones_like(weight), weight));
}
// The right slope, exp(x - sum), but of a sum whose own slopes are these.
template <size_t operand>
Value OfUnevenSum(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  const Value tail = lax::log1p(lax::exp(lax::neg(lax::abs(lax::sub(in[0], in[1])))));
  return lax::mul(t, lax::exp(lax::sub(in[operand], lax::add(lax::max(in[0], in[1]), tail))));
}
constexpr Row RowOfLogAdd(std::string_view name, JvpRule jvp) {
  return {.name = name,
          .type = rules::Same<2, kFloats>,
          .jvp = jvp,
          .batch = rules::kElementwise,
          .lowerings = lower::Scalar<LogAdd>,
          .missing = rules::kNotLinear,
          .examples = rules::kTwoReals};
}
// The batch of an infinite element is NaN.
inline Batched TimesZero(const Eqn& e, const Batched& x) {
  return {lax::add(e.Emit({x.value}), lax::mul(0.0, x.value)), x.dim};
}

inline constexpr char kWrongSlope[] = "test.wrong_slope", kSlopeByProduct[] = "test.slope_by_product";

// ---- claims that do not hold ----
inline Scalar Minus(KernelBuilder&, const Eqn&, std::span<const Scalar> in) { return in[0] - in[1]; }
inline Scalar Raised(KernelBuilder& k, const Eqn& e, std::span<const Scalar> in) {
  return in[0] + k.Constant(e.in(0).dtype(), 1.0);
}
inline Scalar AboveMinusNine(KernelBuilder& k, const Eqn&, std::span<const Scalar> in) {
  k.Require(in[0] > -9.0, RICCI_OUT_OF_RANGE, "the element is -9 or less");
  return in[0];
}
template <size_t n, ScalarRule scalar>
constexpr Row Claiming(std::string_view name, uint32_t flags, std::string_view examples) {
  return {.name = name,
          .flags = flags,
          .type = rules::Same<n, kInexact>,
          .batch = rules::kElementwise,
          .lowerings = lower::Scalar<scalar>,
          .missing = "jvp, transpose: not of interest here",
          .examples = examples};
}
// Its jvp gives another result than it does itself.
inline void OtherResult(const Eqn& e, Jvp& a) {
  a.out = {lax::mul(2.0, e.Emit(a.primals))};
  a.out_tangents[0] = lax::mul(CubeDerivative(a.primals[0], a.out[0]), a.tangents[0]);
}
// The batch of keys in reverse order is not reversed.
inline Values KeysReversed(const Eqn&, std::span<const Value> in) { return {lax::rev(in[0], Shape{0})}; }
inline Batched FlipBatchOfKeys(const Eqn&, const Batched& x) {
  return {lax::rev(x.value, Shape{x.dim == 0 ? 1 : 0}), x.dim};
}
inline Batched KeysUnmoved(const Eqn&, const Batched& x) { return x; }
inline ArrayTypes KeyType(const Eqn& e) {
  e.WantOperands(1);
  return e.in(0);
}
constexpr Row RowOfKeys(std::string_view name, BatchRule batch) {
  return {.name = name,
          .type = KeyType,
          .batch = batch,
          .lowerings = lower::Decompose<KeysReversed>,
          .missing = "jvp, transpose: keys have no tangents",
          .examples = "(key[4])"};
}

// ---- a matrix with its rows in reverse order: linear ----
inline const Shape kFirst = {0}, kSecond = {1};
inline Values Flip(const Eqn&, std::span<const Value> in) { return {lax::rev(in[0], kFirst)}; }
inline Value FlipBack(const Eqn&, const Value& ct) { return lax::rev(ct, kFirst); }
inline Value Unflipped(const Eqn&, const Value& ct) { return ct; }
inline Batched FlipBatch(const Eqn&, const Batched& x) {
  return {lax::rev(x.value, x.dim == 0 ? kSecond : kFirst), x.dim};
}
inline Batched WrongAxis(const Eqn&, const Batched& x) { return {lax::rev(x.value, kFirst), x.dim}; }
// By another primitive, `other`, which does the same.
template <const char* other>
Value FlipBackBy(const Eqn&, const Value& ct) {
  return Emit1(other, {ct});
}
template <const char* other>
Batched FlipBatchBy(const Eqn&, const Batched& x) {
  const Shape moved = {1, 0, 2};
  const Value last = x.dim == 0 ? lax::transpose(x.value, moved) : x.value;
  return {Emit1(other, {last}), x.dim == 0 ? 1 : x.dim};
}
// The tangent of a flip is a flip, by another primitive.
template <const char* other>
void FlipTangentBy(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (!a.tangents[0].is_zero()) a.out_tangents[0] = Emit1(other, {a.tangents[0]});
}
inline void DoubledTangent(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (!a.tangents[0].is_zero()) a.out_tangents[0] = lax::mul(2.0, lax::rev(a.tangents[0], kFirst));
}

constexpr Row RowOfFlip(std::string_view name, JvpRule jvp, TransposeRule transpose, BatchRule batch) {
  return {.name = name,
          .type = rules::Same<1, kFloats>,
          .jvp = jvp,
          .transpose = transpose,
          .batch = batch,
          .lowerings = lower::Decompose<Flip>,
          .examples = rules::kOneReal};
}
inline constexpr char kFlipTangent[] = "test.flip_tangent", kFlipTranspose[] = "test.flip_transpose",
                      kFlipBatch[] = "test.flip_batch", kFlip[] = "test.flip";

// ---- a lowering that gives another result each time it is called ----
inline int& Asked() {
  static int asked = 0;
  return asked;
}
inline Scalar Moody(KernelBuilder& k, const Eqn& e, std::span<const Scalar> in) {
  return in[0] + k.Constant(e.in(0).dtype(), ++Asked());
}
// Loops that leave the last element out.
inline void AllButLast(KernelBuilder& k, const Eqn& e) {
  const Shape fewer = {e.in(0).dim(0) - 1};
  k.Parallel(fewer, [&](const Index& at) { k.Result().Store(at, k.Operand(0).Load(at)); });
}
// A type rule that gives another type when it is called again.
inline ArrayTypes MoodyType(const Eqn& e) {
  const int64_t n = ++Asked() > 1 ? 4 : 3;
  return e.in(0).WithShape({&n, 1});
}

inline constexpr auto kRightTranspose = rules::TransposeFirst<FlipBack>;
inline constexpr auto kRightBatch = rules::BatchFirstOperand<FlipBatch>;
constexpr Row kRows[] = {
    Elementwise("test.cube", rules::Derivative<CubeDerivative>),
    WithoutReason(Elementwise("test.no_reason", rules::Derivative<CubeDerivative>)),
    WithFactors(Elementwise("test.wrong_factors", rules::Derivative<CubeDerivative>), "a b -> b a"),
    WithViewMap(RowOfFlip("test.wrong_view_map", rules::kLinear, kRightTranspose, kRightBatch), Unmoved),
    WithViewMap(Elementwise<Copied>("test.half_told", rules::Derivative<CubeDerivative>), HalfUnmoved),
    WithViewMap(Elementwise<Copied>("test.view_map_outside", rules::Derivative<CubeDerivative>), OneFurther),
    WithSimplify(Elementwise("test.wrong_simplify", rules::Derivative<CubeDerivative>), Itself),
    Elementwise("test.other_on_cpu", rules::Derivative<CubeDerivative>),
    Elementwise("test.wrong_sign", rules::Derivative<WrongSign>),
    Elementwise<Halved>("test.wrong_value", rules::Derivative<CubeDerivative>),
    Elementwise("test.second_order", rules::Derivative<Through<kWrongSlope>>),
    Elementwise<Slope>(kWrongSlope, rules::Derivative<WrongCurvature>),
    Elementwise("test.second_transpose", rules::Derivative<Through<kSlopeByProduct>>),
    Elementwise<Slope>(kSlopeByProduct, CurvatureByProduct),
    {.name = "test.product",
     .type = rules::Same<2, kFloats>,
     .jvp = rules::Terms<ByFirst, BySecond>,
     .transpose = rules::TransposeEach<nullptr, WrongCt>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<Product>,
     .examples = rules::kTwoReals},
    {.name = "test.twice_by_second",
     .type = rules::Same<2, kFloats>,
     .jvp = rules::Terms<ByFirst, TwiceBySecond>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<Product>,
     .missing = rules::kNotLinear,
     .examples = rules::kTwoReals},
    RowOfLogAdd("test.uneven_at_ties", rules::Terms<UnevenFirst, UnevenSecond>),
    RowOfLogAdd("test.uneven_curvature", rules::Terms<OfUnevenSum<0>, OfUnevenSum<1>>),
    {.name = "test.nan_in_batch",
     .type = rules::Same<1, kFloats>,
     .batch = rules::BatchFirstOperand<TimesZero>,
     .lowerings = lower::Scalar<Copied>,
     .missing = "jvp, transpose: not of interest here",
     .examples = rules::kOneReal},
    {.name = "test.unwritten",
     .type = rules::Same<1, kFloats>,
     .lowerings = lower::Loops<AllButLast>,
     .missing = "jvp, transpose, batch: none",
     .examples = "(f64[6])"},
    Elementwise<Moody>("test.moody", rules::ZeroTangent),
    {.name = "test.moody_type",
     .type = MoodyType,
     .lowerings = lower::Scalar<Cube>,
     .missing = "jvp, transpose, batch: none",
     .examples = "(f64[3])"},
    Claiming<2, Minus>("test.commutes", RICCI_PRIM_COMMUTATIVE, rules::kTwoReals),
    Claiming<1, Copied>("test.commutes_alone", RICCI_PRIM_COMMUTATIVE, rules::kOneReal),
    Claiming<2, Product>("test.product_commutes", RICCI_PRIM_COMMUTATIVE, rules::kTwoReals),
    Claiming<1, Raised>("test.view", RICCI_PRIM_VIEW, rules::kOneReal),
    Claiming<1, Copied>("test.view_of_all", RICCI_PRIM_VIEW, "(f64[2,3]); (c128[3])"),
    Claiming<1, AboveMinusNine>("test.checked", 0, rules::kOneReal),
    Claiming<1, AboveMinusNine>("test.checked_and_says_so", RICCI_PRIM_MAY_FAIL, rules::kOneReal),
    Claiming<1, Copied>("test.other_elsewhere", 0, rules::kOneReal),
    Claiming<1, Copied>("test.same_elsewhere", 0, rules::kOneReal),
    Claiming<1, Copied>("test.over_operand", 0, rules::kOneReal),
    Elementwise("test.other_result", OtherResult),
    Elementwise("test.other_part", rules::Derivative<OtherPart>, "(c128[2])"),
    RowOfKeys("test.keys", rules::BatchFirstOperand<FlipBatchOfKeys>),
    RowOfKeys("test.wrong_keys", rules::BatchFirstOperand<KeysUnmoved>),
    RowOfFlip(kFlip, rules::kLinear, kRightTranspose, kRightBatch),
    RowOfFlip(kFlipTangent, DoubledTangent, kRightTranspose, kRightBatch),
    RowOfFlip(kFlipTranspose, rules::kLinear, rules::TransposeFirst<Unflipped>, kRightBatch),
    RowOfFlip(kFlipBatch, rules::kLinear, kRightTranspose, rules::BatchFirstOperand<WrongAxis>),
    RowOfFlip("test.wrong_after_transpose", rules::kLinear, rules::TransposeFirst<FlipBackBy<kFlipTangent>>,
              kRightBatch),
    RowOfFlip("test.wrong_batch_of_tangent", FlipTangentBy<kFlipBatch>, kRightTranspose, kRightBatch),
    RowOfFlip("test.wrong_batch_of_transpose", rules::kLinear, rules::TransposeFirst<FlipBackBy<kFlipBatch>>,
              kRightBatch),
    RowOfFlip("test.wrong_tangent_of_batch", rules::kLinear, kRightTranspose,
              rules::BatchFirstOperand<FlipBatchBy<kFlipTangent>>),
    RowOfFlip("test.wrong_transpose_of_batch", rules::kLinear, kRightTranspose,
              rules::BatchFirstOperand<FlipBatchBy<kFlipTranspose>>),
};
inline RowList Rows() { return kRows; }
inline RowList (*const kTables[])() = {Rows};

// Only on the CPU x^3 is x^2.
inline ricci_status* SquareOnCpu(void*, ricci_kernel_builder* k, const ricci_op*, const ricci_sval* in,
                                 ricci_sval* out) {
  const ricci_sval both[] = {in[0], in[0]};
  return ricci_kernel_scalar(k, RICCI_S_MUL, 0, both, 2, out);
}
inline ricci_status* Same(void*, ricci_kernel_builder*, const ricci_op*, const ricci_sval* in, ricci_sval* out) {
  *out = in[0];
  return nullptr;
}
// A function of the host that writes to its operand.
inline ricci_status* NoPlan(void*, const ricci_op*, ricci_library_plan*) { return nullptr; }
inline ricci_status* OverOperand(void*, const ricci_launch* l) {
  auto* const x = static_cast<double*>(const_cast<void*>(l->in[0]));
  std::copy_n(x, 6, static_cast<double*>(l->out[0]));
  x[4] = -1;
  return nullptr;
}
inline constexpr ricci_library kOverOperand = {{sizeof(ricci_library), 0, nullptr}, NoPlan, OverOperand, nullptr};

// A lowering that goes before the row's own, of which SCALAR callbacks are called.
struct Added {
  const char *row, *target;
  ricci_status* (*scalar)(void*, ricci_kernel_builder*, const ricci_op*, const ricci_sval*, ricci_sval*);
  const ricci_library* library = nullptr;
};
inline constexpr Added kAdded[] = {{"test.other_on_cpu", "cpu", SquareOnCpu},
                                   {"test.other_elsewhere", "elsewhere", SquareOnCpu},
                                   {"test.same_elsewhere", "elsewhere", Same},
                                   {"test.over_operand", "*", nullptr, &kOverOperand}};
inline ricci_status* Attach(void*, ricci_ctx* ctx) {
  if (ricci_status* s = AttachRows(ctx, kTables)) return s;
  for (const Added& added : kAdded) {
    const ricci_str name = ricci_str_of(added.row);
    ricci_prim prim = 0;
    if (ricci_status* s = ricci_prim_find(ctx, name.ptr, name.len, &prim)) return s;
    ricci_lowering l = ricci_lowering_of(added.library != nullptr ? RICCI_LOWER_LIBRARY : RICCI_LOWER_SCALAR);
    l.priority = 1;
    l.target = ricci_str_of(added.target);
    l.scalar = added.scalar;
    l.library = added.library;
    if (ricci_status* s = ricci_prim_add_lowering(ctx, prim, &l)) return s;
  }
  return nullptr;
}
constexpr ricci_plugin kPlugin = Describe("test", "1", Attach);
inline ricci_status* Query(const ricci_host_info*, const ricci_plugin** out) {
  *out = &kPlugin;
  return nullptr;
}

}  // namespace ricci::testing::mutated
#endif
