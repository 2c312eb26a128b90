// Elementwise rows: one table has for each the number of operands, their dtypes, and the domain.
#include <cmath>

#include "fuzz/generators.h"

namespace ricci::testing {
namespace {

enum class Domain : uint8_t { kAll, kUnit, kPositive, kModerate };
struct Elementwise {
  std::string_view name;
  uint32_t operands;
  DTypeSet takes;
  Domain domain = Domain::kAll;
};

constexpr DTypeSet kParts = SetOf(DType::kF32) | SetOf(DType::kF64);
constexpr Elementwise kSmooth[] = {
    {"add", 2, kNumbers},
    {"sub", 2, kNumbers},
    {"mul", 2, kNumbers},
    {"div", 2, kNumbers},
    {"max", 2, kAny},
    {"min", 2, kAny},
    {"neg", 1, kNumbers},
    {"abs", 1, kSigned | kInexact},
    {"sign", 1, kNumbers},
    {"square", 1, kNumbers},
    {"fma", 3, kReals},
    {"sin", 1, kInexact},
    {"cos", 1, kInexact},
    {"tan", 1, kInexact, Domain::kUnit},
    {"asin", 1, kInexact, Domain::kUnit},
    {"acos", 1, kInexact, Domain::kUnit},
    {"atan", 1, kInexact},
    {"atan2", 2, kInexact},
    {"sinh", 1, kInexact, Domain::kUnit},
    {"cosh", 1, kInexact, Domain::kUnit},
    {"tanh", 1, kInexact},
    {"asinh", 1, kInexact},
    {"acosh", 1, kInexact, Domain::kModerate},
    {"atanh", 1, kInexact, Domain::kUnit},
    {"exp", 1, kInexact, Domain::kUnit},
    {"conj", 1, kComplexes},
    {"real", 1, kComplexes},
    {"imag", 1, kComplexes},
    {"complex", 2, kParts},
    {"exp2", 1, kInexact, Domain::kUnit},
    {"expm1", 1, kInexact, Domain::kUnit},
    {"log", 1, kInexact, Domain::kPositive},
    {"log1p", 1, kInexact, Domain::kPositive},
    {"logistic", 1, kInexact},
    {"sqrt", 1, kInexact, Domain::kPositive},
    {"rsqrt", 1, kInexact, Domain::kPositive},
    {"cbrt", 1, kFloats},
    {"erf", 1, kFloats},
    {"erfc", 1, kFloats},
    {"erf_inv", 1, kFloats, Domain::kUnit},
    {"lgamma", 1, kFloats, Domain::kPositive},
    {"digamma", 1, kFloats, Domain::kPositive},
    {"bessel_i0e", 1, kFloats},
    {"bessel_i1e", 1, kFloats},
    {"pow", 2, kInexact, Domain::kPositive},
    {"stop_gradient", 1, kAny},
    {"copy", 1, kAny},
    {"optimization_barrier", 1, kAny},
    {"floor", 1, kFloats},
    {"ceil", 1, kFloats},
    {"rem", 2, kReals},
    {"eq", 2, kAny},
    {"ne", 2, kAny},
    {"lt", 2, kOrdered},
    {"le", 2, kOrdered},
    {"gt", 2, kOrdered},
    {"ge", 2, kOrdered},
    {"is_finite", 1, kFloats},
};
constexpr Elementwise kRough[] = {
    {"nextafter", 2, kFloats},
    {"and", 2, kInts | kBools},
    {"or", 2, kInts | kBools},
    {"xor", 2, kInts | kBools},
    {"not", 1, kInts | kBools},
    {"shift_left", 2, kInts},
    {"shift_right_logical", 2, kInts},
    {"shift_right_arithmetic", 2, kInts},
    {"mulhi", 2, kInts},
    {"population_count", 1, kInts},
    {"clz", 1, kInts},
};

Value Into(Draft& d, const Value& x, Domain domain) {
  if (domain == Domain::kUnit) return d.Bounded(x);
  if (domain == Domain::kPositive) return d.Positive(x);
  return x;
}
// To differences the steps of something large or steep are a slope, though their derivative is 0.
Value BelowSteps(Draft& d, const Value& x) { return d.palette().smooth && IsFloat(x.dtype()) ? lax::asinh(x) : x; }
void Apply(Draft& d, const Elementwise& e) {
  // Complex numbers jump where max, min and sign do not.
  const bool jumps = e.name == "max" || e.name == "min" || e.name == "sign";
  Value x = Into(d, d.Any(d.palette().smooth && jumps ? e.takes & kOrdered : e.takes), e.domain);
  if (e.name == "floor" || e.name == "ceil") x = BelowSteps(d, x);
  if (d.palette().smooth && e.name == "div") return (void)d.Emit("div", {x, d.Positive(x)});
  // Next to a divisor of 0 there are more jumps than differences can resolve.
  if (d.palette().smooth && e.name == "rem")
    return (void)d.Emit("rem", {x, lax::add(lax::square(d.Of(x.type())), lax::full_like(x, 1))});
  if (d.palette().smooth && e.domain == Domain::kModerate) return (void)d.Emit("asinh", {x});
  Values in = {x};
  for (uint32_t i = 1; i < e.operands; ++i) in.push_back(d.Of(x.type()));
  if (e.operands == 2 && d.dice().Chance(0.1)) in[1] = in[0];
  if (e.operands == 2 && e.domain == Domain::kAll && d.dice().Chance(0.5)) std::swap(in[0], in[1]);
  d.Emit(e.name, in);
}
void Smooth(Draft& d) {
  const Elementwise& e = d.dice().Pick(kSmooth);
  // Differences see what the derivative ignores by definition.
  if (!d.palette().smooth || e.name != "stop_gradient") Apply(d, e);
}
// An operand of a comparison in total order, in which zeros and NaNs of either sign differ. The sign of a computed one
// is not specified, so it is made positive.
Value Settled(Draft& d, const Value& v) {
  const auto is_v = [&](const Value& p) { return p.id == v.id; };
  const bool given = d.nesting() == 0 && std::any_of(d.params().begin(), d.params().end(), is_v);
  if (given || !IsFloat(v.dtype())) return v;
  const Value number = lax::select_n(lax::ne(v, v), {v, lax::full_like(v, std::nan(""))});
  const Value zero = lax::full_like(v, 0);
  return lax::select_n(lax::eq(number, zero), {number, zero});
}
void TotalOrder(Draft& d) {
  constexpr std::string_view kNames[] = {"eq_to", "le_to", "lt_to"};
  const Value x = d.Any(kOrdered);
  d.Emit(d.dice().Pick(kNames), {Settled(d, x), Settled(d, d.Of(x.type()))});
}
void Named(Draft& d) { d.Emit("name", {d.Any(kAny)}, {{"name", d.dice().Chance(0.5) ? "a" : "b"}}); }
void Rough(Draft& d) { Apply(d, d.dice().Pick(kRough)); }

// ---- rows with attributes or operands of their own ----
void SelectN(Draft& d) {
  const Value x = d.Any(kAny | SetOf(DType::kKey));
  const bool many = d.dice().Chance(0.4), scalar = d.dice().Chance(0.3);
  Values in = {d.Of(many ? DType::kI32 : DType::kBool, scalar ? Dims{} : x.shape()), x};
  for (int64_t n = many ? d.dice().Between(1, 3) : 1; n > 0; --n) in.push_back(d.Of(x.type()));
  d.Emit("select_n", in);
}
void Clamp(Draft& d) {
  const Value x = d.Any(d.palette().smooth ? kReals : kNumbers);
  const Dims shape = d.dice().Chance(0.5) ? Dims{} : x.shape();
  if (d.palette().smooth) {  // where a limit equals the operand or the other limit, the derivative is 0 by definition
    const ArrayType limit = d.Type(x.dtype(), shape);
    return (void)d.Emit("clamp", {d.Constant(limit), x, d.Constant(limit)});
  }
  d.Emit("clamp", {d.Of(x.dtype(), shape), x, d.Of(x.dtype(), shape)});
}
void IntegerPow(Draft& d) {
  const Value x = d.Any(d.palette().smooth ? kFloats : kNumbers);
  const bool positive = IsFloat(x.dtype()) && d.dice().Chance(0.5);
  d.Emit("integer_pow", {positive ? d.Positive(x) : d.Bounded(x)}, {{"y", d.dice().Between(positive ? -3 : 0, 7)}});
}
void PowInteger(Draft& d) {
  const Value x = d.Positive(d.Any(kFloats));
  d.Emit("pow", {x, d.Of(DType::kI32, x.shape())});
}
void Convert(Draft& d) {
  const DType to = d.SomeDType(kAny);
  const Value x = d.Any(d.palette().smooth && !IsInexact(to) ? kOrdered : kAny);
  d.Emit("convert_element_type", {IsFloat(to) ? x : BelowSteps(d, x)}, {{"new_dtype", to}});
}
void Bitcast(Draft& d) {
  const Value x = d.Any(kReals);
  d.Emit("bitcast_convert_type", {x}, {{"new_dtype", d.SomeDType(kReals)}});
}
// The order is a whole number, with respect to which they have no derivative.
void OfOrder(Draft& d) {
  const Value x = d.Positive(d.Any(kFloats));
  if (d.dice().Chance(0.5)) return (void)d.Emit("zeta", {lax::full_like(x, d.dice().Between(2, 4)), x});
  d.Emit("polygamma", {lax::full_like(x, d.dice().Between(0, 3)), x});
}
// Some have no derivative with respect to the shapes, others only a first one.
Value ShapeParameter(Draft& d, const Value& x) {
  if (!d.palette().smooth && d.dice().Chance(0.5)) return lax::stop_gradient(d.Positive(d.Of(x.type())));
  constexpr double kShapes[] = {0.5, 1, 2.5, 12, 40};
  return lax::full_like(x, d.dice().Pick(kShapes));
}
void IncompleteGamma(Draft& d) {
  constexpr std::string_view kNames[] = {"igamma", "igammac", "igamma_grad_a", "random_gamma_grad"};
  const Value x = d.Positive(d.Any(kFloats));
  d.Emit(d.dice().Pick(kNames), {ShapeParameter(d, x), x});
}
void IncompleteBeta(Draft& d) {
  const Value x = lax::logistic(d.Bounded(d.Any(kFloats)));
  d.Emit("regularized_incomplete_beta", {ShapeParameter(d, x), ShapeParameter(d, x), x});
}
void Round(Draft& d) { d.Emit("round", {BelowSteps(d, d.Any(kFloats))}, {{"rounding_method", d.dice().Below(2)}}); }
void ReducePrecision(Draft& d) {
  d.Emit("reduce_precision", {d.Any(kFloats)},
         {{"exponent_bits", d.dice().Between(2, 11)}, {"mantissa_bits", d.dice().Between(1, 24)}});
}

constexpr Generator kGenerators[] = {
    {40, true, Smooth},
    {10, false, Rough},
    {2, false, TotalOrder},
    {5, true, SelectN},
    {3, true, Clamp},
    {3, true, IntegerPow},
    {1, false, PowInteger},
    {6, true, Convert},
    {3, false, Bitcast},
    {1, true, Round},
    {1, false, ReducePrecision},
    {1, true, OfOrder},
    {1, true, IncompleteGamma},
    {1, true, IncompleteBeta},
    {1, true, Named},
};

}  // namespace

std::span<const Generator> ElementwiseGenerators() { return kGenerators; }

namespace {

constexpr double kCalls = 0.2;  // of the equations of a program that has them

void EmitOneOf(Draft& d, std::span<const std::span<const Generator>> families) {
  int64_t total = 0;
  const auto walk = [&](auto&& visit) {
    for (const std::span<const Generator>& family : families) {
      for (const Generator& g : family) {
        if ((g.smooth || !d.palette().smooth) && visit(g)) return;
      }
    }
  };
  walk([&](const Generator& g) { return total += g.weight, false; });
  int64_t at = d.dice().Below(total);
  walk([&](const Generator& g) { return at < g.weight ? (g.emit(d), true) : (at -= g.weight, false); });
}

}  // namespace

void EmitSomething(Draft& d) {
  if (d.palette().calls && d.dice().Chance(kCalls)) return EmitOneOf(d, std::array{HostCallGenerators()});
  const std::span<const Generator> kFamilies[] = {
      ElementwiseGenerators(), LayoutGenerators(),     IndexingGenerators(),  ReductionGenerators(), LinalgGenerators(),
      SignalGenerators(),      WindowGenerators(),     RandomKeyGenerators(), NeuralGenerators(),    CheckGenerators(),
      EdgeGenerators(),        ComparisonGenerators(), ControlGenerators(),   DerivativeGenerators()};
  const size_t nested = d.nesting() < d.palette().max_nesting ? 2 : 0;
  EmitOneOf(d, std::span(kFamilies).first(std::size(kFamilies) - 2 + nested));
}
void EmitNested(Draft& d) {
  const std::span<const Generator> kFamilies[] = {ControlGenerators(), DerivativeGenerators()};
  const int64_t before = d.size();
  for (int tries = 0; d.size() == before && tries < 6; ++tries) EmitOneOf(d, kFamilies);
}

}  // namespace ricci::testing
