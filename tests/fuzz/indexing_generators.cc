// dynamic_slice, gather, scatter and their relatives, with positions known and unknown, in and out of bounds.
#include "fuzz/generators.h"

namespace ricci::testing {
namespace {

size_t At(int64_t i) { return static_cast<size_t>(i); }

Values Starts(Draft& d, const Value& x) {
  Values starts;
  Value same{};
  for (int64_t n : x.shape()) {
    Value i = d.Indices({}, n);
    if (!same.is_none() && i.dtype() != same.dtype())
      i = d.Emit("convert_element_type", {i}, {{"new_dtype", same.dtype()}})[0];
    same = i;
    starts.push_back(i);
  }
  return starts;
}
void DynamicSlice(Draft& d) {
  const Value x = d.AnyOfRank(1, 4, kAny | SetOf(DType::kKey));
  Shape sizes;
  for (int64_t n : x.shape()) sizes.push_back(d.dice().Chance(0.3) ? n : d.dice().Between(std::min<int64_t>(n, 1), n));
  Values in = Starts(d, x);
  in.insert(in.begin(), x);
  d.Emit("dynamic_slice", in, {{"slice_sizes", sizes}});
}
void DynamicUpdateSlice(Draft& d) {
  const Value x = d.AnyOfRank(1, 4);
  Value part = d.Find(SetOf(x.dtype()), [&](const ArrayType& t) {
    bool fits = t.rank() == x.rank();
    for (int64_t i = 0; fits && i < t.rank(); ++i) fits = t.dim(i) <= x.dim(i);
    return fits;
  });
  if (part.is_none() || d.dice().Chance(0.3)) {
    Shape sizes;
    for (int64_t n : x.shape()) sizes.push_back(d.dice().Between(std::min<int64_t>(n, 1), n));
    part = d.Of(x.dtype(), sizes);
  }
  Values in = Starts(d, x);
  in.insert(in.begin(), {x, part});
  d.Emit("dynamic_update_slice", in);
}

// One access of windows, from which gather and scatter are made.
struct Windows {
  Value x, indices;
  Shape offset, collapsed, map, x_batch, indices_batch, sizes, result;
};
Windows SomeWindows(Draft& d) {
  Windows w;
  w.x = d.AnyOfRank(1, 4);
  const int64_t rank = w.x.rank();
  Shape counting;
  const bool batched = rank > 1 && d.dice().Chance(0.25);
  int64_t bound = 1;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t n = w.x.dim(i);
    w.sizes.push_back(1);
    if (batched && i == 0) {
      w.x_batch.push_back(0);
      continue;
    }
    const bool indexed = w.map.empty() || d.dice().Chance(0.4);
    if (indexed) {
      w.map.push_back(i);
      bound = std::max(bound, n);
    }
    if (indexed && d.dice().Chance(0.7)) {
      w.collapsed.push_back(i);
      continue;
    }
    w.sizes.back() = indexed || d.dice().Chance(0.2) ? d.dice().Between(std::min<int64_t>(1, n), n) : n;
  }
  if (d.dice().Chance(0.5)) d.dice().Shuffle(w.map);
  for (int64_t i = d.dice().Between(0, 2); i > 0; --i) counting.push_back(d.dice().Between(1, 5));
  if (batched) {
    const int64_t at = d.dice().Between(0, static_cast<int64_t>(counting.size()));
    counting.insert(counting.begin() + at, w.x.dim(0));
    w.indices_batch.push_back(at);
  }
  // The dimensions of the result that are windows.
  Shape windows;
  for (int64_t i = 0; i < rank; ++i) {
    const bool gone =
        std::count(w.collapsed.begin(), w.collapsed.end(), i) + std::count(w.x_batch.begin(), w.x_batch.end(), i) > 0;
    if (!gone) windows.push_back(w.sizes[At(i)]);
  }
  size_t from_window = 0, from_counting = 0;
  while (from_window + from_counting < windows.size() + counting.size()) {
    const bool window = from_counting == counting.size() || (from_window < windows.size() && d.dice().Chance(0.5));
    if (window) w.offset.push_back(static_cast<int64_t>(w.result.size()));
    w.result.push_back(window ? windows[from_window++] : counting[from_counting++]);
  }
  counting.push_back(static_cast<int64_t>(w.map.size()));
  w.indices = d.Indices(counting, bound);
  return w;
}
constexpr std::string_view kModes[] = {"fill", "clip", "promise_in_bounds"};
// A promise about positions must be kept; without one, positions out of bounds are drawn too.
std::string_view SomeMode(Draft& d) { return d.dice().Pick(std::span(kModes).first(2)); }

void Gather(Draft& d) {
  const Windows w = SomeWindows(d);
  const Attr required[] = {{"offset_dims", w.offset},
                           {"collapsed_slice_dims", w.collapsed},
                           {"start_index_map", w.map},
                           {"slice_sizes", w.sizes},
                           {"mode", SomeMode(d)}};
  std::vector<ricci_attr> attrs(std::begin(required), std::end(required));
  if (!w.x_batch.empty()) {
    attrs.push_back(Attr("operand_batching_dims", w.x_batch));
    attrs.push_back(Attr("start_indices_batching_dims", w.indices_batch));
  }
  if (d.dice().Chance(0.3)) attrs.push_back(Attr("fill_value", static_cast<double>(d.dice().Between(0, 3))));
  d.Emit("gather", {w.x, w.indices}, attrs);
}
// Where a scatter goes, after `more`.
std::vector<ricci_attr> ScatterAttrs(Draft& d, const Windows& w, std::span<const Attr> more) {
  const Attr required[] = {{"update_window_dims", w.offset},
                           {"inserted_window_dims", w.collapsed},
                           {"scatter_dims_to_operand_dims", w.map},
                           {"mode", SomeMode(d)}};
  std::vector<ricci_attr> attrs(more.begin(), more.end());
  attrs.insert(attrs.end(), std::begin(required), std::end(required));
  if (!w.x_batch.empty()) {
    attrs.push_back(Attr("operand_batching_dims", w.x_batch));
    attrs.push_back(Attr("scatter_indices_batching_dims", w.indices_batch));
  }
  return attrs;
}
void Scatter(Draft& d) {
  constexpr std::string_view kNames[] = {"scatter-add", "scatter-add", "scatter",    "scatter-sub",
                                         "scatter-mul", "scatter-min", "scatter-max"};
  const std::string_view name = d.palette().smooth ? std::string_view("scatter-add") : d.dice().Pick(kNames);
  const Windows w = SomeWindows(d);
  const std::vector<ricci_attr> attrs = ScatterAttrs(d, w, {});
  d.Emit(name, {w.x, w.indices, d.Of(w.x.dtype(), w.result)}, attrs);
}

// A function of one element that stays in a moderate range however often it is applied.
std::shared_ptr<ricci_program> SomeFunction(Draft& d, const ArrayType& scalar) {
  Draft body(d, {scalar});
  const Value x = body.params()[0];
  if (IsInexact(scalar.dtype())) return body.Finish({body.Bounded(x)});
  return body.Finish({scalar.dtype() == DType::kBool ? lax::bitwise_not(x) : lax::add(x, lax::full_like(x, 3))});
}
void ScatterApply(Draft& d) {
  const Windows w = SomeWindows(d);
  const std::shared_ptr<ricci_program> f = SomeFunction(d, w.x.type().WithShape({}));
  ricci_program* const computation = f.get();
  const Attr own[] = {{"computation", computation}, {"update_shape", w.result}};
  const std::vector<ricci_attr> attrs = ScatterAttrs(d, w, own);
  d.Emit("scatter_apply", {w.x, w.indices}, attrs);
}

constexpr Generator kGenerators[] = {{3, true, DynamicSlice},
                                     {3, true, DynamicUpdateSlice},
                                     {5, true, Gather},
                                     {5, true, Scatter},
                                     {2, true, ScatterApply}};

}  // namespace

std::span<const Generator> IndexingGenerators() { return kGenerators; }

}  // namespace ricci::testing
