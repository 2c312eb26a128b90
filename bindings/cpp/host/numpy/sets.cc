// Elements that are found: a mask, its running count, and a search in the counts for each position of the result.
#include "ricci/sets.hpp"

#include "host/core/plain_math.h"
#include "ricci/statistics.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

namespace {

Value Flat(const Value& v) {
  const int64_t n = v.type().elements();
  return lax::reshape(v, {&n, 1});
}
void WantSize(std::string_view name, const Location& at, int64_t size) {
  if (size < 0) FailAt(at, name, ": size is ", size, "; it must not be negative");
}

// The first `size` positions of a flat mask where it is true.
struct Found {
  Value positions;  // i32; past the last one the length of the mask
  Value is_one;     // whether there is one
};
Found Find(const Value& mask, int64_t size, const Location& at) {
  const Value counts = lax::cumsum(To(mask, DType::kI32), 0);
  const Value wanted = arange(Operand(mask, at), size) + 1;
  const Value positions = searchsorted(Operand(counts, at), Operand(wanted, at));
  return {positions, positions < static_cast<double>(mask.dim(0))};
}
// Elements of a flat array at what was found; `fill` where there is none.
Value TakeFound(const Value& v, const Found& found, const Value& fill) {
  if (v.dim(0) == 0) return BroadcastValue(fill, found.positions.shape());
  return Where(found.is_one, GatherAlong(v, found.positions, 0, "clip"), fill);
}
Value FillOr(const Location& at, const Value& v, const std::optional<Operand>& fill, const Value& otherwise) {
  if (!fill) return otherwise;
  const Operand both[] = {Operand(v, at), *fill};
  return To(SiteOf("fill_value", both).Lift(*fill, v.dtype()), v.dtype());
}

}  // namespace

Values nonzero(const Operand& x, int64_t size, int64_t fill_value) {
  WantSize("nonzero", x.at, size);
  const Value v = atleast_1d(x);
  const Found found = Find(Flat(ToBool(v)), size, x.at);
  Values out(static_cast<size_t>(v.rank()));
  Value rest = found.positions;
  for (size_t d = out.size(); d-- > 0;) {
    const auto n = static_cast<double>(std::max<int64_t>(1, v.dim(static_cast<int64_t>(d))));
    out[d] = Where(found.is_one, lax::rem(rest, Num(rest, n)), static_cast<double>(fill_value));
    rest = lax::div(rest, Num(rest, n));
  }
  return out;
}
Value argwhere(const Operand& x, int64_t size, int64_t fill_value) {
  return stack(nonzero(x, size, fill_value), 1, x.at);
}
Value flatnonzero(const Operand& x, int64_t size, int64_t fill_value) {
  return nonzero(Operand(ravel(x), x.at), size, fill_value)[0];
}
Value compress(const Operand& condition, const Operand& x, AxisNumber given, int64_t size, const Operand& fill_value) {
  WantSize("compress", x.at, size);
  const Operand in[] = {x, condition, fill_value};
  const CallSite site = SiteOf("compress", in);
  Value v = site.Lift(x, DType::kNone), mask = ToBool(site.Lift(condition, DType::kBool));
  const int64_t axis = given == kFlat ? 0 : Axis("compress", x.at, given, v.rank());
  if (given == kFlat) v = Flat(v);
  if (mask.rank() != 1 || mask.dim(0) > v.dim(axis)) {
    site.Fail("the condition is ", mask.type(), "; it must be a vector of at most ", v.dim(axis));
  }
  const Found found = Find(mask, size, x.at);
  const Value taken = GatherAlong(v, found.positions, axis, "clip");
  const Value is_one = lax::broadcast_in_dim(found.is_one, taken.shape(), {&axis, 1});
  return Where(is_one, taken, To(site.Lift(fill_value, v.dtype()), v.dtype()));
}
Value extract(const Operand& condition, const Operand& x, int64_t size, const Operand& fill_value) {
  return compress(Operand(ravel(condition), x.at), x, kFlat, size, fill_value);
}

namespace {

// What the unique functions share: the flat array sorted with the positions its elements had, and where a value begins.
struct Groups {
  Value sorted, positions, begins;
};
Groups GroupsOf(const Value& v, const Location& at) {
  const int64_t n = v.dim(0);
  const Value both[] = {v, arange(Operand(v, at), n)};
  const Values out = lax::sort(both, 0);
  Groups g{out[0], out[1], lax::eq(out[1], out[1])};
  if (n < 2) return g;
  const Value before = Cut(g.sorted, 0, n - 1, 0), next = Cut(g.sorted, 1, n, 0);
  Value differ = before != next;
  if (IsInexact(v.dtype())) differ = differ & ~(IsNaN(before) & IsNaN(next));
  g.begins = Join({Cut(g.begins, 0, 1, 0), differ}, 0);
  return g;
}

}  // namespace

Unique unique_all(const Operand& x, int64_t size, const std::optional<Operand>& fill_value) {
  WantSize("unique", x.at, size);
  const Value shaped = Use("unique", x), v = Flat(shaped);
  const int64_t n = v.dim(0);
  if (n == 0 && size > 0 && !fill_value) FailAt(x.at, "unique: ", shaped.type(), " has no elements; give a fill_value");
  const Groups g = GroupsOf(v, x.at);
  const Found found = Find(g.begins, size, x.at);
  const Value first = n == 0 ? Scalar(v, 0) : lax::reshape(Cut(g.sorted, 0, 1, 0), Shape{});
  Unique out;
  out.values = TakeFound(g.sorted, found, FillOr(x.at, v, fill_value, first));
  const Value first_position = n == 0 ? Scalar(g.positions, 0) : lax::reshape(Cut(g.positions, 0, 1, 0), Shape{});
  out.indices = TakeFound(g.positions, found, first_position);
  const Value group = lax::cumsum(To(g.begins, DType::kI32), 0) - 1;
  const Value unsorted =
      set_at(Operand(lax::zeros_like(g.positions), x.at), Operand(g.positions, x.at), Operand(group, x.at));
  out.inverse = lax::reshape(unsorted, shaped.shape());
  // A value ends where the next one begins.
  const Value ends = searchsorted(Operand(group, x.at), Operand(arange(x, size), x.at), "right");
  out.counts = Where(found.is_one, ends - found.positions, 0);
  return out;
}
Value unique(const Operand& x, int64_t size, const std::optional<Operand>& fill_value) {
  return unique_all(x, size, fill_value).values;
}
Value unique_values(const Operand& x, int64_t size, const std::optional<Operand>& fill_value) {
  return unique(x, size, fill_value);
}
std::pair<Value, Value> unique_counts(const Operand& x, int64_t size, const std::optional<Operand>& fill_value) {
  const Unique u = unique_all(x, size, fill_value);
  return {u.values, u.counts};
}
std::pair<Value, Value> unique_inverse(const Operand& x, int64_t size, const std::optional<Operand>& fill_value) {
  const Unique u = unique_all(x, size, fill_value);
  return {u.values, u.inverse};
}
Value isin(const Operand& x, const Operand& test, bool invert) {
  const Operand in[] = {x, test};
  const CallSite site = SiteOf("isin", in);
  const DType dtype = PromotedDType(site, in);
  const Value v = To(site.Lift(x, dtype), dtype), t = Flat(To(site.Lift(test, dtype), dtype));
  const int64_t last = v.rank();
  const Value wide = lax::expand_dims(v, {&last, 1});
  const Value found = lax::reduce_or(wide == t, {&last, 1});
  return invert ? ~found : found;
}

namespace {

using Keep = Value(const Value& in_a, const Value& in_b);
// The sorted different elements of both that `keep` wants.
Value Combined(std::string_view name, const Operand& a, const Operand& b, int64_t size,
               const std::optional<Operand>& fill, Keep* keep) {
  WantSize(name, a.at, size);
  const Operand in[] = {a, b};
  const CallSite site = SiteOf(name, in);
  const DType dtype = PromotedDType(site, in);
  const Value x = Flat(To(site.Lift(a, dtype), dtype)), y = Flat(To(site.Lift(b, dtype), dtype));
  const Value all = Join({x, y}, 0);
  const Groups g = GroupsOf(all, a.at);
  const Operand sorted(g.sorted, a.at);
  const Value wanted = g.begins & keep(isin(sorted, Operand(x, a.at)), isin(sorted, Operand(y, a.at)));
  const Found found = Find(wanted, size, a.at);
  const Value first = all.dim(0) == 0 || size == 0
                          ? Scalar(all, 0)
                          : lax::reshape(Cut(GatherAlong(g.sorted, found.positions, 0, "clip"), 0, 1, 0), Shape{});
  return TakeFound(g.sorted, found, FillOr(a.at, all, fill, first));
}

}  // namespace

Value union1d(const Operand& a, const Operand& b, int64_t size, const std::optional<Operand>& fill_value) {
  const Operand both[] = {a, b};
  Values flat;
  for (const Value& v : UseList("union1d", both)) flat.push_back(Flat(v));
  return unique(Operand(lax::concatenate(flat, 0), a.at), size, fill_value);
}
Value intersect1d(const Operand& a, const Operand& b, int64_t size, const std::optional<Operand>& fill_value) {
  return Combined("intersect1d", a, b, size, fill_value, lax::bitwise_and);
}
Value setdiff1d(const Operand& a, const Operand& b, int64_t size, const std::optional<Operand>& fill_value) {
  const Operand zero(0, a.at);
  return Combined("setdiff1d", a, b, size, fill_value ? fill_value : std::optional<Operand>(zero),
                  [](const Value& x, const Value& y) { return x & ~y; });
}
Value setxor1d(const Operand& a, const Operand& b, int64_t size, const std::optional<Operand>& fill_value) {
  return Combined("setxor1d", a, b, size, fill_value, lax::bitwise_xor);
}

}}  // namespace ricci::v0
