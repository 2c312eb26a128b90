// complex, real, imag, conj: complex numbers and their parts.
//
// Derivatives follow JAX: the tangent of a complex number is a complex number, and a cotangent pairs with it by the
// product without a conjugate, so the cotangent of z for a real f(z) is df/dx - i df/dy. For functions that are linear
// only over the reals the transpose keeps the real part of that product: real turns ct into (ct, 0), imag into (0,
// -ct).
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr DTypeSet kPartDTypes = SetOf(DType::kF32) | SetOf(DType::kF64);

// ---- types ----
ArrayTypes ComplexType(const Eqn& e) {
  const ArrayType x = rules::Same<2, kPartDTypes>(e)[0];
  return x.WithDType(ComplexOf(x.dtype()));
}
ArrayTypes PartType(const Eqn& e) {
  const ArrayType z = rules::Same<1, kComplexes>(e)[0];
  return z.WithDType(PartOf(z.dtype()));
}

// ---- derivatives ----
Value OfFirst(const Eqn&, const Value& t, std::span<const Value>, const Value&) { return complex(t, zeros_like(t)); }
Value OfSecond(const Eqn&, const Value& t, std::span<const Value>, const Value&) { return complex(zeros_like(t), t); }
Value FirstCt(const Eqn&, const Value& ct, std::span<const Value>) { return real(ct); }
Value SecondCt(const Eqn&, const Value& ct, std::span<const Value>) { return neg(imag(ct)); }
Value RealCt(const Eqn&, const Value& ct) { return complex(ct, zeros_like(ct)); }
Value ImagCt(const Eqn&, const Value& ct) {
  const Value opposite = neg(ct);
  return complex(zeros_like(ct), opposite);
}
Value ConjCt(const Eqn&, const Value& ct) { return conj(ct); }

// ---- simplify ----
template <uint32_t part>
Value SimplerPart(const Eqn& e, std::span<const Value> in) {
  const Producer p(in[0]);
  if (p.Is("complex")) return p.operand(part);
  if (!p.Is("conj")) return {};
  return part == 0 ? e.Emit({p.operand(0)}) : neg(e.Emit({p.operand(0)}));
}

// ---- lowering ----
Scalar Join(KernelBuilder&, const Eqn&, std::span<const Scalar> in) { return Complex(in[0], in[1]); }
template <uint32_t part>
Scalar Part(KernelBuilder&, const Eqn&, std::span<const Scalar> in) {
  return part == 0 ? Real(in[0]) : Imag(in[0]);
}
Scalar Conjugate(KernelBuilder&, const Eqn&, std::span<const Scalar> in) { return Complex(Real(in[0]), -Imag(in[0])); }

constexpr std::string_view kOneComplex = "(c128[2,3]); (c64[4])";

constexpr Row kRows[] = {
    {.name = "complex",
     .doc = "z = complex(x, y): x + iy",
     .type = ComplexType,
     .jvp = rules::Terms<OfFirst, OfSecond>,
     .transpose = rules::TransposeEach<FirstCt, SecondCt>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<Join>,
     .examples = "(f64[2,3], f64[2,3]); (f32[4], f32[4])"},
    {.name = "real",
     .doc = "x = real(z): the real part of z",
     .type = PartType,
     .jvp = rules::kLinear,
     .transpose = rules::TransposeFirst<RealCt>,
     .batch = rules::kElementwise,
     .simplify = rules::One<SimplerPart<0>>,
     .lowerings = lower::Scalar<Part<0>>,
     .examples = kOneComplex},
    {.name = "imag",
     .doc = "y = imag(z): the imaginary part of z",
     .type = PartType,
     .jvp = rules::kLinear,
     .transpose = rules::TransposeFirst<ImagCt>,
     .batch = rules::kElementwise,
     .simplify = rules::One<SimplerPart<1>>,
     .lowerings = lower::Scalar<Part<1>>,
     .examples = kOneComplex},
    {.name = "conj",
     .doc = "w = conj(z): x - iy of z = x + iy",
     .type = rules::Same<1, kComplexes>,
     .jvp = rules::kLinear,
     .transpose = rules::TransposeFirst<ConjCt>,
     .batch = rules::kElementwise,
     .simplify = rules::Involution,
     .lowerings = lower::Scalar<Conjugate>,
     .examples = kOneComplex},
};

}  // namespace

RowList complex_parts_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
