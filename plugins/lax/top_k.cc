// top_k, approx_top_k: the k greatest elements along a dimension, greatest first, and their indices; the lower index
// first at ties.
//
// In top_k floats are in the total order of their bits: -NaN, -inf, ..., -0, 0, ..., inf, NaN. It decomposes into a
// sort by the bits of the elements, as integers in reverse order. approx_top_k, the greatest or least, may miss some;
// as XLA on CPU this one misses none, so that `recall_target` decides only how many candidates there are if they are
// not aggregated. It orders numbers as sort does: a NaN comes last.
#include <bit>

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

int64_t AxisOf(const Eqn& e) {
  const bool approx = e.has("reduction_dimension");
  const int64_t axis = e.integer(approx ? "reduction_dimension" : "axis");
  return axis < 0 ? axis + e.in(0).rank() : axis;  // exact: checked by the type
}
void JvpRule(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (a.tangents[0].is_zero() || ElementCount(e.out(0).shape()) == 0) return;
  const int64_t axis = AxisOf(e), rank = e.in(0).rank();
  const Shape batch = rules::Complement({&axis, 1}, rank), one{axis}, sizes(static_cast<size_t>(rank), 1);
  const Value order = expand_dims(a.out[1], {&rank, 1});
  a.out_tangents[0] = gather(a.tangents[0], order, {{}, one, one, batch, batch}, sizes, "promise_in_bounds");
}

void BatchRule(const Eqn& e, Batch& a) {
  const Values in{a.in[0].value};
  const std::string_view name = e.has("reduction_dimension") ? "reduction_dimension" : "axis";
  const Values out = e.EmitN(in, {{name, rules::Shifted(AxisOf(e), a.in[0].dim)}});
  a.out = {{out[0], a.in[0].dim}, {out[1], a.in[0].dim}};
}

DType SignedOfWidth(int64_t bits) {
  return bits == 8 ? DType::kI8 : bits == 16 ? DType::kI16 : bits == 32 ? DType::kI32 : DType::kI64;
}

// An integer that decreases as x increases.
Value DescendingKey(const Value& x) {
  if (!IsFloat(x.dtype())) return bitwise_not(x);
  if (In(x.dtype(), kTinyFloats)) return DescendingKey(convert_element_type(x, DType::kF32));
  const Value bits = bitcast_convert_type(x, SignedOfWidth(BitsOf(x.dtype())));
  const Value all = full_like(bits, INT64_MAX >> (64 - BitsOf(x.dtype())));
  const Value turned = bitwise_xor(bits, all);
  return bitwise_not(select(lt(bits, zeros_like(bits)), turned, bits));
}

// The first elements of the result by ascending `key`, and their indices.
Values FirstBy(const Value& key, const Eqn& e, const Value& x) {
  const int64_t axis = AxisOf(e), count = e.out().dim(axis);
  const Value operands[] = {key, x, iota(e.builder(), DType::kI32, e.in(0).shape(), axis)};
  const Values sorted = EmitN(3, "sort", operands, {{"dimension", axis}, {"is_stable", true}, {"num_keys", 1}});
  return {slice_in_dim(sorted[1], 0, count, axis), slice_in_dim(sorted[2], 0, count, axis)};
}
Values Decompose(const Eqn& e, std::span<const Value> in) { return FirstBy(DescendingKey(in[0]), e, in[0]); }

// ---- approx_top_k ----
constexpr AttrSpec kApproxAttrs[] = {{"k", AttrKind::kInt},
                                     {"reduction_dimension", AttrKind::kInt},
                                     {"recall_target", AttrKind::kFloat, "0.95"},
                                     {"is_max_k", AttrKind::kBool, "true"},
                                     {"reduction_input_size_override", AttrKind::kInt, "-1"},
                                     {"aggregate_to_topk", AttrKind::kBool, "true"}};

// The number of candidates that XLA gives: whole tiles of a machine that reduces `size` elements by a power of two, so
// large that the share of the greatest that is lost stays below 1 - recall (Chern et al., "TPU-KNN", 2022).
int64_t CandidateCount(int64_t size, int64_t rank, int64_t k, double recall, int64_t whole_size) {
  const int64_t tile = rank == 1 ? 1024 : 128;
  if (size <= tile) return size;
  const auto tiles = [&](int64_t n) { return (n - 1) / tile + 1; };  // exact: sizes that are positive
  const auto log2_up = [](int64_t n) { return static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(n) - 1)); };
  int64_t shift = log2_up(tiles(whole_size));
  if (k > 1) {
    const double rounded = static_cast<float>(recall);  // as XLA holds it
    if (rounded == 1) return size;
    const double wanted = (1 - static_cast<double>(k)) / std::log(rounded);
    const int64_t kept = wanted < 0x1p40 ? std::clamp(static_cast<int64_t>(wanted), tile, whole_size) : whole_size;
    shift = std::bit_width(static_cast<uint64_t>(whole_size / kept)) - 1;
    if (shift == 0) return size;
    shift = std::min(shift, log2_up(size / tile));
  }
  return (((tiles(size) - 1) >> shift) + 1) * tile;
}

ArrayTypes ApproxType(const Eqn& e) {
  e.WantOperands(1);
  rules::WantDType(e, 0, kFloats);
  const ArrayType x = e.in(0);
  const int64_t k = e.integer("k"), dimension = e.integer("reduction_dimension");
  if (dimension < -x.rank() || dimension >= x.rank()) {
    e.Fail("reduction_dimension ", dimension, " is out of range for ", x);
  }
  const int64_t size = x.dim(AxisOf(e));
  const int64_t given = e.integer("reduction_input_size_override", -1);
  const double recall = e.number("recall_target", 0.95);
  if (k < 1 || k > size) {
    e.Fail("k ", k, " must be from 1 to ", size, ", the size of dimension ", dimension, " of ", x);
  }
  if (size > int64_t{1} << 31) e.Fail("dimension ", dimension, " of ", x, " is too large for indices of i32");
  if (!(recall > 0 && recall <= 1)) e.Fail("recall_target ", recall, " must be above 0 and at most 1");
  if (given >= 0 && given < size) {
    e.Fail("reduction_input_size_override ", given, " must be at least ", size, ", the size of dimension ", dimension,
           " of ", x);
  }
  const bool aggregate = e.flag("aggregate_to_topk", true);
  Shape shape(x.shape().begin(), x.shape().end());
  shape[static_cast<size_t>(AxisOf(e))] =
      aggregate ? k : CandidateCount(size, x.rank(), k, recall, given < 0 ? size : given);
  return ArrayTypes{x.WithShape(shape), e.Type(DType::kI32, shape)};
}
Values ApproxDecompose(const Eqn& e, std::span<const Value> in) {
  const bool greatest = e.flag("is_max_k", true);
  return FirstBy(greatest ? neg(in[0]) : in[0], e, in[0]);
}

std::string Factors(const Eqn& e) {
  const int64_t axis = AxisOf(e);
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
                 "(f64[3,6]) k=2 axis=1"},
    {.name = "approx_top_k",
     .doc = "y, i = approx_top_k(x): the `k` greatest elements along `reduction_dimension` (the least if not "
            "`is_max_k`), the extreme ones first, and their indices; candidates for them if not `aggregate_to_topk`",
     .attrs = kApproxAttrs,
     .type = ApproxType,
     .jvp = JvpRule,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = lower::Decompose<ApproxDecompose>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,5]) k=2 reduction_dimension=1; "
                 "(f64[6,3]) k=3 reduction_dimension=-2 is_max_k=false; "
                 "order=0 (f64[2,300]) k=2 reduction_dimension=1 recall_target=0.5 aggregate_to_topk=false"}};

}  // namespace

RowList top_k_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
