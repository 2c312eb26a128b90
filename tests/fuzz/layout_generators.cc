// Rows that move elements: views, pads, concatenations.
#include "fuzz/generators.h"

namespace ricci::testing {
namespace {

constexpr DTypeSet kMovable = kAny | SetOf(DType::kKey);

Shape ShapeOf(const Value& v) { return Shape(v.shape().begin(), v.shape().end()); }
Shape Axes(int64_t rank) {
  Shape all(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i) all[static_cast<size_t>(i)] = i;
  return all;
}
size_t At(int64_t i) { return static_cast<size_t>(i); }

void BroadcastInDim(Draft& d) {
  const Value x = d.AnyOfRank(0, 4, kMovable);
  Shape shape = d.SomeShape(d.dice().Between(x.rank(), 6)), places = Axes(static_cast<int64_t>(shape.size()));
  d.dice().Shuffle(places);
  places.resize(At(x.rank()));
  std::sort(places.begin(), places.end());
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (x.dim(i) != 1 || d.dice().Chance(0.5)) shape[At(places[At(i)])] = x.dim(i);
  }
  d.Emit("broadcast_in_dim", {x}, {{"shape", shape}, {"broadcast_dimensions", places}});
}

// The shape of `x` with some dimensions of size 1 removed and others added.
Shape WithOtherUnits(Draft& d, const Value& x) {
  Shape sizes;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (sizes.size() < 7 && d.dice().Chance(0.3)) sizes.push_back(1);
    if (x.dim(i) != 1 || d.dice().Chance(0.5)) sizes.push_back(x.dim(i));
  }
  return sizes;
}

// Merges neighbouring dimensions, splits some again, or adds and removes dimensions of size 1.
void Reshape(Draft& d) {
  const Value x = d.Any(kMovable);
  int64_t left = ElementCount(x.shape());
  if (left == 0) return (void)d.Emit("reshape", {x}, {{"new_sizes", Shape{0, 3}}});
  if (d.dice().Chance(0.3)) return (void)d.Emit("reshape", {x}, {{"new_sizes", WithOtherUnits(d, x)}});
  Shape sizes;
  for (int64_t factor = 2; left > 1 && sizes.size() < 5;) {
    while (factor < left && left % factor != 0) ++factor;
    int64_t n = factor;
    while (left % (n * factor) == 0 && d.dice().Chance(0.5)) n *= factor;
    if (d.dice().Chance(0.4)) n = left;
    sizes.push_back(n);
    left /= n;
  }
  if (left > 1) sizes.push_back(left);
  if (d.dice().Chance(0.3)) sizes.insert(sizes.begin() + d.dice().Below(static_cast<int64_t>(sizes.size()) + 1), 1);
  d.dice().Shuffle(sizes);
  d.Emit("reshape", {x}, {{"new_sizes", sizes}});
}

void Transpose(Draft& d) {
  Value x = d.AnyOfRank(2, 6, kMovable);
  const Shape large = {d.dice().Between(15, 34), d.dice().Between(15, 30)};  // around squares of all lanes
  if (d.dice().Chance(0.2) && ElementCount(large) <= d.palette().max_elements) x = d.Of(x.dtype(), large);
  Shape permutation = Axes(x.rank());
  d.dice().Shuffle(permutation);
  d.Emit("transpose", {x}, {{"permutation", permutation}});
}
void Rev(Draft& d) {
  const Value x = d.AnyOfRank(1, 6, kMovable);
  Shape dimensions = Axes(x.rank());
  d.dice().Shuffle(dimensions);
  dimensions.resize(At(d.dice().Between(1, x.rank())));
  d.Emit("rev", {x}, {{"dimensions", dimensions}});
}
void Squeeze(Draft& d) {
  const Value x = d.AnyOfRank(1, 6, kMovable);
  Shape ones;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (x.dim(i) == 1 && d.dice().Chance(0.7)) ones.push_back(i);
  }
  if (!ones.empty()) d.Emit("squeeze", {x}, {{"dimensions", ones}});
}
void ExpandDims(Draft& d) {
  const Value x = d.AnyOfRank(0, 4, kMovable);
  Shape places = Axes(x.rank() + 1 + d.dice().Below(2));
  const size_t n = places.size() - At(x.rank());
  d.dice().Shuffle(places);
  places.resize(n);
  d.Emit("expand_dims", {x}, {{"dimensions", places}});
}

void Slice(Draft& d) {
  const Value x = d.AnyOfRank(1, 6, kMovable);
  Shape start, limit, strides;
  for (int64_t n : x.shape()) {
    start.push_back(d.dice().Chance(0.4) ? 0 : d.dice().Below(n));
    limit.push_back(d.dice().Chance(0.4) ? n : d.dice().Between(std::min(start.back() + 1, n), n));
    strides.push_back(d.dice().Chance(0.7) ? 1 : d.dice().Between(1, 3));
  }
  if (d.dice().Chance(0.5)) {
    d.Emit("slice", {x}, {{"start_indices", start}, {"limit_indices", limit}});
  } else {
    d.Emit("slice", {x}, {{"start_indices", start}, {"limit_indices", limit}, {"strides", strides}});
  }
}
void Pad(Draft& d) {
  const Value x = d.AnyOfRank(1, 4, kAny);
  Shape low, high, interior;
  for (int64_t i = 0; i < x.rank(); ++i) {
    low.push_back(d.dice().Between(-1, 3));
    high.push_back(d.dice().Between(-1, 3));
    interior.push_back(d.dice().Chance(0.7) ? 0 : d.dice().Between(1, 2));
  }
  d.Emit("pad", {x, d.Of(x.dtype(), {})}, {{"low", low}, {"high", high}, {"interior", interior}});
}
void Tile(Draft& d) {
  const Value x = d.AnyOfRank(1, 4, kAny);
  Shape reps;
  for (int64_t i = 0; i < x.rank(); ++i) reps.push_back(d.dice().Between(1, 3));
  d.Emit("tile", {x}, {{"reps", reps}});
}

// Operands of equal shapes except in one dimension.
void Concatenate(Draft& d) {
  const Value x = d.AnyOfRank(1, 6, kMovable);
  const int64_t dimension = d.dice().Below(x.rank());
  Values in = {x};
  for (int64_t n = d.dice().Between(1, 4); n > 0; --n) {
    Value y = d.Find(SetOf(x.dtype()), [&](const ArrayType& t) {
      Shape a = ShapeOf(x), b(t.shape().begin(), t.shape().end());
      if (a.size() != b.size()) return false;
      a[At(dimension)] = b[At(dimension)];
      return a == b;
    });
    in.push_back(d.dice().Chance(0.6) ? y : d.Of(x.type()));
  }
  d.dice().Shuffle(in);
  d.Emit("concatenate", in, {{"dimension", dimension}});
}
void Stack(Draft& d) {
  const Value x = d.AnyOfRank(0, 4, kMovable);
  Values in = {x};
  for (int64_t n = d.dice().Between(0, 3); n > 0; --n) in.push_back(d.Of(x.type()));
  d.Emit("stack", in, {{"axis", d.dice().Between(0, x.rank())}});
}
void Split(Draft& d) {
  const Value x = d.AnyOfRank(1, 5, kMovable);
  const int64_t axis = d.dice().Below(x.rank());
  Shape sizes;
  for (int64_t left = x.dim(axis); left > 0 && sizes.size() < 5;) {
    sizes.push_back(sizes.size() == 4 ? left : d.dice().Between(1, left));
    left -= sizes.back();
  }
  d.Emit("split", {x}, {{"sizes", sizes}, {"axis", axis}});
}
void Unstack(Draft& d) {
  const Value x = d.Find(kMovable, [](const ArrayType& t) { return t.rank() > 0 && t.dim(0) < 9; });
  if (!x.is_none()) d.Emit("unstack", {x}, {{"axis", 0}});
}
// `x` cut in two along a dimension, with the second part first.
Value Rolled(Draft& d, const Value& x, int64_t axis) {
  const int64_t n = x.dim(axis), cut = d.dice().Between(1, n - 1);
  Values parts;
  for (const auto& [first, last] : {std::pair{cut, n}, std::pair{int64_t{0}, cut}}) {
    Shape start(x.shape().size(), 0), limit = ShapeOf(x);
    start[At(axis)] = first, limit[At(axis)] = last;
    const Values part = d.Emit("slice", {x}, {{"start_indices", start}, {"limit_indices", limit}});
    if (part.empty()) return x;
    parts.push_back(part[0]);
  }
  const Values out = d.Emit("concatenate", parts, {{"dimension", axis}});
  return out.empty() ? x : out[0];
}

// Arrays computed from one, point by point, each rotated along its axes and all concatenated: populations of a lattice
// that stream to their neighbours.
void Stream(Draft& d) {
  constexpr int64_t kLast[] = {2, 3, 5, 16, 16, 32, 33, 64};
  const int64_t n = d.dice().Between(2, 4);
  Shape shape = d.SomeShape(d.dice().Between(0, 2));
  shape.push_back(d.dice().Pick(kLast));
  if (ElementCount(shape) == 0 || ElementCount(shape) * n > d.palette().max_elements) return;
  const DType dtype = d.SomeDType(kFloats);
  Shape stacked = shape;
  stacked.insert(stacked.begin(), n);
  const Value x = d.Bounded(d.Of(dtype, stacked)), unit = d.Bounded(d.Of(dtype, shape));
  if (x.is_none() || unit.is_none()) return;
  Values common = d.dice().Chance(0.5) ? d.Emit("reduce_sum", {x}, {{"axes", Shape{0}}}) : Values{unit}, out;
  const bool stacks = d.dice().Chance(0.5);
  const int64_t along = d.dice().Below(static_cast<int64_t>(shape.size()));
  for (int64_t i = 0; i < n && !common.empty(); ++i) {
    Shape start(stacked.size(), 0), limit = stacked;
    start[0] = i, limit[0] = i + 1;
    Values y = d.Emit("slice", {x}, {{"start_indices", start}, {"limit_indices", limit}});
    if (!y.empty()) y = d.Emit("squeeze", y, {{"dimensions", Shape{0}}});
    if (!y.empty()) y = d.Emit("mul", {y[0], common[0]});
    for (int64_t k = d.dice().Below(3); k > 0 && !y.empty(); --k) y = d.Emit("tanh", y);
    if (y.empty()) return;
    for (int64_t axis = 0; axis < y[0].rank(); ++axis) {
      if (y[0].dim(axis) > 1 && d.dice().Chance(0.6)) y[0] = Rolled(d, y[0], axis);
    }
    out.push_back(y[0]);
  }
  d.dice().Shuffle(out);
  if (stacks) {
    d.Emit("stack", out, {{"axis", d.dice().Below(static_cast<int64_t>(shape.size()))}});
  } else {
    d.Emit("concatenate", out, {{"dimension", along}});
  }
}

void Iota(Draft& d) {
  const Shape shape = d.SomeShape(d.dice().Between(1, 4));
  const int64_t dimension = d.dice().Below(static_cast<int64_t>(shape.size()));
  if (d.dice().Chance(0.2))
    d.Emit("platform_index", {}, {{"platforms", d.dice().Chance(0.5) ? "cuda,rocm;cpu" : "cuda;*"}});
  d.Emit("iota", {}, {{"dtype", d.SomeDType(kNumbers)}, {"shape", shape}, {"dimension", dimension}});
}

constexpr Generator kGenerators[] = {
    {6, true, BroadcastInDim}, {4, true, Reshape}, {4, true, Transpose}, {2, true, Rev},  {2, true, Squeeze},
    {2, true, ExpandDims},     {5, true, Slice},   {3, true, Pad},       {1, true, Tile}, {3, true, Concatenate},
    {1, true, Stack},          {1, true, Split},   {1, true, Unstack},   {2, true, Iota}, {4, true, Stream},
};

}  // namespace

std::span<const Generator> LayoutGenerators() { return kGenerators; }

}  // namespace ricci::testing
