// squeeze: drops dimensions of size 1; expand_dims: inserts dimensions of size 1 at the given positions of the result.
//
// Each is the transpose of the other.
#include "factor_text.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr char kSqueeze[] = "squeeze", kExpand[] = "expand_dims";
constexpr AttrSpec kAttrs[] = {{"dimensions", AttrKind::kInts}};

// ---- squeeze ----
ArrayTypes SqueezeType(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType x = e.in(0);
  const Dims dims = e.ints("dimensions");
  rules::WantAxes(e, 0, "dimensions", dims);
  for (int64_t d : dims) {
    if (x.dim(d) != 1) e.Fail("dimension ", d, " of ", x, " has size ", x.dim(d), ", only size 1 can be dropped");
  }
  return x.WithShape(rules::Without(x.shape(), dims));
}
Value SqueezeTransposed(const Eqn& e, const Value& ct) { return expand_dims(ct, e.ints("dimensions")); }
Batched SqueezeBatch(const Eqn& e, const Batched& x) {
  int64_t to = x.dim;
  for (int64_t d : e.ints("dimensions")) to -= d < x.dim;
  return {squeeze(x.value, rules::Shifted(e.ints("dimensions"), x.dim)), to};
}
Index SqueezeIndex(KernelBuilder& k, const Eqn& e, std::span<const Scalar> at) {
  Index from;
  size_t next = 0;
  for (int64_t i = 0; i < e.in(0).rank(); ++i) {
    from.push_back(rules::Contains(e.ints("dimensions"), i) ? k.At(0) : at[next++]);
  }
  return from;
}
std::string SqueezeFactors(const Eqn& e) {
  return ViewFactors(e, rules::Complement(e.ints("dimensions"), e.in(0).rank()));
}

std::optional<ViewMap> SqueezeViewMap(const Eqn& e, uint32_t operand) {
  ViewMap map(e, operand);
  map.from = rules::Complement(e.ints("dimensions"), e.in(0).rank());
  return map;
}

// Either one undoes the other if their dimensions are the same.
template <const char* inverse>
Value Simpler(const Eqn& e, std::span<const Value> in) {
  if (e.in(0) == e.out()) return in[0];
  const Producer p(in[0]);
  const bool undone = p.Is(inverse) && SameDims(p.eqn().ints("dimensions"), e.ints("dimensions"));
  return undone ? p.operand(0) : Value{};
}

// ---- expand_dims ----
ArrayTypes ExpandType(const Eqn& e) {
  e.WantOperands(1);
  const ArrayType x = e.in(0);
  const Dims dims = e.ints("dimensions");
  const int64_t rank = x.rank() + static_cast<int64_t>(dims.size());
  Shape shape(static_cast<size_t>(rank), 0);
  for (int64_t d : dims) {
    if (d < 0 || d >= rank) e.Fail("dimensions ", dims, " are out of range for a result of rank ", rank);
    if (shape[static_cast<size_t>(d)] == 1) e.Fail("dimensions ", dims, " names ", d, " twice");
    shape[static_cast<size_t>(d)] = 1;
  }
  size_t next = 0;
  for (int64_t d : rules::Complement(dims, rank)) shape[static_cast<size_t>(d)] = x.shape()[next++];
  return x.WithShape(shape);
}
Value ExpandTransposed(const Eqn& e, const Value& ct) { return squeeze(ct, e.ints("dimensions")); }
Batched ExpandBatch(const Eqn& e, const Batched& x) {
  return {expand_dims(rules::MoveDim(x.value, x.dim, 0), rules::Shifted(e.ints("dimensions"), 0)), 0};
}
Index ExpandIndex(KernelBuilder&, const Eqn& e, std::span<const Scalar> at) {
  Index from;
  for (int64_t i : rules::Complement(e.ints("dimensions"), e.out().rank())) from.push_back(at[static_cast<size_t>(i)]);
  return from;
}
std::string ExpandFactors(const Eqn& e) {
  Shape from;
  int64_t next = 0;
  for (int64_t i = 0; i < e.out().rank(); ++i) from.push_back(rules::Contains(e.ints("dimensions"), i) ? -1 : next++);
  return ViewFactors(e, from);
}

std::optional<ViewMap> ExpandViewMap(const Eqn& e, uint32_t operand) {
  ViewMap map(e, operand);
  int64_t next = 0;
  for (int64_t i : rules::Complement(e.ints("dimensions"), e.out().rank())) map.from[static_cast<size_t>(i)] = next++;
  return map;
}

constexpr Row kRows[] = {
    rules::ViewRow<SqueezeIndex, SqueezeTransposed, SqueezeBatch, Simpler<kExpand>>(
        {.name = kSqueeze,
         .doc = "y = squeeze(x): x without its dimensions `dimensions`, which have size 1",
         .attrs = kAttrs,
         .type = SqueezeType,
         .factors_of = SqueezeFactors,
         .view_map = SqueezeViewMap,
         .examples = "(f64[1,3,1]) dimensions=[2,0]"}),
    rules::ViewRow<ExpandIndex, ExpandTransposed, ExpandBatch, Simpler<kSqueeze>>(
        {.name = kExpand,
         .doc = "y = expand_dims(x): x with new dimensions of size 1, which are `dimensions` of y",
         .attrs = kAttrs,
         .type = ExpandType,
         .factors_of = ExpandFactors,
         .view_map = ExpandViewMap,
         .examples = "(f64[2,3]) dimensions=[1,3]"}),
};

}  // namespace

RowList unit_dims_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
