// reduce_window: the elements in each window of the operands combined by a program, as reduce does along dimensions.
//
// Gaps and padding count for nothing. For derivatives, and batches of initial values, the windows are gathered as rows,
// with a mask of what is an element, and go through the tree of reduce; jax.lax has forward mode only here, and refuses
// tangents and batches of initial values.
#include "body_reduction.hpp"
#include "window_reduction.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"computation", AttrKind::kProgram},
                               kWindowDimensions,
                               kWindowStrides,
                               kWindowPadding,
                               kBaseDilation,
                               kWindowDilation};

ArrayTypes Type(const Eqn& e) {
  CheckBodyReduction(e);
  const Shape shape = WindowShape(e);
  ArrayTypes out;
  for (uint32_t i = 0; i < CountOfReduced(e); ++i) out.push_back(e.in(i).WithShape(shape));
  return out;
}

// ---- windows as rows ----
// Dimension `dim` of x as two: the elements of the window, and the windows.
Value SplitIntoWindows(const Value& x, int64_t dim, const SlidingWindow& v) {
  const int64_t sizes[] = {v.window, v.out, 1};
  const auto counted = [&](int64_t axis, int64_t step) {
    const Value i = iota(x.builder, DType::kI64, sizes, axis);
    return mul(i, full_like(i, step));
  };
  GatherDims d{.collapsed_slice_dims = {dim}, .start_index_map = {dim}};
  for (int64_t i = 0; i + 1 < x.rank(); ++i) d.offset_dims.push_back(i < dim ? i : i + 2);
  Shape slice_sizes(x.shape().begin(), x.shape().end());
  slice_sizes[static_cast<size_t>(dim)] = 1;
  const Value first = counted(1, v.stride), index = add(counted(0, v.window_dilation), first);
  return gather(x, index, d, slice_sizes, "promise_in_bounds");
}
// Rows of the elements at one position of every window, from the last `windows.size()` dimensions of x; `fill`, a
// scalar, stands for missing elements. Other dimensions come after that of the rows.
Value WindowRows(Value x, const Value& fill, std::span<const SlidingWindow> windows) {
  const auto others = static_cast<size_t>(x.rank()) - windows.size();
  Shape low(others, 0), high = low, interior = low, order, kept = rules::Range(static_cast<int64_t>(others)), rows{1};
  for (size_t i = 0; i < windows.size(); ++i) {
    low.push_back(windows[i].low);
    high.push_back(windows[i].high);
    interior.push_back(windows[i].base_dilation - 1);  // exact: positive
    order.push_back(static_cast<int64_t>(others + 2 * i));
    kept.push_back(order.back() + 1);
    rows[0] *= windows[i].window;  // exact: the elements of an array
  }
  x = pad(x, fill, low, high, interior);
  for (size_t i = windows.size(); i-- > 0;) x = SplitIntoWindows(x, static_cast<int64_t>(others + i), windows[i]);
  order.insert(order.end(), kept.begin(), kept.end());
  for (int64_t d : kept) rows.push_back(x.dim(d));
  return reshape(transpose(x, order), rows);
}
// Which of the rows are elements of an operand of `shape`, and that the initial values are.
Values ElementMask(const Eqn& e, ricci_builder* b, Dims shape, Dims result) {
  const Value all = full(b, shape, DType::kBool, true), none = full(b, Dims{}, DType::kBool, false);
  return {WindowRows(all, none, WindowsOf(e, 0, e.out().shape())), full(b, result, DType::kBool, true)};
}
// The computation on operands and whether each is an element: combines two, or gives the only one.
OwnedProgram MaskedComputation(const Eqn& e) {
  const uint32_t n = CountOfReduced(e);
  std::vector<ricci_type> types(e.op().in_types + n, e.op().in_types + 2 * n);
  types.push_back(e.Type(DType::kBool, {}).id());
  types.insert(types.end(), types.begin(), types.begin() + n + 1);
  return ProgramOf(e, types, [&](const Values& in) {
    const Value left = in[n], right = in[2 * n + 1];
    Values sides, out;
    for (uint32_t i = 0; i < 2 * n; ++i) sides.push_back(in[i < n ? i : i + 1]);
    const Values combined = Inlined(e.program("computation"), sides, n);
    for (uint32_t i = 0; i < n; ++i) {
      const Value one = select(left, sides[i], sides[n + i]);
      out.push_back(select(bitwise_and(left, right), combined[i], one));
    }
    out.push_back(bitwise_or(left, right));
    return out;
  });
}

void JvpRule(const Eqn& e, Jvp& a) {
  if (!AnyTangent(a) || e.out().elements() == 0) {
    a.out = e.EmitN(a.primals);
    return;
  }
  const uint32_t n = CountOfReduced(e);
  const std::vector<SlidingWindow> windows = WindowsOf(e, 0, e.out().shape());
  const auto arranged = [&](const Values& in) {
    Values out;
    for (uint32_t i = 0; i < n; ++i) out.push_back(WindowRows(in[i], in[n + i], windows));
    for (uint32_t i = n; i < 2 * n; ++i) out.push_back(broadcast(in[i], e.out().shape()));
    return out;
  };
  const Values mask = ElementMask(e, a.primals[0].builder, e.in(0).shape(), e.out().shape());
  JvpByTree(e, a, MaskedComputation(e), arranged, mask);
}

// ---- batch ----
Values TreeBatch(const Eqn& e, const Batch& a) {
  const uint32_t n = CountOfReduced(e);
  const std::vector<SlidingWindow> windows = WindowsOf(e, 0, e.out().shape());
  Shape shape(e.out().shape().begin(), e.out().shape().end()), size(e.in(0).shape().begin(), e.in(0).shape().end());
  shape.insert(shape.begin(), a.size);
  size.insert(size.begin(), a.size);
  const Values mask = ElementMask(e, e.builder(), size, shape);
  Values in, init;
  for (uint32_t i = 0; i < n; ++i) {
    const Value zero = zeros(e.builder(), e.in(n + i));
    init.push_back(InitialRows(rules::BatchFirst(a.in[n + i], a.size), shape));
    const Value rows = WindowRows(rules::BatchFirst(a.in[i], a.size), zero, windows);
    in.push_back(select(mask[0], rows, broadcast(init.back(), Dims(rows.shape()).first(1))));
  }
  in.push_back(mask[0]);
  in.insert(in.end(), init.begin(), init.end());
  in.push_back(mask[1]);
  Values out = TreeOf(MaskedComputation(e), in);
  out.pop_back();
  return out;
}
void BatchRule(const Eqn& e, Batch& a) {
  const uint32_t n = CountOfReduced(e);
  const bool own = OwnInitialValues(e, a) && e.out().elements() != 0;
  Values in;
  for (uint32_t i = 0; i < n; ++i) in.push_back(rules::BatchFirst(a.in[i], a.size));
  for (uint32_t i = n; i < 2 * n; ++i) {
    in.push_back(a.in[i].is_batched() ? zeros(e.builder(), e.in(i)) : a.in[i].value);
  }
  const Values out = own ? TreeBatch(e, a) : EmitWithBatch(e, in, 0);
  for (uint32_t i = 0; i < n; ++i) a.out[i] = {out[i], 0};
}

// ---- lowering ----
constexpr std::string_view kReductions[][2] = {
    {"add", "reduce_window_sum"}, {"max", "reduce_window_max"}, {"min", "reduce_window_min"}};
std::string_view Known(const std::string& operation) {
  for (const auto& [name, reduction] : kReductions) {
    if (name == operation) return reduction;
  }
  return {};
}
bool IsKnown(const Eqn& e) { return !Known(OnlyOperation(e)).empty(); }
Values AsKnown(const Eqn& e, std::span<const Value> in) {
  const std::string operation = OnlyOperation(e);
  const Value all = Emit1(Known(operation), {in[0]},
                          {{"window_dimensions", e.ints("window_dimensions")},
                           {"window_strides", e.ints("window_strides")},
                           {"padding", e.ints("padding")},
                           {"base_dilation", e.ints("base_dilation")},
                           {"window_dilation", e.ints("window_dilation")}});
  return {Emit1(operation, {broadcast(in[1], e.out().shape()), all})};
}

void Loops(KernelBuilder& k, const Eqn& e) {
  const std::vector<SlidingWindow> windows = WindowsOf(e, 0, e.out().shape());
  k.Parallel(e.out().shape(), [&](const Index& to) {
    const Accumulators all(k, e);
    const auto add = [&](const Index& inner) {
      const InWindow under(k, windows, to, inner);
      if (under.inside.id == 0) return all.Add(under.at);
      k.If(under.inside, [&] { all.Add(under.at); });
    };
    if (e.in(0).elements() != 0) LoopBox(k, InWindow::Trips(windows), add);
    all.Store(to);
  });
}
constexpr Lowering kLowerings[] = {{.decompose = AsKnown, .match = IsKnown, .priority = 1}, {.loops = Loops}};

std::string Factors(const Eqn& e) {
  FactorText text;
  const WindowedFactors f = FactorsOfWindowed(text, WindowsOf(e, 0, e.out().shape()));
  return FactorsOfEach(e, text, f.array, f.windows);
}

constexpr Row kRows[] = {
    {.name = "reduce_window",
     .doc = "ys... = reduce_window(xs...): operands, then an initial value for each; the elements in each window "
            "combined by the associative `computation`: two times one scalar for each operand -> one for each",
     .attrs = kAttrs,
     .type = Type,
     .jvp = JvpRule,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = kLowerings,
     .missing = rules::kNotLinear,
     .examples = "(f64[4,3], f64[]) window_dimensions=[2,2] window_strides=[2,1] padding=[1,0,0,2] "
                 "computation=program(%a: f64[], %b: f64[]) {\n"
                 "  %s: f64[] = add(%a, %b)\n"
                 "  %p: f64[] = mul(%a, %b)\n"
                 "  %y: f64[] = sub(%s, %p)\n"
                 "  return %y\n"
                 "};\n"
                 "(f64[5], f64[]) window_dimensions=[3] padding=[2,1] base_dilation=[2] window_dilation=[3] "
                 "computation=program(%a: f64[], %b: f64[]) {\n"
                 "  %y: f64[] = add(%a, %b)\n"
                 "  return %y\n"
                 "};\n"
                 "(f64[2,5], i32[2,5], f64[], i32[]) window_dimensions=[1,3] computation=program(%a: f64[], %i: i32[], "
                 "%b: f64[], %j: i32[]) {\n"
                 "  %g: bool[] = ge(%a, %b)\n"
                 "  %y: f64[] = select_n(%g, %b, %a)\n"
                 "  %k: i32[] = select_n(%g, %j, %i)\n"
                 "  return %y, %k\n"
                 "}"}};

}  // namespace

RowList reduce_window_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
