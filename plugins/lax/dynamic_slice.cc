// dynamic_slice: the part of x of the given sizes at starts known at run time; dynamic_update_slice: x with that part
// replaced. One scalar start per dimension, of one integer dtype; each is clamped so that the part lies inside.
//
// Batched starts turn them into gather and scatter, as in JAX.
#include "factor_text.hpp"
#include "start_index.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"slice_sizes", AttrKind::kInts}};
// An array of this many elements is not computed again to change a part: a quarter of it at most, or a sixteenth.
constexpr int64_t kLargeUpdated = 4096, kSomewhatLargeUpdated = 512;

// Checks the starts, operands first .. n - 1.
void WantStarts(const Eqn& e, uint32_t first) {
  const ArrayType x = e.in(0);
  if (e.n_in() != first + static_cast<uint32_t>(x.rank())) {
    e.Fail("takes ", x.rank(), " starts for ", x, ", not ", e.n_in() - first);
  }
  for (uint32_t i = first; i < e.n_in(); ++i) {
    const ArrayType start = e.in(i);
    if (!IsInt(start.dtype()) || start.rank() != 0 || start != e.in(first)) {
      e.Fail("start ", i - first, " is ", start, "; starts must be integer scalars of one dtype");
    }
  }
}
void WantPart(const Eqn& e, std::string_view what, Dims sizes) {
  const ArrayType x = e.in(0);
  bool fits = static_cast<int64_t>(sizes.size()) == x.rank();
  for (size_t i = 0; fits && i < sizes.size(); ++i) fits = sizes[i] >= 0 && sizes[i] <= x.shape()[i];
  if (!fits) e.Fail(what, " ", sizes, " must fit into ", x);
}

Values Starts(std::span<const Value> in, size_t first) { return {in.begin() + static_cast<int64_t>(first), in.end()}; }

// All starts, some of them batched, as one array [batch, dimension].
Value StackedStarts(const Batch& a, size_t first) {
  Values columns;
  for (size_t i = first; i < a.in.size(); ++i) {
    columns.push_back(broadcast_in_dim(a.in[i].value, Shape{a.size, 1}, a.in[i].is_batched() ? Shape{0} : Shape{}));
  }
  return concatenate(columns, 1);
}
bool StartsAreBatched(const Batch& a, size_t first) {
  return std::any_of(a.in.begin() + static_cast<int64_t>(first), a.in.end(),
                     [](const Batched& x) { return x.is_batched(); });
}
// The starts with a 0 inserted at position `dim`, for a batch dimension that is taken whole.
Values StartsWithZero(const Batch& a, size_t first, int64_t dim) {
  Values starts;
  for (size_t i = first; i < a.in.size(); ++i) starts.push_back(a.in[i].value);
  const Value& any = a.in[0].value;
  const Value zero = starts.empty() ? full(any.builder, Dims{}, DType::kI32, 0) : zeros_like(starts[0]);
  starts.insert(starts.begin() + dim, zero);
  return starts;
}

// ---- dynamic_slice ----
ArrayTypes SliceType(const Eqn& e) {
  if (e.n_in() == 0) e.Fail("takes an array and its starts");
  WantStarts(e, 1);
  WantPart(e, "slice_sizes", e.ints("slice_sizes"));
  return e.in(0).WithShape(e.ints("slice_sizes"));
}

void SliceTranspose(const Eqn& e, Transpose& a) {
  if (a.linear[0]) a.in_cts[0] = dynamic_update_slice(zeros(e.builder(), e.in(0)), a.cts[0], Starts(a.operands, 1));
}

void SliceBatch(const Eqn& e, Batch& a) {
  const int64_t rank = e.in(0).rank();
  Shape sizes(e.ints("slice_sizes").begin(), e.ints("slice_sizes").end());
  if (!StartsAreBatched(a, 1)) {
    const int64_t dim = a.in[0].dim;
    sizes.insert(sizes.begin() + dim, a.size);
    a.out[0] = {dynamic_slice(a.in[0].value, StartsWithZero(a, 1, dim), sizes), dim};
    return;
  }
  const Shape after_batch = rules::Shifted(rules::Range(rank), 0);
  const Value starts = StackedStarts(a, 1);
  if (!a.in[0].is_batched()) {
    a.out[0] = {gather(a.in[0].value, starts, {after_batch, {}, rules::Range(rank)}, sizes, "clip"), 0};
    return;
  }
  const Value x = rules::MoveDim(a.in[0].value, a.in[0].dim, 0);
  sizes.insert(sizes.begin(), std::min<int64_t>(a.size, 1));
  a.out[0] = {gather(x, starts, {after_batch, {}, after_batch, {0}, {0}}, sizes, "clip"), 0};
}

// With known starts it is a slice.
Value SimplerSlice(const Eqn& e, std::span<const Value> in) {
  if (e.in(0) == e.out()) return in[0];
  Shape start, limit;
  for (size_t i = 1; i < in.size(); ++i) {
    const Shape known = KnownIntegers(in[i]);
    if (known.empty()) return {};
    const int64_t n = e.ints("slice_sizes")[i - 1];
    const int64_t last = e.in(0).shape()[i - 1] - n;  // exact: the part fits
    start.push_back(std::clamp<int64_t>(known[0], 0, last));
    limit.push_back(start.back() + n);  // exact: the part fits
  }
  return slice(in[0], start, limit);
}

Scalar SliceIndex(KernelBuilder& k, const Eqn& e, uint32_t, std::span<const Scalar> at) {
  Index from;
  for (size_t i = 0; i < at.size(); ++i) {
    const int64_t last = e.in(0).shape()[i] - e.ints("slice_sizes")[i];  // exact: the part fits
    const Scalar start = k.Operand(static_cast<uint32_t>(i) + 1).Load({});
    from.push_back(last == 0 ? at[i] : ClampedIndex(start, last) + at[i]);
  }
  return k.Operand(0).Load(from);
}

std::string SliceFactors(const Eqn& e) {
  Shape from;
  for (int64_t i = 0; i < e.out().rank(); ++i) from.push_back(e.out().dim(i) == e.in(0).dim(i) ? i : -1);
  return ViewFactors(e, from);
}

// ---- dynamic_update_slice ----
ArrayTypes UpdateType(const Eqn& e) {
  if (e.n_in() < 2) e.Fail("takes an array, an update and its starts");
  if (e.in(1).dtype() != e.in(0).dtype()) e.Fail("the update is ", e.in(1), "; it must have the dtype of ", e.in(0));
  WantStarts(e, 2);
  WantPart(e, "the shape of the update", e.in(1).shape());
  return e.in(0);
}

void UpdateTranspose(const Eqn& e, Transpose& a) {
  const Values starts = Starts(a.operands, 2);
  if (a.linear[0]) a.in_cts[0] = dynamic_update_slice(a.cts[0], zeros(e.builder(), e.in(1)), starts);
  if (a.linear[1]) a.in_cts[1] = dynamic_slice(a.cts[0], starts, e.in(1).shape());
}

void UpdateBatch(const Eqn& e, Batch& a) {
  const Value x = rules::BatchFirst(a.in[0], a.size), update = rules::BatchFirst(a.in[1], a.size);
  if (!StartsAreBatched(a, 2)) {
    a.out[0] = {dynamic_update_slice(x, update, StartsWithZero(a, 2, 0)), 0};
    return;
  }
  const Shape after_batch = rules::Shifted(rules::Range(e.in(0).rank()), 0);
  a.out[0] = {scatter(x, StackedStarts(a, 2), update, {after_batch, {}, after_batch, {0}, {0}}, "clip",
                      /*sorted=*/true, /*unique=*/true),
              0};
}

Scalar UpdateIndex(KernelBuilder& k, const Eqn& e, uint32_t, std::span<const Scalar> at) {
  const ArrayType x = e.in(0), update = e.in(1);
  const Scalar old = k.Operand(0).Load(at);
  if (update.elements() == 0) return old;
  Index from;
  Scalar inside;
  for (size_t i = 0; i < at.size(); ++i) {
    const int64_t n = update.shape()[i], last = x.shape()[i] - n;
    if (last == 0) {
      from.push_back(at[i]);
      continue;
    }
    const Scalar offset = at[i] - ClampedIndex(k.Operand(static_cast<uint32_t>(i) + 2).Load({}), last);
    const Scalar in_range = IsInRange(offset, n - 1);
    inside = inside.id == 0 ? in_range : inside & in_range;
    from.push_back(Min(Max(offset, k.At(0)), k.At(n - 1)));
  }
  const Scalar value = k.Operand(1).Load(from);
  return inside.id == 0 ? value : Select(inside, value, old);
}

// A part of a large array is written in place; elsewhere the result stays an expression, which fuses.
bool UpdatesInPlace(const Eqn& e) {
  const int64_t all = e.in(0).elements(), part = e.in(1).elements();
  return (all > kLargeUpdated && part <= all / 4) || (all > kSomewhatLargeUpdated && part <= all / 16);
}
void UpdateLoops(KernelBuilder& k, const Eqn& e) {
  const ArrayType x = e.in(0), update = e.in(1);
  k.Parallel(update.shape(), [&](const Index& at) {
    Index to = at;
    for (size_t i = 0; i < at.size(); ++i) {
      const int64_t last = x.shape()[i] - update.shape()[i];
      if (last != 0) to[i] = ClampedIndex(k.Operand(static_cast<uint32_t>(i) + 2).Load({}), last) + at[i];
    }
    k.Result().Store(to, k.Operand(1).Load(at));
  });
}

std::string UpdateFactors(const Eqn& e) {
  FactorText text;
  Shape x, update;
  for (int64_t i = 0; i < e.in(0).rank(); ++i) {
    const bool full = e.in(1).dim(i) == e.in(0).dim(i);
    x.push_back(full ? text.Shared() : text.Whole());
    update.push_back(full ? x.back() : text.Whole());
  }
  text.AddIn(x);
  text.AddIn(update);
  for (uint32_t i = 2; i < e.n_in(); ++i) text.AddIn({});
  text.AddOut(x);
  return text.Done();
}

constexpr Lowering kUpdates[] = {{.loops = UpdateLoops, .match = UpdatesInPlace, .flags = RICCI_LOWERING_UPDATES},
                                 {.index = UpdateIndex}};

constexpr Row kRows[] = {
    {.name = "dynamic_slice",
     .doc = "y = dynamic_slice(x, starts...): the part of x of `slice_sizes` that begins at `starts`, a scalar for "
            "each dimension, moved to fit inside",
     .attrs = kAttrs,
     .type = SliceType,
     .jvp = rules::LinearInFirst,
     .transpose = SliceTranspose,
     .batch = SliceBatch,
     .simplify = rules::One<SimplerSlice>,
     .factors_of = SliceFactors,
     .lowerings = lower::Index<SliceIndex>,
     .examples = "(f64[4,5], i32[] in 0..6, i32[] in 0..6) slice_sizes=[2,3]"},
    {.name = "dynamic_update_slice",
     .doc = "y = dynamic_update_slice(x, update, starts...): x with `update` written at `starts`, a scalar for each "
            "dimension, moved to fit inside",
     .type = UpdateType,
     .jvp = rules::kLinear,
     .transpose = UpdateTranspose,
     .batch = UpdateBatch,
     .factors_of = UpdateFactors,
     .lowerings = kUpdates,
     .examples = "(f64[4,5], f64[2,3], i32[] in 0..6, i32[] in 0..6)"},
};

}  // namespace

RowList dynamic_slice_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
