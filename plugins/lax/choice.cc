// select_n: cases[which] for each element; clamp: x limited to [min, max].
//
// The selector (bool for two cases, i32 for any number) and the limits are scalars or of the full shape. A selector
// out of range takes the nearest case, as XLA does. Cases may have any dtype, keys too. clamp compares complex
// numbers by their real parts alone, as XLA does, and has no derivative then, as in jax.lax.
#include "real_derivative.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

// ---- select_n ----
constexpr uint32_t kFewCases = 8;

ArrayTypes SelectType(const Eqn& e) {
  if (e.n_in() < 2) e.Fail("takes a selector and at least one case, not ", Count(e.n_in(), "operand"));
  const ArrayType which = e.in(0), first = e.in(1);
  if (which.dtype() != DType::kBool && which.dtype() != DType::kI32)
    e.Fail("the selector is ", which, "; it takes bool or i32");
  if (which.dtype() == DType::kBool && e.n_in() > 3) {
    e.Fail("a bool selector chooses between at most 2 cases, not ", e.n_in() - 1, "; use i32");
  }
  for (uint32_t i = 2; i < e.n_in(); ++i) {
    if (e.in(i) != first) e.Fail("cases 0 and ", i - 1, " are ", first, " and ", e.in(i), "; they must have one type");
  }
  if (which.rank() != 0 && !SameDims(which.shape(), first.shape())) {
    e.Fail("the selector is ", which, "; it must be a scalar or have the shape of the cases, ", first);
  }
  return first;
}

void SelectJvp(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  bool any = false;
  Values in{a.primals[0]};
  for (uint32_t i = 1; i < e.n_in(); ++i) {
    any |= !a.tangents[i].is_zero();
    in.push_back(instantiate(a.tangents[i], e.in(i)));
  }
  if (any) a.out_tangents = e.EmitN(in);
}

// Case i receives the cotangent where it was chosen.
void SelectTranspose(const Eqn& e, Transpose& a) {
  if (a.linear[0]) throw Error(RICCI_UNIMPLEMENTED, "select_n: it is not linear in the selector");
  const Value zero = zeros(e.builder(), e.out());
  for (uint32_t i = 1; i < e.n_in(); ++i) {
    if (!a.linear[i]) continue;
    Values in(e.n_in(), zero);
    in[0] = a.operands[0];
    in[i] = a.cts[0];
    a.in_cts[i] = e.Emit(in);
  }
}

Scalar SelectScalar(KernelBuilder&, const Eqn& e, std::span<const Scalar> in) {
  Scalar out = in[e.n_in() - 1];
  for (size_t i = e.n_in() - 2; i >= 1; --i) {
    const Scalar not_later = in[0].dtype() == DType::kBool ? !in[0] : in[0] < static_cast<int64_t>(i);
    out = Select(not_later, in[i], out);
  }
  return out;
}

// Many cases: a balanced choice between halves, each of which loads its cases only where it chooses between them, so
// that few values are alive at once however many cases there are.
bool HasManyCases(const Eqn& e) { return e.n_in() > kFewCases + 1; }

Scalar ChooseAmong(KernelBuilder& k, Scalar which, uint32_t first, uint32_t last, std::span<const Scalar> index) {
  if (last - first == 1) return k.Operand(1 + first).Load(index);
  const uint32_t middle = first + (last - first) / 2;
  const Scalar low = ChooseAmong(k, which, first, middle, index), high = ChooseAmong(k, which, middle, last, index);
  return Select(which < static_cast<int64_t>(middle), low, high);
}
Scalar SelectIndex(KernelBuilder& k, const Eqn& e, uint32_t, std::span<const Scalar> index) {
  const Scalar which = e.in(0).rank() == 0 ? k.Operand(0).Load({}) : k.Operand(0).Load(index);
  return ChooseAmong(k, which, 0, e.n_in() - 1, index);
}

constexpr Lowering kSelect[] = {{.index = SelectIndex, .match = HasManyCases}, {.scalar = SelectScalar}};

Value SimplerSelect(const Eqn& e, std::span<const Value> in) {
  bool same = true;
  for (uint32_t i = 2; i < e.n_in(); ++i) same &= in[i].id == in[1].id;
  if (same) return in[1];
  if (e.in(0).dtype() != DType::kBool) return {};
  if (IsSplat(in[0], 0)) return in[1];
  if (IsSplat(in[0], 1)) return in[2];
  if (const Producer p(in[0]); p.Is("not")) return select_n(p.operand(0), {in[2], in[1]});
  return {};
}

// ---- clamp ----
ArrayTypes ClampType(const Eqn& e) {
  e.WantOperands(3);
  const ArrayType x = e.in(1);
  rules::WantDType(e, 1, kAny);
  for (uint32_t i : {0u, 2u}) {
    const ArrayType limit = e.in(i);
    if (limit.dtype() != x.dtype() || (limit.rank() != 0 && !SameDims(limit.shape(), x.shape()))) {
      e.Fail("operand ", i, " is ", limit, "; it must have the dtype of operand 1, ", x, ", and its shape or none");
    }
  }
  return x;
}
Value ToShape(const Value& limit, const Value& x) {
  return limit.rank() == x.rank() ? limit : broadcast_in_dim(limit, x.shape(), {});
}
Value Where(const Value& pred, const Value& t) { return select(pred, t, zeros_like(t)); }
Value ClampMin(const Eqn& e, const Value& t, std::span<const Value> in, const Value& out) {
  WantRealDerivative(e);
  const Value min = ToShape(in[0], out), max = ToShape(in[2], out);
  const Value tangent = ToShape(t, out), in_order = lt(min, max);
  return Where(bitwise_and(gt(min, in[1]), in_order), tangent);
}
Value ClampX(const Eqn& e, const Value& t, std::span<const Value> in, const Value& out) {
  WantRealDerivative(e);
  const Value min = ToShape(in[0], out), max = ToShape(in[2], out);
  const Value below = lt(in[1], max);
  return Where(bitwise_and(gt(in[1], min), below), t);
}
Value ClampMax(const Eqn& e, const Value& t, std::span<const Value> in, const Value& out) {
  WantRealDerivative(e);
  const Value tangent = ToShape(t, out);
  return Where(lt(ToShape(in[2], out), in[1]), tangent);
}
Scalar ClampScalar(KernelBuilder&, const Eqn&, std::span<const Scalar> in) {
  if (in[1].dtype() == DType::kBool) return (in[1] | in[0]) & in[2];
  if (IsComplex(in[1].dtype())) {
    const Scalar above = Select(Real(in[0]) >= Real(in[1]), in[0], in[1]);
    return Select(Real(above) <= Real(in[2]), above, in[2]);
  }
  return Min(Max(in[1], in[0]), in[2]);
}

constexpr Row kRows[] = {
    {.name = "select_n",
     .doc = "y = select_n(which, cases...): case number `which`, element by element or, if `which` is a scalar, as a "
            "whole; false is 0",
     .type = SelectType,
     .jvp = SelectJvp,
     .transpose = SelectTranspose,
     .batch = rules::kElementwise,
     .simplify = rules::One<SimplerSelect>,
     .factors_of = rules::ElementwiseFactors,
     .lowerings = kSelect,
     .examples = "(bool[2,3], f64[2,3], f64[2,3]); "
                 "(i32[] in 0..3, f64[2,3], f64[2,3], f64[2,3]); "
                 "(i32[3] in -1..12, f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], f64[3], f64[3])"},
    {.name = "clamp",
     .doc = "y = clamp(low, x, high): x limited to [low, high]; low and high may be scalars",
     .type = ClampType,
     .jvp = rules::Terms<ClampMin, ClampX, ClampMax>,
     .batch = rules::kElementwise,
     .factors_of = rules::ElementwiseFactors,
     .lowerings = lower::Scalar<ClampScalar>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3] in -4..0, f64[2,3], f64[2,3] in 0..4); "
                 "(f64[] in -4..0, f64[2,3], f64[] in 0..4); "
                 "order=0 (c128[] in -4..0, c128[2,3], c128[] in 0..4)"},
};

}  // namespace

RowList choice_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
