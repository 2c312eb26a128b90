// Steps wait as ricci_plan_edges says. Those that wait for none come after the first node, and the last node after
// those for which none waits.
#include "plan_graph.h"

#include <algorithm>

namespace ricci::cuda {
namespace {

CuPointer Pointer(const void* p) { return static_cast<CuPointer>(reinterpret_cast<uintptr_t>(p)); }

ricci_status* FindWaits(const ricci_compile_args& a, PlanGraph& g) {
  const uint32_t n_steps = a.plan->n_steps;
  g.waits.assign(n_steps + size_t{2}, {});
  const auto add = [](void* sink, uint32_t earlier, uint32_t later) {
    static_cast<PlanGraph*>(sink)->waits[later + size_t{1}].push_back(earlier + 1);
  };
  if (ricci_status* failed = ricci_plan_edges(a.plan, a.kernels, a.n_kernels, &g, add)) return failed;
  std::vector<bool> waited_for(g.waits.size());
  for (uint32_t node = 1; node <= n_steps; ++node) {
    if (g.waits[node].empty()) g.waits[node].push_back(0);
    for (uint32_t earlier : g.waits[node]) waited_for[earlier] = true;
  }
  for (uint32_t node = 0; node <= n_steps; ++node) {
    if (!waited_for[node]) g.waits.back().push_back(node);
  }
  return nullptr;
}

void FindUsers(const ricci_plan& p, const std::vector<bool>& uses_arena, PlanGraph& g) {
  const uint32_t failed_check = FailedCheckPlace(p);
  g.users.assign(PlaceCount(p), {});
  const auto add = [&g](uint32_t place, uint32_t node) {
    std::vector<uint32_t>& users = g.users[place];
    if (users.empty() || users.back() != node) users.push_back(node);
  };
  add(failed_check, 0);
  for (uint32_t s = 0; s < p.n_steps; ++s) {
    const ricci_plan_step& step = p.steps[s];
    for (uint32_t i = 0; i < step.n_args; ++i) add(PlaceOf(p, p.args[step.args + i]), s + 1);
    if (uses_arena[s]) add(ArenaPlace(p), s + 1);
    if (step.kind == RICCI_STEP_KERNEL) add(failed_check, s + 1);
  }
  add(failed_check, p.n_steps + 1);
}

}  // namespace

// ---- places ----
uint32_t PlaceCount(const ricci_plan& p) { return p.n_inputs + p.n_outputs + p.n_constants + 2; }

uint32_t PlaceOf(const ricci_plan& p, uint32_t buffer) {
  const ricci_plan_buffer& b = p.buffers[buffer];
  switch (b.kind) {
    case RICCI_BUFFER_INPUT:
      return b.index;
    case RICCI_BUFFER_OUTPUT:
      return p.n_inputs + b.index;
    case RICCI_BUFFER_CONSTANT:
      return p.n_inputs + p.n_outputs + b.index;
    default:
      return ArenaPlace(p);
  }
}

Places PlacesOf(const ricci_plan& p, const ricci_run_args& a) {
  Places out;
  out.reserve(PlaceCount(p));
  for (uint32_t i = 0; i < p.n_inputs; ++i) out.push_back(Pointer(a.inputs[i]));
  for (uint32_t i = 0; i < p.n_outputs; ++i) out.push_back(Pointer(a.outputs[i]));
  for (uint32_t i = 0; i < p.n_constants; ++i) out.push_back(Pointer(a.constants[i]));
  out.push_back(Pointer(a.arena));
  out.push_back(Pointer(a.failed_check));
  return out;
}

CuPointer AddressOf(const ricci_plan& p, const Places& places, uint32_t buffer) {
  const ricci_plan_buffer& b = p.buffers[buffer];
  return places[PlaceOf(p, buffer)] + (b.kind == RICCI_BUFFER_ARENA ? b.offset : 0);
}

// ---- nodes ----
bool HasControl(const ricci_plan& p) {
  return std::any_of(p.steps, p.steps + p.n_steps,
                     [](const ricci_plan_step& s) { return s.kind == RICCI_STEP_WHILE || s.kind == RICCI_STEP_CASE; });
}

ricci_status* MakePlanGraph(const ricci_compile_args& a, const std::vector<bool>& uses_arena, PlanGraph& out) {
  if (ricci_status* failed = FindWaits(a, out)) return failed;
  FindUsers(*a.plan, uses_arena, out);
  return nullptr;
}

}  // namespace ricci::cuda
