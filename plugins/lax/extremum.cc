// max, min, abs, sign: choice by order. NaN wins in max and min.
//
// Complex numbers are ordered by their real parts, equal ones by their imaginary parts; where a part that decides is
// NaN the second operand is the result, as in jax.lax, so two operands may not change places.
// At a tie each operand of max and min receives half of the cotangent; abs has slope 1 at 0, and that of a complex 0 is
// 0, as in jax.lax.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

// 1 where only `x` is the result, 1/2 where both operands are, else 0.
Value Share(const Value& x, const Value& out, const Value& other) {
  const Value zero = zeros_like(out), one = ones_like(out);
  const Value two = full_like(out, 2), count = select(eq(other, out), two, one);
  return div(select(eq(x, out), one, zero), count);
}
Value First(const Eqn&, const Value& t, std::span<const Value> in, const Value& out) {
  return mul(t, Share(in[0], out, in[1]));
}
Value Second(const Eqn&, const Value& t, std::span<const Value> in, const Value& out) {
  return mul(t, Share(in[1], out, in[0]));
}

// On bool max is `or` and min is `and`.
template <uint32_t op, uint32_t op_of_bool>
Scalar Extremum(KernelBuilder&, const Eqn&, std::span<const Scalar> in) {
  return Apply(in[0].dtype() == DType::kBool ? op_of_bool : op, {in[0], in[1]});
}

// ---- abs ----
ArrayTypes AbsType(const Eqn& e) {
  const ArrayType x = rules::Same<1, kSigned | kInexact>(e)[0];
  return x.WithDType(PartOf(x.dtype()));
}
// For a complex number, the component along its direction: the real part of t conj(z) / |z|.
Value Abs(const Eqn&, const Value& t, std::span<const Value> in, const Value& out) {
  if (!IsComplex(in[0].dtype())) {
    const Value opposite = neg(t);
    return select(ge(in[0], zeros_like(in[0])), t, opposite);
  }
  const Value one = ones_like(out), size = select(eq(out, zeros_like(out)), one, out);
  const Value divisor = convert_element_type(size, in[0].dtype());
  return real(mul(t, div(conj(in[0]), divisor)));
}

constexpr Row kRows[] = {
    {.name = "max",
     .doc = "z = max(x, y): the greater of x and y; NaN if either is; complex numbers by real, then imaginary part",
     .type = rules::Same<2, kAny>,
     .jvp = rules::Terms<First, Second>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<Extremum<RICCI_S_MAX, RICCI_S_OR>>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3], f64[2,3]); "
                 "(c128[2,3], c128[2,3]); "
                 "(i32[5] in -9..9, i32[5] in -9..9)"},
    {.name = "min",
     .doc = "z = min(x, y): the lesser of x and y; NaN if either is; complex numbers by real, then imaginary part",
     .type = rules::Same<2, kAny>,
     .jvp = rules::Terms<First, Second>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<Extremum<RICCI_S_MIN, RICCI_S_AND>>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3], f64[2,3]); "
                 "(c128[2,3], c128[2,3]); "
                 "(i32[5] in -9..9, i32[5] in -9..9)"},
    {.name = "abs",
     .doc = "y = abs(x): |x|",
     .type = AbsType,
     .jvp = rules::Terms<Abs>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_ABS>>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3] in 0.1..2); "
                 "(f64[5] in -2..-0.1); "
                 "(c128[2,3] in 0.1..2); "
                 "(i32[5] in -9..9)"},
    rules::DiscreteFunction<1, kNumbers, RICCI_S_SIGN>(
        "sign", "y = sign(x): -1, 0 or 1 by the sign of x; zeros and NaN stay as they are; of a complex number x / |x|",
        "(f64[2,3] in 0.1..2); (i32[5] in -9..9); order=0 (c128[2,3] in 0.1..2)"),
};

}  // namespace

RowList extremum_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
