// top_k: the k greatest elements along `axis`, greatest first, and their indices; the lower index first at ties.
//
// Floats are in the total order of their bits: -NaN, -inf, ..., -0, 0, ..., inf, NaN. Decomposes into a sort by the
// bits of the elements, as integers in reverse order.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"k", AttrKind::kInt}, {"axis", AttrKind::kInt}};

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  rules::WantDType(e, 0, kReals);
  const ArrayType x = e.in(0);
  const int64_t k = e.integer("k"), axis = e.integer("axis");
  if (axis < 0 || axis >= x.rank()) e.Fail("axis ", axis, " is out of range for ", x);
  if (k < 0 || k > x.dim(axis))
    e.Fail("k ", k, " must be from 0 to ", x.dim(axis), ", the size of dimension ", axis, " of ", x);
  if (x.dim(axis) > int64_t{1} << 31) e.Fail("dimension ", axis, " of ", x, " is too large for indices of i32");
  Shape shape(x.shape().begin(), x.shape().end());
  shape[static_cast<size_t>(axis)] = k;
  return ArrayTypes{x.WithShape(shape), e.Type(DType::kI32, shape)};
}

void JvpRule(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (a.tangents[0].is_zero() || ElementCount(e.out(0).shape()) == 0) return;
  const int64_t axis = e.integer("axis"), rank = e.in(0).rank();
  const Shape batch = rules::Complement({&axis, 1}, rank), one{axis}, sizes(static_cast<size_t>(rank), 1);
  const Value order = expand_dims(a.out[1], {&rank, 1});
  a.out_tangents[0] = gather(a.tangents[0], order, {{}, one, one, batch, batch}, sizes, "promise_in_bounds");
}

void BatchRule(const Eqn& e, Batch& a) {
  const Values in{a.in[0].value};
  const Values out = e.EmitN(in, {{"axis", rules::Shifted(e.integer("axis"), a.in[0].dim)}});
  a.out = {{out[0], a.in[0].dim}, {out[1], a.in[0].dim}};
}

DType SignedOfWidth(int64_t bits) {
  return bits == 8 ? DType::kI8 : bits == 16 ? DType::kI16 : bits == 32 ? DType::kI32 : DType::kI64;
}

// An integer that decreases as x increases.
Value DescendingKey(const Value& x) {
  if (!IsFloat(x.dtype())) return bitwise_not(x);
  const Value bits = bitcast_convert_type(x, SignedOfWidth(BitsOf(x.dtype())));
  const Value all = full_like(bits, INT64_MAX >> (64 - BitsOf(x.dtype())));
  return bitwise_not(select(lt(bits, zeros_like(bits)), bitwise_xor(bits, all), bits));
}

Values Decompose(const Eqn& e, std::span<const Value> in) {
  const int64_t axis = e.integer("axis");
  const Value order = iota(e.builder(), DType::kI32, e.in(0).shape(), axis);
  const Value operands[] = {DescendingKey(in[0]), in[0], order};
  const Values sorted = EmitN(3, "sort", operands, {{"dimension", axis}, {"is_stable", true}, {"num_keys", 1}});
  return {slice_in_dim(sorted[1], 0, e.integer("k"), axis), slice_in_dim(sorted[2], 0, e.integer("k"), axis)};
}

std::string Factors(const Eqn& e) {
  const int64_t axis = e.integer("axis");
  const int64_t rank = e.in(0).rank();
  Shape kept = rules::Range(rank);
  kept[static_cast<size_t>(axis)] = rank;  // the first k are a factor of their own
  const std::string in = rules::Letters(rules::Range(rank)), out = rules::Letters(kept);
  return Text(in, " -> ", out, ", ", out, "; whole ", rules::Letter(axis), " ", rules::Letter(rank));
}

constexpr Row kRows[] = {
    {.name = "top_k",
     .doc = "y, i = top_k(x): the `k` greatest elements along `axis`, greatest first, and their indices",
     .attrs = kAttrs,
     .type = Type,
     .jvp = JvpRule,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = lower::Decompose<Decompose>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,5]) k=2 axis=1; "
                 "(f64[3,6]) k=2 axis=1"}};

}  // namespace

RowList top_k_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
