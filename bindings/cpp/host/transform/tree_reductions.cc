// ravel_pytree and the reductions of trees over lists of leaves.
#include "ricci/tree_reductions.hpp"

#include "host/core/plain_math.h"
#include "ricci/products.hpp"
#include "ricci/reductions.hpp"

namespace ricci { inline namespace v0 {

using plain::Cut;
using plain::To;

Value RavelLeaves(const Values& leaves, const Location& at) {
  if (leaves.empty()) FailAt(at, "ravel_pytree: the tree has no leaves");
  std::vector<Operand> operands;
  for (const Value& v : leaves) operands.emplace_back(v, at);
  Values flat;
  for (const Value& v : UseList("ravel_pytree", operands)) flat.push_back(ravel(Operand(v, at)));
  return lax::concatenate(flat, 0);
}
void FailOnNoLeaves(std::string_view name, const Location& at) { FailAt(at, name, ": the tree has no leaves"); }
Value SumOfLeaves(std::span<const Operand> leaves, const Location& at) {
  if (leaves.empty()) FailOnNoLeaves("tree_sum", at);
  Value out = sum(leaves[0]);
  for (const Operand& leaf : leaves.subspan(1)) out = Operand(out, at) + Operand(sum(leaf), at);
  return out;
}
Value VdotOfLeaves(std::span<const Operand> a, std::span<const Operand> b, const Location& at) {
  if (a.empty()) FailOnNoLeaves("tree_vdot", at);
  Value out = vdot(a[0], b[0]);
  for (size_t i = 1; i < a.size(); ++i) out = Operand(out, at) + Operand(vdot(a[i], b[i]), at);
  return out;
}
Value NormOfLeaves(std::span<const Operand> leaves, const Location& at) {
  if (leaves.empty()) FailOnNoLeaves("tree_norm", at);
  return sqrt(Operand(real(Operand(VdotOfLeaves(leaves, leaves, at), at)), at));
}
Values UnravelLeaves(const Values& like, const Operand& given) {
  const Value flat = Use("unravel", given);
  int64_t total = 0, from = 0;
  for (const Value& v : like) total += v.type().elements();
  if (flat.rank() != 1 || flat.dim(0) != total) {
    FailAt(given.at, "unravel: operand is ", flat.type(), "; the tree has ", total, " elements");
  }
  Values out;
  for (const Value& v : like) {
    const int64_t n = v.type().elements();
    out.push_back(To(lax::reshape(Cut(flat, from, from + n, 0), v.shape()), v.dtype()));
    from += n;
  }
  return out;
}

}}  // namespace ricci::v0
