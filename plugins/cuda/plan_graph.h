// PlanGraph: the steps of a plan as nodes of a graph: which waits for which, and which address each depends on. A
// function of the tables alone.
//
// What differs between runs is a list of places, the addresses of the inputs, then of the outputs, the constants, the
// arena and the word of failed checks. A run with other places needs other addresses in the nodes that use them.
#ifndef RICCI_CUDA_PLAN_GRAPH_H_
#define RICCI_CUDA_PLAN_GRAPH_H_
#include <vector>

#include "driver.h"
#include "ricci/api_table.h"

namespace ricci::cuda {

using Places = std::vector<CuPointer>;
uint32_t PlaceCount(const ricci_plan& plan);
uint32_t PlaceOf(const ricci_plan& plan, uint32_t buffer);
inline uint32_t FailedCheckPlace(const ricci_plan& plan) { return PlaceCount(plan) - 1; }
Places PlacesOf(const ricci_plan& plan, const ricci_run_args& a);
CuPointer AddressOf(const ricci_plan& plan, const Places& places, uint32_t buffer);

// Does the plan have loops or branches, whose steps the host chooses?
bool HasControl(const ricci_plan& plan);

// Node 0 sets the word of failed checks, node 1 + s is step s, and the last one reads the word.
struct PlanGraph {
  std::vector<std::vector<uint32_t>> waits;  // by node: earlier ones that it waits for
  std::vector<std::vector<uint32_t>> users;  // by place: the nodes that use it, in order

  uint32_t size() const { return static_cast<uint32_t>(waits.size()); }
};
// Of a plan without control. `uses_arena`: by step, whether it needs working memory besides its buffers.
ricci_status* MakePlanGraph(const ricci_compile_args& a, const std::vector<bool>& uses_arena, PlanGraph& out);
inline uint32_t ArenaPlace(const ricci_plan& plan) { return PlaceCount(plan) - 2; }

}  // namespace ricci::cuda
#endif
