// What one element of an equation costs to compute, in simple operations: by this passes decide what to compute again
// or store, and what to keep together or apart.
//
// It is the cost of what the scalar lowering emits. A chain that a broadcast reads is computed as often as the
// broadcast repeats it. It is stored if that is more expensive than a kernel.
#ifndef RICCI_PASS_OPERATION_COST_H_
#define RICCI_PASS_OPERATION_COST_H_
#include "base/hash_map.h"
#include "ir/program.h"
#include "pass/target/pass_options.h"
#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace pass {

inline constexpr int64_t kTranscendentalCost = 16;
// Sums of costs stop here.
inline constexpr int64_t kMostCost = 1 << 20;

class OperationCosts {
 public:
  OperationCosts(prim::Registry& registry, const Target& target) : registry_(registry), target_(target) {}

  // For scalar lowerings, the cost of what they emit: a quotient is more expensive than a sum, zeta more than both. For
  // others 1, or a higher cost by the row's flag.
  int64_t Of(const ir::Program& f, const ir::Equation& eqn);

 private:
  int64_t Measure(const ir::Program& f, const ir::Equation& eqn) const;

  prim::Registry& registry_;
  const Target& target_;
  base::HashMap<std::pair<uint32_t, uint32_t>, int64_t> known_;  // by primitive and dtype
};

}}}  // namespace ricci::v0::pass
#endif
