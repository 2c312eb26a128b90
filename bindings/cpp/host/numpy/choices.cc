// Elements chosen from several arrays or put into one, orders by several keys, and bits.
#include <algorithm>

#include "host/core/plain_math.h"
#include "ricci/creation.hpp"
#include "ricci/sets.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

Value select(const OperandList& conditions, const OperandList& choices, const Operand& otherwise) {
  const size_t n = conditions.view().size();
  if (n == 0 || choices.view().size() != n) {
    FailAt(otherwise.at, "select: ", n, " conditions and ", choices.view().size(), " choices; there must be as many");
  }
  std::vector<Operand> values(choices.view().begin(), choices.view().end());
  values.push_back(otherwise);
  std::vector<Operand> all = values;
  all.insert(all.end(), conditions.view().begin(), conditions.view().end());
  const CallSite site = SiteOf("select", all);
  const DType dtype = PromotedDType(site, values);
  const Shape shape = BroadcastShape(site, all);
  const auto use = [&](const Operand& x) { return BroadcastValue(To(site.Lift(x, dtype, shape), dtype), shape); };
  Value out = use(otherwise);
  for (size_t i = n; i-- > 0;) {
    const Value condition = BroadcastValue(ToBool(site.Lift(conditions.view()[i], DType::kBool, shape)), shape);
    out = lax::select(condition, use(values[i]), out);
  }
  return out;
}

namespace {

// An index from 0 to n - 1.
Value Within(std::string_view name, const Location& at, const Value& i, int64_t n, std::string_view mode) {
  if (mode == "clip") return Max(Min(i, Scalar(i, static_cast<double>(n - 1))), Scalar(i, 0));
  if (mode != "wrap") FailAt(at, name, ": mode is ", mode, "; it must be clip or wrap");
  return remainder(Operand(i, at), Operand(Num(i, static_cast<double>(n)), at));
}
// A vector of n elements, the given ones again and again.
Value Again(const Value& v, int64_t n) {
  const int64_t have = v.type().elements();
  const Value flat = lax::reshape(v, {&have, 1});
  if (have == n) return flat;
  return Cut(Emit1("tile", {flat}, {{"reps", Shape{(n + have - 1) / have}}}), 0, n, 0);
}

}  // namespace

Value choose(const Operand& which, const OperandList& choices, std::string_view mode) {
  const auto n = static_cast<int64_t>(choices.view().size());
  if (n == 0) FailAt(which.at, "choose: there is no choice");
  std::vector<Operand> all(choices.view().begin(), choices.view().end());
  all.push_back(which);
  const CallSite site = SiteOf("choose", all);
  const DType dtype = PromotedDType(site, choices.view());
  const Shape shape = BroadcastShape(site, all);
  const Value given = site.Lift(which, kDefaultInt, shape);
  if (!IsInt(given.dtype())) site.Fail("operand is ", given.type(), "; it must be an integer");
  const Value i = BroadcastValue(Within("choose", which.at, given, n, mode), shape);
  Value out = BroadcastValue(To(site.Lift(all[0], dtype, shape), dtype), shape);
  for (int64_t k = 1; k < n; ++k) {
    const Value choice = BroadcastValue(To(site.Lift(all[static_cast<size_t>(k)], dtype, shape), dtype), shape);
    out = lax::select(i == static_cast<double>(k), choice, out);
  }
  return out;
}
Value place(const Operand& x, const Operand& mask, const Operand& values) {
  const Operand in[] = {x, mask, values};
  const CallSite site = SiteOf("place", in);
  const Value v = site.Lift(x, DType::kNone), m = ToBool(site.Lift(mask, DType::kBool));
  const Value given = To(site.Lift(values, v.dtype()), v.dtype());
  if (m.type().elements() != v.type().elements()) site.Fail("the mask is ", m.type(), " for ", v.type());
  if (given.type().elements() == 0) site.Fail("there are no values");
  const int64_t n = v.type().elements();
  const Value flat = lax::reshape(m, {&n, 1});
  const Value order = lax::cumsum(To(flat, DType::kI32), 0) - 1;
  const auto count = given.type().elements();
  const Value index = remainder(Operand(order, x.at), Operand(Num(order, static_cast<double>(count)), x.at));
  const Value chosen = GatherAlong(lax::reshape(given, {&count, 1}), index, 0, "clip");
  return lax::reshape(Where(flat, chosen, lax::reshape(v, {&n, 1})), v.shape());
}
Value put(const Operand& x, const Operand& indices, const Operand& values, std::string_view mode) {
  const Operand in[] = {x, indices, values};
  const CallSite site = SiteOf("put", in);
  const Value v = site.Lift(x, DType::kNone), i = site.Lift(indices, kDefaultInt);
  if (!IsInt(i.dtype())) site.Fail("indices are ", i.type(), "; they must be integers");
  const Value given = To(site.Lift(values, v.dtype()), v.dtype());
  const int64_t n = v.type().elements(), count = i.type().elements();
  if (count == 0) return v;
  if (given.type().elements() == 0) site.Fail("there are no values");
  const Value index = Within("put", x.at, lax::reshape(i, {&count, 1}), n, mode);
  const Value flat =
      set_at(Operand(lax::reshape(v, {&n, 1}), x.at), Operand(index, x.at), Operand(Again(given, count), x.at));
  return lax::reshape(flat, v.shape());
}
Value put_along_axis(const Operand& x, const Operand& indices, const Operand& values, AxisNumber given) {
  const Operand in[] = {x, indices, values};
  const CallSite site = SiteOf("put_along_axis", in);
  const Value v = site.Lift(x, DType::kNone), i = site.Lift(indices, kDefaultInt);
  WantIndex("put_along_axis", site.at, v, i);
  if (v.rank() != i.rank()) site.Fail("operands are ", v.type(), " and ", i.type(), "; they need the same dimensions");
  const int64_t axis = Axis("put_along_axis", site.at, given, v.rank());
  std::vector<IndexItem> items;
  Values positions;
  for (int64_t d = 0; d < v.rank(); ++d)
    positions.push_back(d == axis ? FromEnd(i, v.dim(d)) : Positions(i, DType::kI32, d));
  const Value u = broadcast_to(Operand(To(site.Lift(values, v.dtype()), v.dtype()), x.at), ShapeOfValue(i));
  const int64_t last = v.rank();
  Values columns;
  for (const Value& p : positions) columns.push_back(lax::expand_dims(To(p, DType::kI32), {&last, 1}));
  const Shape axes = CountFrom(0, v.rank());
  return lax::scatter_named("scatter", v, lax::concatenate(columns, last), u, {{}, axes, axes, {}, {}});
}

Value lexsort(const OperandList& keys, AxisNumber given) {
  const CallSite site = SiteOf("lexsort", keys.view());
  Values sorted;
  for (const Operand& k : keys.view()) sorted.push_back(site.Lift(k, kDefaultInt));
  std::reverse(sorted.begin(), sorted.end());
  const int64_t axis = Axis("lexsort", site.at, given, sorted[0].rank());
  const auto n = static_cast<int64_t>(sorted.size());
  sorted.push_back(Positions(sorted[0], DType::kI32, axis));
  return lax::sort(sorted, axis, n).back();
}
namespace {

void WantPosition(std::string_view name, const Operand& x, int64_t kth, AxisNumber given) {
  const Value v = Use(name, x);
  InBounds(SiteOf(name, {&x, 1}), kth, Axis(name, x.at, given, v.rank()), v);
}

}  // namespace
Value partition(const Operand& x, int64_t kth, AxisNumber axis) {
  WantPosition("partition", x, kth, axis);
  return sort(x, axis);
}
Value argpartition(const Operand& x, int64_t kth, AxisNumber axis) {
  WantPosition("argpartition", x, kth, axis);
  return argsort(x, axis);
}
Value sort_complex(const Operand& x) {
  const Value v = Use("sort_complex", x);
  const Value z = To(v, ComplexOf(ToInexact(v.dtype())));
  return lax::sort({&z, 1}, 0)[0];
}

namespace {

// From 7 to 0, or from 0 to 7: how far each of 8 bits is shifted, along the last dimension of `rank`.
Value Shifts(std::string_view name, const Operand& x, int64_t rank, std::string_view order) {
  if (order != "big" && order != "little") FailAt(x.at, name, ": bitorder is ", order, "; it must be big or little");
  Shape shape(static_cast<size_t>(rank), 1);
  shape.back() = 8;
  const Value i = Iota(x, DType::kU8, shape, rank - 1);
  return order == "little" ? i : 7.0 - i;
}

}  // namespace

Value packbits(const Operand& x, AxisNumber given, std::string_view bitorder) {
  const Value v = Use("packbits", x);
  if (!IsInt(v.dtype()) && v.dtype() != DType::kBool)
    FailAt(x.at, "packbits: operand is ", v.type(), "; it must be an integer or bool");
  const int64_t axis = given == kFlat ? 0 : Axis("packbits", x.at, given, v.rank());
  const Value along = given == kFlat ? ravel(Operand(v, x.at)) : v;
  Value bits = AxisToEnd(To(ToBool(along), DType::kU8), axis);
  const int64_t last = bits.rank() - 1, n = bits.dim(last), bytes = (n + 7) / 8;
  Shape low(static_cast<size_t>(bits.rank()), 0), high = low;
  high.back() = bytes * 8 - n;
  Shape shape = ShapeOfValue(bits);
  shape.back() = bytes;
  shape.push_back(8);
  bits = lax::reshape(lax::pad(bits, Scalar(bits, 0), low, high, Shape(low.size(), 0)), shape);
  const Value shifted = Both(lax::shift_left, bits, Shifts("packbits", Operand(v, x.at), last + 2, bitorder));
  const int64_t inner = last + 1;
  return EndToAxis(lax::reduce_sum(shifted, {&inner, 1}), axis);
}
Value unpackbits(const Operand& x, AxisNumber given, std::optional<int64_t> count, std::string_view bitorder) {
  const Value v = Use("unpackbits", x);
  if (v.dtype() != DType::kU8) FailAt(x.at, "unpackbits: operand is ", v.type(), "; it must be u8");
  const int64_t axis = given == kFlat ? 0 : Axis("unpackbits", x.at, given, v.rank());
  const Value bytes = AxisToEnd(given == kFlat ? ravel(Operand(v, x.at)) : v, axis);
  const int64_t last = bytes.rank();
  const Value shifts = Shifts("unpackbits", Operand(v, x.at), last + 1, bitorder);
  const Value shifted = Both(lax::shift_right_logical, lax::expand_dims(bytes, {&last, 1}), shifts);
  Shape shape = ShapeOfValue(bytes);
  shape.back() *= 8;
  Value out = lax::reshape(shifted & lax::ones_like(shifted), shape);
  const int64_t n = shape.back(), want = count.value_or(n) < 0 ? std::max<int64_t>(0, n + *count) : count.value_or(n);
  if (want <= n) return EndToAxis(Cut(out, 0, want, last - 1), axis);
  Shape low(shape.size(), 0), high = low;
  high.back() = want - n;
  return EndToAxis(lax::pad(out, Scalar(out, 0), low, high, Shape(low.size(), 0)), axis);
}

}}  // namespace ricci::v0
