#include "pass/plan/plan_flow.h"

#include <algorithm>

namespace ricci { inline namespace v0 { namespace pass {
namespace {

// What step `s` does to its argument `i`.
Access AccessOf(const kernel::Plan& plan, std::span<const kernel::Kernel> kernels, uint32_t s, uint32_t i) {
  const ricci_plan_step& step = plan.steps[s];
  if (step.kind == RICCI_STEP_COPY) return {s, /*read=*/i == 1, /*write=*/i == 0, /*replaced=*/i == 0};
  if (step.kind == RICCI_STEP_LIBRARY || step.kind == RICCI_STEP_SOURCE) {
    const bool library = step.kind == RICCI_STEP_LIBRARY;
    const bool operand = i < (library ? plan.libraries[step.index].n_in : plan.sources[step.index].n_in);
    return {s, /*read=*/operand, /*write=*/!operand};
  }
  if (step.kind != RICCI_STEP_KERNEL) return {s, /*read=*/true};
  const uint32_t access = kernels[step.index].buffers[i].access;
  return {s, (access & RICCI_ACCESS_READ) != 0, (access & RICCI_ACCESS_WRITE) != 0};
}

void Add(std::vector<Access>& accesses, const Access& a) {
  if (accesses.empty() || accesses.back().step != a.step) accesses.push_back({a.step});
  Access& same = accesses.back();
  same.read |= a.read;
  same.write |= a.write;
  same.replaced |= a.replaced;
}

}  // namespace

std::vector<std::vector<Access>> AccessesOf(const kernel::Plan& plan, const kernel::MatchedBlocks& blocks,
                                            std::span<const kernel::Kernel> kernels) {
  std::vector<std::vector<Access>> accesses(plan.buffers.size());
  for (uint32_t s = 0; s < plan.steps.size(); ++s) {
    const ricci_plan_step& step = plan.steps[s];
    if (step.kind == RICCI_STEP_COND) Add(accesses[plan.args[plan.steps[blocks[s].around].args]], {s, /*read=*/true});
    if (step.kind == RICCI_STEP_WHILE) continue;  // its COND reads the predicate
    for (uint32_t i = 0; i < step.n_args; ++i) Add(accesses[plan.args[step.args + i]], AccessOf(plan, kernels, s, i));
  }
  return accesses;
}

PlanFlow::PlanFlow(const kernel::Plan& plan, const kernel::MatchedBlocks& blocks) : plan_(plan), blocks_(blocks) {
  const size_t n = plan.steps.size();
  list_of_.assign(n, kNone);
  depth_.assign(n, 0);
  for (uint32_t s = 0; s < n; ++s) {
    if (s != 0) list_of_[s] = ListAfter(s - 1);
    depth_[s] = (blocks.Outermost(s) ? 0 : depth_[blocks[s].around]) + (plan.steps[s].kind == RICCI_STEP_WHILE);
  }
}

uint32_t PlanFlow::ListAfter(uint32_t s) const {
  const ricci_plan_step& step = plan_.steps[s];
  if (ricci_step_opens(&step) || step.kind == RICCI_STEP_NEXT) return s;
  return list_of_[step.kind == RICCI_STEP_END ? blocks_[s].around : s];
}

uint32_t PlanFlow::BlockOf(uint32_t list) const {
  return plan_.steps[list].kind == RICCI_STEP_NEXT ? blocks_[list].around : list;
}

// Inner lists begin later.
uint32_t PlanFlow::Begin(uint32_t first, uint32_t last) const {
  uint32_t a = list_of_[first], b = list_of_[last];
  while (a != b) {
    const bool leave_first = b == kNone || (a != kNone && a > b);
    if (leave_first) first = BlockOf(a);
    uint32_t& left = leave_first ? a : b;
    left = list_of_[BlockOf(left)];
  }
  return first;
}

template <typename F>
void PlanFlow::Before(uint32_t s, const F& f) const {
  const std::vector<ricci_plan_step>& steps = plan_.steps;
  if (s < steps.size() && steps[s].kind == RICCI_STEP_END) {  // of a CASE: other branches end at their NEXT
    const uint32_t block = blocks_[s].around;
    const bool has_branches = steps[block].kind == RICCI_STEP_CASE;
    for (uint32_t next = blocks_[block].next; has_branches && next != s; next = blocks_[next].next) f(next);
  }
  if (s == 0) return;
  const uint32_t p = s - 1, kind = steps[p].kind, around = blocks_[p].around;
  if (kind == RICCI_STEP_NEXT) return f(around);
  if (kind == RICCI_STEP_END && steps[around].kind == RICCI_STEP_WHILE) return f(blocks_[around].next);
  f(p);
  if (kind == RICCI_STEP_WHILE) f(blocks_[p].end);
}

size_t PlanFlow::MarkLive(std::span<const Access> accesses, bool at_end, uint32_t mark,
                          std::vector<uint32_t>& live) const {
  const auto n = static_cast<uint32_t>(plan_.steps.size());
  uint32_t begin = kNone;
  if (!accesses.empty()) begin = Begin(accesses.front().step, at_end ? 0 : accesses.back().step);
  const auto replaced = [&](uint32_t s) {
    const auto t = std::lower_bound(accesses.begin(), accesses.end(), s,
                                    [](const Access& touch, uint32_t step) { return touch.step < step; });
    return t != accesses.end() && t->step == s && t->replaced;
  };
  std::vector<uint32_t> needed;  // steps before which the value is needed
  if (at_end) needed.push_back(n);
  for (const Access& t : accesses) {
    if (t.read && t.step != begin) needed.push_back(t.step);
  }
  size_t marked = 0;
  while (!needed.empty()) {
    const uint32_t s = needed.back();
    needed.pop_back();
    Before(s, [&](uint32_t p) {
      if (live[p] == mark) return;
      live[p] = mark;
      ++marked;
      if (p != begin && !replaced(p)) needed.push_back(p);
    });
  }
  return marked;
}

}}}  // namespace ricci::v0::pass
