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

std::vector<std::vector<Access>> AccessesOf(const kernel::Plan& plan, std::span<const kernel::Kernel> kernels) {
  std::vector<std::vector<Access>> accesses(plan.buffers.size());
  std::vector<uint32_t> open;
  for (uint32_t s = 0; s < plan.steps.size(); ++s) {
    const ricci_plan_step& step = plan.steps[s];
    if (step.kind == RICCI_STEP_WHILE || step.kind == RICCI_STEP_CASE) open.push_back(s);
    if (step.kind == RICCI_STEP_COND) Add(accesses[plan.args[plan.steps[open.back()].args]], {s, /*read=*/true});
    if (step.kind == RICCI_STEP_END) open.pop_back();
    if (step.kind == RICCI_STEP_WHILE) continue;  // its COND reads the predicate
    for (uint32_t i = 0; i < step.n_args; ++i) Add(accesses[plan.args[step.args + i]], AccessOf(plan, kernels, s, i));
  }
  return accesses;
}

PlanFlow::PlanFlow(const kernel::Plan& plan) : plan_(plan) {
  const size_t n = plan.steps.size();
  list_of_.assign(n, 0);
  depth_.assign(n, 0);
  for (auto* v : {&begin_, &middle_, &end_, &previous_next_}) v->assign(n, kNone);
  lists_.push_back({kNone, kNone});
  uint32_t list = 0, depth = 0;
  std::vector<uint32_t> open, last_next;  // blocks, and the last NEXT of each
  const auto enter = [&] {                // enters a list of the innermost block
    lists_.push_back({list_of_[open.back()], open.back()});
    list = static_cast<uint32_t>(lists_.size() - 1);
  };
  for (uint32_t s = 0; s < n; ++s) {
    const uint32_t kind = plan.steps[s].kind;
    list_of_[s] = list;
    if (kind == RICCI_STEP_WHILE || kind == RICCI_STEP_CASE) {
      depth += kind == RICCI_STEP_WHILE;
      open.push_back(s);
      last_next.push_back(kNone);
      enter();
    }
    depth_[s] = depth;
    if (!kernel::IsControl(kind)) continue;
    begin_[s] = open.back();
    if (kind == RICCI_STEP_COND) middle_[open.back()] = s;
    if (kind == RICCI_STEP_NEXT || kind == RICCI_STEP_END) previous_next_[s] = last_next.back();
    if (kind == RICCI_STEP_NEXT) {
      last_next.back() = s;
      enter();
    }
    if (kind != RICCI_STEP_END) continue;
    end_[open.back()] = s;
    depth -= plan.steps[open.back()].kind == RICCI_STEP_WHILE;
    list = list_of_[open.back()];
    open.pop_back();
    last_next.pop_back();
  }
}

uint32_t PlanFlow::Begin(uint32_t first, uint32_t last) const {
  uint32_t a = list_of_[first], b = list_of_[last];
  while (a != b) {
    if (a > b) {
      first = lists_[a].opener;
      a = lists_[a].parent;
    } else {
      b = lists_[b].parent;
    }
  }
  return first;
}

template <typename F>
void PlanFlow::Before(uint32_t s, const F& f) const {
  const bool closes = s < plan_.steps.size() && plan_.steps[s].kind == RICCI_STEP_END;
  if (closes) {  // of a CASE: other branches end at their NEXT
    for (uint32_t next = previous_next_[s]; next != kNone; next = previous_next_[next]) f(next);
  }
  if (s == 0) return;
  const uint32_t p = s - 1, kind = plan_.steps[p].kind;
  if (kind == RICCI_STEP_NEXT) return f(begin_[p]);
  if (kind == RICCI_STEP_END && plan_.steps[begin_[p]].kind == RICCI_STEP_WHILE) return f(middle_[begin_[p]]);
  f(p);
  if (kind == RICCI_STEP_WHILE) f(end_[p]);
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
