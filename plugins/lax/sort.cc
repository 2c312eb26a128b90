// sort: all operands reordered together along `dimension` so that the first `num_keys` of them increase, the first key
// first. Always stable. NaN comes last, -0 and 0 are equal. A complex key is two keys, its real and its imaginary part.
//
// Each line is sorted by a permutation. The keys are copied to private arrays (a key that fuses is computed once); in
// short lines the position of an element is the number of those before it, longer lines are merged bottom-up, and long
// ones are sorted by the digits of their keys, the last digit first (Knuth, The Art of Computer Programming 3, 5.2.5),
// in a number of passes that does not depend on their length. Tangents follow the permutation, which is sorted along.
#include "sorted_line.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {
    {"dimension", AttrKind::kInt}, {"is_stable", AttrKind::kBool, "true"}, {"num_keys", AttrKind::kInt}};

ArrayTypes Type(const Eqn& e) {
  if (e.n_in() == 0) e.Fail("takes at least one operand");
  const ArrayType first = e.in(0);
  const int64_t dimension = e.integer("dimension"), keys = e.integer("num_keys");
  if (dimension < 0 || dimension >= first.rank()) e.Fail("dimension ", dimension, " is out of range for ", first);
  if (keys < 1 || keys > e.n_in())
    e.Fail("num_keys ", keys, " must be from 1 to ", e.n_in(), ", the number of operands");
  ArrayTypes out;
  for (uint32_t i = 0; i < e.n_in(); ++i) {
    if (!SameDims(e.in(i).shape(), first.shape())) {
      e.Fail("operands 0 and ", i, " are ", first, " and ", e.in(i), "; they must have one shape");
    }
    if (i < keys) rules::WantDType(e, i, kAny);
    out.push_back(e.in(i));
  }
  return out;
}

// ---- transforms ----
void JvpRule(const Eqn& e, Jvp& a) {
  const bool any = std::any_of(a.tangents.begin(), a.tangents.end(), [](const Value& t) { return !t.is_zero(); });
  if (!any) {
    a.out = e.EmitN(a.primals);
    return;
  }
  const Dims shape = e.in(0).shape();
  const int64_t dimension = e.integer("dimension"), rank = e.in(0).rank();
  Values in = a.primals;
  in.push_back(iota(e.builder(), shape[static_cast<size_t>(dimension)] > INT32_MAX ? DType::kI64 : DType::kI32, shape,
                    dimension));
  const Operands operands(in);
  const std::vector<ricci_attr> attrs(e.attrs().begin(), e.attrs().end());
  a.out = Emit(e.builder(), nullptr, e.op().prim, attrs, operands.ids, e.n_in() + 1);
  const Value order = expand_dims(a.out.back(), {&rank, 1});
  a.out.pop_back();
  if (ElementCount(shape) == 0) return;
  const Shape batch = rules::Complement({&dimension, 1}, rank), one{dimension}, sizes(static_cast<size_t>(rank), 1);
  for (uint32_t i = 0; i < e.n_in(); ++i) {
    if (a.tangents[i].is_zero()) continue;
    a.out_tangents[i] = gather(a.tangents[i], order, {{}, one, one, batch, batch}, sizes, "promise_in_bounds");
  }
}

void BatchRule(const Eqn& e, Batch& a) {
  Values in;
  for (const Batched& x : a.in) in.push_back(rules::BatchFirst(x, a.size));
  const Values out = e.EmitN(in, {{"dimension", rules::Shifted(e.integer("dimension"), 0)}});
  for (size_t i = 0; i < out.size(); ++i) a.out[i] = {out[i], 0};
}

// Operands that are not keys are needed for their own result only.
void DropPassengers(const Eqn& e, DeadCode& a) {
  const auto keys = static_cast<uint32_t>(e.integer("num_keys"));  // exact: checked by the type
  Values kept;
  for (uint32_t i = 0; i < e.n_in(); ++i) {
    a.used_in[i] = i < keys || a.used_out[i] != 0;
    if (a.used_in[i] && !a.in.empty()) kept.push_back(a.in[i]);
  }
  if (kept.empty()) return;
  const std::vector<ricci_attr> attrs(e.attrs().begin(), e.attrs().end());
  std::vector<ricci_val> ids;
  for (const Value& v : kept) ids.push_back(v.id);
  const Values sorted = Emit(e.builder(), nullptr, e.op().prim, attrs, ids, static_cast<uint32_t>(kept.size()));
  for (uint32_t i = 0, next = 0; i < e.n_in(); ++i) {
    if (a.used_in[i]) a.out[i] = sorted[next++];
  }
}

// ---- lowering ----
void Loops(KernelBuilder& k, const Eqn& e) {
  const int64_t dimension = e.integer("dimension");
  if (e.in(0).elements() == 0) return;
  k.Parallel(rules::Without(e.in(0).shape(), {&dimension, 1}), [&](const Index& at) { SortedLine(k, e, at).Sort(); });
}

std::string Factors(const Eqn& e) {
  FactorText text;
  Shape all;
  for (int64_t i = 0; i < e.in(0).rank(); ++i) {
    all.push_back(i == e.integer("dimension") ? text.Whole() : text.Shared());
  }
  for (uint32_t i = 0; i < e.n_in(); ++i) text.AddIn(all);
  for (uint32_t i = 0; i < e.n_in(); ++i) text.AddOut(all);
  return text.Done();
}

constexpr Row kRows[] = {{.name = "sort",
                          .doc = "ys... = sort(xs...): the operands reordered together along `dimension` so that the "
                                 "first `num_keys` of them increase; NaN comes last",
                          .attrs = kAttrs,
                          .type = Type,
                          .jvp = JvpRule,
                          .batch = BatchRule,
                          .dce = DropPassengers,
                          .factors_of = Factors,
                          .lowerings = lower::Loops<Loops>,
                          .missing = rules::kNotLinear,
                          .examples = "(f64[2,7]) dimension=1 num_keys=1; "
                                      "(f64[7,2]) dimension=0 num_keys=1; "
                                      "(f64[60] in -200..200) dimension=0 num_keys=1; "
                                      "(i8[130], f64[130]) dimension=0 num_keys=1; "
                                      "(f64[5,2], f64[5,2]) dimension=0 num_keys=1; "
                                      "(f64[2,5], f64[2,5]) dimension=1 num_keys=1; "
                                      "(f64[3,4], f64[3,4], f64[3,4]) dimension=1 num_keys=2; "
                                      "(c128[2,7]) dimension=1 num_keys=1; "
                                      "order=0 (c128[130], f64[130]) dimension=0 num_keys=1; "
                                      "(i32[9], f64[9]) dimension=0 num_keys=1; "
                                      "(i32[9], f64[9]) dimension=0 num_keys=2; "
                                      "(i32[20] in 0..2, u8[20] in 0..2, i64[20] in 0..2, "
                                      "i8[20] in 0..2, i32[20] in 0..2, u8[20] in 0..2, "
                                      "i32[20] in 0..2, i8[20] in 0..2, f64[20]) dimension=0 num_keys=9; "
                                      "(i32[130] in 0..2, u8[130] in 0..2, i64[130] in 0..2, "
                                      "i8[130] in 0..2, i32[130] in 0..2, u8[130] in 0..2, "
                                      "i32[130] in 0..2, i8[130] in 0..2, f64[130]) dimension=0 num_keys=9"}};

}  // namespace

RowList sort_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
