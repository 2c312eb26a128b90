// Values that are read beside something computed from them: extrema, sorted values, masks of derivatives, and what they
// are compared with.
//
// Such a value is often computed again in the kernel of each reader, and only equal bits there make the comparison
// right: `eq(d, max(d, eps))` is how derivatives of extrema find the operand that was chosen. So the values here are
// sums of products, which a code generator could round in two ways, and their readers are in several kernels. Of what
// is known, the readers may be computed when the program is compiled, and the value when it runs.
#include "fuzz/generators.h"

namespace ricci::testing {
namespace {

constexpr DTypeSet kContracted = SetOf(DType::kF32) | SetOf(DType::kF64);

// Known when the program is compiled: an index along a dimension, or a function of it.
Value Known(Draft& d, const Value& like) {
  const Value index = like.rank() == 0
                          ? lax::full_like(like, 3)
                          : lax::iota(like.builder, like.dtype(), like.shape(), d.dice().Below(like.rank()));
  constexpr std::string_view kFunctions[] = {"sin", "tanh", "log1p", "sqrt", "logistic", "square"};
  const Values of = d.dice().Chance(0.5) ? d.Emit(d.dice().Pick(kFunctions), {index}) : Values{index};
  return of.empty() ? index : of[0];
}

// A sum or difference of one or two products. Sometimes a product has another reader, and often operands are known.
Value SumOfProducts(Draft& d) {
  const Value any = d.Any(kContracted);
  const double known = d.dice().Chance(0.3) ? 0.7 : 0;
  const auto operand = [&] { return d.dice().Chance(known) ? Known(d, any) : d.Of(any.type()); };
  const Value x = operand(), y = operand(), z = operand();
  const Values made = d.dice().Chance(0.3) ? d.Emit("square", {x}) : d.Emit("mul", {x, y});
  if (made.empty()) return {};
  const Value product = made[0];
  if (d.dice().Chance(0.2)) d.Keep(made);
  const bool first = d.dice().Chance(0.5), second_product = d.dice().Chance(0.3);
  const Value other = second_product ? lax::mul(y, z) : z;
  const Values sum = d.Emit(d.dice().Chance(0.5) ? "sub" : "add", {first ? product : other, first ? other : product});
  return sum.empty() ? Value{} : sum[0];
}

// Of the type of `v`, computed from it, and equal to it in many elements.
Value ChosenFrom(Draft& d, const Value& v) {
  const Value limit = d.dice().Chance(0.5) ? lax::full_like(v, d.dice().Chance(0.5) ? 0.0 : 1e-6) : d.Of(v.type());
  const int64_t rank = v.rank();
  const auto along = [&](std::string_view row) {
    return d.Emit(row, {v}, {{"axis", d.dice().Below(rank)}, {"reverse", d.dice().Chance(0.5)}});
  };
  const auto extremum = [&](std::string_view row) {
    const Shape axes = {d.dice().Below(rank)};
    const Values least = d.Emit(row, {v}, {{"axes", axes}});
    Shape kept;
    for (int64_t i = 0; i < rank; ++i) {
      if (i != axes[0]) kept.push_back(i);
    }
    const Shape shape(v.shape().begin(), v.shape().end());
    return least.empty() ? least
                         : d.Emit("broadcast_in_dim", least, {{"shape", shape}, {"broadcast_dimensions", kept}});
  };
  const int64_t way = d.dice().Below(rank == 0 ? 4 : 9);
  Values out;
  if (way == 0) out = d.Emit("max", {v, limit});
  if (way == 1) out = d.Emit("min", {limit, v});
  if (way == 2) out = {lax::select_n(lax::lt(v, limit), {v, limit})};
  if (way == 3) out = {lax::abs(v)};
  if (way == 4) out = extremum("reduce_max");
  if (way == 5) out = extremum("reduce_min");
  if (way == 6) out = along(d.dice().Chance(0.5) ? "cummax" : "cummin");
  if (way == 7) out = d.Emit("rev", {v}, {{"dimensions", Shape{d.dice().Below(rank)}}});
  if (way == 8) {
    out = d.Emit("sort", {v}, {{"dimension", d.dice().Below(rank)}, {"is_stable", true}, {"num_keys", 1}});
  }
  return out.empty() ? Value{} : out[0];
}

// What compares them: a mask, what a mask chooses, a difference that is 0 where they are equal.
Value Compared(Draft& d, const Value& v, const Value& chosen) {
  constexpr std::string_view kMasks[] = {"eq", "ne", "lt", "le", "ge"};
  const Values mask = d.Emit(d.dice().Pick(kMasks), {v, chosen});
  if (mask.empty()) return {};
  switch (d.dice().Below(4)) {
    case 0:
      return mask[0];
    case 1:
      return lax::sub(v, chosen);
    case 2:
      return lax::div(lax::convert_element_type(mask[0], v.dtype()), lax::full_like(v, 2));
    default:
      return lax::select_n(mask[0], {v, lax::full_like(v, 0)});
  }
}

void BesideItself(Draft& d) {
  const Value v = SumOfProducts(d);
  if (v.is_none()) return;
  // Half of the time something stores it, or reads it in a kernel that ends there.
  if (v.rank() > 0 && d.dice().Chance(0.5)) {
    Shape axes;
    for (int64_t i = 0; i < v.rank(); ++i) axes.push_back(i);
    d.Keep(d.Emit("reduce_sum", {lax::mul(v, v)}, {{"axes", axes}}));
  }
  const Value chosen = ChosenFrom(d, v);
  if (chosen.is_none()) return;
  const Value compared = Compared(d, v, chosen);
  if (compared.is_none()) return;
  d.Count("value beside what is computed from it");
  d.Add({compared});
  d.Keep({compared});
}

// The position of an extremum of such values, and the element there.
void AtExtremum(Draft& d) {
  const Value v = SumOfProducts(d);
  if (v.is_none() || v.rank() == 0) return;
  const Shape axes = {d.dice().Below(v.rank())};
  const bool greatest = d.dice().Chance(0.5);
  d.Keep(d.Emit(greatest ? "argmax" : "argmin", {v}, {{"axes", axes}, {"index_dtype", DType::kI32}}));
  d.Keep(d.Emit(greatest ? "reduce_max" : "reduce_min", {v}, {{"axes", axes}}));
}

constexpr Generator kGenerators[] = {{10, false, BesideItself}, {3, false, AtExtremum}};

}  // namespace

std::span<const Generator> ComparisonGenerators() { return kGenerators; }

}  // namespace ricci::testing
