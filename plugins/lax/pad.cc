// pad: x with `low` and `high` elements of the padding value before and after each dimension and `interior` ones
// between neighbours. Negative low or high cut off.
//
// Lowered by index: the operand is loaded at a clamped index and selected where the index falls on one of its elements,
// so that no load is out of bounds.
#include "factor_text.hpp"

namespace ricci::inline v0::lax::rows {
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
    shape.push_back(low[i] + high[i] + n + std::max<int64_t>(n - 1, 0) * interior[i]);
    if (shape.back() < 0) e.Fail("dimension ", i, " of ", x, " becomes ", shape.back(), ", it must not be negative");
  }
  return x.WithShape(shape);
}

Value Zero(const Value& like) { return full(like.builder, Dims{}, like.dtype(), 0); }

// The cotangent without what was padded.
Value Unpadded(const Eqn& e, const Value& ct) {
  const Dims low = e.ints("low"), high = e.ints("high"), interior = e.ints("interior");
  Shape cut_low, cut_high, none(low.size(), 0), strides;
  for (size_t i = 0; i < low.size(); ++i) {
    cut_low.push_back(-low[i]);
    cut_high.push_back(-high[i]);
    strides.push_back(interior[i] + 1);
  }
  const Value x = pad(ct, Zero(ct), cut_low, cut_high, none);
  const bool dense = std::all_of(interior.begin(), interior.end(), [](int64_t i) { return i == 0; });
  return dense ? x : slice(x, none, x.shape(), strides);
}
Value Total(const Value& x) { return x.rank() == 0 ? x : reduce_sum(x, rules::Range(x.rank())); }

void TransposeRule(const Eqn& e, Transpose& a) {
  const Value x = Unpadded(e, a.cts[0]);
  if (a.linear[0]) a.in_cts[0] = x;
  if (a.linear[1]) a.in_cts[1] = sub(Total(a.cts[0]), Total(x));
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
    const int64_t low = e.ints("low")[i], high = e.ints("high")[i], stride = e.ints("interior")[i] + 1;
    const int64_t n = e.in(0).shape()[i];
    Scalar place = at[i] - low;
    if (low > 0) {
      require(place >= 0);
      place = Max(place, k.At(0));
    }
    if (stride > 1) {
      require(place % stride == 0);
      place = place / stride;
    }
    if (high > 0) {
      require(place < n);
      place = Min(place, k.At(n - 1));
    }
    from.push_back(place);
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
                          .attrs = kAttrs,
                          .type = Type,
                          .jvp = rules::Linear,
                          .transpose = TransposeRule,
                          .batch = BatchRule,
                          .simplify = Simpler,
                          .factors_of = Factors,
                          .index = FromIndex,
                          .examples = "(f64[2,3], f64[]) low=[1,0] high=[2,1] interior=[0,0]; "
                                      "(f64[3,4], f64[]) low=[2,-1] high=[0,-2] interior=[1,2]"}};

}  // namespace

RowList pad_rows() { return kRows; }

}  // namespace ricci::inline v0::lax::rows
