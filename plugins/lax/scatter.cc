// scatter, scatter-add, -sub, -mul, -min, -max: x with windows of `updates` written to, or combined with it at,
// positions listed in an index array.
//
// Windows are written in the order of the index array, so that of several updates of one element the last one stands;
// where updates are combined, their order follows shapes alone, so that sums are the same on every run. Modes: `clip`
// clamps a position so that its window lies inside; with `fill` and `promise_in_bounds` a window that does not lie
// inside is dropped.
//
// Derivatives follow JAX's rules, but look windows up in the mode of the scatter, so that they hold for clamped
// positions too.
#include <array>

#include "window_dims.hpp"

namespace ricci::inline v0::lax::rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"update_window_dims", AttrKind::kInts},
                               {"inserted_window_dims", AttrKind::kInts},
                               {"scatter_dims_to_operand_dims", AttrKind::kInts},
                               {"operand_batching_dims", AttrKind::kInts, "[]"},
                               {"scatter_indices_batching_dims", AttrKind::kInts, "[]"},
                               {"indices_are_sorted", AttrKind::kBool, "false"},
                               {"unique_indices", AttrKind::kBool, "false"},
                               {"mode", AttrKind::kString}};
constexpr WindowDims::Names kNames = {"update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims",
                                      "operand_batching_dims", "scatter_indices_batching_dims"};

// Sizes of the window in the dimensions of the operand.
Shape WindowSizes(const Eqn& e, const WindowDims& d) {
  Shape sizes(static_cast<size_t>(d.operand_rank), 1);
  const Shape window = d.WindowOfOperand();
  for (size_t i = 0; i < window.size(); ++i) sizes[static_cast<size_t>(window[i])] = e.in(2).dim(d.window[i]);
  return sizes;
}

template <DTypeSet set>
ArrayTypes Type(const Eqn& e) {
  e.WantOperands(3);
  const ArrayType x = e.in(0), indices = e.in(1), updates = e.in(2);
  if (set != 0) rules::WantDType(e, 0, set);
  if (updates.dtype() != x.dtype()) e.Fail("updates are ", updates, "; they must have the dtype of ", x);
  const WindowDims d(e, kNames);
  CheckWindowDims(e, d);
  WantMode(e);
  if (updates.rank() != static_cast<int64_t>(d.window.size()) + indices.rank() - 1) {
    e.Fail("updates are ", updates, "; they must have rank ",
           d.window.size() + static_cast<size_t>(indices.rank() - 1));
  }
  const Shape counting = d.Counting(), sizes = WindowSizes(e, d);
  for (size_t i = 0; i < counting.size(); ++i) {
    if (updates.dim(counting[i]) != indices.shape()[i]) {
      e.Fail("dimension ", counting[i], " of updates ", updates, " and ", i, " of indices ", indices, " differ");
    }
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (d.IsWindow(static_cast<int64_t>(i)) && sizes[i] > x.shape()[i]) {
      e.Fail("windows ", sizes, " of updates ", updates, " must fit into ", x);
    }
  }
  return x;
}

// ---- derivatives ----
// Nothing can be written to an array without elements, wherever its windows are clipped to.
bool IsEmpty(const Eqn& e) { return ElementCount(e.in(0).shape()) == 0; }

// The windows of `x` at the positions of this scatter. `fill`: the value outside, or none for the default.
Value GatherBack(const Eqn& e, const Value& x, const Value& indices, const double* fill) {
  if (IsEmpty(e)) return zeros(e.builder(), e.in(2).WithDType(x.type().dtype()));
  const WindowDims d(e, kNames);
  const Shape sizes = WindowSizes(e, d);
  const Attr dims[] = {{"offset_dims", d.window},
                       {"collapsed_slice_dims", d.dropped},
                       {"start_index_map", d.start_map},
                       {"operand_batching_dims", d.operand_batch},
                       {"start_indices_batching_dims", d.index_batch},
                       {"slice_sizes", sizes},
                       {"mode", e.str("mode")}};
  if (fill == nullptr) {
    return Emit1("gather", {x, indices}, {dims[0], dims[1], dims[2], dims[3], dims[4], dims[5], dims[6]});
  }
  return Emit1("gather", {x, indices},
               {dims[0], dims[1], dims[2], dims[3], dims[4], dims[5], dims[6], {"fill_value", *fill}});
}
Value WindowsAt(const Eqn& e, const Value& x, const Value& indices) { return GatherBack(e, x, indices, nullptr); }
Value WindowsOrZero(const Eqn& e, const Value& x, const Value& indices) {
  const double zero = 0;
  return GatherBack(e, x, indices, &zero);
}
// Another scatter at the same positions.
Value ScatterLike(const Eqn& e, std::string_view name, const Value& x, const Value& indices, const Value& updates) {
  const WindowDims d(e, kNames);
  return Emit1(name, {x, indices, updates},
               {{"update_window_dims", d.window},
                {"inserted_window_dims", d.dropped},
                {"scatter_dims_to_operand_dims", d.start_map},
                {"operand_batching_dims", d.operand_batch},
                {"scatter_indices_batching_dims", d.index_batch},
                {"indices_are_sorted", FlagOf(e, "indices_are_sorted")},
                {"unique_indices", FlagOf(e, "unique_indices")},
                {"mode", e.str("mode")}});
}
bool IsUnique(const Eqn& e) { return FlagOf(e, "unique_indices"); }
[[noreturn]] void NeedsUnique(const Eqn& e, std::string_view what) {
  throw Error(RICCI_UNIMPLEMENTED, Text(e.name(), ": its ", what, " is known for unique_indices=true only"));
}
Value Where(const Value& pred, const Value& x) { return select(pred, x, zeros_like(x)); }

// Each update gets a number; where its number comes back, it is the one that stands, and the others have no part in the
// tangent.
void ScatterJvp(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (a.tangents[0].is_zero() && a.tangents[2].is_zero()) return;
  const Value x = instantiate(a.tangents[0], e.in(0)), updates = instantiate(a.tangents[2], e.in(2));
  const Value& indices = a.primals[1];
  if (IsUnique(e)) {
    a.out_tangents[0] = e.Emit({x, indices, updates});
    return;
  }
  const WindowDims d(e, kNames);
  const Shape counting = d.Counting(), counts = rules::Pick(e.in(2).shape(), counting);
  const int64_t n[] = {ElementCount(counts)};
  const DType dtype = n[0] < INT32_MAX ? DType::kI32 : DType::kI64;
  const Value numbers = reshape(iota(e.builder(), dtype, n, 0), counts);
  const Value ids = add(broadcast_in_dim(numbers, e.in(2).shape(), counting), 1);
  const Value standing = ScatterLike(e, "scatter", zeros(e.builder(), e.in(0).WithDType(dtype)), indices, ids);
  const Value kept = Where(eq(standing, zeros_like(standing)), x);
  const Value chosen = Where(eq(ids, WindowsAt(e, standing, indices)), updates);
  a.out_tangents[0] = ScatterLike(e, "scatter-add", kept, indices, chosen);
}
void ScatterTranspose(const Eqn& e, Transpose& a) {
  if (!IsUnique(e)) NeedsUnique(e, "transpose");
  const Value& indices = a.operands[1];
  if (a.linear[0]) a.in_cts[0] = e.Emit({a.cts[0], indices, zeros(e.builder(), e.in(2))});
  if (a.linear[2]) a.in_cts[2] = WindowsOrZero(e, a.cts[0], indices);
}

void AddTranspose(const Eqn& e, Transpose& a) {
  if (a.linear[0]) a.in_cts[0] = a.cts[0];
  if (a.linear[2]) a.in_cts[2] = WindowsOrZero(e, a.cts[0], a.operands[1]);
}
void SubTranspose(const Eqn& e, Transpose& a) {
  AddTranspose(e, a);
  if (a.linear[2]) a.in_cts[2] = neg(a.in_cts[2]);
}

void MulJvp(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  Value& out = a.out_tangents[0];
  if (!a.tangents[0].is_zero()) out = e.Emit({a.tangents[0], a.primals[1], a.primals[2]});
  if (a.tangents[2].is_zero()) return;
  if (!IsUnique(e)) NeedsUnique(e, "jvp by updates");
  const Value sum = ScatterLike(e, "scatter-add", zeros(e.builder(), e.in(0)), a.primals[1], a.tangents[2]);
  const Value part = mul(a.primals[0], sum);
  out = out.is_zero() ? part : add(out, part);
}
void MulTranspose(const Eqn& e, Transpose& a) {
  if (a.linear[0]) a.in_cts[0] = e.Emit({a.cts[0], a.operands[1], a.operands[2]});
  if (!a.linear[2]) return;
  if (!IsUnique(e)) NeedsUnique(e, "transpose by updates");
  a.in_cts[2] = WindowsOrZero(e, mul(a.cts[0], a.operands[0]), a.operands[1]);
}

// Of all that contend for an element (updates and the old value), those that equal the result share its tangent.
void ExtremalJvp(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (a.tangents[0].is_zero() && a.tangents[2].is_zero()) return;
  const Value x = instantiate(a.tangents[0], e.in(0)), dy = instantiate(a.tangents[2], e.in(2));
  const Value &indices = a.primals[1], &updates = a.primals[2];
  const Value target = WindowsAt(e, a.out[0], indices), zero = zeros(e.builder(), e.in(0)), one = ones_like(updates);
  const Value succeeds = eq(updates, target), retained = eq(WindowsAt(e, a.primals[0], indices), target);
  const auto count = [&](const Value& what) {
    return WindowsAt(e, ScatterLike(e, "scatter-add", zero, indices, what), indices);
  };
  const Value winners = count(Where(succeeds, one)), contenders = count(one);
  const Value share = div(1.0, add(winners, 1.0));
  const Value of_update = Where(succeeds, select(retained, share, div(1.0, winners)));
  const Value of_old = div(sub(Where(retained, share), 1.0), contenders);
  const Value change = add(mul(WindowsAt(e, x, indices), of_old), mul(dy, of_update));
  a.out_tangents[0] = ScatterLike(e, "scatter-add", x, indices, change);
}

// ---- batch ----
void BatchRule(const Eqn& e, Batch& a) {
  const Value x = rules::BatchFirst(a.in[0], a.size), updates = rules::BatchFirst(a.in[2], a.size);
  const WindowDims d(e, kNames);
  const auto after = [](std::initializer_list<int64_t> first, Dims dims) {
    Shape out(first);
    for (int64_t i : dims) out.push_back(i + 1);
    return out;
  };
  const Shape dropped = after({}, d.dropped), start_map = after({}, d.start_map);
  if (!a.in[1].is_batched()) {  // the batch is one more window dimension
    a.out[0] = {e.Emit({x, a.in[1].value, updates}, {{"update_window_dims", after({0}, d.window)},
                                                     {"inserted_window_dims", dropped},
                                                     {"scatter_dims_to_operand_dims", start_map},
                                                     {"operand_batching_dims", after({}, d.operand_batch)}}),
                0};
    return;
  }
  const Value indices = rules::MoveDim(a.in[1].value, a.in[1].dim, 0);
  a.out[0] = {e.Emit({x, indices, updates}, {{"update_window_dims", after({}, d.window)},
                                             {"inserted_window_dims", dropped},
                                             {"scatter_dims_to_operand_dims", start_map},
                                             {"operand_batching_dims", after({0}, d.operand_batch)},
                                             {"scatter_indices_batching_dims", after({0}, d.index_batch)}}),
              0};
}

// ---- lowering ----
// What becomes of an element and an update: the scalar operation of both, or the update.
enum class Combine : uint32_t {
  kReplace = 0,
  kAdd = RICCI_S_ADD,
  kSub = RICCI_S_SUB,
  kMul = RICCI_S_MUL,
  kMin = RICCI_S_MIN,
  kMax = RICCI_S_MAX
};

void Update(const KernelArray& result, Combine how, const Index& to, Scalar update) {
  if (how == Combine::kReplace) return result.Store(to, update);
  if (how == Combine::kSub) return result.Combine(to, RICCI_S_ADD, -update);
  result.Combine(to, static_cast<uint32_t>(how), update);
}

// How many of the window's dimensions lead: stored before those that count windows, and wherever the window lies, whole
// or from 0 on, so that their elements never meet.
size_t LeadingDims(const WindowDims& d, std::span<const int64_t> counted) {
  const Shape counting = d.Counting(), window = d.WindowOfOperand();
  size_t n = 0;
  const auto leads = [&](size_t i) {
    return !rules::Contains(d.start_map, window[i]) && std::all_of(counted.begin(), counted.end(), [&](int64_t c) {
      return d.window[i] < counting[static_cast<size_t>(c)];
    });
  };
  while (!counted.empty() && n < window.size() && leads(n)) ++n;
  return n;
}

// Writes the window of the index point `point` (all dimensions of the index array but the last), of which `leading`
// dimensions are at a point already.
void WriteWindow(KernelBuilder& k, const Eqn& e, const WindowDims& d, const Index& point, const Index& leading,
                 Combine combine) {
  const Shape sizes = WindowSizes(e, d), window = d.WindowOfOperand(), counting = d.Counting();
  Index start(static_cast<size_t>(d.operand_rank), k.At(0)), position = point;
  for (size_t i = 0; i < d.operand_batch.size(); ++i) {
    start[static_cast<size_t>(d.operand_batch[i])] = point[static_cast<size_t>(d.index_batch[i])];
  }
  Scalar inside;
  position.push_back(k.At(0));
  for (size_t j = 0; j < d.start_map.size(); ++j) {
    const auto along = static_cast<size_t>(d.start_map[j]);
    const int64_t last = e.in(0).shape()[along] - sizes[along];
    position.back() = k.At(static_cast<int64_t>(j));
    const Scalar wide = WideIndex(k.Operand(1).Load(position));
    start[along] = ClampedIndex(wide, last);
    if (e.str("mode") == "clip") continue;
    const Scalar in_range = IsInRange(wide, last);
    inside = inside.id == 0 ? in_range : inside & in_range;
  }
  const auto write = [&] {
    k.Parallel(rules::Pick(sizes, Dims(window).subspan(leading.size())), [&](const Index& inner) {
      Index offset = leading;
      offset.insert(offset.end(), inner.begin(), inner.end());
      Index to = start, from(static_cast<size_t>(e.in(2).rank()));
      for (size_t i = 0; i < counting.size(); ++i) from[static_cast<size_t>(counting[i])] = point[i];
      for (size_t i = 0; i < window.size(); ++i) {
        from[static_cast<size_t>(d.window[i])] = offset[i];
        to[static_cast<size_t>(window[i])] = start[static_cast<size_t>(window[i])] + offset[i];
      }
      Update(k.Result(), combine, to, k.Operand(2).Load(from));
    });
  };
  inside.id == 0 ? write() : k.If(inside, write);
}

// All index points of the dimensions `dims`, in order.
template <typename F>
void LoopOver(KernelBuilder& k, Dims extents, std::span<const int64_t> dims, Index& point, F&& body) {
  if (dims.empty()) return body();
  k.Loop(extents[static_cast<size_t>(dims[0])], [&](Scalar i) {
    point[static_cast<size_t>(dims[0])] = i;
    LoopOver(k, extents, dims.subspan(1), point, body);
  });
}

// Batching dimensions and leading ones of windows run in parallel: what they write never meets. For each, windows that
// are combined may meet, and those that are written follow in order.
template <Combine combine>
void Updates(KernelBuilder& k, const Eqn& e) {
  if (IsEmpty(e)) return;
  const WindowDims d(e, kNames);
  const ArrayType x = e.in(0), indices = e.in(1);
  const Shape counted = rules::Complement(d.index_batch, indices.rank() - 1);
  const size_t leads = LeadingDims(d, counted);
  Shape apart = rules::Pick(x.shape(), d.operand_batch);
  for (size_t i = 0; i < leads; ++i) apart.push_back(e.in(2).dim(d.window[i]));
  k.Parallel(apart, [&](const Index& at) {
    Index point(static_cast<size_t>(indices.rank() - 1));
    for (size_t i = 0; i < d.index_batch.size(); ++i) point[static_cast<size_t>(d.index_batch[i])] = at[i];
    const Index leading(at.end() - static_cast<ptrdiff_t>(leads), at.end());
    if constexpr (combine == Combine::kReplace) {
      LoopOver(k, indices.shape(), counted, point, [&] { WriteWindow(k, e, d, point, leading, combine); });
    } else {
      k.Parallel(rules::Pick(indices.shape(), counted), [&](const Index& count) {
        for (size_t i = 0; i < counted.size(); ++i) point[static_cast<size_t>(counted[i])] = count[i];
        WriteWindow(k, e, d, point, leading, combine);
      });
    }
  });
}

// ---- simplify: one window at a known position is an update of a known part, which fuses ----
template <Combine combine>
Value Simpler(const Eqn& e, std::span<const Value> in) {
  if (IsEmpty(e)) return in[0];
  const WindowDims d(e, kNames);
  const Shape position = KnownIntegers(in[1]), sizes = WindowSizes(e, d);
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

// Rows, elements, windows, one window, batches; indices run beyond the end and may be equal.
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
// Positions that differ from each other: what is only differentiable then.
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

// Half of the updates gives an extremum of half of them, but a sum that has the operand in it, so that only extrema of
// parts combine.
template <Combine combine>
std::string Factors(const Eqn& e) {
  FactorText text;
  const WindowDims d(e, kNames);
  const WindowFactors f = FactorsOfWindows(text, e, d, WindowSizes(e, d));
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
          .attrs = kAttrs,
          .type = Type<set>,
          .jvp = jvp,
          .transpose = transpose,
          .batch = BatchRule,
          .factors_of = Factors<combine>,
          .lowerings = lower::Updates<Updates<combine>>,
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
            rules::kLinear, AddTranspose, kExamples),
        rules::One<Simpler<Combine::kAdd>>),
    Scatter<Combine::kSub, kNumbers>(
        "scatter-sub",
        "y = scatter-sub(x, indices, updates): x with windows of `updates` subtracted at the positions in `indices`",
        rules::kLinear, SubTranspose, kExamples),
    Scatter<Combine::kMul, kNumbers>(
        "scatter-mul",
        "y = scatter-mul(x, indices, updates): x multiplied by windows of `updates` at the positions in `indices`",
        MulJvp, MulTranspose, kUniqueExamples),
    Scatter<Combine::kMin, kReals>(
        "scatter-min",
        "y = scatter-min(x, indices, updates): the lesser of x and windows of `updates` at the positions in `indices`",
        ExtremalJvp, nullptr, kRowExamples, rules::kNotLinear),
    Scatter<Combine::kMax, kReals>(
        "scatter-max",
        "y = scatter-max(x, indices, updates): the greater of x and windows of `updates` at the positions in `indices`",
        ExtremalJvp, nullptr, kRowExamples, rules::kNotLinear),
};

}  // namespace

RowList scatter_rows() { return kRows; }

}  // namespace ricci::inline v0::lax::rows
