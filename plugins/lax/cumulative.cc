// cumsum, cumprod, cummax, cummin, cumlogsumexp: each element combined with all before it along `axis` (with `reverse`:
// all after it).
//
// Extrema of complex numbers are those of max, but from the first NaN on they are NaN: in jax.lax they depend on the
// order in which XLA combines, and a scan needs an operation that does not.
// Lowered as a prefix scan of each line; narrow floats are accumulated in f32. cumsum is linear; its transpose is
// cumsum in the other direction. Tangents of the others come from a tree of pairs, built from primitives that can be
// differentiated again: the prefixes of sums of neighbours, then those between them. It is the tree of
// jax.lax.associative_scan, because the shares of equal elements of cummax and cummin depend on who meets whom first.
//
// Tangents of cumlogsumexp are right next to infinities too: an element of -inf has the weight 0, one of inf the weight
// 1. JAX has NaN after two of -inf, and exp(x) beside inf.
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
  static Scalar Combine(Scalar a, Scalar b) { return a * b; }
  static Scalar First(Scalar like) { return Like(like, 1); }
  static Pair Combine(const Pair& a, const Pair& b) {
    const Value x = mul(a.x, b.x), of_b = mul(a.x, b.t);
    return {x, add(mul(a.t, b.x), of_b)};
  }
};

template <bool is_max>
struct Extremum {
  static Scalar Combine(Scalar a, Scalar b) {
    const Scalar out = is_max ? Max(a, b) : Min(a, b);
    if (!IsComplex(a.dtype())) return out;
    const Scalar out_or_b = Select(b == b, out, b);
    return Select(a == a, out_or_b, a);
  }
  static Scalar First(Scalar like) { return ExtremumIdentity<is_max>(like); }
  // At ties half to each, as in the tangent of max.
  static Pair Combine(const Pair& a, const Pair& b) {
    const Value x = is_max ? max(a.x, b.x) : min(a.x, b.x);
    const auto weight = [&](const Value& own, const Value& other) {
      const Value one = ones_like(x), half = full_like(x, 0.5), share = select(eq(other, x), half, one);
      const Value zero = zeros_like(x);
      return select(eq(own, x), share, zero);
    };
    const Value of_b = mul(b.t, weight(b.x, a.x));
    return {x, add(mul(a.t, weight(a.x, b.x)), of_b)};
  }
};

// Its derivatives are limits where JAX has NaN, or slopes that are none: an infinite element among finite ones has the
// weight 1 or 0, and two that are the same infinity have 1/2 each.
struct LogSumExp {
  static Scalar First(Scalar like) { return Like(like, -kInfinity); }
  static Scalar Combine(Scalar a, Scalar b) {
    if (IsComplex(a.dtype())) return CombineComplex(a, b);
    const Scalar distance = a - b;
    const Scalar tail = Apply(RICCI_S_LOG1P, {Apply(RICCI_S_EXP, {-Apply(RICCI_S_ABS, {distance})})});
    const Scalar sum = a + b, smooth = Max(a, b) + tail;
    return Select(distance == distance, smooth, sum);
  }
  // By the greater one, as in jax.lax; the imaginary part is from -pi to pi. Where both are logarithms of 0, so is it.
  static Scalar CombineComplex(Scalar a, Scalar b) {
    constexpr double kPi = std::numbers::pi;
    const Scalar top = Max(a, b), twice = top + top;
    const Scalar tail = Apply(RICCI_S_LOG1P, {Apply(RICCI_S_EXP, {a + b - twice})});
    const Scalar sum = top + tail, rest = (Imag(sum) + kPi) % (2 * kPi);
    const Scalar turned = rest + 2 * kPi, wrapped = Select(rest < 0, turned, rest) - kPi;
    return Select(Real(top) == -kInfinity, top, Complex(Real(sum), wrapped));
  }
  // Of complex numbers.
  static Value Finite(const Value& x) {
    const Value size = abs(x), zero = zeros_like(x);
    return select(eq(size, full_like(size, kInfinity)), zero, x);
  }
  // a - b, and 0 where both are the same infinity.
  static Value Distance(const Value& a, const Value& b) {
    const Value infinite = bitwise_not(is_finite(a)), alike = bitwise_and(eq(a, b), infinite), zero = zeros_like(a);
    const Value other = select(alike, zero, b);
    return sub(select(alike, zero, a), other);
  }
  // The greater of two numbers is chosen, not by max, nor its distance from the other one by abs: where both are equal
  // these have slopes of their own, which are none of the sum. The same holds for real parts of complex numbers.
  static Value Sum(const Value& a, const Value& b) {
    if (IsComplex(a.dtype())) return ComplexSum(a, b);
    const Value is_first = ge(a, b), distance = Distance(a, b);
    const Value tail = log1p(exp(select(is_first, neg(distance), distance)));
    return add(select(is_first, a, b), tail);
  }
  // Up to whole turns, which exp does not see.
  static Value ComplexSum(const Value& a, const Value& b) {
    const Value of_b = real(b), is_first = ge(real(a), of_b);
    const Value high = select(is_first, a, b), low = select(is_first, b, a);
    const Value sum = add(high, log1p(exp(sub(low, high))));
    const Value least = full_like(real(high), -kInfinity);
    return select(eq(real(high), least), high, sum);
  }
  static Pair Combine(const Pair& a, const Pair& b) {
    const Value x = Sum(a.x, b.x);
    const auto weight = [&](const Value& own, const Value& other) {
      if (!IsComplex(own.dtype())) return logistic(Distance(own, other));
      const Value sum = Finite(x);
      return exp(sub(Finite(own), sum));
    };
    const Value of_a = mul(a.t, weight(a.x, b.x)), of_b = mul(b.t, weight(b.x, a.x));
    return {x, add(of_a, of_b)};
  }
};

// ---- tangent by a tree of pairs ----
// Elements `from`, `from` + `stride`, ... along `axis`, before `limit`.
Value Part(const Value& v, int64_t axis, int64_t from, int64_t limit, int64_t stride = 1) {
  Shape starts(static_cast<size_t>(v.rank()), 0), limits(v.shape().begin(), v.shape().end()), strides(starts.size(), 1);
  starts[static_cast<size_t>(axis)] = from;
  limits[static_cast<size_t>(axis)] = limit;
  strides[static_cast<size_t>(axis)] = stride;
  return slice(v, starts, limits, strides);
}
Pair Part(const Pair& p, int64_t axis, int64_t from, int64_t limit, int64_t stride = 1) {
  return {Part(p.x, axis, from, limit, stride), Part(p.t, axis, from, limit, stride)};
}
Value Joined(const Value& a, const Value& b, int64_t axis) { return concatenate(Values{a, b}, axis); }
// The elements of `even` and of `odd`, which has as many or one fewer, in turn along `axis`.
Value InTurn(const Value& even, const Value& odd, int64_t axis) {
  const int64_t n = odd.dim(axis);
  Shape shape(odd.shape().begin(), odd.shape().end());
  shape[static_cast<size_t>(axis)] = 2 * n;  // exact: at most the elements of the operand
  const Value both = reshape(stack(Values{Part(even, axis, 0, n), odd}, axis + 1), shape);
  return even.dim(axis) == n ? both : Joined(both, Part(even, axis, n, n + 1), axis);
}
// Each element combined with all before it.
template <typename Operation>
Pair Prefixes(const Pair& p, int64_t axis) {
  const int64_t n = p.x.dim(axis);
  if (n < 2) return p;
  const Pair second = Part(p, axis, 1, n, 2), first = Part(p, axis, 0, n - 1, 2);
  const Pair odd = Prefixes<Operation>(Operation::Combine(first, second), axis);
  Pair even = Part(p, axis, 0, 1);
  if (n > 2) {
    const Pair own = Part(p, axis, 2, n, 2), rest = Operation::Combine(Part(odd, axis, 0, (n - 1) / 2), own);
    even = {Joined(even.x, rest.x, axis), Joined(even.t, rest.t, axis)};
  }
  return {InTurn(even.x, odd.x, axis), InTurn(even.t, odd.t, axis)};
}
template <typename Operation>
Value Tangent(const Eqn& e, const Value& t, std::span<const Value> in, const Value&) {
  const int64_t axis = e.integer("axis");
  const DType dtype = in[0].dtype(), wide = In(dtype, kTinyFloats) ? DType::kF32 : dtype;
  const auto turned = [&](const Value& v) { return e.flag("reverse") ? rev(v, Dims(&axis, 1)) : v; };
  const auto start = [&](const Value& v) { return turned(convert_element_type(v, wide)); };
  const Value out = Prefixes<Operation>({start(in[0]), start(t)}, axis).t;
  return convert_element_type(turned(out), dtype);
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
    Cumulative<LogSumExp, kInexact>(
        "cumlogsumexp",
        "y = cumlogsumexp(x): the logarithm of the sum of exp(x) up to each element along `axis`, from the end if "
        "`reverse`; its derivative at infinite elements is the limit, where jax.lax has NaN or exp(x)"),
};

}  // namespace

RowList cumulative_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
