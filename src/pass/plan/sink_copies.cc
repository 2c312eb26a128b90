#include "pass/plan/sink_copies.h"

#include <algorithm>

#include "base/hash_map.h"
#include "pass/plan/plan_flow.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr int kRounds = 8;             // in each a copy moves into one more CASE
constexpr size_t kMostBranches = 16;   // of a CASE: each gets a copy
constexpr uint32_t kMostBetween = 64;  // most steps between the CASE and the copy
constexpr uint32_t kNone = ~0u;

struct Copy {
  uint32_t to, from;
};

class Sinking {
 public:
  Sinking(kernel::Plan& plan, std::span<const kernel::Kernel> kernels, SplitBuffers& split)
      : plan_(plan),
        split_(split),
        blocks_(plan.steps),
        accesses_(AccessesOf(plan, blocks_, kernels)),
        case_of_(plan.steps.size(), kNone) {}

  // Returns whether it moved any.
  bool Run() {
    for (uint32_t s = 0; s < plan_.steps.size(); ++s) {
      if (plan_.steps[s].kind == RICCI_STEP_COPY) Consider(s);
    }
    if (sunk_.empty()) return false;
    Rewrite();
    return true;
  }

 private:
  // Copy `s` moves if all other steps that access its source are within one CASE before it, and nothing from there to
  // `s` accesses its destination.
  void Consider(uint32_t s) {
    const uint32_t to = plan_.args[plan_.steps[s].args], from = plan_.args[plan_.steps[s].args + 1];
    const std::vector<Access>& source = accesses_[from];
    if (plan_.buffers[from].kind != RICCI_BUFFER_ARENA || source.size() < 2 || source.back().step != s) return;
    const uint32_t end = EndAround(source[source.size() - 2].step, s);
    if (end == kNone) return;
    const uint32_t begin = blocks_[end].around;
    const ricci_plan_step& block = plan_.steps[begin];
    if (block.kind != RICCI_STEP_CASE || block.index > kMostBranches || source.front().step <= begin) return;
    const std::vector<Access>& target = accesses_[to];
    const auto after_end = std::upper_bound(target.begin(), target.end(), end,
                                            [](uint32_t step, const Access& t) { return step < t.step; });
    if (after_end->step != s) return;
    case_of_[s] = begin;
    sunk_[begin].push_back({to, from});
  }

  // The END in the list of step `s` that closes the block that holds step `inside`, or kNone.
  uint32_t EndAround(uint32_t inside, uint32_t s) const {
    uint32_t looked = 0;
    for (uint32_t e = s; e-- > inside && ++looked <= kMostBetween;) {
      const uint32_t kind = plan_.steps[e].kind;
      if (kind == RICCI_STEP_END) {
        if (blocks_[e].around < inside) return e;
        e = blocks_[e].around;
      } else if (kernel::IsControl(kind)) {
        return kNone;  // the list of `s` begins here
      }
    }
    return kNone;
  }

  void Rewrite() {
    const kernel::Plan old = plan_;
    plan_.steps.clear(), plan_.args.clear();
    for (uint32_t s = 0; s < old.steps.size(); ++s) {
      const ricci_plan_step& step = old.steps[s];
      if (case_of_[s] != kNone) continue;
      const bool closes = step.kind == RICCI_STEP_NEXT || step.kind == RICCI_STEP_END;
      const auto sunk = closes ? sunk_.find(blocks_[s].around) : sunk_.end();
      if (sunk != sunk_.end()) CopyHere(sunk->second);
      std::vector<uint32_t> args(old.args.begin() + step.args, old.args.begin() + step.args + step.n_args);
      for (uint32_t& arg : args) arg = Now(arg);
      plan_.Step(step.kind, step.index, args, step.location);
      if (sunk != sunk_.end() && step.kind == RICCI_STEP_NEXT) Split(sunk->second);
    }
  }

  void CopyHere(const std::vector<Copy>& copies) {
    for (const Copy& copy : copies) plan_.Step(RICCI_STEP_COPY, 0, {Now(copy.to), Now(copy.from)});
  }

  // The next branch gets buffers of its own for the sources of the copies.
  void Split(const std::vector<Copy>& copies) {
    for (const Copy& copy : copies) {
      const auto [group, first] = group_of_.try_emplace(copy.from, split_.size());
      if (first) split_.push_back({copy.from});
      plan_.buffers.push_back(ricci_plan_buffer(plan_.buffers[copy.from]));
      now_[copy.from] = static_cast<uint32_t>(plan_.buffers.size() - 1);
      split_[group->second].push_back(now_[copy.from]);
    }
  }

  // The buffer that replaces `b` in this branch.
  uint32_t Now(uint32_t b) const {
    const auto now = now_.find(b);
    return now == now_.end() ? b : now->second;
  }

  kernel::Plan& plan_;
  SplitBuffers& split_;
  const kernel::MatchedBlocks blocks_;  // of the plan before it is rewritten
  const std::vector<std::vector<Access>> accesses_;
  std::vector<uint32_t> case_of_;                    // the CASE into which a copy moves
  base::HashMap<uint32_t, std::vector<Copy>> sunk_;  // by CASE, in the order of the steps
  base::HashMap<uint32_t, uint32_t> now_;            // the current branch's buffer for one that is split
  base::HashMap<uint32_t, size_t> group_of_;
};

}  // namespace

SplitBuffers SinkCopies(kernel::Plan& plan, std::span<const kernel::Kernel> kernels) {
  SplitBuffers split;
  for (int round = 0; round < kRounds; ++round) {
    if (!Sinking(plan, kernels, split).Run()) break;
  }
  return split;
}

}}}  // namespace ricci::v0::pass
