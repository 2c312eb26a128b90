// take_turns: two trips of a loop in one iteration, so that a carry goes from its buffer to another one and back
// instead of being copied at the end of each trip.
//
// This is for large carries whose next value cannot be written over them, and for loops with a known number of trips.
// (coalesce_copies, which runs before, is better where it is possible, because half the memory is accessed.) In the
// second trip the two buffers are swapped. If the number of trips is odd, the first one is before the loop. Not for
// bodies with loops and branches of the plan, whose steps would double at every level.
//
// Two buffers access twice the memory: an elementwise trip over 64 KB to 4 MB takes twice the time with them.
#include "base/hash_map.h"
#include "base/status.h"
#include "pass/plan/lower_plan.h"
#include "pass/plan/plan_flow.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr uint32_t kTurnSteps = 64;  // of a body that is short enough to be in the plan twice

struct Loop {
  uint32_t begin, middle, end;  // WHILE, COND, END
};

struct Turns {
  Loop loop;
  base::HashMap<uint32_t, uint32_t> other;  // of a buffer that takes turns
  base::HashMap<uint32_t, bool> copies;     // steps that are not needed any more
  uint64_t bytes = 0;
};

class TurnTaking {
 public:
  TurnTaking(kernel::Plan& plan, std::span<const kernel::Kernel> kernels, uint64_t turn_bytes)
      : plan_(plan), turn_bytes_(turn_bytes), blocks_(plan.steps), accesses_(AccessesOf(plan, blocks_, kernels)) {}

  void Run() {
    uint32_t last = kernel::kNoStep;  // the last WHILE or CASE, which holds no other if its END comes next
    for (uint32_t s = 0; s < plan_.steps.size(); ++s) {
      const ricci_plan_step& step = plan_.steps[s];
      if (ricci_step_opens(&step)) last = s;
      if (step.kind != RICCI_STEP_END || blocks_[s].around != last) continue;
      if (plan_.steps[last].kind == RICCI_STEP_WHILE) Consider({last, blocks_[last].next, s});
    }
    if (!turns_.empty()) Rewrite();
  }

 private:
  void Consider(const Loop& loop) {
    const uint32_t trips = plan_.steps[loop.begin].index;
    if (trips < 2 || trips == UINT32_MAX || loop.end - loop.middle > kTurnSteps || !OnlyAsks(loop)) return;
    Turns turns{loop};
    for (uint32_t s = loop.middle + 1; s < loop.end; ++s) {
      if (plan_.steps[s].kind != RICCI_STEP_COPY) continue;
      const uint32_t to = Arg(s, 0), from = Arg(s, 1);
      if (!MayTakeTurns(loop, s, to, from)) continue;
      turns.other[to] = from;
      turns.other[from] = to;
      turns.copies[s] = true;
      turns.bytes += plan_.buffers[to].bytes;  // exact: sizes of memory
    }
    if (turns.bytes >= turn_bytes_) turns_[loop.begin] = std::move(turns);
  }

  uint32_t Arg(uint32_t s, uint32_t i) const { return plan_.args[plan_.steps[s].args + i]; }

  // Accesses of buffer `b` in steps [first, end).
  std::span<const Access> Within(uint32_t b, uint32_t first, uint32_t end) const {
    const auto less = [](const Access& a, uint32_t step) { return a.step < step; };
    const std::vector<Access>& all = accesses_[b];
    const auto from = std::lower_bound(all.begin(), all.end(), first, less);
    return {from, std::lower_bound(from, all.end(), end, less)};
  }

  // Does the condition only write the predicate? Then the second trip does not need it.
  bool OnlyAsks(const Loop& loop) const {
    const uint32_t predicate = Arg(loop.begin, 0);
    for (uint32_t s = loop.begin + 1; s < loop.middle; ++s) {
      for (uint32_t i = 0; i < plan_.steps[s].n_args; ++i) {
        const Access here = Within(Arg(s, i), s, s + 1).front();
        if (here.write && (here.read || Arg(s, i) != predicate)) return false;
      }
    }
    return Within(predicate, loop.middle + 1, loop.end).empty();
  }

  // Does copy `s` store the next carry, which only the trip uses, in the carry, and does nothing in the trip use either
  // later? Then a buffer takes turns with at most one other.
  bool MayTakeTurns(const Loop& loop, uint32_t s, uint32_t carry, uint32_t next) const {
    if (carry == next || plan_.buffers[next].kind != RICCI_BUFFER_ARENA) return false;
    const std::vector<Access>& of_next = accesses_[next];
    if (of_next.front().step <= loop.middle || of_next.back().step != s) return false;
    return Within(carry, s + 1, loop.end).empty();
  }

  void Rewrite() {
    const kernel::Plan old = plan_;
    plan_.steps.clear(), plan_.args.clear();
    for (uint32_t s = 0; s < old.steps.size(); ++s) {
      const auto turns = turns_.find(s);
      if (turns == turns_.end()) {
        Append(old, s, old.steps[s].index);
      } else {
        AppendLoop(old, turns->second);
        s = turns->second.loop.end;
      }
    }
  }

  void AppendLoop(const kernel::Plan& old, const Turns& turns) {
    const auto [begin, middle, end] = turns.loop;
    const uint32_t trips = old.steps[begin].index;
    for (uint32_t s = middle + 1; s < end && trips % 2 != 0; ++s) Append(old, s, old.steps[s].index);
    Append(old, begin, trips / 2);
    for (uint32_t s = begin + 1; s <= middle; ++s) Append(old, s, old.steps[s].index);
    for (const bool exchanged : {false, true}) {
      for (uint32_t s = middle + 1; s < end; ++s) {
        if (!turns.copies.contains(s)) Append(old, s, old.steps[s].index, exchanged ? &turns : nullptr);
      }
    }
    Append(old, end, old.steps[end].index);
  }

  // Appends step `s` again, with buffers that take turns exchanged.
  void Append(const kernel::Plan& old, uint32_t s, uint32_t index, const Turns* exchanged = nullptr) {
    const ricci_plan_step& step = old.steps[s];
    std::vector<uint32_t> args(old.args.begin() + step.args, old.args.begin() + step.args + step.n_args);
    for (uint32_t& arg : args) {
      if (exchanged == nullptr) break;
      const auto other = exchanged->other.find(arg);
      if (other != exchanged->other.end()) arg = other->second;
    }
    plan_.Step(step.kind, index, args, step.location);
  }

  kernel::Plan& plan_;
  const uint64_t turn_bytes_;
  const kernel::MatchedBlocks blocks_;
  const std::vector<std::vector<Access>> accesses_;
  base::HashMap<uint32_t, Turns> turns_;  // by WHILE
};

}  // namespace

absl::Status TakeTurns(const Options& options, Lowered& out) {
  TurnTaking(out.plan, out.kernels, options.target.limits.turn_bytes).Run();
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::pass
