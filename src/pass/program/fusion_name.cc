// fusion_name: the name of a fused kernel in dumps and profiles: `fusion_` and its main operations.
//
// At most three primitives, in the order of the program. Loops (reductions, products, sorting) are preferred to
// operations that are expensive per element, those to other arithmetic, and that to views; among equals the last, which
// are next to the result. Softmax is `fusion_reduce_max_exp_reduce_sum`. Kernels with the same name are numbered
// (merge_kernels).
#include <algorithm>

#include "base/hash_map.h"
#include "pass/program/merge_groups.h"
#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr size_t kMaxNames = 3;
constexpr size_t kMaxLength = 64;

// How much an equation says about a kernel: a view, arithmetic, an expensive operation, a loop.
int Weight(const ir::Program& f, const ir::Equation& eqn, Joins joins) {
  const prim::Row& row = prim::Registry::Of(f).Get(eqn.prim);
  if (joins != Joins::kExpression) return 3;
  if (row.has(RICCI_PRIM_TRANSCENDENTAL)) return 2;
  return std::any_of(row.lowerings.begin(), row.lowerings.end(),
                     [](const ricci_lowering& l) { return l.kind == RICCI_LOWER_SCALAR; });
}

}  // namespace

std::string FusionName(const ir::Program& f, const std::vector<Joins>& joins, const std::vector<uint32_t>& members) {
  struct Part {
    int weight;
    uint32_t equation;
  };
  std::vector<Part> parts;  // the last equation of each primitive
  base::HashSet<ir::PrimId> seen;
  for (size_t i = members.size(); i-- > 0;) {
    const ir::Equation& eqn = f.equations[members[i]];
    if (seen.insert(eqn.prim).second) parts.push_back({Weight(f, eqn, joins[members[i]]), members[i]});
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.weight > b.weight; });
  if (parts.size() > kMaxNames) parts.resize(kMaxNames);
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.equation < b.equation; });
  std::string name = "fusion";
  for (const Part& p : parts) {
    const std::string_view prim = prim::Registry::Of(f).Get(f.equations[p.equation].prim).name;
    if (name.size() + 1 + prim.size() <= kMaxLength) name += base::Cat("_", prim);
  }
  return name;
}

}}}  // namespace ricci::v0::pass
