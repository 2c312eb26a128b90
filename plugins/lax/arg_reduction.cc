// argmax, argmin: the index of the largest or smallest element along one axis: the first one at ties, the first NaN if
// there is one.
//
// Lowered as two reductions, the extremum and then the lowest index that holds it: both run in vector lanes, which a
// single pass over (value, index) pairs would not.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"axes", AttrKind::kInts}, {"index_dtype", AttrKind::kDType}};

int64_t AxisOf(const Eqn& e) { return e.ints("axes")[0]; }

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType x = e.in(0);
  const Dims axes = e.ints("axes");
  rules::WantDType(e, 0, kOrdered);
  rules::WantAxes(e, 0, "axes", axes);
  if (axes.size() != 1) e.Fail("axes ", axes, " must name one dimension");
  if (x.dim(axes[0]) == 0) e.Fail("dimension ", axes[0], " of ", x, " is empty and has no extremum");
  if (!IsInt(e.dtype("index_dtype"))) e.Fail("index_dtype ", e.dtype("index_dtype"), " must be an integer dtype");
  return e.Type(e.dtype("index_dtype"), rules::Without(x.shape(), axes));
}

Batched BatchRule(const Eqn& e, const Batched& x) {
  const Shape axes = rules::Shifted(e.ints("axes"), x.dim);
  return {e.Emit({x.value}, {{"axes", axes}}), x.dim - (axes[0] < x.dim ? 1 : 0)};
}

template <uint32_t extremum>
void Loops(KernelBuilder& k, const Eqn& e) {
  const ArrayType x = e.in(0), out = e.out();
  const int64_t axis = AxisOf(e), n = x.dim(axis);
  const DType count = n <= INT32_MAX ? DType::kI32 : DType::kI64;
  k.Parallel(out.shape(), [&](const Index& at) {
    const auto load = [&](Scalar i) {
      Index from = at;
      from.insert(from.begin() + axis, i);
      const Scalar v = k.Operand(0).Load(from);
      return v.dtype() == DType::kBool ? Convert(v, DType::kU8) : v;
    };
    const Scalar best = k.Reduce(extremum, n, load);
    const auto is_best = [&](Scalar v) {
      if (!IsFloat(x.dtype())) return v == best;
      const Scalar is_nan = v != v;
      return (v == best) | is_nan;
    };
    const Scalar first = k.Reduce(RICCI_S_MIN, n, [&](Scalar i) {
      const Scalar v = load(i);
      const Scalar here = is_best(v);
      return Select(here, Convert(i, count), k.Constant(count, n - 1));
    });
    k.Result().Store(at, Convert(first, out.dtype()));
  });
}

std::string Factors(const Eqn& e) {
  const int64_t rank = e.in(0).rank();
  return rules::Letters(rules::Range(rank)) + " -> " + rules::Letters(rules::Complement(e.ints("axes"), rank)) +
         "; whole " + rules::Letter(AxisOf(e));
}

template <uint32_t extremum>
constexpr Row ArgReduction(std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .attrs = kAttrs,
          .type = Type,
          .jvp = rules::ZeroTangent,
          .batch = rules::BatchFirstOperand<BatchRule>,
          .factors_of = Factors,
          .lowerings = lower::Loops<Loops<extremum>>,
          .missing = "transpose: the result is an integer",
          .examples = "(f64[2,5]) axes=[1] index_dtype=i32; (f64[5,2]) axes=[0] index_dtype=i64"};
}

constexpr Row kRows[] = {
    ArgReduction<RICCI_S_MAX>(
        "argmax",
        "i = argmax(x): the index of the greatest element along `axes`, the first of several; NaN counts as greatest"),
    ArgReduction<RICCI_S_MIN>(
        "argmin",
        "i = argmin(x): the index of the least element along `axes`, the first of several; NaN counts as least")};

}  // namespace

RowList arg_reduction_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
