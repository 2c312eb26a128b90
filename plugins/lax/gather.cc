// gather: windows of x at positions listed in an index array.
//
// Modes: `clip` clamps a position so that its window lies inside, `fill` gives fill_value if it would not,
// `promise_in_bounds` behaves as clip. Without fill_value the fill is NaN, the lowest signed and the highest unsigned
// integer, true. Linear in x; its transpose sums the cotangent's windows with scatter-add. If the positions are known
// and one slice reaches them (one window, or single elements at even steps along one dimension), it becomes that slice;
// a few large windows become a concatenation of slices, whose elements are where a kernel can find or put them without
// an index.
#include <limits>
#include <optional>

#include "slice_of.hpp"
#include "window_dims.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {
    {"offset_dims", AttrKind::kInts},
    {"collapsed_slice_dims", AttrKind::kInts},
    {"start_index_map", AttrKind::kInts},
    {"operand_batching_dims", AttrKind::kInts, "[]"},
    {"start_indices_batching_dims", AttrKind::kInts, "[]"},
    {"slice_sizes", AttrKind::kInts},
    {"mode", AttrKind::kString},
    {"fill_value", AttrKind::kFloat, "NaN, true, the least signed or the greatest unsigned integer"},
    {"indices_are_sorted", AttrKind::kBool, "false"},
    {"unique_indices", AttrKind::kBool, "false"}};
constexpr WindowDims::Names kNames = {"offset_dims", "collapsed_slice_dims", "start_index_map", "operand_batching_dims",
                                      "start_indices_batching_dims"};

// The least and the greatest value of an integer type.
int64_t Least(DType d) { return In(d, kSigned) ? INT64_MIN >> (64 - BitsOf(d)) : 0; }
uint64_t Greatest(DType d) { return UINT64_MAX >> (64 - BitsOf(d) + (In(d, kSigned) ? 1 : 0)); }

bool IsFilledWith(const Eqn& e) { return e.has("fill_value") && e.str("mode") == "fill"; }

// Fails unless fill_value is a number of the operand's dtype. A double cannot hold the highest 64-bit integers: the
// doubles next to them, 2^63 and 2^64, stand for them.
void CheckFill(const Eqn& e) {
  const DType dtype = e.in(0).dtype();
  if (!IsFilledWith(e) || IsInexact(dtype) || dtype == DType::kBool) return;
  const double fill = e.number("fill_value");
  if (dtype == DType::kKey) e.Fail("fill_value ", fill, " is not a key; leave it out for ", e.in(0));
  const bool fits = fill >= static_cast<double>(Least(dtype)) && fill <= static_cast<double>(Greatest(dtype));
  if (!fits) e.Fail("fill_value ", fill, " is out of range for ", e.in(0));
}

// If no positions are listed no window is read, so any size is accepted (as in JAX: an empty array can be indexed by an
// empty list).
bool HasPositions(const Eqn& e) {
  const Dims listed = e.in(1).shape();
  return std::find(listed.begin(), listed.end() - 1, 0) == listed.end() - 1;
}
bool WindowsFit(const Eqn& e, const WindowDims& d, Dims sizes) {
  const ArrayType x = e.in(0);
  bool fits = static_cast<int64_t>(sizes.size()) == x.rank();
  for (size_t i = 0; fits && i < sizes.size(); ++i) {
    const bool is_window = d.IsWindow(static_cast<int64_t>(i));
    // A dimension outside of the window has one element, if there are any: without one no start would be in range.
    const int64_t most = is_window ? x.shape()[i] : std::min<int64_t>(x.shape()[i], 1);
    fits = HasPositions(e) ? sizes[i] <= most && sizes[i] >= (is_window ? 0 : most)
                           : sizes[i] >= 0 && (is_window || sizes[i] <= 1);
  }
  return fits;
}

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(2);
  const WindowDims d(e, kNames);
  CheckWindowDims(e, d);
  WantMode(e);
  CheckFill(e);
  const ArrayType x = e.in(0), indices = e.in(1);
  const Dims sizes = e.ints("slice_sizes");
  if (!WindowsFit(e, d, sizes))
    e.Fail("slice_sizes ", sizes, " must fit into ", x, " and be 1 in dimensions outside of the window");
  Shape shape(d.window.size() + static_cast<size_t>(indices.rank() - 1));
  const Shape window = d.WindowOfOperand(), counting = d.Counting();
  for (size_t i = 0; i < window.size(); ++i) {
    shape[static_cast<size_t>(d.window[i])] = sizes[static_cast<size_t>(window[i])];
  }
  for (size_t i = 0; i < counting.size(); ++i) shape[static_cast<size_t>(counting[i])] = indices.shape()[i];
  return x.WithShape(shape);
}

void JvpRule(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (!a.tangents[0].is_zero()) a.out_tangents[0] = e.Emit({a.tangents[0], a.primals[1]}, {{"fill_value", 0.0}});
}

void TransposeRule(const Eqn& e, Transpose& a) {
  if (!a.linear[0]) return;
  const Value zero = zeros(e.builder(), e.in(0));
  a.in_cts[0] = zero;
  if (!HasPositions(e)) return;
  a.in_cts[0] = Emit1("scatter-add", {zero, a.operands[1], a.cts[0]},
                      {{"update_window_dims", e.ints("offset_dims")},
                       {"inserted_window_dims", e.ints("collapsed_slice_dims")},
                       {"scatter_dims_to_operand_dims", e.ints("start_index_map")},
                       {"operand_batching_dims", e.ints("operand_batching_dims")},
                       {"scatter_indices_batching_dims", e.ints("start_indices_batching_dims")},
                       {"indices_are_sorted", e.flag("indices_are_sorted", false)},
                       {"unique_indices", e.flag("unique_indices", false)},
                       {"mode", e.str("mode")}});
}

// `first`, then `dims` moved by one position for a batch in front.
Shape After(std::initializer_list<int64_t> first, Dims dims) {
  Shape out(first);
  for (int64_t d : dims) out.push_back(d + 1);
  return out;
}

void BatchRule(const Eqn& e, Batch& a) {
  const bool x_has = a.in[0].is_batched(), indices_have = a.in[1].is_batched();
  const Value x = x_has ? rules::MoveDim(a.in[0].value, a.in[0].dim, 0) : a.in[0].value;
  const Value indices = indices_have ? rules::MoveDim(a.in[1].value, a.in[1].dim, 0) : a.in[1].value;
  const WindowDims d(e, kNames);
  Shape sizes(e.ints("slice_sizes").begin(), e.ints("slice_sizes").end());
  if (!x_has) {  // the batch counts windows
    a.out[0] = {e.Emit({x, indices}, {{"offset_dims", After({}, d.window)},
                                      {"start_indices_batching_dims", After({}, d.index_batch)},
                                      {"indices_are_sorted", false},
                                      {"unique_indices", false}}),
                0};
    return;
  }
  const Shape dropped = After({}, d.dropped), start_map = After({}, d.start_map);
  if (!indices_have) {  // the batch is one more window dimension
    sizes.insert(sizes.begin(), a.size);
    a.out[0] = {e.Emit({x, indices}, {{"offset_dims", After({0}, d.window)},
                                      {"collapsed_slice_dims", dropped},
                                      {"start_index_map", start_map},
                                      {"operand_batching_dims", After({}, d.operand_batch)},
                                      {"slice_sizes", sizes}}),
                0};
    return;
  }
  sizes.insert(sizes.begin(), std::min<int64_t>(a.size, 1));
  a.out[0] = {e.Emit({x, indices}, {{"offset_dims", After({}, d.window)},
                                    {"collapsed_slice_dims", dropped},
                                    {"start_index_map", start_map},
                                    {"operand_batching_dims", After({0}, d.operand_batch)},
                                    {"start_indices_batching_dims", After({0}, d.index_batch)},
                                    {"slice_sizes", sizes}}),
              0};
}

Scalar FillOf(KernelBuilder& k, const Eqn& e) {
  const DType dtype = e.in(0).dtype();
  if (IsFilledWith(e)) {
    const double fill = e.number("fill_value");
    const bool is_greatest = IsInt(dtype) && fill >= static_cast<double>(Greatest(dtype));
    return is_greatest ? k.Constant(dtype, static_cast<int64_t>(Greatest(dtype))) : k.Constant(dtype, fill);
  }
  if (IsInexact(dtype)) return k.Constant(dtype, std::numeric_limits<double>::quiet_NaN());
  if (dtype == DType::kBool) return k.Constant(dtype, 1);
  return k.Constant(dtype, In(dtype, kSigned) ? Least(dtype) : int64_t{-1});
}

Scalar FromIndex(KernelBuilder& k, const Eqn& e, uint32_t, std::span<const Scalar> at) {
  if (e.in(0).elements() == 0 || !HasPositions(e)) return FillOf(k, e);
  const WindowDims d(e, kNames);
  const bool fills = e.str("mode") == "fill";
  Index position, from(static_cast<size_t>(d.operand_rank), k.At(0));
  for (int64_t i : d.Counting()) position.push_back(at[static_cast<size_t>(i)]);
  const Shape window = d.WindowOfOperand();
  for (size_t i = 0; i < window.size(); ++i) {
    from[static_cast<size_t>(window[i])] = at[static_cast<size_t>(d.window[i])];
  }
  for (size_t i = 0; i < d.operand_batch.size(); ++i) {
    from[static_cast<size_t>(d.operand_batch[i])] = position[static_cast<size_t>(d.index_batch[i])];
  }
  Scalar inside;
  position.push_back(k.At(0));
  for (size_t j = 0; j < d.start_map.size(); ++j) {
    const auto along = static_cast<size_t>(d.start_map[j]);
    const int64_t last = e.in(0).shape()[along] - e.ints("slice_sizes")[along];  // exact: the window fits
    position.back() = k.At(static_cast<int64_t>(j));
    const Scalar start = WideIndex(k.Operand(1).Load(position));
    if (fills) {
      const Scalar in_range = IsInRange(start, last);
      inside = inside.id == 0 ? in_range : inside & in_range;
    }
    from[along] = from[along] + ClampedIndex(start, last);
  }
  const Scalar x = k.Operand(0).Load(from);
  return inside.id == 0 ? x : Select(inside, x, FillOf(k, e));
}

// ---- simplify ----
// The start of a known position along the operand's dimension `along`; no value if the window is filled instead.
std::optional<int64_t> KnownStart(const Eqn& e, int64_t along, int64_t start) {
  const int64_t last = e.in(0).dim(along) - e.ints("slice_sizes")[static_cast<size_t>(along)];  // exact: it fits
  if (e.str("mode") == "fill" && (start < 0 || start > last)) return std::nullopt;
  return std::clamp<int64_t>(start, 0, last);
}

// Window `i`, at a known position; no value if it is filled instead.
Value KnownWindow(const Eqn& e, const WindowDims& d, const Value& x, std::span<const int64_t> position, int64_t i) {
  const Dims sizes = e.ints("slice_sizes");
  Shape start(sizes.size(), 0), limit(sizes.begin(), sizes.end());
  const auto move = [&](int64_t along, int64_t to) {
    start[static_cast<size_t>(along)] = to;
    limit[static_cast<size_t>(along)] += to;  // exact: within x
  };
  for (size_t j = 0; j < d.start_map.size(); ++j) {
    const std::optional<int64_t> known = KnownStart(e, d.start_map[j], position[j]);
    if (!known) return {};
    move(d.start_map[j], *known);
  }
  if (!d.operand_batch.empty()) move(d.operand_batch[0], i);
  return SliceOf(x, start, limit);
}

// Windows of one element along dimension `along`, at even steps: a slice, reversed for negative steps.
Value EvenSteps(const Eqn& e, const WindowDims& d, const Value& x, std::span<const int64_t> positions) {
  const int64_t along = d.start_map[0], n = static_cast<int64_t>(positions.size());
  Shape at;
  for (int64_t p : positions) {
    const std::optional<int64_t> known = KnownStart(e, along, p);
    if (!known) return {};
    at.push_back(*known);
  }
  const int64_t step = at[1] - at[0];
  for (size_t i = 1; i < at.size(); ++i) {
    if (step == 0 || at[i] - at[i - 1] != step) return {};
  }
  const Dims sizes = e.ints("slice_sizes");
  Shape start(sizes.size(), 0), limit(sizes.begin(), sizes.end()), strides(sizes.size(), 1);
  const auto dim = static_cast<size_t>(along);
  start[dim] = std::min(at[0], at[static_cast<size_t>(n - 1)]);
  limit[dim] = std::max(at[0], at[static_cast<size_t>(n - 1)]) + 1;
  strides[dim] = std::abs(step);
  const Value part = slice(x, start, limit, std::abs(step) == 1 ? Shape{} : strides);
  return rules::MoveDim(step < 0 ? rev(part, {&along, 1}) : part, along, d.Counting()[0]);
}

// One window, or a few: a copy of an array that is moved by known distances, another one for each of its rows
// (streaming on a lattice).
constexpr int64_t kFewWindows = 32, kLargeWindow = 64;  // elements, at least

bool AreFewWindows(const Eqn& e, int64_t n) {
  if (n == 1) return true;
  return e.in(1).rank() == 2 && n <= kFewWindows && e.out().elements() / n >= kLargeWindow;
}
Value FewWindows(const Eqn& e, const WindowDims& d, const Value& x, std::span<const int64_t> positions, int64_t n) {
  const Shape counting = d.Counting();
  Shape one(e.out().shape().begin(), e.out().shape().end());
  for (int64_t dim : counting) one[static_cast<size_t>(dim)] = 1;
  Values windows;
  for (int64_t i = 0; i < n; ++i) {
    const size_t words = d.start_map.size();
    const Value window = KnownWindow(e, d, x, positions.subspan(static_cast<size_t>(i) * words, words), i);
    if (window.is_none()) return {};
    windows.push_back(reshape(window, one));
  }
  return n == 1 ? windows[0] : concatenate(windows, counting[0]);
}

Value Simpler(const Eqn& e, std::span<const Value> in) {
  const WindowDims d(e, kNames);
  const Shape positions = KnownIntegers(in[1]);
  if (positions.empty() || e.in(0).elements() == 0) return {};
  const auto n = static_cast<int64_t>(positions.size() / d.start_map.size());
  if (AreFewWindows(e, n)) return FewWindows(e, d, in[0], positions, n);
  const bool single_elements = d.start_map.size() == 1 && d.operand_batch.empty() && e.in(1).rank() == 2 &&
                               rules::Contains(d.dropped, d.start_map[0]) && d.dropped.size() == 1;
  return single_elements ? EvenSteps(e, d, in[0], positions) : Value{};
}

std::string Factors(const Eqn& e) {
  FactorText text;
  const WindowFactors f = FactorsOfWindows(text, e, WindowDims(e, kNames), e.ints("slice_sizes"));
  text.AddIn(f.operand);
  text.AddIn(f.indices);
  text.AddOut(f.windows);
  return text.Done();
}

// Rows, elements, windows, one window, batches; some indices are out of bounds.
constexpr std::string_view kExamples =
    "(f64[4,3], i32[5,1] in 0..6) offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] slice_sizes=[1,3] "
    "mode=\"clip\"; "
    "(f64[4,3], i32[5,1] in 0..6) offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] slice_sizes=[1,3] "
    "mode=\"fill\" fill_value=0.0; "
    "(f64[3,4], i32[2,3,2] in 0..6) offset_dims=[] collapsed_slice_dims=[0,1] start_index_map=[0,1] slice_sizes=[1,1] "
    "mode=\"clip\"; "
    "(f64[3,4], i32[2,3,2] in 0..6) offset_dims=[] collapsed_slice_dims=[0,1] start_index_map=[0,1] slice_sizes=[1,1] "
    "mode=\"fill\" fill_value=0.0; "
    "(f64[4,3], i32[5,2] in 0..6) offset_dims=[] collapsed_slice_dims=[0,1] start_index_map=[1,0] slice_sizes=[1,1] "
    "mode=\"clip\"; "
    "(f64[4,3], i32[5,2] in 0..6) offset_dims=[] collapsed_slice_dims=[0,1] start_index_map=[1,0] slice_sizes=[1,1] "
    "mode=\"fill\" fill_value=0.0; "
    "(f64[5,4], i32[3,2] in 0..6) offset_dims=[0,2] collapsed_slice_dims=[] start_index_map=[0,1] slice_sizes=[2,2] "
    "mode=\"clip\"; "
    "(f64[5,4], i32[3,2] in 0..6) offset_dims=[0,2] collapsed_slice_dims=[] start_index_map=[0,1] slice_sizes=[2,2] "
    "mode=\"fill\" fill_value=0.0; "
    "(f64[5,2], i32[1] in 0..6) offset_dims=[0] collapsed_slice_dims=[0] start_index_map=[0] slice_sizes=[1,2] "
    "mode=\"clip\"; "
    "(f64[5,2], i32[1] in 0..6) offset_dims=[0] collapsed_slice_dims=[0] start_index_map=[0] slice_sizes=[1,2] "
    "mode=\"fill\" fill_value=0.0; "
    "(f64[3,4,2], i32[2,3,1] in 0..6) offset_dims=[2] collapsed_slice_dims=[1] start_index_map=[1] "
    "operand_batching_dims=[0] start_indices_batching_dims=[1] slice_sizes=[1,1,2] mode=\"clip\"; "
    "(f64[3,4,2], i32[2,3,1] in 0..6) offset_dims=[2] collapsed_slice_dims=[1] start_index_map=[1] "
    "operand_batching_dims=[0] start_indices_batching_dims=[1] slice_sizes=[1,1,2] mode=\"fill\" fill_value=0.0; "
    "(f64[3,4], i32[3,2,1] in 0..6) offset_dims=[] collapsed_slice_dims=[1] start_index_map=[1] "
    "operand_batching_dims=[0] start_indices_batching_dims=[0] slice_sizes=[1,1] mode=\"clip\"; "
    "(f64[3,4], i32[3,2,1] in 0..6) offset_dims=[] collapsed_slice_dims=[1] start_index_map=[1] "
    "operand_batching_dims=[0] start_indices_batching_dims=[0] slice_sizes=[1,1] mode=\"fill\" fill_value=0.0; "
    "(f64[6,3], i32[5,1] in 0..6) offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] slice_sizes=[1,3] "
    "mode=\"promise_in_bounds\"; "
    "(i32[4,3], i32[5,1] in 0..6) offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] slice_sizes=[1,3] "
    "mode=\"fill\"; "
    "(f64[0,3], i32[0,1] in 0..6) offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0] slice_sizes=[1,3] "
    "mode=\"clip\"; "
    "(f64[4], i32[0,1] in 0..6) offset_dims=[1] collapsed_slice_dims=[] start_index_map=[0] slice_sizes=[5] "
    "mode=\"fill\"";

constexpr Row kRows[] = {{.name = "gather",
                          .doc = "y = gather(x, indices): windows of x of `slice_sizes`, one at each position in "
                                 "`indices`; `mode` says what happens outside x",
                          .attrs = kAttrs,
                          .type = Type,
                          .jvp = JvpRule,
                          .transpose = TransposeRule,
                          .batch = BatchRule,
                          .simplify = rules::One<Simpler>,
                          .factors_of = Factors,
                          .lowerings = lower::Index<FromIndex>,
                          .examples = kExamples}};

}  // namespace

RowList gather_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
