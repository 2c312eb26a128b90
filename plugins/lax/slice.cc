// slice: the elements start, start + stride, ... below limit, along each dimension.
//
// Linear; its transpose pads with zeros. An INDEX lowering, so it is never stored by itself.
#include "factor_text.hpp"
#include "slice_of.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {
    {"start_indices", AttrKind::kInts}, {"limit_indices", AttrKind::kInts}, {"strides", AttrKind::kInts, "all 1"}};

int64_t StrideOf(const Eqn& e, size_t i) { return e.ints("strides").empty() ? 1 : e.ints("strides")[i]; }

// How many of start, start + stride, ... are below limit; a stride may be larger than any dimension.
int64_t CountOfSteps(int64_t start, int64_t limit, int64_t stride) {
  return limit <= start ? 0 : (limit - start - 1) / stride + 1;
}

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType x = e.in(0);
  const Dims start = e.ints("start_indices"), limit = e.ints("limit_indices"), strides = e.ints("strides");
  const auto rank = static_cast<size_t>(x.rank());
  if (start.size() != rank || limit.size() != rank || (!strides.empty() && strides.size() != rank)) {
    e.Fail("start_indices ", start, ", limit_indices ", limit, " and strides ", strides,
           " must have one entry for each dimension of ", x);
  }
  Shape shape;
  for (size_t i = 0; i < rank; ++i) {
    if (start[i] < 0 || limit[i] < start[i] || limit[i] > x.shape()[i]) {
      e.Fail("start_indices ", start, " and limit_indices ", limit, " must be ranges inside of ", x);
    }
    if (StrideOf(e, i) <= 0) e.Fail("strides ", strides, " must be positive");
    shape.push_back(CountOfSteps(start[i], limit[i], StrideOf(e, i)));
  }
  return x.WithShape(shape);
}

// The end of `n` steps from `start`.
int64_t End(int64_t start, int64_t stride, int64_t n) { return n == 0 ? start : start + (n - 1) * stride + 1; }

Value Transposed(const Eqn& e, const Value& ct) {
  const Dims from = e.in(0).shape(), start = e.ints("start_indices");
  Shape high, interior;
  for (size_t i = 0; i < start.size(); ++i) {
    const int64_t stride = ct.shape()[i] > 1 ? StrideOf(e, i) : 1;  // between elements, if there are several
    high.push_back(from[i] - End(start[i], stride, ct.shape()[i]));
    interior.push_back(stride - 1);
  }
  return pad(ct, full(ct.builder, ct.type().WithShape({}), 0), start, high, interior);
}

Batched BatchRule(const Eqn& e, const Batched& x) {
  const Dims start = e.ints("start_indices"), limit = e.ints("limit_indices"), strides = e.ints("strides");
  Shape new_start(start.begin(), start.end()), new_limit(limit.begin(), limit.end()),
      new_strides(strides.begin(), strides.end());
  new_start.insert(new_start.begin() + x.dim, 0);
  new_limit.insert(new_limit.begin() + x.dim, x.value.dim(x.dim));
  if (!strides.empty()) new_strides.insert(new_strides.begin() + x.dim, 1);
  return {slice(x.value, new_start, new_limit, new_strides), x.dim};
}

// The slice of a slice is one slice.
Value OfSlice(const Eqn& e, const Producer& p) {
  Shape start, limit, strides;
  for (size_t i = 0; i < e.ints("start_indices").size(); ++i) {
    const int64_t n = e.out().shape()[i];
    const ricci_exact inner = Exact(StrideOf(p.eqn(), i));
    // With no elements any part will do; with one, the next step may be beyond every number.
    const ricci_exact from = inner * e.ints("start_indices")[i] + p.eqn().ints("start_indices")[i];
    start.push_back(n == 0 ? 0 : Clamped(from));
    strides.push_back(n > 1 ? Clamped(inner * StrideOf(e, i)) : 1);
    limit.push_back(End(start.back(), strides.back(), n));
  }
  const bool dense = std::all_of(strides.begin(), strides.end(), [](int64_t s) { return s == 1; });
  return slice(p.operand(0), start, limit, dense ? Shape{} : strides);
}
Value Simpler(const Eqn& e, std::span<const Value> in) {
  if (e.in(0) == e.out()) return in[0];
  const Producer p(in[0]);
  if (p.Is("slice")) return OfSlice(e, p);
  return SliceOfOperands(in[0], e.ints("start_indices"), e.ints("limit_indices"), e.ints("strides"));
}

Index FromIndex(KernelBuilder&, const Eqn& e, std::span<const Scalar> at) {
  Index from;
  for (size_t i = 0; i < at.size(); ++i) {
    const int64_t stride = e.out().shape()[i] > 1 ? StrideOf(e, i) : 1, start = e.ints("start_indices")[i];
    from.push_back(at[i] * stride + start);  // exact: positions below limit
  }
  return from;
}

std::string Factors(const Eqn& e) {
  Shape from;
  for (int64_t i = 0; i < e.out().rank(); ++i) from.push_back(e.out().dim(i) == e.in(0).dim(i) ? i : -1);
  return ViewFactors(e, from);
}

std::optional<ViewMap> ViewMapOf(const Eqn& e, uint32_t operand) {
  ViewMap map(e, operand);
  for (size_t i = 0; i < map.from.size(); ++i) {
    if (e.out().shape()[i] > 1 && StrideOf(e, i) != 1) return std::nullopt;
    const int64_t start = e.ints("start_indices")[i];
    map.first[i] = start;
    map.limit[i] = start + e.out().shape()[i];  // exact: a position within the operand
    map.from[i] = static_cast<int64_t>(i);
    map.shift[i] = -start;  // exact: a position
  }
  return map;
}

constexpr Row kRows[] = {rules::ViewRow<FromIndex, Transposed, BatchRule, Simpler>(
    {.name = "slice",
     .doc = "y = slice(x): the part of x from `start_indices` to before `limit_indices`, in steps of `strides`",
     .attrs = kAttrs,
     .type = Type,
     .factors_of = Factors,
     .view_map = ViewMapOf,
     .examples = "(f64[4,5]) start_indices=[1,0] limit_indices=[3,4]; "
                 "(f64[7,5]) start_indices=[1,0] limit_indices=[7,5] strides=[3,2]; "
                 "(f64[4]) start_indices=[2] limit_indices=[2] strides=[2]"})};

}  // namespace

RowList slice_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
