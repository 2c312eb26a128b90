// in_place: results take the memory of an operand that dies where they are made.
//
// A kernel may write over what it reads if it reads an element only at the index at which it writes it, and before: all
// loads of the operand and all stores of the result have the same index value (value numbering has made equal indices
// one). An arena operand then shares the result's buffer; a donated parameter becomes the memory of the result.
#include <numeric>

#include "base/hash_map.h"
#include "base/status.h"
#include "kernel/matched_blocks.h"
#include "pass/plan/lower_plan.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr uint32_t kNever = ~0u;
constexpr size_t kMaxTries = 64;  // operands whose memory is tried for one result

struct Touch {
  uint32_t first = kNever, last = 0;
  bool in_loop = false;
};

// The first and last step of each buffer, and whether any of its steps is in a loop or branch.
std::vector<Touch> Touches(const kernel::Plan& plan, const kernel::MatchedBlocks& blocks) {
  std::vector<Touch> touches(plan.buffers.size());
  for (uint32_t s = 0; s < plan.steps.size(); ++s) {
    const ricci_plan_step& step = plan.steps[s];
    for (uint32_t i = step.args; i < step.args + step.n_args; ++i) {
      Touch& t = touches[plan.args[i]];
      t.first = std::min(t.first, s);
      t.last = s;
      t.in_loop |= !blocks.Outermost(s) || ricci_step_opens(&step);
    }
  }
  return touches;
}

class Sharing {
 public:
  Sharing(Lowered& out, const Options& options)
      : out_(out), plan_(out.plan), options_(options), blocks_(plan_.steps), touches_(Touches(plan_, blocks_)) {
    out_.output_alias.assign(plan_.n_outputs, -1);
    now_.resize(plan_.buffers.size());
    std::iota(now_.begin(), now_.end(), 0u);
  }

  void Run() {
    for (uint32_t s = 0; s < plan_.steps.size(); ++s) {
      const ricci_plan_step& step = plan_.steps[s];
      if (step.kind == RICCI_STEP_COPY && blocks_.Outermost(s)) ShareCopy(s);
      if (step.kind != RICCI_STEP_KERNEL) continue;
      const kernel::Kernel& k = out_.kernels[step.index];
      ShareResults(s, k);
    }
    for (uint32_t& arg : plan_.args) arg = Now(arg);
  }

 private:
  // The buffer that has replaced `b` so far.
  uint32_t Now(uint32_t b) {
    while (now_[b] != b) b = now_[b] = now_[now_[b]];
    return b;
  }

  // A copy of a donated parameter that dies there, outside loops, is dropped. Other copies have been coalesced.
  void ShareCopy(uint32_t s) {
    const uint32_t to = Now(plan_.args[plan_.steps[s].args]), from = Now(plan_.args[plan_.steps[s].args + 1]);
    if (plan_.buffers[from].kind != RICCI_BUFFER_INPUT || touches_[from].last != s || touches_[to].first != s) return;
    if (plan_.buffers[from].bytes == plan_.buffers[to].bytes) Share(from, to);
  }

  // Gives results of the kernel of step `s` the memory of operands that die there. An operand that fails for the first
  // results is not tried for all others.
  void ShareResults(uint32_t s, const kernel::Kernel& k) {
    const ricci_plan_step& step = plan_.steps[s];
    std::vector<uint32_t> dying;                               // buffers, in the order of the arguments
    base::HashMap<uint32_t, std::vector<uint32_t>> positions;  // positions of a buffer among the arguments
    for (uint32_t a = 0; a < step.n_args; ++a) {
      const uint32_t from = Now(plan_.args[step.args + a]);
      const bool dies = touches_[from].last == s && !touches_[from].in_loop && touches_[from].first != kNever;
      std::vector<uint32_t>& at = positions[from];
      if (dies && at.empty() && MayGive(from)) dying.push_back(from);
      at.push_back(a);
    }
    if (dying.empty()) return;
    const std::vector<kernel::BufferUse> uses = kernel::BufferUses(k);
    for (uint32_t r = 0; r < step.n_args; ++r) {
      if (!(k.buffers[r].access & RICCI_ACCESS_WRITE)) continue;
      const uint32_t to = Now(plan_.args[step.args + r]);
      if (touches_[to].in_loop || touches_[to].first != s) continue;
      for (size_t d = 0; d < std::min(dying.size(), kMaxTries); ++d) {
        const uint32_t from = dying[d];
        const bool fits = from != to && plan_.buffers[from].bytes == plan_.buffers[to].bytes &&
                          MayOverwrite(k, uses, positions[from], r);
        if (!fits || !Share(from, to)) continue;
        dying.erase(dying.begin() + static_cast<ptrdiff_t>(d));
        break;
      }
    }
  }

  bool MayGive(uint32_t from) const {
    const ricci_plan_buffer& b = plan_.buffers[from];
    if (b.kind == RICCI_BUFFER_ARENA) return true;
    return b.kind == RICCI_BUFFER_INPUT && b.index < options_.donate.size() && options_.donate[b.index];
  }

  // May result `r` be written into the buffer of the arguments `at`? Not if another result has taken it.
  static bool MayOverwrite(const kernel::Kernel& k, const std::vector<kernel::BufferUse>& uses,
                           const std::vector<uint32_t>& at, uint32_t r) {
    return std::all_of(at.begin(), at.end(), [&](uint32_t a) { return kernel::MayOverwrite(k, uses, a, r); });
  }

  bool Share(uint32_t from, uint32_t to) {
    const ricci_plan_buffer &operand = plan_.buffers[from], &result = plan_.buffers[to];
    if (operand.kind == RICCI_BUFFER_INPUT && result.kind == RICCI_BUFFER_OUTPUT) {
      const bool donated = operand.index < options_.donate.size() && options_.donate[operand.index];
      if (!donated || taken_[from]) return false;
      taken_[from] = true;
      out_.output_alias[result.index] = static_cast<int32_t>(operand.index);
      return true;
    }
    if (operand.kind != RICCI_BUFFER_ARENA) return false;
    // The step that wrote the operand now writes into the result's buffer.
    now_[from] = to;
    touches_[to].first = touches_[from].first;
    touches_[from] = {};
    return true;
  }

  Lowered& out_;
  kernel::Plan& plan_;
  const Options& options_;
  const kernel::MatchedBlocks blocks_;
  std::vector<Touch> touches_;
  std::vector<uint32_t> now_;
  base::HashMap<uint32_t, bool> taken_;
};

}  // namespace

absl::Status ShareInPlace(const Options& options, Lowered& out) {
  Sharing(out, options).Run();
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::pass
