// Checks of where the buffers of a plan are.
//
// A buffer is live from the first step that accesses it to the last. If a loop accesses it, and something outside the
// loop does too, it is live in all steps of the loop, because the first steps follow the last ones. What only the steps
// within a loop access is made again in each trip (verify_values checks that). Buffers that are live at once must not
// overlap in the arena. A kernel may read and write the same memory only if it writes where it has just read: where a
// buffer is an argument twice, and where a result takes the memory of a donated argument.
//
// Offsets are checked here independently of the pass that assigns them.
#include <algorithm>
#include <map>
#include <queue>

#include "base/hash_map.h"
#include "base/status.h"
#include "kernel/kernel.h"
#include "kernel/matched_blocks.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

constexpr uint32_t kNone = ~0u;

struct Life {
  uint32_t first = kNone, last = 0;
  bool known() const { return first != kNone; }
};

class MemoryChecker {
 public:
  MemoryChecker(const Plan& plan, std::span<const Kernel> kernels, const PlanFacts& facts)
      : plan_(plan), kernels_(kernels), facts_(facts), lives_(plan.buffers.size()) {}

  absl::Status Run() {
    FindLives();
    for (uint32_t s = 0; s < plan_.steps.size(); ++s) {
      if (plan_.steps[s].kind == RICCI_STEP_KERNEL) RICCI_TRY(CheckRepeated(s));
    }
    RICCI_TRY(CheckDonated());
    return facts_.has_offsets ? CheckArena() : absl::OkStatus();
  }

 private:
  void Touch(uint32_t step, uint32_t at) {
    const ricci_plan_step& s = plan_.steps[step];
    for (uint32_t i = 0; i < s.n_args; ++i) {
      Life& life = lives_[plan_.args[s.args + i]];
      life.first = std::min(life.first, at);
      life.last = std::max(life.last, at);
    }
  }

  // A loop reads its predicate at its COND.
  void FindLives() {
    const MatchedBlocks blocks(plan_.steps);
    for (uint32_t s = 0; s < plan_.steps.size(); ++s) {
      Touch(s, plan_.steps[s].kind == RICCI_STEP_WHILE ? blocks[s].next : s);
    }
    for (Life& life : lives_) {
      if (!life.known()) continue;
      const StepInterval all = blocks.OverLoops({life.first, life.last});
      life = {all.first, all.last};
    }
  }

  // ---- one kernel, one memory ----
  // Kernels are walked only if one of their steps needs it.
  const std::vector<BufferUse>& Uses(uint32_t kernel) {
    const auto [it, fresh] = uses_.try_emplace(kernel);
    if (fresh) it->second = BufferUses(kernels_[kernel]);
    return it->second;
  }
  // Arguments `x` and `y` of kernel step `s` are the same memory: is that allowed?
  bool Compatible(const ricci_plan_step& s, uint32_t x, uint32_t y) {
    const auto& buffers = kernels_[s.index].buffers;
    const bool x_written = buffers[x].access & RICCI_ACCESS_WRITE, y_written = buffers[y].access & RICCI_ACCESS_WRITE;
    if (x_written && y_written) return false;
    if (!x_written && !y_written) return true;
    const std::vector<BufferUse>& uses = Uses(s.index);
    return WritesWhereItReads(uses[x_written ? y : x], uses[x_written ? x : y]);
  }

  // Checks buffers that are an argument more than once.
  absl::Status CheckRepeated(uint32_t step) {
    const ricci_plan_step& s = plan_.steps[step];
    order_.resize(s.n_args);
    for (uint32_t i = 0; i < s.n_args; ++i) order_[i] = {plan_.args[s.args + i], i};
    std::sort(order_.begin(), order_.end());
    for (size_t i = 0; i < order_.size();) {
      size_t end = i + 1;
      while (end < order_.size() && order_[end].first == order_[i].first) ++end;
      // At most one of them is written; the others are compared with it.
      const auto written = std::find_if(
          order_.begin() + static_cast<ptrdiff_t>(i), order_.begin() + static_cast<ptrdiff_t>(end),
          [&](const auto& arg) { return kernels_[s.index].buffers[arg.second].access & RICCI_ACCESS_WRITE; });
      for (size_t j = i; j < end && written != order_.begin() + static_cast<ptrdiff_t>(end); ++j) {
        if (order_[j].second == written->second || Compatible(s, order_[j].second, written->second)) continue;
        return absl::InternalError(base::Cat("plan: step ", step, ": kernel ", kernels_[s.index].name,
                                             " writes buffer ", order_[j].first,
                                             " at places other than where it reads it"));
      }
      i = end;
    }
    return absl::OkStatus();
  }

  // ---- results in the memory of donated arguments ----
  absl::Status CheckDonated() {
    std::vector<uint32_t> input(plan_.n_inputs, kNone), output(plan_.n_outputs, kNone);
    for (uint32_t b = 0; b < plan_.buffers.size(); ++b) {
      if (plan_.buffers[b].kind == RICCI_BUFFER_INPUT) input[plan_.buffers[b].index] = b;
      if (plan_.buffers[b].kind == RICCI_BUFFER_OUTPUT) output[plan_.buffers[b].index] = b;
    }
    std::vector<uint8_t> taken(plan_.n_inputs, 0);
    for (uint32_t o = 0; o < facts_.output_alias.size(); ++o) {
      const int32_t from = facts_.output_alias[o];
      if (from < 0) continue;
      const auto p = static_cast<uint32_t>(from);
      const auto error = [&](std::string_view what) {
        return absl::InternalError(base::Cat("plan: result ", o, " takes the memory of parameter ", p, ", ", what));
      };
      if (o >= plan_.n_outputs || p >= plan_.n_inputs) return error("which is not there");
      if (p >= facts_.donate.size() || !facts_.donate[p]) return error("which is not donated");
      if (std::exchange(taken[p], uint8_t{1}) != 0) return error("which another result has taken");
      if (input[p] == kNone || output[o] == kNone) continue;
      if (plan_.buffers[input[p]].bytes != plan_.buffers[output[o]].bytes) return error("which has another size");
      if (!TakesOver(input[p], output[o])) return error("which is read after the result is written");
    }
    return absl::OkStatus();
  }
  // Is `from` used for the last time where `to` is used for the first time, or before?
  bool TakesOver(uint32_t from, uint32_t to) {
    const Life &old = lives_[from], &taken = lives_[to];
    if (!old.known() || !taken.known() || old.last < taken.first) return true;
    if (old.last > taken.first) return false;
    const ricci_plan_step& s = plan_.steps[old.last];
    if (s.kind == RICCI_STEP_COPY) return true;
    if (s.kind != RICCI_STEP_KERNEL) return false;
    for (uint32_t x = 0; x < s.n_args; ++x) {
      for (uint32_t y = 0; y < s.n_args && plan_.args[s.args + x] == from; ++y) {
        if (plan_.args[s.args + y] == to && !Compatible(s, x, y)) return false;
      }
    }
    return true;
  }

  // ---- the arena ----
  absl::Status CheckArena() const {
    std::vector<uint32_t> order;
    for (uint32_t b = 0; b < lives_.size(); ++b) {
      const ricci_plan_buffer& buffer = plan_.buffers[b];
      if (buffer.kind == RICCI_BUFFER_ARENA && lives_[b].known() && buffer.bytes != 0) order.push_back(b);
    }
    std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) { return lives_[x].first < lives_[y].first; });
    std::map<uint64_t, uint32_t> live;  // offset -> buffer; none overlap
    using Death = std::pair<uint32_t, uint32_t>;
    std::priority_queue<Death, std::vector<Death>, std::greater<>> deaths;
    for (uint32_t b : order) {
      for (; !deaths.empty() && deaths.top().first < lives_[b].first; deaths.pop()) {
        live.erase(plan_.buffers[deaths.top().second].offset);
      }
      const auto after = live.lower_bound(plan_.buffers[b].offset);
      if (after != live.end()) RICCI_TRY(CheckApart(b, after->second));
      if (after != live.begin()) RICCI_TRY(CheckApart(std::prev(after)->second, b));
      live.emplace_hint(after, plan_.buffers[b].offset, b);
      deaths.push({lives_[b].last, b});
    }
    return absl::OkStatus();
  }
  // `low` begins at or before the beginning of `high`.
  absl::Status CheckApart(uint32_t low, uint32_t high) const {
    const ricci_plan_buffer &a = plan_.buffers[low], &b = plan_.buffers[high];
    if (a.bytes <= b.offset - a.offset) return absl::OkStatus();
    return absl::InternalError(base::Cat("plan: buffers ", low, " and ", high, " overlap in the arena at byte ",
                                         b.offset, ", but live in steps ", lives_[low].first, " to ", lives_[low].last,
                                         " and ", lives_[high].first, " to ", lives_[high].last));
  }

  const Plan& plan_;
  const std::span<const Kernel> kernels_;
  const PlanFacts& facts_;
  std::vector<Life> lives_;
  std::vector<std::pair<uint32_t, uint32_t>> order_;      // arguments of one step by buffer
  base::HashMap<uint32_t, std::vector<BufferUse>> uses_;  // of kernels
};

}  // namespace

absl::Status VerifyMemory(const Plan& plan, std::span<const Kernel> kernels, const PlanFacts& facts) {
  return MemoryChecker(plan, kernels, facts).Run();
}

}}}  // namespace ricci::v0::kernel
