#include "cuda/run/plan_parts.h"

#include <string_view>
#include <utility>

namespace ricci::cuda {
namespace {

constexpr uint32_t kLeastLaunches = 2;  // of a part

class PartFinder {
 public:
  PartFinder(const ricci_plan& plan, const PlanBlocks& blocks, const std::string& why_no_conditions, PlanParts& out)
      : plan_(plan), blocks_(blocks), why_no_conditions_(why_no_conditions), out_(out), by_host_(plan.n_steps) {}

  void Run() {
    const StepRange all{0, plan_.n_steps};
    if (!Mark(all)) {
      out_.parts = {{all, blocks_.any(), blocks_.has_loops(), blocks_.has_choices()}};
      return;
    }
    Find(all);
  }

 private:
  uint32_t KindOf(uint32_t step) const { return plan_.steps[step].kind; }

  // The first reason is the one that is reported.
  bool Needs(std::string_view why, std::string_view for_captures) {
    if (!out_.is_one()) return true;
    out_.why_not_one = why;
    out_.for_captures = std::string(for_captures) + ": run it before or after";
    return true;
  }

  // Marks the steps of the list, and within them, that need the host. Are there any?
  bool Mark(const StepRange& list) {
    bool any = false;
    for (uint32_t s = list.first; s < list.last; s = blocks_.After(s)) {
      by_host_[s] = NeedsHost(s);
      any = any || by_host_[s];
    }
    return any;
  }
  bool NeedsHost(uint32_t s) {
    switch (KindOf(s)) {
      case RICCI_STEP_LIBRARY:
        return LibraryNeedsHost(plan_.libraries[plan_.steps[s].index]);
      case RICCI_STEP_WHILE:
        return LoopNeedsHost(s);
      case RICCI_STEP_CASE:
        return CaseNeedsHost(s);
      default:
        return false;
    }
  }
  bool LibraryNeedsHost(const ricci_plan_library& call) {
    if (IsNode(call)) return false;
    if ((call.flags & RICCI_CALL_ON_HOST) != 0) {
      return Needs("the plan calls functions of the host", "they are called while the run is enqueued");
    }
    return Needs("the plan has library calls", "what they enqueue is not known to Ricci");
  }
  bool LoopNeedsHost(uint32_t s) {
    const bool within = Mark(blocks_.Condition(s)), in_body = Mark(blocks_.Body(s));
    if (within || in_body || BlocksNeedHost()) return true;
    const StepRange condition = blocks_.Condition(s);
    for (uint32_t i = condition.first; i < condition.last; ++i) {  // at each level they would double
      if (blocks_.After(i) != i + 1) {
        return Needs("what computes the predicate of a loop has loops or branches itself",
                     "the host would have to read device memory during the run");
      }
    }
    return false;
  }
  bool CaseNeedsHost(uint32_t s) {
    bool any = false;
    for (const StepRange& branch : blocks_.Branches(s)) any = Mark(branch) || any;
    return any || BlocksNeedHost();
  }
  bool BlocksNeedHost() {
    return !why_no_conditions_.empty() && Needs("the plan has loops or branches, and " + why_no_conditions_,
                                                "the host would have to read device memory during the run");
  }

  // The parts of a list, and of the lists in what needs the host.
  void Find(const StepRange& list) {
    uint32_t first = list.first;
    for (uint32_t s = list.first; s < list.last; s = blocks_.After(s)) {
      if (!by_host_[s]) continue;
      Add({first, s});
      if (KindOf(s) == RICCI_STEP_WHILE) {
        Find(blocks_.Condition(s));
        Find(blocks_.Body(s));
      } else if (KindOf(s) == RICCI_STEP_CASE) {
        for (const StepRange& branch : blocks_.Branches(s)) Find(branch);
      }
      first = blocks_.After(s);
    }
    Add({first, list.last});
  }
  void Add(const StepRange& steps) {
    PlanPart part{steps};
    uint32_t launches = 0;
    for (uint32_t s = steps.first; s < steps.last; ++s) {
      const uint32_t kind = KindOf(s);
      const bool is_loop = kind == RICCI_STEP_WHILE, is_case = kind == RICCI_STEP_CASE;
      part.has_loops = part.has_loops || is_loop;
      part.has_blocks = part.has_blocks || is_loop || is_case;
      part.has_choices = part.has_choices || (is_case && blocks_.IsChoice(s));
      const bool is_work = kind == RICCI_STEP_KERNEL || kind == RICCI_STEP_SOURCE || kind == RICCI_STEP_COPY ||
                           kind == RICCI_STEP_LIBRARY;
      launches += is_work || is_loop || is_case ? 1 : 0;
    }
    if (launches >= kLeastLaunches) out_.parts.push_back(part);
  }

  const ricci_plan& plan_;
  const PlanBlocks& blocks_;
  const std::string& why_no_conditions_;
  PlanParts& out_;
  std::vector<bool> by_host_;  // by step
};

}  // namespace

PlanParts PartsOf(const ricci_plan& plan, const PlanBlocks& blocks, const std::string& why_no_conditions) {
  PlanParts out;
  PartFinder(plan, blocks, why_no_conditions, out).Run();
  return out;
}

PlanParts StepByStep(std::string why, std::string for_captures) {
  return {{}, std::move(why), std::move(for_captures)};
}

}  // namespace ricci::cuda
