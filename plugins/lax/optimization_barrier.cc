// optimization_barrier: its operands unchanged, available once all of them are. No pass looks through it, so what is
// computed again after it is not merged with the first computation, and does not begin before its last operand is ready
// (checkpoint relies on both). Compiled programs run nothing for it.
#include "factor_text.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

ArrayTypes Type(const Eqn& e) {
  ArrayTypes out;
  for (uint32_t i = 0; i < e.n_in(); ++i) out.push_back(e.in(i));
  return out;
}
void JvpRule(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  Values some;
  for (const Value& t : a.tangents) {
    if (!t.is_zero()) some.push_back(t);
  }
  if (some.empty()) return;
  const Values out = EmitN(static_cast<uint32_t>(some.size()), e.name(), some);
  size_t next = 0;
  for (uint32_t i = 0; i < e.n_in(); ++i) {
    if (!a.tangents[i].is_zero()) a.out_tangents[i] = out[next++];
  }
}
void TransposeRule(const Eqn& e, Transpose& a) {
  for (uint32_t i = 0; i < e.n_in(); ++i) {
    if (a.linear[i]) a.in_cts[i] = a.cts[i];
  }
}
void BatchRule(const Eqn& e, Batch& a) {
  Values in;
  for (const Batched& x : a.in) in.push_back(x.value);
  const Values out = e.EmitN(in);
  for (size_t i = 0; i < out.size(); ++i) a.out[i] = {out[i], a.in[i].dim};
}
Scalar FromIndex(KernelBuilder& k, const Eqn&, uint32_t result, std::span<const Scalar> at) {
  return k.Operand(result).Load(at);
}
std::string Factors(const Eqn& e) {
  FactorText text;
  std::vector<Shape> all(e.n_in());
  for (uint32_t i = 0; i < e.n_in(); ++i) {
    for (int64_t d = 0; d < e.in(i).rank(); ++d) all[i].push_back(text.Shared());
    text.AddIn(all[i]);
  }
  for (const Shape& factors : all) text.AddOut(factors);
  return text.Done();
}

constexpr Row kRows[] = {
    {.name = "optimization_barrier",
     .doc =
         "ys... = optimization_barrier(xs...): the operands, available once all of them are; no pass looks through it",
     .flags = RICCI_PRIM_BARRIER,
     .type = Type,
     .jvp = JvpRule,
     .transpose = TransposeRule,
     .batch = BatchRule,
     .factors_of = Factors,
     .lowerings = lower::Index<FromIndex>,
     .examples = "(f64[2], f64[3])"}};

}  // namespace

RowList optimization_barrier_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
