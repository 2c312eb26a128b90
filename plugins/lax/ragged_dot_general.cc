// ragged_dot_general: a product of lhs, a dimension of which consists of groups of rows, with one factor per group.
//
// Where the ragged dimension is free, rhs has a dimension for the groups, and each row meets the factor of its group;
// rows after the last group give 0. Where it is contracted, the result has the groups as its first dimension. Where it
// is a batch dimension, groups do not matter. As in jax.lax the operands are made dense, with zeros outside of their
// groups, for one dot_general. Unlike there, all three modes have a reverse mode.
#include "dot_dims.hpp"
#include "factor_text.hpp"
#include "held_program.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"lhs_contract", AttrKind::kInts, "[]"},
                               {"rhs_contract", AttrKind::kInts, "[]"},
                               {"lhs_batch", AttrKind::kInts, "[]"},
                               {"rhs_batch", AttrKind::kInts, "[]"},
                               {"lhs_ragged", AttrKind::kInts},
                               {"rhs_group", AttrKind::kInts, "[]"},
                               {"preferred_element_type", AttrKind::kDType, "that of the operands"},
                               {"precision", AttrKind::kString, "default"}};

enum class Mode { kFree, kContracted, kBatch };

int64_t RaggedOf(const Eqn& e) { return e.ints("lhs_ragged")[0]; }
Mode ModeOf(const Eqn& e) {
  const Side lhs = SideOf(e, 0);
  if (rules::Contains(lhs.contract, RaggedOf(e))) return Mode::kContracted;
  return rules::Contains(lhs.batch, RaggedOf(e)) ? Mode::kBatch : Mode::kFree;
}
int64_t PositionIn(Dims dims, int64_t d) { return std::find(dims.begin(), dims.end(), d) - dims.begin(); }

// The dimensions of operand `i` that group_sizes has before that of the groups: batch dimensions, then those of its
// role before `ragged`.
Shape PrefixOf(const Eqn& e, uint32_t i, int64_t ragged) {
  const Side s = SideOf(e, i);
  const Mode mode = ModeOf(e);
  const auto before = [&](Dims dims) { return dims.first(static_cast<size_t>(PositionIn(dims, ragged))); };
  Shape out(s.batch.begin(), s.batch.end());
  if (mode == Mode::kBatch) out.resize(static_cast<size_t>(PositionIn(s.batch, ragged)));
  const Dims more = mode == Mode::kFree ? before(s.free) : mode == Mode::kContracted ? before(s.contract) : Dims{};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

// ---- type ----
void CheckGroups(const Eqn& e) {
  const ArrayType lhs = e.in(0), rhs = e.in(1), sizes = e.in(2);
  const Dims ragged = e.ints("lhs_ragged"), group = e.ints("rhs_group");
  if (ragged.size() != 1) e.Fail("lhs_ragged ", ragged, " must name one dimension of ", lhs);
  rules::WantAxes(e, 0, "lhs_ragged", ragged);
  rules::WantAxes(e, 1, "rhs_group", group);
  if (!IsInt(sizes.dtype()) || sizes.rank() == 0) {
    e.Fail("group_sizes are ", sizes, "; they must be integers of rank 1 or more");
  }
  const int64_t groups = sizes.dim(sizes.rank() - 1);
  Shape expected = rules::Pick(lhs.shape(), PrefixOf(e, 0, ragged[0]));
  expected.push_back(groups);
  if (sizes.rank() != 1 && !SameDims(sizes.shape(), expected)) {
    e.Fail("group_sizes are ", sizes, "; they must be ", sizes.WithShape({&groups, 1}), " or ",
           sizes.WithShape(expected));
  }
  const bool free = ModeOf(e) == Mode::kFree;
  if (group.size() != (free ? 1 : 0)) {
    e.Fail("rhs_group ", group, " must name ", free ? "one dimension" : "no dimension", " of ", rhs,
           ", since lhs_ragged ", ragged, " is ", free ? "free" : "contracted or a batch");
  }
  if (!free) return;
  const Side s = SideOf(e, 1);
  if (!rules::Contains(s.free, group[0])) e.Fail("rhs_group ", group, " is contracted or a batch");
  if (rhs.dim(group[0]) != groups) {
    e.Fail("dimension ", group[0], " of rhs, ", rhs, ", and the number of groups of group_sizes, ", sizes, ", differ");
  }
}
ArrayTypes Type(const Eqn& e) {
  e.WantOperands(3);
  CheckSide(e, 0);
  CheckSide(e, 1);
  CheckPrecision(e);
  for (uint32_t i : {0u, 1u}) rules::WantDType(e, i, kNumbers);
  CheckGroups(e);
  const ArrayType product = DotType(e, e.ints("rhs_group"));
  if (ModeOf(e) != Mode::kContracted) return product;
  Shape shape(product.shape().begin(), product.shape().end());
  shape.insert(shape.begin(), e.in(2).dim(e.in(2).rank() - 1));
  return product.WithShape(shape);
}

// ---- as a dense product ----
Shape Next(Dims dims) { return rules::Shifted(dims, 0); }

// x with the groups as a new first dimension, and zeros in the rows of `ragged` outside of each; group_sizes has the
// dimensions `prefix` of x, then the groups.
Value Dense(const Value& x, int64_t ragged, Dims prefix, Value sizes) {
  const auto wide = sizes.dtype() == DType::kI64 ? sizes : convert_element_type(sizes, DType::kI64);
  const int64_t last = wide.rank() - 1;
  const Value ends = cumsum(wide, last, false), starts = sub(ends, wide);
  Shape shape(x.shape().begin(), x.shape().end()), positions;
  shape.insert(shape.begin(), wide.dim(last));
  if (last > 0) positions = Next(prefix);
  positions.push_back(0);
  // broadcast_in_dim wants increasing positions: the groups come first.
  Shape order = rules::Range(last + 1);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return positions[static_cast<size_t>(a)] < positions[static_cast<size_t>(b)];
  });
  const auto spread = [&](const Value& v) {
    return broadcast_in_dim(transpose(v, order), shape, rules::Pick(positions, order));
  };
  const Value row = iota(x.builder, DType::kI64, shape, ragged + 1);  // exact: a dimension
  const Value is_before_end = lt(row, spread(ends)), inside = bitwise_and(le(spread(starts), row), is_before_end);
  const Value all = broadcast(x, Dims(shape).first(1));
  return select(inside, all, zeros_like(all));
}

// The product that computes it: its operands and dimensions.
struct Product {
  Value lhs, rhs;
  DotDims dims;
};
Shape With(Shape dims, size_t at, int64_t d) {
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(at), d);
  return dims;
}
Product AsProduct(const Eqn& e, const Value& x, const Value& y, const Value& sizes) {
  const Side lhs = SideOf(e, 0), rhs = SideOf(e, 1);
  const int64_t ragged = RaggedOf(e);
  const auto list = [](Dims d) { return Shape(d.begin(), d.end()); };
  if (ModeOf(e) == Mode::kBatch) {
    return {x, y, {list(lhs.contract), list(rhs.contract), list(lhs.batch), list(rhs.batch)}};
  }
  const Value dense = Dense(x, ragged, PrefixOf(e, 0, ragged), sizes);
  if (ModeOf(e) == Mode::kFree) {
    return {dense,
            y,
            {With(Next(lhs.contract), lhs.contract.size(), 0),
             With(list(rhs.contract), rhs.contract.size(), e.ints("rhs_group")[0]), Next(lhs.batch), list(rhs.batch)}};
  }
  const int64_t other = rhs.contract[static_cast<size_t>(PositionIn(lhs.contract, ragged))];
  return {dense,
          Dense(y, other, PrefixOf(e, 1, other), sizes),
          {Next(lhs.contract), Next(rhs.contract), With(Next(lhs.batch), 0, 0), With(Next(rhs.batch), 0, 0)}};
}
Value Emitted(const Eqn& e, const Product& p) {
  return dot_general(p.lhs, p.rhs, p.dims, PreferredOf(e), e.str("precision"));
}
Values Decompose(const Eqn& e, std::span<const Value> in) { return {Emitted(e, AsProduct(e, in[0], in[1], in[2]))}; }

// ---- derivatives ----
Value LhsTerm(const Eqn& e, const Value& t, std::span<const Value> in, const Value&) {
  return e.Emit({t, in[1], in[2]});
}
Value RhsTerm(const Eqn& e, const Value& t, std::span<const Value> in, const Value&) {
  return e.Emit({in[0], t, in[2]});
}
// The cotangent of operand `i`: the product as a program of its own, transposed.
template <uint32_t i>
Value CtOf(const Eqn& e, const Value& ct, std::span<const Value> in) {
  const OwnedProgram product = ProgramOf(
      e, {e.op().in_types, 3}, [&](const Values& v) { return Values{Emitted(e, AsProduct(e, v[0], v[1], v[2]))}; });
  const uint8_t linear[] = {i == 0, i == 1, 0};
  ricci_program* transposed = nullptr;
  Check(ricci_linear_transpose(product.handle(), linear, 3, nullptr, nullptr, &transposed));
  const OwnedProgram held(transposed);
  const Value given[] = {in[1 - i], in[2], ct};
  return Inlined(transposed, given, 1)[0];
}

// ---- batch: one more batch dimension, the first ----
void BatchRule(const Eqn& e, Batch& a) {
  const Value x = rules::BatchFirst(a.in[0], a.size), y = rules::BatchFirst(a.in[1], a.size);
  Value sizes = a.in[2].value;
  const int64_t own = e.in(2).rank();
  if (a.in[2].is_batched() || own > 1) sizes = rules::BatchFirst(a.in[2], a.size);
  if (a.in[2].is_batched() && own == 1) {
    Shape shape = rules::Pick(e.in(0).shape(), PrefixOf(e, 0, RaggedOf(e)));
    const int64_t positions[] = {0, static_cast<int64_t>(shape.size()) + 1};
    shape.insert(shape.begin(), a.size);
    shape.push_back(sizes.dim(1));
    sizes = broadcast_in_dim(sizes, shape, positions);
  }
  const auto batch = [&](std::string_view name) { return With(Next(e.ints(name)), 0, 0); };
  const Value z = e.Emit({x, y, sizes}, {{"lhs_contract", Next(e.ints("lhs_contract"))},
                                         {"rhs_contract", Next(e.ints("rhs_contract"))},
                                         {"lhs_batch", batch("lhs_batch")},
                                         {"rhs_batch", batch("rhs_batch")},
                                         {"lhs_ragged", Next(e.ints("lhs_ragged"))},
                                         {"rhs_group", Next(e.ints("rhs_group"))}});
  a.out[0] = {z, ModeOf(e) == Mode::kContracted ? 1 : 0};
}

// ---- factors: a ragged dimension needs its position, and groups are looked up ----
std::string Factors(const Eqn& e) {
  FactorText text;
  const Side lhs = SideOf(e, 0), rhs = SideOf(e, 1);
  const Mode mode = ModeOf(e);
  const int64_t ragged = RaggedOf(e);
  Shape l(static_cast<size_t>(lhs.type.rank())), r(static_cast<size_t>(rhs.type.rank())), out, sizes, summed;
  const auto at = [](Shape& ids, int64_t d) -> int64_t& { return ids[static_cast<size_t>(d)]; };
  if (mode == Mode::kContracted) out.push_back(text.Whole());
  for (size_t i = 0; i < lhs.batch.size(); ++i) {
    out.push_back(at(l, lhs.batch[i]) = at(r, rhs.batch[i]) = text.Shared());
  }
  for (int64_t d : lhs.free) out.push_back(at(l, d) = d == ragged ? text.Whole() : text.Shared());
  for (int64_t d : rhs.free) {
    const bool group = rules::Contains(e.ints("rhs_group"), d);
    at(r, d) = group ? text.Whole() : text.Shared();
    if (!group) out.push_back(at(r, d));
  }
  const Shape prefix = PrefixOf(e, 0, ragged);
  for (size_t i = 0; i < lhs.contract.size(); ++i) {
    // A contracted dimension that group_sizes has says which rows a part has.
    const bool whole = lhs.contract[i] == ragged;
    at(l, lhs.contract[i]) = at(r, rhs.contract[i]) = whole ? text.Whole() : text.Shared();
    if (!whole) text.Mark("sum", at(l, lhs.contract[i]));
  }
  if (e.in(2).rank() > 1) {
    for (int64_t d : prefix) sizes.push_back(at(l, d));
  }
  sizes.push_back(mode == Mode::kBatch ? text.Shared() : text.Whole());
  if (mode == Mode::kBatch) text.Mark("max", sizes.back());  // not read: equal parts combine to themselves
  text.AddIn(l);
  text.AddIn(r);
  text.AddIn(sizes);
  text.AddOut(out);
  return text.Done();
}

constexpr Row kRows[] = {
    {.name = "ragged_dot_general",
     .doc =
         "z = ragged_dot_general(lhs, rhs, group_sizes): dot_general where dimension `lhs_ragged` of lhs consists of "
         "groups of rows: each meets its part of dimension `rhs_group` of rhs, or, if contracted, gives its part of "
         "a new first dimension of z",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_EXPENSIVE,
     .type = Type,
     .jvp = rules::Terms<LhsTerm, RhsTerm>,
     .transpose = rules::TransposeEach<CtOf<0>, CtOf<1>>,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = lower::Decompose<Decompose>,
     .examples =
         "(f64[5,2], f64[3,2,4], i32[3] in 0..3) lhs_contract=[1] rhs_contract=[1] lhs_ragged=[0] rhs_group=[0]; "
         "(f64[2,5,3], f64[2,3,2,4], i64[2,2] in 0..4) lhs_batch=[0] rhs_batch=[0] lhs_contract=[2] "
         "rhs_contract=[1] lhs_ragged=[1] rhs_group=[2]; "
         "(f64[3,6], f64[6,2], i32[3] in 0..3) lhs_contract=[1] rhs_contract=[0] lhs_ragged=[1]; "
         "(f64[2,6,3], f64[6,3,2], i32[3,2] in 0..4) lhs_contract=[2,1] rhs_contract=[1,0] lhs_ragged=[1]; "
         "(f64[4,2,3], f64[4,3,2], i32[2] in 0..3) lhs_batch=[0] rhs_batch=[0] lhs_contract=[2] "
         "rhs_contract=[1] lhs_ragged=[0]"}};

}  // namespace

RowList ragged_dot_general_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
