// reduce_sum, reduce_prod, reduce_max, reduce_min, reduce_and, reduce_or, reduce_xor: combine the elements along
// `axes`.
//
// reduce_sum is linear and its transpose is a broadcast. The tangent of reduce_prod comes from a balanced tree of
// products, and that of reduce_max and reduce_min is shared equally among ties, both as in jax.lax. Sums and products
// of narrow floats are taken in f32. Extrema of complex numbers (ordered as in max) are taken in the order of the
// elements, as XLA's are, which decides where one is NaN. If a reduced axis is sharded each device holds a partial
// result: see the factors.
#include "reduction_parts.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"axes", AttrKind::kInts}};

template <DTypeSet set>
ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  rules::WantDType(e, 0, set);
  rules::WantAxes(e, 0, "axes", e.ints("axes"));
  return e.in(0).WithShape(rules::Without(e.in(0).shape(), e.ints("axes")));
}

Batched BatchRule(const Eqn& e, const Batched& x) {
  const Shape axes = rules::Shifted(e.ints("axes"), x.dim);
  const auto reduced_before = std::count_if(axes.begin(), axes.end(), [&](int64_t a) { return a < x.dim; });
  return {e.Emit({x.value}, {{"axes", axes}}), x.dim - reduced_before};
}

// A value of the result's shape, broadcast to the shape of the operand.
Value Spread(const Eqn& e, const Value& v) {
  const ArrayType x = e.in(0);
  return broadcast_in_dim(v, x.shape(), rules::Complement(e.ints("axes"), x.rank()));
}

// ---- derivatives ----
Value SumCt(const Eqn& e, const Value& ct) { return Spread(e, ct); }

Value ExtremumTangent(const Eqn& e, const Value& t, std::span<const Value> in, const Value& out) {
  const Dims axes = e.ints("axes");
  const Value chosen = convert_element_type(eq(in[0], Spread(e, out)), t.dtype());
  const Value count = reduce_sum(chosen, axes);
  return div(reduce_sum(mul(t, chosen), axes), count);
}

// One value and its tangent for each element of the leading dimension.
struct Pair {
  Value x, t;
};
// Rows [lo, hi) of `v`, filled up with `fill` to `size` rows.
Value Rows(const Value& v, int64_t lo, int64_t hi, int64_t size, double fill) {
  const Value part = slice_in_dim(v, lo, hi, 0);
  if (hi - lo == size) return part;
  const auto rank = static_cast<size_t>(v.rank());
  const Shape none(rank, 0);
  Shape high(rank, 0);
  high[0] = size - (hi - lo);
  return pad(part, full(v.builder, v.type().WithShape({}), fill), none, high, none);
}
// The upper half of the rows times the lower half, until one row is left.
Pair ProductTree(Pair p) {
  while (p.x.dim(0) > 1) {
    const int64_t n = p.x.dim(0), half = (n + 1) / 2;
    const Pair a{Rows(p.x, 0, half, half, 1), Rows(p.t, 0, half, half, 0)};
    const Pair b{Rows(p.x, half, n, half, 1), Rows(p.t, half, n, half, 0)};
    const Value x = mul(a.x, b.x), of_b = mul(a.x, b.t);
    p = {x, add(mul(a.t, b.x), of_b)};
  }
  return p;
}
Value ProductTangent(const Eqn& e, const Value& t, std::span<const Value> in, const Value&) {
  const ArrayType x = e.in(0);
  const Dims axes = e.ints("axes");
  const Shape kept = rules::Complement(axes, x.rank());
  Shape order(axes.begin(), axes.end()), rows{ElementCount(rules::Pick(x.shape(), axes))};
  order.insert(order.end(), kept.begin(), kept.end());
  for (int64_t d : kept) rows.push_back(x.dim(d));
  if (rows[0] == 0) return Value::Zero(t.builder);
  const Pair p = ProductTree({reshape(transpose(in[0], order), rows), reshape(transpose(t, order), rows)});
  return reshape(p.t, e.out().shape());
}

// ---- lowering ----
template <uint32_t combiner>
void Loops(KernelBuilder& k, const Eqn& e) {
  const ArrayType x = e.in(0), out = e.out();
  Shape axes(e.ints("axes").begin(), e.ints("axes").end());
  std::sort(axes.begin(), axes.end());
  const Shape kept = rules::Complement(axes, x.rank());
  const uint32_t op = x.dtype() == DType::kBool ? ForBool(combiner) : combiner;
  k.Parallel(out.shape(), [&](const Index& at) {
    Index from(static_cast<size_t>(x.rank()));
    for (size_t i = 0; i < kept.size(); ++i) from[static_cast<size_t>(kept[i])] = at[i];
    const Scalar sum = k.ReduceBox(op, rules::Pick(x.shape(), axes), [&](const Index& inner) {
      for (size_t i = 0; i < axes.size(); ++i) from[static_cast<size_t>(axes[i])] = inner[i];
      return Convert(k.Operand(0).Load(from), SumDType(x.dtype(), op));
    });
    k.Result().Store(at, Convert(sum, out.dtype()));
  });
}

// Of complex numbers, by the operation `op` from `first` on.
template <uint32_t op, Scalar (*first)(Scalar like)>
void ComplexLoops(KernelBuilder& k, const Eqn& e) {
  const ArrayType x = e.in(0);
  const Dims axes = e.ints("axes");
  const Shape kept = rules::Complement(axes, x.rank());
  k.Parallel(e.out().shape(), [&](const Index& at) {
    Index from(static_cast<size_t>(x.rank()));
    for (size_t i = 0; i < kept.size(); ++i) from[static_cast<size_t>(kept[i])] = at[i];
    const auto load = [&](const Index& inner) {
      for (size_t i = 0; i < axes.size(); ++i) from[static_cast<size_t>(axes[i])] = inner[i];
      return k.Operand(0).Load(from);
    };
    const auto combine = [](Scalar a, Scalar b) { return Apply(op, {a, b}); };
    k.Result().Store(at,
                     ReduceInOrder(k, e, rules::Pick(x.shape(), axes), first(k.Constant(x.dtype(), 0)), combine, load));
  });
}
Scalar One(Scalar like) { return Like(like, 1); }
bool OfComplex(const Eqn& e) { return IsComplex(e.in(0).dtype()); }
template <uint32_t op, Scalar (*first)(Scalar like)>
constexpr Lowering kWithComplex[] = {{.loops = ComplexLoops<op, first>, .match = OfComplex}, {.loops = Loops<op>}};

// Nothing to combine.
Value Simpler(const Eqn& e, std::span<const Value> in) { return e.ints("axes").empty() ? in[0] : Value{}; }

// ---- factors ----
std::string Factors(const Eqn& e, std::string_view kind) {
  const int64_t rank = e.in(0).rank();
  const Dims axes = e.ints("axes");
  std::string text = rules::Letters(rules::Range(rank)) + " -> " + rules::Letters(rules::Complement(axes, rank));
  if (!axes.empty()) text += Text("; ", kind, " ", rules::Letters(axes));
  return text;
}
constexpr char kSum[] = "sum", kProd[] = "prod", kMax[] = "max", kMin[] = "min", kAnd[] = "and", kOr[] = "or",
               kXor[] = "xor";
template <const char* kind>
std::string FactorsOf(const Eqn& e) {
  return Factors(e, kind);
}

template <uint32_t combiner, const char* kind>
constexpr Row Logical(std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .attrs = kAttrs,
          .flags = RICCI_PRIM_READS_ONCE,
          .type = Type<kInts | kBools>,
          .jvp = rules::ZeroTangent,
          .batch = rules::BatchFirstOperand<BatchRule>,
          .simplify = rules::One<Simpler>,
          .factors_of = FactorsOf<kind>,
          .lowerings = lower::Loops<Loops<combiner>>,
          .missing = rules::kDiscrete,
          .examples = "(bool[2,3]) axes=[1]; (i32[2,3] in 0..50) axes=[0]; (bool[2,3,2]) axes=[0,2]"};
}
template <uint32_t combiner, const char* kind, bool is_max = combiner == RICCI_S_MAX>
constexpr Row Extremum(std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .attrs = kAttrs,
          .flags = RICCI_PRIM_READS_ONCE,
          .type = Type<kAny>,
          .jvp = rules::Terms<ExtremumTangent>,
          .batch = rules::BatchFirstOperand<BatchRule>,
          .simplify = rules::One<Simpler>,
          .factors_of = FactorsOf<kind>,
          .lowerings = kWithComplex<combiner, ExtremumIdentity<is_max>>,
          .missing = rules::kNotLinear,
          .examples = "(f64[2,3,4]) axes=[1]; (f64[2,3,4]) axes=[0,2]; (c128[2,3,2]) axes=[2,0]"};
}

constexpr Row kRows[] = {
    {.name = "reduce_sum",
     .doc = "y = reduce_sum(x): the sum over `axes`",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_READS_ONCE,
     .type = Type<kNumbers>,
     .jvp = rules::kLinear,
     .transpose = rules::TransposeFirst<SumCt>,
     .batch = rules::BatchFirstOperand<BatchRule>,
     .simplify = rules::One<Simpler>,
     .factors_of = FactorsOf<kSum>,
     .lowerings = lower::Loops<Loops<RICCI_S_ADD>>,
     .examples = "(f64[2,3,4]) axes=[1]; "
                 "(f64[2,3,4]) axes=[2,0]; "
                 "(f64[2,3]) axes=[0,1]; "
                 "(c128[2,3,4]) axes=[2,0]; "
                 "(f64[2,3]) axes=[]"},
    {.name = "reduce_prod",
     .doc = "y = reduce_prod(x): the product over `axes`",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_READS_ONCE,
     .type = Type<kNumbers>,
     .jvp = rules::Terms<ProductTangent>,
     .batch = rules::BatchFirstOperand<BatchRule>,
     .simplify = rules::One<Simpler>,
     .factors_of = FactorsOf<kProd>,
     .lowerings = kWithComplex<RICCI_S_MUL, One>,
     .missing = rules::kNotLinear,
     .examples = "(f64[5,2]) axes=[0]; "
                 "(c128[3,2]) axes=[0]; "
                 "(f64[2,3,2]) axes=[0,2]"},
    Extremum<RICCI_S_MAX, kMax>("reduce_max", "y = reduce_max(x): the greatest element over `axes`; NaN if one is"),
    Extremum<RICCI_S_MIN, kMin>("reduce_min", "y = reduce_min(x): the least element over `axes`; NaN if one is"),
    Logical<RICCI_S_AND, kAnd>("reduce_and", "y = reduce_and(x): the bits set in all elements over `axes`"),
    Logical<RICCI_S_OR, kOr>("reduce_or", "y = reduce_or(x): the bits set in at least one element over `axes`"),
    Logical<RICCI_S_XOR, kXor>("reduce_xor",
                               "y = reduce_xor(x): the bits set in an odd number of elements over `axes`"),
};

}  // namespace

RowList reduction_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
