// in_place: results that take the memory of an operand which dies where they are made.
//
// A kernel may write over what it reads if it reads an element only at the index at which it writes it, and before: all
// loads of the operand and all stores of the result have one index value (value numbering has made equal indices one).
// An arena operand then shares the result's buffer; a donated parameter becomes the memory of the result it is
// exchanged for.
#include <numeric>

#include "base/hash_map.h"
#include "base/status.h"
#include "pass/lower_plan.h"

namespace ricci::inline v0::pass {
namespace {

constexpr uint32_t kNever = ~0u;

struct Touch {
  uint32_t first = kNever, last = 0, writes = 0;
  bool in_loop = false;
};

// First and last step of each buffer, and whether a loop or branch is around any of them.
std::vector<Touch> Touches(const kernel::Plan& plan) {
  std::vector<Touch> touches(plan.buffers.size());
  uint32_t depth = 0;
  for (uint32_t s = 0; s < plan.steps.size(); ++s) {
    const ricci_plan_step& step = plan.steps[s];
    if (step.kind == RICCI_STEP_WHILE || step.kind == RICCI_STEP_CASE) ++depth;
    for (uint32_t i = step.args; i < step.args + step.n_args; ++i) {
      Touch& t = touches[plan.args[i]];
      t.first = std::min(t.first, s);
      t.last = s;
      t.in_loop |= depth > 0;
    }
    if (step.kind == RICCI_STEP_END) --depth;
  }
  return touches;
}

// Do all loads of kernel buffer `from` and all accesses of `to` use one and the same index value, and is nothing loaded
// once it may have been written over? A store in a loop that does not change the index is followed by its other trips.
bool SameIndex(const kernel::Kernel& k, uint32_t from, uint32_t to) {
  uint32_t index = 0;
  bool stored = false;
  std::vector<uint32_t> open;  // loops and branches, by the instructions that begin them
  for (uint32_t i = 0; i < k.insts.size(); ++i) {
    const ricci_inst& inst = k.insts[i];
    if (inst.op == RICCI_K_FOR || inst.op == RICCI_K_WHILE || inst.op == RICCI_K_REDUCE || inst.op == RICCI_K_IF)
      open.push_back(i);
    if (inst.op == RICCI_K_END || inst.op == RICCI_K_YIELD) open.pop_back();
    if (inst.op != RICCI_K_LOAD && inst.op != RICCI_K_STORE) continue;
    if (inst.imm != from && inst.imm != to) continue;
    if ((index != 0 && inst.a != index) || (stored && inst.imm == from)) return false;
    index = inst.a;
    if (inst.op != RICCI_K_STORE) continue;
    if (!open.empty() && open.back() > index) return false;
    stored = true;
  }
  return index != 0;
}

class Sharing {
 public:
  Sharing(Lowered& out, const Options& options)
      : out_(out), plan_(out.plan), options_(options), touches_(Touches(out.plan)) {
    out_.output_alias.assign(plan_.n_outputs, -1);
    now_.resize(plan_.buffers.size());
    std::iota(now_.begin(), now_.end(), 0u);
  }

  void Run() {
    uint32_t depth = 0;
    for (uint32_t s = 0; s < plan_.steps.size(); ++s) {
      const ricci_plan_step& step = plan_.steps[s];
      depth += step.kind == RICCI_STEP_WHILE || step.kind == RICCI_STEP_CASE;
      depth -= step.kind == RICCI_STEP_END;
      if (step.kind == RICCI_STEP_COPY && depth == 0) ShareCopy(s);
      if (step.kind != RICCI_STEP_KERNEL) continue;
      const kernel::Kernel& k = out_.kernels[step.index];
      for (uint32_t r = 0; r < step.n_args; ++r) {
        if (k.buffers[r].access & RICCI_ACCESS_WRITE) ShareResult(s, k, r);
      }
    }
    for (uint32_t& arg : plan_.args) arg = Now(arg);
    std::erase_if(plan_.steps, [&](const ricci_plan_step& step) {
      return step.kind == RICCI_STEP_COPY && plan_.args[step.args] == plan_.args[step.args + 1];
    });
  }

 private:
  // The buffer that stands for `b` by now.
  uint32_t Now(uint32_t b) {
    while (now_[b] != b) b = now_[b] = now_[now_[b]];
    return b;
  }

  // A copy of what dies there, outside of loops, is no copy.
  void ShareCopy(uint32_t s) {
    const uint32_t to = Now(plan_.args[plan_.steps[s].args]), from = Now(plan_.args[plan_.steps[s].args + 1]);
    const bool dies = from != to && touches_[from].last == s && touches_[from].first != kNever;
    if (!dies || touches_[to].first != s || plan_.buffers[from].bytes != plan_.buffers[to].bytes) return;
    touches_[to].in_loop |= touches_[from].in_loop;
    Share(from, to);
  }

  // Gives result `r` of the kernel of step `s` the memory of one of its operands, if one may.
  void ShareResult(uint32_t s, const kernel::Kernel& k, uint32_t r) {
    const ricci_plan_step& step = plan_.steps[s];
    const uint32_t to = Now(plan_.args[step.args + r]);
    if (touches_[to].in_loop || touches_[to].first != s) return;
    for (uint32_t a = 0; a < step.n_args; ++a) {
      const uint32_t from = Now(plan_.args[step.args + a]);
      const bool dies =
          from != to && touches_[from].last == s && !touches_[from].in_loop && touches_[from].first != kNever;
      if (!dies || plan_.buffers[from].bytes != plan_.buffers[to].bytes || !MayOverwrite(step, k, from, r)) continue;
      if (Share(from, to)) return;
    }
  }

  // May result `r` be written where buffer `from` is? Not if another result has already taken that place.
  bool MayOverwrite(const ricci_plan_step& step, const kernel::Kernel& k, uint32_t from, uint32_t r) {
    for (uint32_t a = 0; a < step.n_args; ++a) {
      if (Now(plan_.args[step.args + a]) != from) continue;
      if (k.buffers[a].access != RICCI_ACCESS_READ || k.buffers[a].elements != k.buffers[r].elements) return false;
      if (!SameIndex(k, a, r)) return false;
    }
    return true;
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
    // What wrote the operand now writes into the result's buffer.
    now_[from] = to;
    touches_[to].first = touches_[from].first;
    touches_[from] = {};
    return true;
  }

  Lowered& out_;
  kernel::Plan& plan_;
  const Options& options_;
  std::vector<Touch> touches_;
  std::vector<uint32_t> now_;
  base::HashMap<uint32_t, bool> taken_;
};

}  // namespace

absl::Status ShareInPlace(const Options& options, Lowered& out) {
  Sharing(out, options).Run();
  return absl::OkStatus();
}

}  // namespace ricci::inline v0::pass
