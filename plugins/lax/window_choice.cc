// select_and_gather_add, select_and_scatter_add: the derivatives of the extremum over windows.
//
// In each window of an operand one element is chosen: the greatest (`ge`) or least (`le`), the first of equal ones;
// after a NaN whatever follows it. It is never an infinity that no element can be beyond, so that a window that has
// nothing else has no element. Gather gives the tangent at the position chosen, scatter adds the source to it: each is
// the transpose of the other, also where jax.lax has no transpose (dilated windows).
//
// In a window without a number, or with NaN next to padding, JAX's two disagree; ours follow the first.
#include "window_reduction.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"select_prim", AttrKind::kString},
                               kWindowDimensions,
                               kWindowStrides,
                               kWindowPadding,
                               kBaseDilation,
                               kWindowDilation};
constexpr uint32_t kOperand = 1;  // operand 0 is tangents or source

bool IsGreatest(const Eqn& e) { return e.str("select_prim") == "ge"; }

// The shape of one element for each window; checks operands and attributes.
Shape CheckedShape(const Eqn& e) {
  e.WantOperands(2);
  rules::WantDType(e, kOperand, kFloats);
  if (e.in(0).dtype() != e.in(kOperand).dtype()) {
    e.Fail("operands 0 and 1 are ", e.in(0), " and ", e.in(kOperand), "; they must have one dtype");
  }
  const std::string_view prim = e.str("select_prim");
  if (prim != "ge" && prim != "le") e.Fail("select_prim ", prim, " must be ge or le");
  return WindowShape(e, kOperand);
}
ArrayTypes GatherType(const Eqn& e) {
  const Shape shape = CheckedShape(e);
  if (!SameDims(e.in(0).shape(), e.in(kOperand).shape())) {
    e.Fail("tangents are ", e.in(0), "; they must have the shape of the operand, ", e.in(kOperand));
  }
  return e.in(0).WithShape(shape);
}
ArrayTypes ScatterType(const Eqn& e) {
  const Shape shape = CheckedShape(e);
  if (!SameDims(e.in(0).shape(), shape)) {
    e.Fail("the source is ", e.in(0), "; it must have one element for each window, ", e.in(0).WithShape(shape));
  }
  return e.in(kOperand);
}

Values BatchRule(const Eqn& e, std::span<const Value> in, int64_t) { return EmitWithBatch(e, in, 0); }

// ---- derivatives ----
template <Value (*other)(const Value&, const Value&, std::string_view, Dims, Dims, Dims, Dims, Dims)>
Value Ct(const Eqn& e, const Value& ct, std::span<const Value> in) {
  return other(ct, in[kOperand], e.str("select_prim"), e.ints("window_dimensions"), e.ints("window_strides"),
               e.ints("padding"), e.ints("base_dilation"), e.ints("window_dilation"));
}

// ---- lowering ----
// Runs through a window and keeps what was chosen in `best`; `keep(at, take)` keeps more of it.
template <typename Keep>
void Choose(KernelBuilder& k, const Eqn& e, std::span<const SlidingWindow> windows, const Index& to,
            const KernelArray& best, Keep&& keep) {
  const DType dtype = e.in(kOperand).dtype();
  best.Store({}, IdentityOf(IsGreatest(e) ? RICCI_S_MAX : RICCI_S_MIN, k.Constant(dtype, 0)));
  LoopBox(k, InWindow::Trips(windows), [&](const Index& inner) {
    const InWindow under(k, windows, to, inner);
    const Scalar x = k.Operand(kOperand).Load(under.at), old = best.Load({});
    const Scalar beaten = !(IsGreatest(e) ? old >= x : old <= x);
    const Scalar take = under.inside.id == 0 ? beaten : under.inside & beaten;
    best.Store({}, Select(take, x, old));
    keep(under.at, take);
  });
}

void GatherLoops(KernelBuilder& k, const Eqn& e) {
  const ArrayType scalar = e.in(0).WithShape({});
  const std::vector<SlidingWindow> windows = WindowsOf(e, kOperand, e.out().shape());
  k.Parallel(e.out().shape(), [&](const Index& to) {
    const Scalar zero = k.Constant(scalar.dtype(), 0);
    if (e.in(0).elements() == 0) return k.Result().Store(to, zero);
    const KernelArray best = k.Local(scalar), chosen = k.Local(scalar);
    chosen.Store({}, zero);
    Choose(k, e, windows, to, best, [&](const Index& at, Scalar take) {
      const Scalar before = chosen.Load({}), here = k.Operand(0).Load(at);
      chosen.Store({}, Select(take, here, before));
    });
    k.Result().Store(to, chosen.Load({}));
  });
}

// The dimensions that windows span run in order, because windows overlap; the others in parallel.
class Scatter {
 public:
  Scatter(KernelBuilder& k, const Eqn& e) : k_(k), e_(e), windows_(WindowsOf(e, kOperand, e.in(0).shape())) {
    for (size_t i = 0; i < windows_.size(); ++i) {
      (windows_[i].passes() ? apart_ : spanned_).push_back(static_cast<int64_t>(i));
    }
  }
  void Write() const {
    const ArrayType scalar = e_.out().WithShape({});
    k_.Parallel(rules::Pick(e_.out().shape(), apart_), [&](const Index& at) {
      k_.Parallel(rules::Pick(e_.out().shape(), spanned_),
                  [&](const Index& to) { k_.Result().Store(Position(at, to), k_.Constant(scalar.dtype(), 0)); });
      if (e_.in(0).elements() == 0 || e_.out().elements() == 0) return;
      const KernelArray best = k_.Local(scalar);
      LoopBox(k_, rules::Pick(e_.in(0).shape(), spanned_), [&](const Index& to) { Add(Position(at, to), best); });
    });
  }

 private:
  Index Position(const Index& apart, const Index& spanned) const {
    Index out(windows_.size());
    for (size_t i = 0; i < apart_.size(); ++i) out[static_cast<size_t>(apart_[i])] = apart[i];
    for (size_t i = 0; i < spanned_.size(); ++i) out[static_cast<size_t>(spanned_[i])] = spanned[i];
    return out;
  }
  // Adds the source at `to` to the element chosen in its window.
  void Add(const Index& to, const KernelArray& best) const {
    const auto n = static_cast<int64_t>(windows_.size());
    const KernelArray found = k_.Local(e_.Type(DType::kBool, {})),
                      position = k_.Local(e_.Type(DType::kI64, Dims(&n, 1)));
    found.Store({}, k_.Constant(DType::kBool, false));
    for (int64_t i = 0; i < n; ++i) position.Store({k_.At(i)}, k_.At(0));
    Choose(k_, e_, windows_, to, best, [&](const Index& at, Scalar take) {
      found.Store({}, found.Load({}) | take);
      for (int64_t i : spanned_) {
        position.Store({k_.At(i)}, Select(take, at[static_cast<size_t>(i)], position.Load({k_.At(i)})));
      }
    });
    k_.If(found.Load({}), [&] {
      Index at = to;
      for (int64_t i : spanned_) at[static_cast<size_t>(i)] = position.Load({k_.At(i)});
      const Scalar source = k_.Operand(0).Load(to);
      k_.Result().Store(at, k_.Result().Load(at) + source);
    });
  }

  KernelBuilder& k_;
  const Eqn& e_;
  const std::vector<SlidingWindow> windows_;
  Shape apart_, spanned_;
};
void ScatterLoops(KernelBuilder& k, const Eqn& e) { Scatter(k, e).Write(); }

// ---- factors ----
std::string GatherFactors(const Eqn& e) {
  FactorText text;
  const WindowedFactors f = FactorsOfWindowed(text, WindowsOf(e, kOperand, e.out().shape()));
  text.AddIn(f.array);
  text.AddIn(f.array);
  text.AddOut(f.windows);
  return text.Done();
}
std::string ScatterFactors(const Eqn& e) {
  FactorText text;
  const WindowedFactors f = FactorsOfWindowed(text, WindowsOf(e, kOperand, e.in(0).shape()));
  text.AddIn(f.windows);
  text.AddIn(f.array);
  text.AddOut(f.array);
  return text.Done();
}

constexpr Row kRows[] = {
    {.name = "select_and_gather_add",
     .doc = "y = select_and_gather_add(tangents, x): the tangent of the element of x chosen in each window, by "
            "`select_prim`: ge or le; 0 if there is none",
     .attrs = kAttrs,
     .type = GatherType,
     .jvp = rules::LinearInFirst,
     .transpose = rules::TransposeEach<Ct<select_and_scatter_add>>,
     .batch = rules::BatchAllFirst<BatchRule>,
     .factors_of = GatherFactors,
     .lowerings = lower::Loops<GatherLoops>,
     .examples = "(f64[2,5], f64[2,5]) select_prim=\"ge\" window_dimensions=[1,3]; "
                 "(f64[4,3], f64[4,3]) select_prim=\"le\" window_dimensions=[2,2] window_strides=[2,1] "
                 "padding=[1,0,0,2]; "
                 "(f64[5], f64[5]) select_prim=\"ge\" window_dimensions=[3] padding=[2,1] base_dilation=[2] "
                 "window_dilation=[3]"},
    {.name = "select_and_scatter_add",
     .doc = "y = select_and_scatter_add(source, x): zeros of the shape of x, with the source of each window added to "
            "the element of x chosen there, by `select_prim`: ge or le",
     .attrs = kAttrs,
     .type = ScatterType,
     .jvp = rules::LinearInFirst,
     .transpose = rules::TransposeEach<Ct<select_and_gather_add>>,
     .batch = rules::BatchAllFirst<BatchRule>,
     .factors_of = ScatterFactors,
     .lowerings = lower::Loops<ScatterLoops>,
     .examples = "(f64[2,3], f64[2,5]) select_prim=\"ge\" window_dimensions=[1,3]; "
                 "(f64[2,4], f64[4,3]) select_prim=\"le\" window_dimensions=[2,2] window_strides=[2,1] "
                 "padding=[1,0,0,2]; "
                 "(f64[5,3], f64[5,3]) select_prim=\"ge\" window_dimensions=[3,1] padding=[1,1,0,0]; "
                 "(f64[6], f64[5]) select_prim=\"ge\" window_dimensions=[3] padding=[2,1] base_dilation=[2] "
                 "window_dilation=[3]"}};

}  // namespace

RowList window_choice_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
