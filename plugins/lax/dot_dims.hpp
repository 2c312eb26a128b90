// What dot_general and ragged_dot_general share: the roles of dimensions, the type of the result, precisions.
#ifndef RICCI_LAX_DOT_DIMS_HPP_
#define RICCI_LAX_DOT_DIMS_HPP_
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// The dimensions of one operand by their role.
struct Side {
  Dims contract, batch;
  Shape free;
  ArrayType type;
};
inline Side SideOf(const Eqn& e, uint32_t i) {
  Side s{e.ints(i == 0 ? "lhs_contract" : "rhs_contract"), e.ints(i == 0 ? "lhs_batch" : "rhs_batch"), {}, e.in(i)};
  Shape used(s.contract.begin(), s.contract.end());
  used.insert(used.end(), s.batch.begin(), s.batch.end());
  s.free = rules::Complement(used, s.type.rank());
  return s;
}
inline DType PreferredOf(const Eqn& e) { return e.dtype("preferred_element_type", DType::kNone); }

// ---- type ----
inline void CheckSide(const Eqn& e, uint32_t i) {
  const Side s = SideOf(e, i);
  rules::WantDType(e, i, kAny);
  rules::WantAxes(e, i, i == 0 ? "lhs_contract" : "rhs_contract", s.contract);
  rules::WantAxes(e, i, i == 0 ? "lhs_batch" : "rhs_batch", s.batch);
  for (int64_t d : s.batch) {
    if (rules::Contains(s.contract, d)) e.Fail("dimension ", d, " of operand ", i, " is both contracted and batched");
  }
}
inline void CheckPairs(const Eqn& e, std::string_view what, const Side& lhs, Dims l, const Side& rhs, Dims r) {
  if (l.size() != r.size()) e.Fail("lhs has ", Count(l.size(), Text(what, " dimension")), " and rhs ", r.size());
  for (size_t i = 0; i < l.size(); ++i) {
    if (lhs.type.dim(l[i]) != rhs.type.dim(r[i])) {
      e.Fail(what, " sizes ", lhs.type.dim(l[i]), " and ", rhs.type.dim(r[i]), " differ; operands are ", lhs.type,
             " and ", rhs.type);
    }
  }
}
// The shape of the product: batch dimensions, then the rest of lhs, then that of rhs without the dimensions `dropped`.
inline Shape DotShape(const Eqn& e, Dims dropped = {}) {
  CheckSide(e, 0);
  CheckSide(e, 1);
  const Side lhs = SideOf(e, 0), rhs = SideOf(e, 1);
  CheckPairs(e, "batch", lhs, lhs.batch, rhs, rhs.batch);
  CheckPairs(e, "contracting", lhs, lhs.contract, rhs, rhs.contract);
  Shape shape = rules::Pick(lhs.type.shape(), lhs.batch);
  for (int64_t d : lhs.free) shape.push_back(lhs.type.dim(d));
  for (int64_t d : rhs.free) {
    if (!rules::Contains(dropped, d)) shape.push_back(rhs.type.dim(d));
  }
  return shape;
}
inline ArrayType DotType(const Eqn& e, Dims dropped) {
  const Shape shape = DotShape(e, dropped);
  const DType preferred = PreferredOf(e);
  if (preferred != DType::kNone) return e.Type(preferred, shape);
  if (e.in(0).dtype() != e.in(1).dtype()) {
    e.Fail("operands are ", e.in(0), " and ", e.in(1), "; they must have one dtype or preferred_element_type be given");
  }
  return e.in(0).WithShape(shape);
}

// ---- precision ----
// A jax.lax.DotAlgorithmPreset that JAX takes on CPU, or one of tf32: the dtypes that it multiplies and sums in. An
// operand or result of another dtype is converted to the first.
struct DotAlgorithm {
  std::string_view name;
  DTypeSet operands, results;
  DType operand, result;
  bool is_tf32 = false;  // operands of f32 are rounded to 10 bits after the point; each product is then exact
};
inline constexpr DTypeSet kF32Set = SetOf(DType::kF32), kBF16Set = SetOf(DType::kBF16);
inline constexpr DotAlgorithm kDotAlgorithms[] = {
    {"F16_F16_F16", SetOf(DType::kF16), SetOf(DType::kF16), DType::kF16, DType::kF16},
    {"F32_F32_F32", kF32Set, kF32Set, DType::kF32, DType::kF32},
    {"F64_F64_F64", SetOf(DType::kF64), SetOf(DType::kF64), DType::kF64, DType::kF64},
    {"BF16_BF16_F32", kBF16Set | kF32Set, kBF16Set | kF32Set, DType::kBF16, DType::kF32},
    {"BF16_BF16_F32_X3", kF32Set, kF32Set, DType::kF32, DType::kF32},
    {"BF16_BF16_F32_X6", kF32Set, kF32Set, DType::kF32, DType::kF32},
    {"TF32_TF32_F32", kF32Set, kF32Set, DType::kF32, DType::kF32, /*is_tf32=*/true},
    {"TF32_TF32_F32_X3", kF32Set, kF32Set, DType::kF32, DType::kF32}};
// A jax.lax.Precision: f32 is multiplied as f32 here, whatever it says, and the preset DEFAULT says nothing.
inline constexpr std::string_view kPrecisions[] = {"default",  "high",        "highest",       "fastest", "float32",
                                                   "bfloat16", "bfloat16_3x", "tensorfloat32", "DEFAULT"};

// NULL: a precision, or none is given.
inline const DotAlgorithm* AlgorithmOf(const Eqn& e) {
  for (const DotAlgorithm& a : kDotAlgorithms) {
    if (a.name == e.str("precision")) return &a;
  }
  return nullptr;
}
inline void CheckPrecision(const Eqn& e) {
  const std::string_view given = e.str("precision");
  if (!e.has("precision")) return;
  if (AlgorithmOf(e) != nullptr) {
    for (uint32_t i : {0u, 1u}) {
      if (!In(e.in(i).dtype(), kReals))
        e.Fail("precision ", given, " is for real numbers; operand ", i, " is ", e.in(i));
    }
    return;
  }
  if (std::find(std::begin(kPrecisions), std::end(kPrecisions), given) != std::end(kPrecisions)) return;
  std::string names;
  for (std::string_view name : {"default", "high", "highest"}) names += Text(name, ", ");
  for (const DotAlgorithm& a : kDotAlgorithms) names += Text(a.name, &a == std::end(kDotAlgorithms) - 1 ? "" : ", ");
  e.Fail("precision ", given, " is none of ", names);
}

}}}  // namespace ricci::v0::lax
#endif
