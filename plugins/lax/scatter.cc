// scatter, scatter-add, -sub, -mul, -min, -max: x with windows of `updates` written or combined into it at the
// positions listed in an index array.
//
// Windows are written in the order of the index array, so that the last of several updates of one element remains;
// updates that are combined are combined in an order that depends only on shapes, so that sums are the same on every
// run. Modes: `clip` clamps a position so that its window lies inside; with `fill` and `promise_in_bounds` a window
// that does not lie inside is dropped.
//
// Derivatives are in scatter_derivatives.hpp, loops in scatter_lowering.hpp.
#include <array>

#include "scatter_derivatives.hpp"
#include "scatter_lowering.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

template <DTypeSet set>
ArrayTypes Type(const Eqn& e) {
  e.WantOperands(3);
  const ArrayType x = e.in(0), updates = e.in(2);
  if (set != 0) rules::WantDType(e, 0, set);
  if (updates.dtype() != x.dtype()) e.Fail("updates are ", updates, "; they must have the dtype of ", x);
  CheckUpdates(e, WindowDims(e, kScatterNames), updates.shape(), Text("updates ", updates));
  return x;
}

// ---- batch ----
void BatchRule(const Eqn& e, Batch& a) {
  const Value x = rules::BatchFirst(a.in[0], a.size), updates = rules::BatchFirst(a.in[2], a.size);
  const BatchedScatter b(e, a.in[1]);
  a.out[0] = {e.Emit({x, b.indices, updates}, {{"update_window_dims", b.window},
                                               {"inserted_window_dims", b.dropped},
                                               {"scatter_dims_to_operand_dims", b.start_map},
                                               {"operand_batching_dims", b.operand_batch},
                                               {"scatter_indices_batching_dims", b.index_batch}}),
              0};
}

// ---- simplify: one window at a known position is an update of a known part, which fuses ----
template <Combine combine>
Value Simpler(const Eqn& e, std::span<const Value> in) {
  if (WritesNothing(e)) return in[0];
  const WindowDims d(e, kScatterNames);
  const Shape position = KnownIntegers(in[1]), sizes = WindowSizes(d, e.in(2).shape());
  if (position.empty() || position.size() != d.start_map.size()) return {};
  Shape start(sizes.size(), 0), limit = sizes;
  for (size_t j = 0; j < position.size(); ++j) {
    const auto along = static_cast<size_t>(d.start_map[j]);
    const int64_t last = e.in(0).shape()[along] - sizes[along];
    if (e.str("mode") != "clip" && (position[j] < 0 || position[j] > last)) return in[0];
    start[along] = std::clamp<int64_t>(position[j], 0, last);
    limit[along] += start[along];
  }
  Values starts;
  for (int64_t s : start) starts.push_back(full(in[0].builder, Dims{}, DType::kI64, s));
  Value update = reshape(in[2], sizes);
  if (combine == Combine::kAdd) update = add(slice(in[0], start, limit), update);
  return dynamic_update_slice(in[0], update, starts);
}

// Rows, elements, windows, one window, batches; some indices are out of bounds, and some may be equal.
constexpr std::string_view kExamples =
    "(f64[4,3], i32[5,1] in 0..6, f64[5,3]) update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] mode=\"clip\"; "
    "(f64[4,3], i32[5,1] in 0..6, f64[5,3]) update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] mode=\"fill\"; "
    "(f64[3,4], i32[2,3,2] in 0..6, f64[2,3]) update_window_dims=[] inserted_window_dims=[0,1] "
    "scatter_dims_to_operand_dims=[0,1] mode=\"clip\"; "
    "(f64[3,4], i32[2,3,2] in 0..6, f64[2,3]) update_window_dims=[] inserted_window_dims=[0,1] "
    "scatter_dims_to_operand_dims=[0,1] mode=\"fill\"; "
    "(f64[4,3], i32[5,2] in 0..6, f64[5]) update_window_dims=[] inserted_window_dims=[0,1] "
    "scatter_dims_to_operand_dims=[1,0] mode=\"clip\"; "
    "(f64[4,3], i32[5,2] in 0..6, f64[5]) update_window_dims=[] inserted_window_dims=[0,1] "
    "scatter_dims_to_operand_dims=[1,0] mode=\"fill\"; "
    "(f64[5,4], i32[3,2] in 0..6, f64[2,3,2]) update_window_dims=[0,2] inserted_window_dims=[] "
    "scatter_dims_to_operand_dims=[0,1] mode=\"clip\"; "
    "(f64[5,4], i32[3,2] in 0..6, f64[2,3,2]) update_window_dims=[0,2] inserted_window_dims=[] "
    "scatter_dims_to_operand_dims=[0,1] mode=\"fill\"; "
    "(f64[5,2], i32[1] in 0..6, f64[2]) update_window_dims=[0] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] mode=\"clip\"; "
    "(f64[5,2], i32[1] in 0..6, f64[2]) update_window_dims=[0] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] mode=\"fill\"; "
    "(f64[3,4,2], i32[2,3,1] in 0..6, f64[2,3,2]) update_window_dims=[2] inserted_window_dims=[1] "
    "scatter_dims_to_operand_dims=[1] operand_batching_dims=[0] scatter_indices_batching_dims=[1] mode=\"clip\"; "
    "(f64[3,4,2], i32[2,3,1] in 0..6, f64[2,3,2]) update_window_dims=[2] inserted_window_dims=[1] "
    "scatter_dims_to_operand_dims=[1] operand_batching_dims=[0] scatter_indices_batching_dims=[1] mode=\"fill\"; "
    "(f64[3,4], i32[3,2,1] in 0..6, f64[3,2]) update_window_dims=[] inserted_window_dims=[1] "
    "scatter_dims_to_operand_dims=[1] operand_batching_dims=[0] scatter_indices_batching_dims=[0] mode=\"clip\"; "
    "(f64[3,4], i32[3,2,1] in 0..6, f64[3,2]) update_window_dims=[] inserted_window_dims=[1] "
    "scatter_dims_to_operand_dims=[1] operand_batching_dims=[0] scatter_indices_batching_dims=[0] mode=\"fill\"";
// Distinct positions, for rules that hold only then.
constexpr std::string_view kUniqueReplace =
    "(f64[4,3], i32[1,1] in 0..6, f64[1,3]) update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] unique_indices=true mode=\"fill\"; "
    "program (%x: f64[4,3], %u: f64[3,3]) { %i: i32[3,1] = constant [0, 1, 2] %y: f64[4,3] = scatter(%x, %i, %u) "
    "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] indices_are_sorted=true "
    "unique_indices=true mode=\"fill\" return %y }; "
    "program (%x: f64[4,3], %u: f64[3,3]) { %i: i32[3,1] = constant [0, 1, 2] %y: f64[4,3] = scatter(%x, %i, %u) "
    "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] indices_are_sorted=true "
    "unique_indices=true mode=\"clip\" return %y }";
constexpr std::string_view kUniqueExamples =
    "(f64[4,3], i32[1,1] in 0..6, f64[1,3]) update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] unique_indices=true mode=\"fill\"; "
    "program (%x: f64[4,3], %u: f64[3,3]) { %i: i32[3,1] = constant [0, 1, 2] %y: f64[4,3] = scatter-mul(%x, %i, %u) "
    "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] indices_are_sorted=true "
    "unique_indices=true mode=\"fill\" return %y }";
constexpr std::string_view kRowExamples =
    "(f64[4,3], i32[5,1] in 0..6, f64[5,3]) update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] mode=\"clip\"; "
    "(f64[4,3], i32[5,1] in 0..6, f64[5,3]) update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] mode=\"fill\"; "
    "(c128[4,3], i32[5,1] in 0..6, c128[5,3]) update_window_dims=[1] inserted_window_dims=[0] "
    "scatter_dims_to_operand_dims=[0] mode=\"fill\"";

template <const std::string_view&... parts>
struct Joined {
  static constexpr auto kChars = [] {
    std::array<char, (parts.size() + ... + sizeof...(parts))> out{};
    size_t n = 0;
    for (std::string_view part : {parts...}) {
      for (char c : part) out[n++] = c;
      out[n++] = ';';
    }
    return out;
  }();
  static constexpr std::string_view kText{kChars.data(), kChars.size()};
};

constexpr Row WithSimplify(Row row, SimplifyRule simplify) {
  row.simplify = simplify;
  return row;
}

// A part of the updates gives the extremum of that part, which combines with the others; a sum of a part includes the
// operand, so sums of parts do not combine.
template <Combine combine>
std::string Factors(const Eqn& e) {
  FactorText text;
  const WindowDims d(e, kScatterNames);
  const WindowFactors f = FactorsOfWindows(text, e, d, WindowSizes(d, e.in(2).shape()));
  for (int64_t i : rules::Complement(d.index_batch, e.in(1).rank() - 1)) {
    const int64_t positions = f.indices[static_cast<size_t>(i)];
    if constexpr (combine == Combine::kMin || combine == Combine::kMax) {
      text.Mark(combine == Combine::kMin ? "min" : "max", positions);
    } else {
      text.MarkWhole(positions);
    }
  }
  text.AddIn(f.operand);
  text.AddIn(f.indices);
  text.AddIn(f.windows);
  text.AddOut(f.operand);
  return text.Done();
}

template <Combine combine, DTypeSet set>
constexpr Row Scatter(std::string_view name, std::string_view doc, JvpRule jvp, TransposeRule transpose,
                      std::string_view examples, std::string_view missing = {}) {
  return {.name = name,
          .doc = doc,
          .attrs = kScatterAttrs,
          .type = Type<set>,
          .jvp = jvp,
          .transpose = transpose,
          .batch = BatchRule,
          .factors_of = Factors<combine>,
          .lowerings = lower::Updates<ScatterUpdates<combine>>,
          .missing = missing,
          .examples = examples};
}

constexpr Row kRows[] = {
    WithSimplify(
        Scatter<Combine::kReplace, 0>(
            "scatter",
            "y = scatter(x, indices, updates): x with windows of `updates` written at the positions in `indices`",
            ScatterJvp, ScatterTranspose, Joined<kExamples, kUniqueReplace>::kText),
        rules::One<Simpler<Combine::kReplace>>),
    WithSimplify(
        Scatter<Combine::kAdd, kNumbers>(
            "scatter-add",
            "y = scatter-add(x, indices, updates): x with windows of `updates` added at the positions in `indices`",
            rules::kLinear, ScatterAddTranspose, kExamples),
        rules::One<Simpler<Combine::kAdd>>),
    Scatter<Combine::kSub, kNumbers>(
        "scatter-sub",
        "y = scatter-sub(x, indices, updates): x with windows of `updates` subtracted at the positions in `indices`",
        rules::kLinear, ScatterSubTranspose, kExamples),
    Scatter<Combine::kMul, kNumbers>(
        "scatter-mul",
        "y = scatter-mul(x, indices, updates): x multiplied by windows of `updates` at the positions in `indices`",
        ScatterMulJvp, ScatterMulTranspose, kUniqueExamples),
    Scatter<Combine::kMin, kNumbers>(
        "scatter-min",
        "y = scatter-min(x, indices, updates): the lesser of x and windows of `updates` at the positions in `indices`",
        ScatterExtremumJvp, nullptr, kRowExamples, rules::kNotLinear),
    Scatter<Combine::kMax, kNumbers>(
        "scatter-max",
        "y = scatter-max(x, indices, updates): the greater of x and windows of `updates` at the positions in `indices`",
        ScatterExtremumJvp, nullptr, kRowExamples, rules::kNotLinear),
};

}  // namespace

RowList scatter_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
