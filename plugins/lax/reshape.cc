// reshape: the same elements in row-major order, in other dimensions.
//
// Both shapes are cut into groups of dimensions with equal products; a dimension of size 1 that is added or dropped is
// a group by itself. In a group with one dimension on each side the index passes through, elsewhere it is linearised
// and split again. Only whole groups are factors.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"new_sizes", AttrKind::kInts}};

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType x = e.in(0);
  const Dims sizes = e.ints("new_sizes");
  for (int64_t size : sizes) {
    if (size < 0) e.Fail("new_sizes ", sizes, " must not be negative");
  }
  if (Narrow(ExactCount(sizes)) != x.elements()) {
    e.Fail("new_sizes ", sizes, " holds ", ExactCount(sizes), " elements, ", x, " holds ", x.elements());
  }
  return x.WithShape(sizes);
}

Value Transposed(const Eqn& e, const Value& ct) { return reshape(ct, e.in(0).shape()); }

Batched BatchRule(const Eqn& e, const Batched& x) {
  Shape sizes{x.value.dim(x.dim)};
  sizes.insert(sizes.end(), e.ints("new_sizes").begin(), e.ints("new_sizes").end());
  return {reshape(rules::MoveDim(x.value, x.dim, 0), sizes), 0};
}

// Dimensions [from, from_end) of x hold the same elements as [to, to_end) of the result.
struct Group {
  size_t from, from_end, to, to_end;
  bool is_one_dimension() const { return from_end - from == 1 && to_end - to == 1; }
};

std::vector<Group> GroupsOf(Dims from, Dims to) {
  std::vector<Group> groups;
  size_t i = 0, j = 0;
  const auto is_unit = [](Dims dims, size_t d) { return d < dims.size() && dims[d] == 1; };
  while (i < from.size() || j < to.size()) {
    Group g{i, i, j, j};
    int64_t a = 1, b = 1;
    if (is_unit(from, i) != is_unit(to, j)) {  // a dimension of size 1 is added or dropped
      is_unit(from, i) ? g.from_end = ++i : g.to_end = ++j;
      groups.push_back(g);
      continue;
    }
    if (i < from.size()) a = from[i++];
    if (j < to.size()) b = to[j++];
    while (a != b) {
      if (a < b && i < from.size()) {
        a *= from[i++];
      } else if (j < to.size()) {
        b *= to[j++];
      } else {
        a *= from[i++];
      }
    }
    g.from_end = i;
    g.to_end = j;
    groups.push_back(g);
  }
  return groups;
}

// The index of x within one group, from that of the result.
void AppendIndex(KernelBuilder& k, Dims from, Dims to, const Group& g, std::span<const Scalar> at, Index& out) {
  if (g.is_one_dimension()) {
    out.push_back(at[g.to]);
    return;
  }
  Scalar linear = k.At(0);
  for (size_t j = g.to; j < g.to_end; ++j) linear = linear * to[j] + at[j];
  for (size_t i = g.from; i < g.from_end; ++i) {
    const int64_t inner = ElementCount(from.subspan(i + 1, g.from_end - i - 1));
    Scalar digit = inner == 1 ? linear : linear / inner;
    if (i != g.from) digit = digit % from[i];
    out.push_back(from[i] == 1 ? k.At(0) : digit);
  }
}

Index FromIndex(KernelBuilder& k, const Eqn& e, std::span<const Scalar> at) {
  const Dims from = e.in(0).shape(), to = e.out().shape();
  Index index;
  for (const Group& g : GroupsOf(from, to)) AppendIndex(k, from, to, g, at, index);
  return index;
}

// Nothing to change, or a reshape of a reshape.
Value Simpler(const Eqn& e, std::span<const Value> in) {
  if (e.in(0) == e.out()) return in[0];
  const Producer p(in[0]);
  return p.Is("reshape") ? reshape(p.operand(0), e.out().shape()) : Value{};
}

// Dimensions of a group that is not one to one have factors of their own, which cannot be split.
std::string Factors(const Eqn& e) {
  const Dims from = e.in(0).shape(), to = e.out().shape();
  Shape left, right, whole;
  int64_t next = 0;
  if (ElementCount(to) == 0) {
    for (size_t i = 0; i < from.size(); ++i) whole.push_back(next), left.push_back(next++);
    for (size_t j = 0; j < to.size(); ++j) whole.push_back(next), right.push_back(next++);
  } else {
    for (const Group& g : GroupsOf(from, to)) {
      if (g.is_one_dimension()) {
        left.push_back(next);
        right.push_back(next++);
        continue;
      }
      for (size_t i = g.from; i < g.from_end; ++i) whole.push_back(next), left.push_back(next++);
      for (size_t j = g.to; j < g.to_end; ++j) whole.push_back(next), right.push_back(next++);
    }
  }
  const std::string text = rules::Letters(left) + " -> " + rules::Letters(right);
  return whole.empty() ? text : text + "; whole " + rules::Letters(whole);
}

// Known if each dimension with more than one element is a dimension of the other side.
std::optional<ViewMap> ViewMapOf(const Eqn& e, uint32_t operand) {
  ViewMap map(e, operand);
  if (e.out().elements() == 0) return std::nullopt;
  for (const Group& g : GroupsOf(e.in(0).shape(), e.out().shape())) {
    const bool unit = ElementCount(e.in(0).shape().subspan(g.from, g.from_end - g.from)) == 1;
    if (!unit && !g.is_one_dimension()) return std::nullopt;
    if (!unit) map.from[g.to] = static_cast<int64_t>(g.from);
  }
  return map;
}

constexpr Row kRows[] = {rules::ViewRow<FromIndex, Transposed, BatchRule, Simpler>(
    {.name = "reshape",
     .doc = "y = reshape(x): the elements of x in row-major order, in the shape `new_sizes`",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_VIEW,
     .type = Type,
     .factors_of = Factors,
     .view_map = ViewMapOf,
     .examples = "(f64[2,6]) new_sizes=[2,3,1,2]; "
                 "(f64[1,3,4,1]) new_sizes=[3,1,1,2,2]; "
                 "(f64[4,3]) new_sizes=[6,2]"})};

}  // namespace

RowList reshape_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
