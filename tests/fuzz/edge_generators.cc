// Edge cases: arguments next to a zero, a pole or the end of a domain, where functions saturate or overflow, and sizes
// next to what a dtype, a vector or a tile holds.
//
// Such arguments are constants, half of them hidden from the compiler, so that no rounding before the function
// determines its result. Smooth programs have none of them; instead they have waves shorter than the steps by which
// their derivatives are checked.
#include <cmath>

#include "fuzz/array_data.h"
#include "fuzz/generators.h"

namespace ricci::testing {
namespace {

constexpr double kPi = 3.14159265358979323846;

// A function, its edges, and interesting values of its second operand.
struct Edge {
  std::string_view name;
  std::vector<double> at, second;
};
const std::vector<Edge>& Edges() {
  static const std::vector<Edge> kAll = {
      {"log", {0, 1}, {}},
      {"log1p", {-1, 0}, {}},
      {"exp", {0, 11.0899, -16.6355, -9.7, 88.7228, -87.3365, -103.2789, 709.7827, -708.3964, -744.4401}, {}},
      {"exp2", {0, 16, -14, -24, 128, -126, -149, 1024, -1022, -1074}, {}},
      {"expm1", {0, 11.0899, 88.7228, 709.7827, -8.3, -17.3287, -37.4299}, {}},
      {"logistic", {0, 8.3, 16.6355, 36.7368, -88.7228, -103.2789, -709.7827, -744.4401}, {}},
      {"tanh", {0, 4.5, 9.0109, 19.0615}, {}},
      {"sinh", {0, 11.7830, 89.4159, 710.4758}, {}},
      {"cosh", {0, 11.7830, 89.4159, 710.4758}, {}},
      {"asinh", {0, 1e19, 1e154}, {}},
      {"acosh", {1, 1e19, 1e154}, {}},
      {"atanh", {0, 1, -1}, {}},
      {"sin", {0, kPi, 2 * kPi, 100 * kPi}, {}},
      {"cos", {0, kPi / 2, 1.5 * kPi, 99.5 * kPi}, {}},
      {"tan", {0, kPi / 2, -kPi / 2, kPi}, {}},
      {"asin", {0, 1, -1, 0.5}, {}},
      {"acos", {0, 1, -1, 0.5}, {}},
      {"atan", {0, 1, 1e8, 1e17}, {}},
      {"atan2", {0, 1, -1, 1e30}, {0, 1, -1, 1e30}},
      {"sqrt", {0, 1, 4}, {}},
      {"rsqrt", {0, 1, 4}, {}},
      {"cbrt", {0, 1, 8}, {}},
      {"erf", {0, 1, 2.2, 3.9192, 5.9216}, {}},
      {"erfc", {0, 0.5, 4.2, 9.1949, 10.0545, 26.5433, 27.2264}, {}},
      {"erf_inv", {0, 1, -1, 0.5}, {}},
      {"lgamma", {0, 1, 2, -1, -2, 3, 171.6, 4.0e36}, {}},
      {"digamma", {0, 1, 2, -1, -2, 1.4616321449683623}, {}},
      {"pow", {0, 1, 2, 1e30}, {0, 1, -1, 0.5, 3, 88, 1023}},
      {"div", {0, 1, 1e30}, {0, 1, 1e-30}},
      {"rem", {0, 1, 3, 1e6}, {1, 3, 0.5}},
      {"floor", {0, 1, -1, 8388608}, {}},
      {"ceil", {0, 1, -1, 8388608}, {}},
      {"nextafter", {0, 1, -1}, {0, 1, -1}},
      {"sign", {0}, {}},
      {"is_finite", {0, 3.4e38, 1.7e308}, {}},
  };
  return kAll;
}

// `edge` itself, a few units in the last place or some power of two away from it; 0 with either sign.
double Near(Draft& d, double edge, DType dtype) {
  const double ulp = std::max(std::fabs(edge) * InfoOf(dtype).epsilon, InfoOf(dtype).tiny);
  const double sign = d.dice().Chance(0.5) ? 1 : -1;
  switch (d.dice().Below(3)) {
    case 0:
      return edge == 0 ? sign * edge : edge;
    case 1:
      return edge + sign * ulp * static_cast<double>(d.dice().Between(1, 4));
    default:
      return edge + sign * std::ldexp(1, -static_cast<int>(d.dice().Between(1, InfoOf(dtype).mantissa_bits + 2)));
  }
}
Value ValuesNear(Draft& d, const ArrayType& type, const std::vector<double>& edges) {
  Bytes bytes;
  for (int64_t i = 0; i < type.elements(); ++i) {
    const Element e = Encode(type.dtype(), Near(d, d.dice().Pick(edges), type.dtype()));
    for (uint32_t k = 0; k < e.size; ++k) bytes.push_back(static_cast<std::byte>(e.bytes[k]));
  }
  return bytes.empty() ? d.Constant(type) : d.Hidden(d.ConstantOf(type, bytes));
}
void NextToAnEdge(Draft& d) {
  const Edge& e = d.dice().Pick(Edges());
  const ArrayType type = d.Type(d.SomeDType(kFloats), d.SomeShape(d.dice().Between(0, 1)));
  Values in = {ValuesNear(d, type, e.at)};
  if (!e.second.empty()) in.push_back(ValuesNear(d, type, e.second));
  if (!d.Emit(e.name, in).empty()) d.Count("argument next to an edge");
}

// sin or cos of something large, alone or on a slope that looks smooth from afar. Still faster waves, damped below the
// rounding errors, could not be seen by any difference.
void ShortWave(Draft& d) {
  const Value x = d.AnyOfRank(0, 2, SetOf(DType::kF64));
  const Value fast = lax::mul(d.Bounded(x), std::pow(10.0, 0.5 * static_cast<double>(d.dice().Between(6, 9))));
  const Values wave = d.Emit(d.dice().Chance(0.5) ? "sin" : "cos", {fast});
  if (wave.empty()) return;
  d.Count("wave shorter than a step");
  if (d.dice().Chance(0.5)) d.Emit("add", {lax::mul(x, 10.0), wave[0]});
}

// ---- sizes ----
constexpr int64_t kLimits[] = {127, 128, 129, 255, 256, 257};

// Positions that a byte cannot name, or just can.
void LongDimension(Draft& d) {
  const int64_t n = std::min(d.dice().Pick(kLimits), d.palette().max_elements / 2);
  const Shape shape = {n}, positions = {d.dice().Between(1, 4), 1};
  const Value x = d.Of(d.SomeDType(kNumbers), shape);
  const DType small = d.dice().Chance(0.5) ? DType::kU8 : DType::kI8;
  const Value at = d.Indices(positions, n), start = d.Of(small, Dims{});
  const Shape none, first = {0}, one = {1}, lengths = {d.dice().Between(1, n)};
  d.Count("size at a limit");
  switch (d.dice().Below(5)) {
    case 0:
      return (void)d.Emit("iota", {}, {{"dtype", small}, {"shape", shape}, {"dimension", 0}});
    case 1:
      return (void)d.Emit("dynamic_slice", {x, start}, {{"slice_sizes", lengths}});
    case 2:
      return (void)d.Emit("dynamic_update_slice", {x, d.Of(x.dtype(), lengths), start});
    case 3:
      return (void)d.Emit("gather", {x, d.Emit("convert_element_type", {at}, {{"new_dtype", small}})[0]},
                          {{"offset_dims", none},
                           {"collapsed_slice_dims", first},
                           {"start_index_map", first},
                           {"slice_sizes", one},
                           {"mode", d.dice().Chance(0.5) ? "clip" : "fill"}});
    default:
      return (void)d.Emit("argmax", {x}, {{"axes", first}, {"index_dtype", small}});
  }
}
// As many dimensions as a type may have, or strides and edges far beyond the operand.
void ExtremeAttributes(Draft& d) {
  const Value x = d.AnyOfRank(1, 3);
  const size_t rank = static_cast<size_t>(x.rank());
  const Shape sizes(x.shape().begin(), x.shape().end());
  constexpr int64_t kHuge[] = {INT64_MAX, INT64_MAX - 1, int64_t{1} << 62, int64_t{1} << 32, int64_t{1} << 31};
  d.Count("size at a limit");
  switch (d.dice().Below(3)) {
    case 0: {
      Shape ones(RICCI_MAX_RANK - 2 - rank, 1), places;  // two transforms may add one each
      for (size_t i = 0; i < rank; ++i) places.push_back(static_cast<int64_t>(ones.size() + i));
      ones.insert(ones.end(), sizes.begin(), sizes.end());
      return (void)d.Emit("broadcast_in_dim", {x}, {{"shape", ones}, {"broadcast_dimensions", places}});
    }
    case 1: {
      const Shape start(rank, 0), strides(rank, d.dice().Pick(kHuge));
      return (void)d.Emit("slice", {x}, {{"start_indices", start}, {"limit_indices", sizes}, {"strides", strides}});
    }
    default: {
      Shape low(rank, 0), high, interior(rank, 0);
      low[0] = -sizes[0] - d.dice().Below(3);
      for (size_t i = 0; i < rank; ++i) high.push_back(i == 0 ? d.dice().Between(0, 4) - low[0] - sizes[0] : 0);
      return (void)d.Emit("pad", {x, d.Of(x.dtype(), {})}, {{"low", low}, {"high", high}, {"interior", interior}});
    }
  }
}

// ---- equations that are almost one ----
// An attribute with another value, or its value moved to another attribute of the same kind, and itself left out.
void ChangeAttribute(Draft& d, DrawnEquation& e) {
  if (e.attrs.empty() || !e.programs.empty()) return;
  // With `pivoting`, rounding decides between columns of equal norms, so matrices are drawn for it.
  constexpr std::string_view kPromises[] = {"is_stable", "unique_indices", "indices_are_sorted", "code", "pivoting"};
  DrawnEquation::HeldAttr& a = e.attrs[static_cast<size_t>(d.dice().Below(static_cast<int64_t>(e.attrs.size())))];
  const auto named = [&](ricci_str name) {
    return std::any_of(e.attrs.begin(), e.attrs.end(), [&](const DrawnEquation::HeldAttr& other) {
      return std::string_view(other.attr.name.ptr, other.attr.name.len) == std::string_view(name.ptr, name.len);
    });
  };
  const std::string_view name(a.attr.name.ptr, a.attr.name.len);
  if (std::find(std::begin(kPromises), std::end(kPromises), name) != std::end(kPromises)) return;
  const ricci_prim_def& row = RowOf(d.context(), e.primitive);
  for (const ricci_attr_spec& spec : std::span(row.attr_specs, row.n_attr_specs)) {
    const bool fits = spec.kind == a.attr.kind && (spec.flags & RICCI_ATTR_OPTIONAL) != 0 && !named(spec.name);
    if (fits && d.dice().Chance(0.5)) return (void)(a.attr.name = spec.name);
  }
  if (d.palette().smooth) return;
  if (a.attr.kind == RICCI_ATTR_BOOL) a.attr.i = 1 - a.attr.i;
  if (a.attr.kind == RICCI_ATTR_INT) a.attr.i += d.dice().Chance(0.5) ? 1 : -1;
  if (a.attr.kind == RICCI_ATTR_DTYPE) a.attr.i = static_cast<int64_t>(d.SomeDType(kNumbers));
  if (a.attr.kind == RICCI_ATTR_INTS && a.attr.count != 0) {
    auto* list = reinterpret_cast<int64_t*>(a.data.data());
    if (d.dice().Chance(0.5))
      list[d.dice().Below(a.attr.count)] += d.dice().Chance(0.5) ? 1 : -1;
    else
      std::reverse(list, list + a.attr.count);
  }
}
// Repeats one of the last equations: equal, or with the attributes changed in one place.
void Twin(Draft& d) {
  if (d.recent().empty()) return;
  DrawnEquation e = d.dice().Pick(d.recent());
  const bool changed = d.dice().Chance(0.7);
  if (changed) ChangeAttribute(d, e);
  const Values out = d.Emit(e.primitive, e.in, e.Attrs());
  if (out.empty()) return;
  d.Keep(out);
  d.Count(changed ? "equation with a changed attribute" : "equation twice");
}
// Often only the names of their attributes differ.
void ProductsOfTheSameOperands(Draft& d) {
  const Value x = d.AnyOfRank(1, 2, kNumbers);
  const Value y = d.Of(x.type());
  const bool one_kind = d.dice().Chance(0.7), contracts_first = d.dice().Chance(0.5),
             short_lists = d.dice().Chance(0.7);
  for (int i = 0; i < 2; ++i) {
    Shape contract, batch;
    for (int64_t axis = 0; axis < x.rank(); ++axis) {
      const bool contracts = one_kind ? contracts_first == (i == 0) : d.dice().Chance(0.5);
      (contracts ? contract : batch).push_back(axis);
    }
    const Attr all[] = {
        {"lhs_contract", contract}, {"rhs_contract", contract}, {"lhs_batch", batch}, {"rhs_batch", batch}};
    std::vector<ricci_attr> attrs;
    for (const Attr& a : all) {
      if (a.count != 0 || !short_lists) attrs.push_back(a);
    }
    const Values product = d.Emit("dot_general", {x, y}, attrs);
    d.Keep(product);
    if (!product.empty()) d.Count("product of the same operands");
  }
}

// ---- constants of equal bytes ----
// Of two dtypes, each read at a place that only a run knows: a file holds their bytes once. They are zeros and ones of
// the first dtype, if those are numbers of the second too.
void ConstantsOfEqualBytes(Draft& d) {
  constexpr std::pair<DType, DType> kPairs[] = {
      {DType::kF32, DType::kI32},  {DType::kF32, DType::kBool}, {DType::kF64, DType::kI64}, {DType::kI32, DType::kU32},
      {DType::kBF16, DType::kU16}, {DType::kF16, DType::kBF16}, {DType::kBool, DType::kU8}, {DType::kI64, DType::kF32}};
  const auto [first, second] = d.dice().Pick(kPairs);
  const Shape shape = {d.dice().Between(2, 40)};
  const ArrayType type = d.Type(first, shape);
  Bytes bytes;
  for (int64_t i = 0; i < type.elements(); ++i) {
    const Element e = Encode(first, second != DType::kBool && second != DType::kF32 && d.dice().Chance(0.5) ? 1 : 0);
    for (uint32_t k = 0; k < e.size; ++k) bytes.push_back(static_cast<std::byte>(e.bytes[k]));
  }
  const Shape other = {static_cast<int64_t>(bytes.size()) / SizeOf(second)}, one = {1};
  const Value at = d.Of(DType::kI32, Dims{});
  const Values a = d.Emit("dynamic_slice", {d.ConstantOf(type, bytes), at}, {{"slice_sizes", one}});
  const Values b = d.Emit("dynamic_slice", {d.ConstantOf(d.Type(second, other), bytes), at}, {{"slice_sizes", one}});
  d.Keep(a);
  d.Keep(b);
  d.Count("constants of equal bytes");
}

constexpr Generator kGenerators[] = {
    {3, false, NextToAnEdge},        {1, true, ShortWave}, {1, false, LongDimension},
    {1, false, ExtremeAttributes},   {3, true, Twin},      {1, true, ProductsOfTheSameOperands},
    {1, true, ConstantsOfEqualBytes}};

}  // namespace

std::span<const Generator> EdgeGenerators() { return kGenerators; }

}  // namespace ricci::testing
