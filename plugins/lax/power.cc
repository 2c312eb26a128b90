// Powers and roots: square, integer_pow, pow, sqrt, rsqrt, cbrt.
//
// integer_pow multiplies by repeated squaring, in the order of XLA. pow takes an exponent of the dtype of the base or
// an integer one; it has no derivative with respect to an integer exponent, and that with respect to the base is exact
// at exponent 0.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

Value Square(const Value& x, const Value&) { return mul(2.0, x); }
Value Sqrt(const Value& x, const Value& y) { return div(full_like(x, 0.5), y); }
Value Rsqrt(const Value& x, const Value& y) { return mul(-0.5, div(y, x)); }
Value Cbrt(const Value&, const Value& y) { return mul(1.0 / 3.0, integer_pow(y, -2)); }

// ---- integer_pow ----
constexpr AttrSpec kExponent[] = {{"y", AttrKind::kInt}};

ArrayTypes IntegerPowType(const Eqn& e) {
  const ArrayTypes out = rules::Same<1, kNumbers>(e);
  const int64_t y = e.integer("y");
  if (y < 0 && IsInt(e.in(0).dtype())) e.Fail("exponent ", y, " of an integer base ", e.in(0), " must not be negative");
  return out;
}

Value IntegerPowTerm(const Eqn& e, const Value& t, std::span<const Value> in, const Value&) {
  const int64_t y = e.integer("y");
  if (y == 0) return Value::Zero(t.builder);
  if (y == 1) return t;
  const auto below = Narrow(Exact(y) - 1);
  if (!below) e.Fail("its derivative has exponent ", Exact(y) - 1, ", which does not fit a 64-bit integer");
  const Value rest = y == 2 ? in[0] : integer_pow(in[0], *below);
  return mul(t, mul(static_cast<double>(y), rest));
}

Scalar IntegerPowScalar(KernelBuilder&, const Eqn& e, std::span<const Scalar> in) {
  const int64_t y = e.integer("y");
  const Scalar one = Like(in[0], 1);
  Scalar square = in[0], product = one;
  bool first = true;
  const auto bits = static_cast<uint64_t>(y);
  for (uint64_t rest = y < 0 ? 0 - bits : bits; rest != 0; rest >>= 1) {
    if (rest & 1) product = first ? square : product * square;
    first = first && !(rest & 1);
    if (rest > 1) square = square * square;
  }
  return y < 0 ? one / product : product;
}

Value SimplerIntegerPow(const Eqn& e, std::span<const Value> in) {
  if (e.integer("y") == 1) return in[0];
  return e.integer("y") == 0 ? ones_like(in[0]) : Value{};
}

// ---- pow ----
ArrayTypes PowType(const Eqn& e) {
  e.WantOperands(2);
  const ArrayType x = e.in(0), y = e.in(1);
  rules::WantDType(e, 0, kInexact);
  if (!SameDims(x.shape(), y.shape())) e.Fail("operands 0 and 1 are ", x, " and ", y, "; they must have one shape");
  if (x.dtype() != y.dtype() && !IsInt(y.dtype())) {
    e.Fail("operand 1 is ", y, "; it takes integers or the dtype of operand 0, ", x.dtype());
  }
  return x;
}

Value OneWhereZero(const Value& x) {
  const Value one = ones_like(x);
  return select(eq(x, zeros_like(x)), one, x);
}

Value PowByBase(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  const Value &x = in[0], y = convert_element_type(in[1], in[0].dtype());
  if (!IsInt(in[1].dtype())) return mul(t, mul(y, pow(x, sub(y, 1.0))));
  const Value power = pow(x, sub(y, 1.0)), factor = mul(OneWhereZero(y), power), zero = zeros_like(y);
  return mul(t, select(eq(y, zero), zero, factor));
}
Value PowByExponent(const Eqn&, const Value& t, std::span<const Value> in, const Value& out) {
  return mul(t, mul(log(OneWhereZero(in[0])), out));
}

Scalar PowScalar(KernelBuilder&, const Eqn&, std::span<const Scalar> in) {
  return Apply(RICCI_S_POW, {in[0], Convert(in[1], in[0].dtype())});
}

Scalar SquareScalar(KernelBuilder&, const Eqn&, std::span<const Scalar> in) { return in[0] * in[0]; }

Value SimplerPow(const Eqn&, std::span<const Value> in) {
  if (IsSplat(in[1], 1)) return in[0];
  return IsSplat(in[1], 0) ? ones_like(in[0]) : Value{};
}

constexpr Row kRows[] = {
    rules::RealFunction<RICCI_S_SQRT, Sqrt, kInexact>("sqrt", "y = sqrt(x): the square root of x",
                                                      "(f64[2,3] in 0.3..3); (c128[2,3] in 0.2..2)"),
    rules::RealFunction<RICCI_S_RSQRT, Rsqrt, kInexact>("rsqrt", "y = rsqrt(x): 1 / sqrt(x)",
                                                        "(f64[2,3] in 0.3..3); (c128[2,3] in 0.4..2)"),
    rules::RealFunction<RICCI_S_CBRT, Cbrt>("cbrt", "y = cbrt(x): the cube root of x", "(f64[2,3] in 0.3..3)"),
    {.name = "square",
     .doc = "y = square(x): x * x",
     .type = rules::Same<1, kNumbers>,
     .jvp = rules::Derivative<Square>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<SquareScalar>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3]); "
                 "(i32[5] in -9..9)"},
    {.name = "integer_pow",
     .doc = "z = integer_pow(x): x to the power `y`, an integer",
     .attrs = kExponent,
     .type = IntegerPowType,
     .jvp = rules::Terms<IntegerPowTerm>,
     .batch = rules::kElementwise,
     .simplify = rules::One<SimplerIntegerPow>,
     .lowerings = lower::Scalar<IntegerPowScalar>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3]) y=5; "
                 "(f64[2,3]) y=2; "
                 "(f64[2,3]) y=1; "
                 "(f64[2,3]) y=0; "
                 "(f64[2,3] in 0.5..2) y=-3"},
    {.name = "pow",
     .doc = "z = pow(x, y): x to the power y",
     .flags = RICCI_PRIM_TRANSCENDENTAL,
     .type = PowType,
     .jvp = rules::Terms<PowByBase, PowByExponent>,
     .batch = rules::kElementwise,
     .simplify = rules::One<SimplerPow>,
     .lowerings = lower::Scalar<PowScalar>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3] in 0.3..2, f64[2,3] in 0.3..2); "
                 "(f64[2,3] in 0.5..3, i32[2,3] in 0..3); "
                 "(c128[2,3] in 0.4..2, c128[2,3])"},
};

}  // namespace

RowList power_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
