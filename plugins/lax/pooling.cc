// reduce_window_sum, reduce_window_max, reduce_window_min: the elements in each window of x combined, as pooling does.
//
// The sum is linear; its transpose is a sum over windows of the cotangent, with strides and dilation of the base
// exchanged. The tangent of an extremum is that of the element chosen (select_and_gather_add), as in jax.lax: the first
// of equal ones, and not a share of all. Complex numbers, ordered as in max, have none, as in jax.lax.
#include "real_derivative.hpp"
#include "window_reduction.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {kWindowDimensions, kWindowStrides, kWindowPadding, kBaseDilation, kWindowDilation};

template <DTypeSet set>
ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  rules::WantDType(e, 0, set);
  return e.in(0).WithShape(WindowShape(e));
}
Batched BatchRule(const Eqn& e, const Batched& x) { return {EmitWithBatch(e, {&x.value, 1}, x.dim)[0], x.dim}; }

// ---- derivatives ----
Value SumCt(const Eqn& e, const Value& ct) {
  if (e.out().elements() == 0 || e.in(0).elements() == 0) return zeros(ct.builder, e.in(0));
  Shape window, strides, padding, base;
  std::vector<int64_t> dilation;
  for (const SlidingWindow& v : WindowsOf(e, 0, e.out().shape())) {
    window.push_back(v.window);
    strides.push_back(v.base_dilation);
    base.push_back(v.stride);
    dilation.push_back(v.window_dilation);
    const int64_t low = v.reach() - v.low - 1;  // exact: sizes of arrays and paddings
    padding.push_back(low);
    padding.push_back(v.dilated() + v.reach() - 1 - Dilated(v.out, v.stride) - low);  // exact: likewise
  }
  return reduce_window_sum(ct, window, strides, padding, base, dilation);
}

template <const char* select_prim>
Value ChosenTangent(const Eqn& e, const Value& t, std::span<const Value> in, const Value&) {
  WantRealDerivative(e);
  return select_and_gather_add(t, in[0], select_prim, e.ints("window_dimensions"), e.ints("window_strides"),
                               e.ints("padding"), e.ints("base_dilation"), e.ints("window_dilation"));
}

// ---- lowering ----
template <uint32_t combiner>
void Loops(KernelBuilder& k, const Eqn& e) {
  const ArrayType x = e.in(0), out = e.out();
  const uint32_t op = x.dtype() == DType::kBool ? ForBool(combiner) : combiner;
  const DType dtype = SumDType(x.dtype(), op);
  const std::vector<SlidingWindow> windows = WindowsOf(e, 0, out.shape());
  const Shape trips = InWindow::Trips(windows);
  k.Parallel(out.shape(), [&](const Index& to) {
    const Scalar identity = IdentityOf(op, k.Constant(dtype, 0));
    if (x.elements() == 0) return k.Result().Store(to, Convert(identity, x.dtype()));
    const Scalar all = k.ReduceBox(op, trips, [&](const Index& inner) {
      const InWindow under(k, windows, to, inner);
      const Scalar v = Convert(k.Operand(0).Load(under.at), dtype);
      return under.inside.id == 0 ? v : Select(under.inside, v, identity);
    });
    k.Result().Store(to, Convert(all, x.dtype()));
  });
}

// Extrema of complex numbers, in the order of the elements.
template <uint32_t combiner>
void ComplexLoops(KernelBuilder& k, const Eqn& e) {
  const std::vector<SlidingWindow> windows = WindowsOf(e, 0, e.out().shape());
  const Shape trips = InWindow::Trips(windows);
  k.Parallel(e.out().shape(), [&](const Index& to) {
    const Scalar identity = IdentityOf(combiner, k.Constant(e.in(0).dtype(), 0));
    if (e.in(0).elements() == 0) return k.Result().Store(to, identity);
    const auto load = [&](const Index& inner) {
      const InWindow under(k, windows, to, inner);
      const Scalar v = k.Operand(0).Load(under.at);
      return under.inside.id == 0 ? v : Select(under.inside, v, identity);
    };
    const auto combine = [](Scalar a, Scalar b) { return Apply(combiner, {a, b}); };
    k.Result().Store(to, ReduceInOrder(k, e, trips, identity, combine, load));
  });
}
bool OfComplex(const Eqn& e) { return IsComplex(e.in(0).dtype()); }
template <uint32_t combiner>
constexpr Lowering kExtremum[] = {{.loops = ComplexLoops<combiner>, .match = OfComplex}, {.loops = Loops<combiner>}};

std::string Factors(const Eqn& e) {
  FactorText text;
  const WindowedFactors f = FactorsOfWindowed(text, WindowsOf(e, 0, e.out().shape()));
  text.AddIn(f.array);
  text.AddOut(f.windows);
  return text.Done();
}

constexpr char kGe[] = "ge", kLe[] = "le";
constexpr std::string_view kExamples =
    "(f64[2,5]) window_dimensions=[1,3]; "
    "(f64[4,3]) window_dimensions=[2,2] window_strides=[2,1] padding=[1,0,0,1]; "
    "(f64[5]) window_dimensions=[3] padding=[2,1] base_dilation=[2] window_dilation=[3]; "
    "(f64[6]) window_dimensions=[2] window_strides=[3] padding=[-1,-1]; "
    "(f64[3]) window_dimensions=[7] padding=[4,6] window_strides=[2]; "
    "(f64[]) window_dimensions=[]";

constexpr std::string_view kExtremumExamples =
    "(f64[2,5]) window_dimensions=[1,3]; "
    "(f64[4,3]) window_dimensions=[2,2] window_strides=[2,1] padding=[1,0,0,1]; "
    "(f64[5]) window_dimensions=[3] padding=[2,1] base_dilation=[2] window_dilation=[3]; "
    "(f64[6]) window_dimensions=[2] window_strides=[3] padding=[-1,-1]; "
    "(f64[3]) window_dimensions=[7] padding=[4,6] window_strides=[2]; "
    "order=0 (c128[4,3]) window_dimensions=[2,2] window_strides=[2,1] padding=[1,0,0,1]; "
    "(f64[]) window_dimensions=[]";

template <uint32_t combiner, const char* select_prim>
constexpr Row Extremum(std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .attrs = kAttrs,
          .type = Type<kAny>,
          .jvp = rules::Terms<ChosenTangent<select_prim>>,
          .batch = rules::BatchFirstOperand<BatchRule>,
          .factors_of = Factors,
          .lowerings = kExtremum<combiner>,
          .missing = rules::kNotLinear,
          .examples = kExtremumExamples};
}

constexpr Row kRows[] = {
    {.name = "reduce_window_sum",
     .doc = "y = reduce_window_sum(x): the sum of the elements in each window of x; `padding` is low and high of each "
            "dimension",
     .attrs = kAttrs,
     .type = Type<kNumbers>,
     .jvp = rules::kLinear,
     .transpose = rules::TransposeFirst<SumCt>,
     .batch = rules::BatchFirstOperand<BatchRule>,
     .factors_of = Factors,
     .lowerings = lower::Loops<Loops<RICCI_S_ADD>>,
     .examples = kExamples},
    Extremum<RICCI_S_MAX, kGe>(
        "reduce_window_max",
        "y = reduce_window_max(x): the greatest element in each window of x; NaN if one is; `padding` is low and high "
        "of each dimension"),
    Extremum<RICCI_S_MIN, kLe>(
        "reduce_window_min",
        "y = reduce_window_min(x): the least element in each window of x; NaN if one is; `padding` is low and high of "
        "each dimension"),
};

}  // namespace

RowList pooling_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
