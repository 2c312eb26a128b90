// Reductions, scans along an axis, sorts and products.
#include <numeric>

#include "fuzz/generators.h"

namespace ricci::testing {
namespace {

size_t At(int64_t i) { return static_cast<size_t>(i); }
Shape SomeAxes(Draft& d, int64_t rank) {
  Shape axes(At(rank));
  std::iota(axes.begin(), axes.end(), 0);
  d.dice().Shuffle(axes);
  axes.resize(At(d.dice().Chance(0.25) ? rank : d.dice().Between(0, rank)));
  if (d.dice().Chance(0.7)) std::sort(axes.begin(), axes.end());
  return axes;
}

struct Reduction {
  std::string_view name;
  DTypeSet takes;
};
void Reduce(Draft& d) {
  constexpr Reduction kAll[] = {{"reduce_sum", kNumbers},      {"reduce_sum", kNumbers},
                                {"reduce_max", kAny},          {"reduce_min", kAny},
                                {"reduce_prod", kNumbers},     {"reduce_and", kInts | kBools},
                                {"reduce_or", kInts | kBools}, {"reduce_xor", kInts | kBools}};
  const Reduction r = d.palette().smooth ? d.dice().Pick(std::span(kAll).first(4)) : d.dice().Pick(kAll);
  Value x = d.AnyOfRank(1, 6, r.takes);
  if (r.name == "reduce_prod" && IsInexact(x.dtype())) x = d.Bounded(x);
  const Shape axes = SomeAxes(d, x.rank());
  d.Emit(r.name, {x}, {{"axes", axes}});
}
// Of so many elements over several dimensions that threads share them, seen in several orders: all of them follow each
// other in memory, rows of them do, or none.
void LongReduce(Draft& d) {
  constexpr int64_t kSizes[] = {2, 3, 4, 7, 8, 16, 31, 32, 33, 64, 100, 128, 512, 520, 600};
  constexpr std::string_view kNames[] = {"reduce_sum", "reduce_sum", "reduce_max", "reduce_min"};
  Shape shape(At(d.dice().Between(2, 4)));
  for (int64_t& n : shape) n = d.dice().Pick(kSizes);
  while (ElementCount(shape) > d.palette().max_elements) *std::max_element(shape.begin(), shape.end()) /= 2;
  Value x = d.Of(d.SomeDType(kNumbers), shape);
  const int64_t view = d.dice().Below(6), rank = x.rank(), axis = d.dice().Below(rank);
  Shape order = rules::Range(rank), none(At(rank), 0), low = none;
  d.dice().Shuffle(order);
  low[At(axis)] = d.dice().Between(-1, 2);
  if (view == 0) x = lax::transpose(x, order);
  if (view == 1) x = lax::rev(x, Shape{axis});
  if (view == 2) x = lax::slice_in_dim(x, x.dim(axis) / 3, x.dim(axis), axis);
  if (view == 3) x = lax::pad(x, d.Of(x.dtype(), {}), low, none, none);
  if (view == 4) x = lax::add(x, lax::broadcast_in_dim(d.Of(x.dtype(), Shape{x.dim(axis)}), x.shape(), Shape{axis}));
  Shape axes = rules::Range(rank);
  d.dice().Shuffle(axes);
  axes.resize(At(d.dice().Between(2, rank)));
  d.Keep(d.Emit(d.dice().Pick(kNames), {x}, {{"axes", axes}}));
  // Others beside it, of the same elements or of what is computed from them.
  for (int64_t n = d.dice().Chance(0.5) ? 0 : d.dice().Between(1, 2); n > 0; --n) {
    const Value of = d.dice().Chance(0.7) ? lax::mul(x, x) : x;
    d.Keep(d.Emit(d.dice().Pick(kNames), {of}, {{"axes", axes}}));
    d.Count("reductions beside each other");
  }
}
void ArgReduce(Draft& d) {
  const Value x = d.Find(kOrdered, [](const ArrayType& t) { return t.rank() > 0 && t.elements() > 0; });
  if (x.is_none()) return;
  const Shape axes = {d.dice().Below(x.rank())};
  d.Emit(d.dice().Chance(0.5) ? "argmax" : "argmin", {x},
         {{"axes", axes}, {"index_dtype", d.SomeDType(SetOf(DType::kI32) | SetOf(DType::kI64) | SetOf(DType::kU8))}});
}
void Cumulative(Draft& d) {
  constexpr std::string_view kNames[] = {"cumsum", "cumsum", "cummax", "cummin", "cumlogsumexp", "cumprod"};
  const std::string_view name = d.dice().Pick(kNames);
  Value x = d.AnyOfRank(1, 4, name == "cumlogsumexp" ? kInexact : kNumbers);
  if (d.dice().Chance(0.3)) {
    const Shape line = {d.dice().Between(1, 3), d.dice().Between(9, 140)};
    x = d.Fresh(d.Type(x.dtype(), line));
  }
  if (IsInexact(x.dtype())) x = d.Bounded(x);
  d.Emit(name, {x}, {{"axis", d.dice().Below(x.rank())}, {"reverse", d.dice().Chance(0.3)}});
}
// The same steps several times, as a loop of the host's language writes them.
void Unrolled(Draft& d) {
  const int64_t n = d.dice().Between(2, 6);
  Values x = {d.Of(d.SomeDType(kNumbers), Shape{n, n})};
  std::vector<int> body(static_cast<size_t>(d.dice().Between(1, 3)));
  for (int& op : body) op = static_cast<int>(d.dice().Below(4));
  const int64_t axis = d.dice().Below(2);
  for (int64_t trips = d.dice().Between(3, 12); trips > 0; --trips) {
    for (size_t i = 0; i < body.size() && !x.empty(); ++i) {
      switch (body[i]) {
        case 0:
          x = d.Emit("cummax", x, {{"axis", axis}, {"reverse", i % 2 != 0}});
          break;
        case 1:
          x = d.Emit("sort", x, {{"dimension", axis}, {"is_stable", true}, {"num_keys", 1}});
          break;
        case 2:
          x = d.Emit("top_k", x, {{"k", n}, {"axis", axis}});
          x.resize(std::min<size_t>(x.size(), 1));
          break;
        default:
          x = d.Emit("cummin", x, {{"axis", 1 - axis}, {"reverse", false}});
      }
    }
  }
}
// Sometimes by many keys, which a loop compares.
void Sort(Draft& d) {
  const Value x = d.AnyOfRank(1, 4);
  Values in = {x};
  const int64_t few = d.dice().Chance(0.5) ? 0 : d.dice().Between(1, 2);
  for (int64_t n = d.dice().Chance(0.1) ? d.dice().Between(8, 20) : few; n > 0; --n) {
    const Value y = d.Find(kAny, [&](const ArrayType& t) { return SameDims(t.shape(), x.shape()); });
    in.push_back(y.is_none() ? x : y);
  }
  const int64_t keys = d.dice().Between(1, static_cast<int64_t>(in.size()));
  d.Emit("sort", in, {{"dimension", d.dice().Below(x.rank())}, {"is_stable", true}, {"num_keys", keys}});
}
void TopK(Draft& d) {
  const Value x = d.AnyOfRank(1, 3, kNumbers);
  const int64_t axis = d.dice().Below(x.rank());
  d.Emit("top_k", {x}, {{"k", d.dice().Between(std::min<int64_t>(1, x.dim(axis)), x.dim(axis))}, {"axis", axis}});
}
void ApproxTopK(Draft& d) {
  const Value x = d.AnyOfRank(1, 3, kFloats);
  const int64_t axis = d.dice().Below(x.rank()), n = x.dim(axis);
  if (n == 0) return;
  constexpr double kRecalls[] = {0.1, 0.95, 1.0};
  d.Emit("approx_top_k", {x},
         {{"k", d.dice().Between(1, n)},
          {"reduction_dimension", d.dice().Chance(0.3) ? axis - x.rank() : axis},
          {"recall_target", d.dice().Pick(kRecalls)},
          {"is_max_k", d.dice().Chance(0.5)},
          {"reduction_input_size_override", d.dice().Chance(0.5) ? -1 : 2 * n},
          {"aggregate_to_topk", d.dice().Chance(0.7)}});
}

// Two operands that share some dimensions: each dimension of the left one is contracted, batched or free.
void DotGeneral(Draft& d) {
  const Value x = d.AnyOfRank(1, 4, kNumbers);
  struct Dim {
    int64_t size, place_in_x;
    char kind;
  };
  std::vector<Dim> right;
  Shape lhs_contract, lhs_batch, rhs_contract, rhs_batch;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const int64_t roll = d.dice().Below(10);
    if (roll < 4) right.push_back({x.dim(i), i, 'c'});
    if (roll >= 4 && roll < 6) right.push_back({x.dim(i), i, 'b'});
  }
  constexpr int64_t kSizes[] = {1, 2, 3, 5, 8, 17};
  for (int64_t n = d.dice().Between(0, 2); n > 0; --n) right.push_back({d.dice().Pick(kSizes), 0, 'f'});
  d.dice().Shuffle(right);
  Shape shape;
  for (const Dim& dim : right) {
    const auto place = static_cast<int64_t>(shape.size());
    if (dim.kind == 'c') lhs_contract.push_back(dim.place_in_x), rhs_contract.push_back(place);
    if (dim.kind == 'b') lhs_batch.push_back(dim.place_in_x), rhs_batch.push_back(place);
    shape.push_back(dim.size);
  }
  if (ElementCount(shape) > d.palette().max_elements) return;
  const Attr attrs[] = {{"lhs_contract", lhs_contract},
                        {"rhs_contract", rhs_contract},
                        {"lhs_batch", lhs_batch},
                        {"rhs_batch", rhs_batch}};
  std::vector<ricci_attr> list(std::begin(attrs), std::end(attrs));
  if (!d.palette().smooth && d.dice().Chance(0.1))
    list.push_back(Attr("preferred_element_type", IsFloat(x.dtype()) ? DType::kF32 : DType::kI32));
  if (IsFloat(x.dtype()) && d.dice().Chance(0.1)) {
    constexpr const char* kPrecisions[] = {"highest", "F64_F64_F64", "F32_F32_F32"};
    list.push_back(Attr("precision", kPrecisions[d.dice().Below(x.dtype() == DType::kF64 ? 2 : 3)]));
  }
  d.Emit("dot_general", {x, d.Of(x.dtype(), shape)}, list);
}
// Groups of rows in a dimension that is free, contracted or a batch.
void RaggedDot(Draft& d) {
  const int64_t batch = d.dice().Between(0, 3), m = d.dice().Between(0, 6), k = d.dice().Between(1, 3),
                n = d.dice().Between(1, 3), groups = d.dice().Between(0, 4), mode = d.dice().Below(3);
  const bool own = d.dice().Chance(0.4);  // sizes for each point of the batch
  const DType type = d.SomeDType(kNumbers);
  // lhs [batch, m, k], rhs [batch, (groups,) k, n]; contracted: rhs [batch, m, n]; batch: that dimension is ragged.
  const Shape lhs = {batch, m, k}, none, first = {0}, lhs_contract = {mode == 1 ? 1 : 2},
              rhs_contract = {mode == 0 ? 2 : 1}, ragged = {mode == 2 ? 0 : 1}, group = mode == 0 ? first : none;
  Shape rhs = mode == 0 ? Shape{groups, batch, k, n} : mode == 1 ? Shape{batch, m, n} : Shape{batch, k, n};
  const Shape rhs_batch = {mode == 0 ? 1 : 0};
  const Shape sizes = own && mode != 2 ? Shape{batch, groups} : Shape{groups};
  d.Emit("ragged_dot_general", {d.Of(type, lhs), d.Of(type, rhs), d.Indices(sizes, 4)},
         {{"lhs_contract", lhs_contract},
          {"rhs_contract", rhs_contract},
          {"lhs_batch", first},
          {"rhs_batch", rhs_batch},
          {"lhs_ragged", ragged},
          {"rhs_group", group}});
}
// Products for the tiles of the CPU backend: sizes near those of the tiles.
void MatrixProduct(Draft& d) {
  constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 24, 31, 33};
  const auto size = [&] { return std::min(d.dice().Pick(kSizes), d.palette().max_elements / 16); };
  const int64_t m = size(), k = size(), n = size();
  const DType type = d.SomeDType(kFloats);
  const bool left = d.dice().Chance(0.3), right = d.dice().Chance(0.3);
  const Value x = d.Of(type, left ? Shape{k, m} : Shape{m, k}), y = d.Of(type, right ? Shape{n, k} : Shape{k, n});
  const Shape lc = {left ? 0 : 1}, rc = {right ? 1 : 0};
  d.Emit("dot_general", {x, y}, {{"lhs_contract", lc}, {"rhs_contract", rc}});
}

constexpr Generator kGenerators[] = {{8, true, Reduce},        {3, true, LongReduce}, {2, true, ArgReduce},
                                     {4, true, Cumulative},    {2, true, Sort},       {1, true, TopK},
                                     {1, true, ApproxTopK},    {1, true, RaggedDot},  {4, true, DotGeneral},
                                     {2, true, MatrixProduct}, {1, false, Unrolled}};

// ---- random keys ----
constexpr DTypeSet kKeys = SetOf(DType::kKey);
void MakeKeys(Draft& d) {
  const Value x = d.AnyOfRank(0, 2, kInts);
  d.Emit("random_seed", {x});
  const Value words =
      d.Find(SetOf(DType::kU32), [](const ArrayType& t) { return t.rank() > 0 && t.dim(t.rank() - 1) == 2; });
  if (!words.is_none()) d.Emit("random_wrap", {words});
}
void UseKeys(Draft& d) {
  const Value keys = d.Find(kKeys, {});
  if (keys.is_none()) return MakeKeys(d);
  const Shape shape = d.SomeShape(d.dice().Between(0, 2));
  constexpr int64_t kWidths[] = {8, 16, 32, 64};
  switch (d.dice().Below(4)) {
    case 0:
      return (void)d.Emit("random_split", {keys}, {{"shape", shape}});
    case 1:
      return (void)d.Emit("random_fold_in", {keys, d.Of(DType::kU32, keys.shape())});
    case 2:
      return (void)d.Emit("random_unwrap", {keys});
    default:
      d.Emit("random_bits", {keys}, {{"bit_width", d.dice().Pick(kWidths)}, {"shape", shape}});
  }
}
void Threefry(Draft& d) {
  const Value x = d.AnyOfRank(0, 2, SetOf(DType::kU32));
  d.Emit("threefry2x32", {d.Of(DType::kU32, {}), d.Of(DType::kU32, {}), x, d.Of(x.type())});
}
// Shapes are drawn in f64 alone: where a dtype has few digits, what noise moves is often accepted or rejected.
void GammaSamples(Draft& d) {
  const Value keys = d.Find(kKeys, {});
  if (keys.is_none()) return MakeKeys(d);
  Shape shape(keys.shape().begin(), keys.shape().end());
  if (d.dice().Chance(0.5)) shape.push_back(d.dice().Between(0, 4));
  const Value a = d.Positive(d.Of(DType::kF64, shape));
  if (d.dice().Chance(0.5)) return (void)d.Emit("random_gamma", {keys, a});
  d.Emit("random_gamma", {keys, a}, {{"log_space", d.dice().Chance(0.5)}});
}
void BitGenerator(Draft& d) {
  constexpr DType kBits[] = {DType::kU8, DType::kU16, DType::kU32, DType::kU64};
  const bool wide = d.dice().Chance(0.5);
  Shape key = d.SomeShape(d.dice().Below(2));
  key.push_back(wide ? 2 : 4);
  const Value keys = d.Of(wide ? DType::kU64 : DType::kU32, key);
  const Shape shape = d.SomeShape(d.dice().Between(0, 2));
  const DType dtype = d.dice().Pick(kBits);
  if (d.dice().Chance(0.5)) return (void)d.Emit("rng_bit_generator", {keys}, {{"shape", shape}, {"dtype", dtype}});
  d.Emit("rng_bit_generator", {keys}, {{"shape", shape}, {"dtype", dtype}, {"algorithm", d.dice().Between(0, 2)}});
}
constexpr Generator kKeyGenerators[] = {{2, false, MakeKeys},
                                        {6, false, UseKeys},
                                        {1, false, Threefry},
                                        {1, false, GammaSamples},
                                        {1, false, BitGenerator}};

}  // namespace

std::span<const Generator> ReductionGenerators() { return kGenerators; }
std::span<const Generator> RandomKeyGenerators() { return kKeyGenerators; }

}  // namespace ricci::testing
