// What one element of an equation costs to compute, in simple operations: the measure by which passes compute again or
// store, keep together or apart.
#ifndef RICCI_PASS_OPERATION_COST_H_
#define RICCI_PASS_OPERATION_COST_H_
#include "base/hash_map.h"
#include "pass/pipeline.h"
#include "prim/registry.h"

namespace ricci::inline v0::pass {

inline constexpr int64_t kTranscendentalCost = 16;
// Sums of costs stop here.
inline constexpr int64_t kMostCost = 1 << 20;

class OperationCosts {
 public:
  OperationCosts(prim::Registry& registry, const Target& target) : registry_(registry), target_(target) {}

  // Of scalar lowerings, what they emit counts: a quotient is dearer than a sum, zeta than both. Of others one, or what
  // the row's flag says.
  int64_t Of(const ir::Program& f, const ir::Equation& eqn);

 private:
  int64_t Measure(const ir::Program& f, const ir::Equation& eqn) const;

  prim::Registry& registry_;
  const Target& target_;
  base::HashMap<std::pair<uint32_t, uint32_t>, int64_t> known_;  // by primitive and dtype
};

}  // namespace ricci::inline v0::pass
#endif
