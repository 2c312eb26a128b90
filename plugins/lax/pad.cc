// pad: x with `low` and `high` elements of the padding value before and after each dimension and `interior` ones
// between neighbours. Negative low or high cut elements off.
//
// Lowered by index: the operand is loaded at a clamped index and selected where the index falls on one of its elements,
// so that no load is out of bounds. The three numbers may be any int64 as long as the result can exist (a very negative
// low if interior makes up for it): all rules except that of the type work with the elements that are left (Kept),
// whose positions are small.
#include "factor_text.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"low", AttrKind::kInts}, {"high", AttrKind::kInts}, {"interior", AttrKind::kInts}};

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(2);
  const ArrayType x = e.in(0), value = e.in(1);
  const Dims low = e.ints("low"), high = e.ints("high"), interior = e.ints("interior");
  const auto rank = static_cast<size_t>(x.rank());
  if (value.rank() != 0 || value.dtype() != x.dtype()) {
    e.Fail("the padding value is ", value, "; it must be a scalar of the dtype of ", x);
  }
  if (low.size() != rank || high.size() != rank || interior.size() != rank) {
    e.Fail("low ", low, ", high ", high, " and interior ", interior, " must have one entry for each dimension of ", x);
  }
  Shape shape;
  for (size_t i = 0; i < rank; ++i) {
    if (interior[i] < 0) e.Fail("interior ", interior, " must not be negative");
    const int64_t n = x.shape()[i];
    const ricci_exact gaps = Exact(std::max<int64_t>(n - 1, 0)) * interior[i];
    shape.push_back(AsDimension(Exact(low[i]) + high[i] + n + gaps, "pad: low ", low, ", high ", high, " and interior ",
                                interior, " make dimension ", i, " of ", x, " "));
  }
  return x.WithShape(shape);
}

// The elements of one dimension that are not cut off: number `first` and the `count - 1` after it go to positions
// `position`, position + stride, ... of the result.
struct Kept {
  int64_t first = 0, count = 0, position = 0, stride = 1;
  int64_t last() const { return position + (count - 1) * stride; }
};
// Element j would be at low + j * (interior + 1).
Kept KeptOf(const Eqn& e, size_t i) {
  const int64_t n = e.in(0).shape()[i], size = e.out().shape()[i];
  const __int128 low = e.ints("low")[i], step = __int128{e.ints("interior")[i]} + 1;
  const __int128 from = low >= 0 ? 0 : (-low + step - 1) / step;
  const __int128 to = std::min<__int128>(n - 1, low >= size ? -1 : (size - 1 - low) / step);
  if (size == 0 || from > to) return {};
  Kept kept{static_cast<int64_t>(from), static_cast<int64_t>(to - from) + 1, static_cast<int64_t>(low + from * step)};
  if (kept.count > 1) kept.stride = static_cast<int64_t>(step);
  return kept;
}

Value Zero(const Value& like) { return full(like.builder, like.type().WithShape({}), 0); }

// The cotangent without what was padded, and zeros for what was cut off.
Value Unpadded(const Eqn& e, const Value& ct) {
  Shape start, limit, strides, before, after;
  bool dense = true, whole = true, nothing_added = true;
  for (size_t i = 0; i < e.ints("low").size(); ++i) {
    const Kept kept = KeptOf(e, i);
    const int64_t n = e.in(0).shape()[i];
    if (kept.count == 0) return zeros(ct.builder, e.in(0).WithDType(ct.dtype()));
    start.push_back(kept.position);
    limit.push_back(kept.last() + 1);
    strides.push_back(kept.stride);
    before.push_back(kept.first);
    after.push_back(n - kept.first - kept.count);
    dense &= kept.stride == 1;
    whole &= kept.count == n;
    nothing_added &= kept.count == ct.shape()[i];
  }
  const Value x = nothing_added ? ct : slice(ct, start, limit, dense ? Shape{} : strides);
  return whole ? x : pad(x, Zero(x), before, after, Shape(before.size(), 0));
}
Value Total(const Value& x) { return x.rank() == 0 ? x : reduce_sum(x, rules::Range(x.rank())); }

void TransposeRule(const Eqn& e, Transpose& a) {
  const Value x = Unpadded(e, a.cts[0]);
  if (a.linear[0]) a.in_cts[0] = x;
  if (!a.linear[1]) return;
  const Value kept = Total(x);
  a.in_cts[1] = sub(Total(a.cts[0]), kept);
}

void BatchRule(const Eqn& e, Batch& a) {
  const bool has_batch = a.in[0].is_batched();
  const int64_t at = has_batch ? a.in[0].dim : 0, size[] = {a.size};
  const Value x = has_batch ? a.in[0].value : broadcast(a.in[0].value, size);
  const auto with_zero = [&](std::string_view name) {
    Shape dims(e.ints(name).begin(), e.ints(name).end());
    dims.insert(dims.begin() + at, 0);
    return dims;
  };
  const Shape low = with_zero("low"), high = with_zero("high"), interior = with_zero("interior");
  if (!a.in[1].is_batched()) {
    a.out[0] = {pad(x, a.in[1].value, low, high, interior), at};
    return;
  }
  const Value padded = pad(x, Zero(x), low, high, interior);
  const Value inside = full(x.builder, x.shape(), DType::kBool, 1);
  const Value mask = pad(inside, Zero(inside), low, high, interior);
  a.out[0] = {select(mask, padded, broadcast_in_dim(a.in[1].value, padded.shape(), Dims(&at, 1))), at};
}

Value Simpler(const Eqn& e, std::span<const Value> in) {
  for (std::string_view name : {"low", "high", "interior"}) {
    for (int64_t n : e.ints(name)) {
      if (n != 0) return {};
    }
  }
  return in[0];
}

Scalar FromIndex(KernelBuilder& k, const Eqn& e, uint32_t, std::span<const Scalar> at) {
  const Scalar value = k.Operand(1).Load({});
  if (e.in(0).elements() == 0) return value;
  Index from;
  Scalar inside;
  const auto require = [&](Scalar condition) { inside = inside.id == 0 ? condition : inside & condition; };
  for (size_t i = 0; i < at.size(); ++i) {
    const Kept kept = KeptOf(e, i);
    if (kept.count == 0) return value;
    // Counted from the last place of an element at or before 0, so that only numbers that are not negative are divided.
    const int64_t skipped = kept.count > 1 && kept.position > 0 && e.ints("low")[i] < 0 ? 1 : 0;
    const int64_t position = kept.position - skipped * kept.stride;
    Scalar step = at[i] - position;
    if (position > 0) {
      require(step >= 0);
      step = Max(step, k.At(0));
    }
    if (kept.stride > 1) {
      require(step % kept.stride == 0);
      step = step / kept.stride;
    }
    if (e.out().shape()[i] > kept.last() + kept.stride) {
      require(step < kept.count + skipped);
      step = Min(step, k.At(kept.count + skipped - 1));
    }
    from.push_back(step + (kept.first - skipped));
  }
  const Scalar x = k.Operand(0).Load(from);
  return inside.id == 0 ? x : Select(inside, x, value);
}

std::string Factors(const Eqn& e) {
  Shape from;
  for (int64_t i = 0; i < e.out().rank(); ++i) {
    const auto d = static_cast<size_t>(i);
    from.push_back(e.ints("low")[d] == 0 && e.ints("high")[d] == 0 && e.ints("interior")[d] == 0 ? i : -1);
  }
  return ViewFactors(e, from);
}

constexpr Row kRows[] = {{.name = "pad",
                          .doc = "y = pad(x, value): x with `value` added: `low` before, `high` after and `interior` "
                                 "between the elements of each dimension; negative `low` and `high` remove elements",
                          .attrs = kAttrs,
                          .type = Type,
                          .jvp = rules::kLinear,
                          .transpose = TransposeRule,
                          .batch = BatchRule,
                          .simplify = rules::One<Simpler>,
                          .factors_of = Factors,
                          .lowerings = lower::Index<FromIndex>,
                          .examples = "(f64[2,3], f64[]) low=[1,0] high=[2,1] interior=[0,0]; "
                                      "(f64[3,4], f64[]) low=[2,-1] high=[0,-2] interior=[1,2]"}};

}  // namespace

RowList pad_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
