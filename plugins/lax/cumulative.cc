// cumsum, cumprod, cummax, cummin, cumlogsumexp: each element combined with all before it along `axis` (with `reverse`:
// all after it).
//
// Extrema of complex numbers are those of max, but from the first NaN on they are NaN: in jax.lax they depend on the
// order in which XLA combines, and a scan needs an operation that does not.
// Lowered as a prefix scan of each line; narrow floats are accumulated in f32. cumsum is linear; its transpose is
// cumsum in the other direction. Tangents of the others come from a scan by doubling: log2(n) rounds, each combining
// every element with the one 2^k places before it, built from primitives that can be differentiated again.
#include <numbers>

#include "reduction_parts.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr std::string_view kExamples =
    "(f64[2,5]) axis=1 reverse=false; (f64[5,2]) axis=0 reverse=true; (c128[2,4]) axis=1 reverse=false";
constexpr AttrSpec kAttrs[] = {{"axis", AttrKind::kInt}, {"reverse", AttrKind::kBool}};

template <DTypeSet set>
ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  rules::WantDType(e, 0, set);
  const int64_t axis = e.integer("axis");
  if (axis < 0 || axis >= e.in(0).rank()) e.Fail("axis ", axis, " is out of range for ", e.in(0));
  return e.in(0);
}

Batched BatchRule(const Eqn& e, const Batched& x) {
  return {e.Emit({x.value}, {{"axis", rules::Shifted(e.integer("axis"), x.dim)}}), x.dim};
}

std::string Factors(const Eqn& e) {
  const std::string all = rules::Letters(rules::Range(e.in(0).rank()));
  return all + " -> " + all + "; seq " + rules::Letter(e.integer("axis"));
}

// ---- combination: in kernels, and with tangents in programs ----
// A value and its tangent.
struct Pair {
  Value x, t;
};

struct Sum {
  static Scalar Combine(Scalar a, Scalar b) { return a + b; }
  static Scalar First(Scalar like) { return Like(like, 0); }
};

struct Product {
  static double Identity(DType) { return 1; }
  static Scalar Combine(Scalar a, Scalar b) { return a * b; }
  static Scalar First(Scalar like) { return Like(like, 1); }
  static Pair Combine(const Pair& a, const Pair& b) { return {mul(a.x, b.x), add(mul(a.t, b.x), mul(a.x, b.t))}; }
};

template <bool is_max>
struct Extremum {
  static double Identity(DType d) { return is_max ? LeastFloat(PartOf(d)) : GreatestFloat(PartOf(d)); }
  static Scalar Combine(Scalar a, Scalar b) {
    const Scalar out = is_max ? Max(a, b) : Min(a, b);
    return IsComplex(a.dtype()) ? Select(a == a, Select(b == b, out, b), a) : out;
  }
  static Scalar First(Scalar like) { return ExtremumIdentity<is_max>(like); }
  // At ties half to each, as in the tangent of max.
  static Pair Combine(const Pair& a, const Pair& b) {
    const Value x = is_max ? max(a.x, b.x) : min(a.x, b.x);
    const auto weight = [&](const Value& own, const Value& other) {
      const Value share = select(eq(other, x), full_like(x, 0.5), ones_like(x));
      return select(eq(own, x), share, zeros_like(x));
    };
    return {x, add(mul(a.t, weight(a.x, b.x)), mul(b.t, weight(b.x, a.x)))};
  }
};

struct LogSumExp {
  static double Identity(DType) { return -kInfinity; }
  static Scalar First(Scalar like) { return Like(like, -kInfinity); }
  static Scalar Combine(Scalar a, Scalar b) {
    if (IsComplex(a.dtype())) return CombineComplex(a, b);
    const Scalar distance = a - b;
    const Scalar tail = Apply(RICCI_S_LOG1P, {Apply(RICCI_S_EXP, {-Apply(RICCI_S_ABS, {distance})})});
    return Select(distance == distance, Max(a, b) + tail, a + b);
  }
  // By the greater one, as in jax.lax; the imaginary part is from -pi to pi. Where both are logarithms of 0, so is it.
  static Scalar CombineComplex(Scalar a, Scalar b) {
    constexpr double kPi = std::numbers::pi;
    const Scalar top = Max(a, b), tail = Apply(RICCI_S_LOG1P, {Apply(RICCI_S_EXP, {a + b - (top + top)})});
    const Scalar sum = top + tail, rest = (Imag(sum) + kPi) % (2 * kPi);
    const Scalar wrapped = Select(rest < 0, rest + 2 * kPi, rest) - kPi;
    return Select(Real(top) == -kInfinity, top, Complex(Real(sum), wrapped));
  }
  static Value Finite(const Value& x) {
    const Value size = abs(x);
    return select(eq(size, full_like(size, kInfinity)), zeros_like(x), x);
  }
  static Value Sum(const Value& a, const Value& b) {
    if (IsComplex(a.dtype())) return ComplexSum(a, b);
    const Value distance = sub(a, b), tail = log1p(exp(neg(abs(distance))));
    return select(eq(distance, distance), add(max(a, b), tail), add(a, b));
  }
  // Up to whole turns, which exp does not see.
  static Value ComplexSum(const Value& a, const Value& b) {
    const Value top = max(a, b), sum = add(top, log1p(exp(sub(add(a, b), add(top, top)))));
    return select(eq(real(top), full_like(real(top), -kInfinity)), top, sum);
  }
  static Pair Combine(const Pair& a, const Pair& b) {
    const Value x = Sum(a.x, b.x);
    const auto weighted = [&](const Pair& p) { return mul(p.t, exp(sub(Finite(p.x), Finite(x)))); };
    const Value t = add(weighted(a), weighted(b));
    return {x, t};
  }
};

// ---- tangent by doubling ----
// `v` shifted by `distance` along `axis` (backwards if reverse), with `fill` shifted in.
Value Moved(const Value& v, int64_t axis, int64_t distance, bool reverse, double fill) {
  const Shape none(static_cast<size_t>(v.rank()), 0);
  Shape in = none, out = none;
  in[static_cast<size_t>(axis)] = distance;
  out[static_cast<size_t>(axis)] = -distance;
  const Value value = full(v.builder, v.type().WithShape({}), fill);
  return reverse ? pad(v, value, out, in, none) : pad(v, value, in, out, none);
}
template <typename Operation>
Value Tangent(const Eqn& e, const Value& t, std::span<const Value> in, const Value&) {
  const int64_t axis = e.integer("axis");
  const bool reverse = e.flag("reverse");
  const DType dtype = in[0].dtype(), wide = In(dtype, kTinyFloats) ? DType::kF32 : dtype;  // which has the identities
  Pair p{convert_element_type(in[0], wide), convert_element_type(t, wide)};
  for (int64_t distance = 1; distance < in[0].dim(axis); distance *= 2) {
    const Pair before{Moved(p.x, axis, distance, reverse, Operation::Identity(wide)),
                      Moved(p.t, axis, distance, reverse, 0)};
    p = Operation::Combine(before, p);
  }
  return convert_element_type(p.t, dtype);
}

Value SumCt(const Eqn& e, const Value& ct) { return cumsum(ct, e.integer("axis"), !e.flag("reverse")); }

// ---- lowering ----
template <typename Operation>
void Loops(KernelBuilder& k, const Eqn& e) {
  const ArrayType x = e.in(0);
  const int64_t axis = e.integer("axis"), n = x.dim(axis);
  const DType dtype = SumDType(x.dtype());
  const Shape lines = rules::Without(x.shape(), Dims(&axis, 1));
  k.Parallel(lines, [&](const Index& line) {
    const auto at = [&](Scalar i) {
      Index index = line;
      index.insert(index.begin() + axis, e.flag("reverse") ? n - 1 - i : i);  // exact: a dimension
      return index;
    };
    const Scalar identity = Operation::First(k.Constant(dtype, 0));
    k.Scan(
        n, {&identity, 1}, [](const Index& a, const Index& b) { return Index{Operation::Combine(a[0], b[0])}; },
        [&](Scalar i) { return Index{Convert(k.Operand(0).Load(at(i)), dtype)}; },
        [&](Scalar i, const Index& sum) { k.Result().Store(at(i), Convert(sum[0], x.dtype())); });
  });
}

template <typename Operation, DTypeSet set>
constexpr Row Cumulative(std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .attrs = kAttrs,
          .flags = RICCI_PRIM_READS_ONCE,
          .type = Type<set>,
          .jvp = rules::Terms<Tangent<Operation>>,
          .batch = rules::BatchFirstOperand<BatchRule>,
          .factors_of = Factors,
          .lowerings = lower::Loops<Loops<Operation>>,
          .missing = rules::kNotLinear,
          .examples = kExamples};
}

constexpr Row kRows[] = {
    {.name = "cumsum",
     .doc = "y = cumsum(x): the sum of the elements up to each one along `axis`, from the end if `reverse`",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_READS_ONCE,
     .type = Type<kNumbers>,
     .jvp = rules::kLinear,
     .transpose = rules::TransposeFirst<SumCt>,
     .batch = rules::BatchFirstOperand<BatchRule>,
     .factors_of = Factors,
     .lowerings = lower::Loops<Loops<Sum>>,
     .examples = kExamples},
    Cumulative<Product, kNumbers>(
        "cumprod",
        "y = cumprod(x): the product of the elements up to each one along `axis`, from the end if `reverse`"),
    Cumulative<Extremum<true>, kNumbers>(
        "cummax", "y = cummax(x): the greatest of the elements up to each one along `axis`, from the end if `reverse`"),
    Cumulative<Extremum<false>, kNumbers>(
        "cummin", "y = cummin(x): the least of the elements up to each one along `axis`, from the end if `reverse`"),
    Cumulative<LogSumExp, kInexact>("cumlogsumexp",
                                    "y = cumlogsumexp(x): the logarithm of the sum of exp(x) up to each element along "
                                    "`axis`, from the end if `reverse`"),
};

}  // namespace

RowList cumulative_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
