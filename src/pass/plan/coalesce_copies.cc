// coalesce_copies: two buffers that a copy joins become one if their values never have to be kept apart.
//
// A loop of the plan copies each next carry to the carry at the end of a trip, a branch copies the results that it only
// passes on, and a loop's initial value is copied to the buffer of the carry. Register allocators have the same copies
// and the same remedy: if neither buffer is written while the value of the other is still needed, both may share
// memory, and the copy is dropped. That covers loops without trips, nested loops, branches and exchanged carries alike,
// since all of them are only paths through the steps (plan_flow).
//
// A kernel that writes one and reads the other for the last time is allowed if it writes where it has just read
// (in_place_access). If the plan copies what a branch makes, the copy is moved into each branch (sink_copies), so that
// branches that do not need it can drop it. Results of the plan keep their buffers: the other buffer is replaced.
// Parameters and constants are never written. Copies in inner loops are tried first, then large ones, since of two
// copies that exclude each other only one can be dropped.
//
// The plan is lowered with all copies that its meaning requires. So one rule over the paths is enough, instead of one
// for each kind of loop. An update (dynamic_update_slice of a large array, scatter) is a lowering that finds its
// operand in the result: the plan copies it there, and the copy is dropped if the operand dies. A loop's carry that is
// only updated so stays where it is.
#include <numeric>

#include "base/hash_map.h"
#include "base/status.h"
#include "pass/plan/lower_plan.h"
#include "pass/plan/plan_flow.h"
#include "pass/plan/sink_copies.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

// Marks of live values for each step of the plan, over all copies: beyond that the remaining copies stay. Lives are
// short except those of results, so only plans with thousands of copies reach this.
constexpr size_t kMostMarks = 1024;
constexpr uint32_t kNone = ~0u;

class Coalescer {
 public:
  explicit Coalescer(Lowered& out)
      : plan_(out.plan),
        kernels_(out.kernels),
        split_(SinkCopies(out.plan, out.kernels)),
        blocks_(out.plan.steps),
        flow_(out.plan, blocks_),
        accesses_(AccessesOf(out.plan, blocks_, out.kernels)),
        now_(plan_.buffers.size()),
        live_of_to_(plan_.steps.size(), 0),
        live_of_from_(plan_.steps.size(), 0) {
    std::iota(now_.begin(), now_.end(), 0u);
  }

  void Run() {
    for (uint32_t s : Candidates()) Coalesce(s);
    for (const std::vector<uint32_t>& buffers : split_) Rejoin(buffers);
    for (uint32_t& arg : plan_.args) arg = Now(arg);
    std::erase_if(plan_.steps, [&](const ricci_plan_step& step) {
      return step.kind == RICCI_STEP_COPY && plan_.args[step.args] == plan_.args[step.args + 1];
    });
  }

 private:
  uint32_t Now(uint32_t b) {
    while (now_[b] != b) b = now_[b] = now_[now_[b]];
    return b;
  }
  uint32_t Arg(uint32_t step, uint32_t i) { return Now(plan_.args[plan_.steps[step].args + i]); }
  bool IsResult(uint32_t b) const { return plan_.buffers[b].kind == RICCI_BUFFER_OUTPUT; }

  std::vector<uint32_t> Candidates() {
    std::vector<uint32_t> copies;
    for (uint32_t s = 0; s < plan_.steps.size(); ++s) {
      if (plan_.steps[s].kind == RICCI_STEP_COPY && MayBeOne(Arg(s, 0), Arg(s, 1))) copies.push_back(s);
    }
    const auto order = [&](uint32_t s) { return std::pair(flow_.Depth(s), plan_.buffers[Arg(s, 0)].bytes); };
    std::stable_sort(copies.begin(), copies.end(), [&](uint32_t x, uint32_t y) { return order(x) > order(y); });
    return copies;
  }

  // Leaving aside when they are written.
  bool MayBeOne(uint32_t to, uint32_t from) const {
    const auto own = [&](uint32_t b) { return plan_.buffers[b].kind == RICCI_BUFFER_ARENA || IsResult(b); };
    return own(to) && own(from) && !(IsResult(to) && IsResult(from)) &&
           plan_.buffers[to].bytes == plan_.buffers[from].bytes;
  }

  // Joins the buffers of copy `s`, if nothing prevents it.
  void Coalesce(uint32_t s) {
    const uint32_t to = Arg(s, 0), from = Arg(s, 1);
    if (to == from || !MayBeOne(to, from)) return;
    if (!OneAfterTheOther(from, to, s) && !(Walk(to, from) && Apart(to, from))) return;
    const uint32_t keep = IsResult(from) ? from : to;
    Join(keep, keep == to ? from : to);
  }

  // Branches whose own buffer for a result saved no copy share one buffer again.
  void Rejoin(const std::vector<uint32_t>& buffers) {
    uint32_t shared = kNone;
    for (uint32_t b : buffers) {
      if (Now(b) != b) continue;
      if (shared != kNone && Walk(shared, b) && Apart(shared, b)) {
        Join(shared, b);
      } else {
        shared = b;
      }
    }
  }

  // The case of most copies outside loops: `from` dies at step `s`, where `to` begins. Long chains of updates consist
  // of such copies.
  bool OneAfterTheOther(uint32_t from, uint32_t to, uint32_t s) const {
    return flow_.Outermost(s) && accesses_[from].back().step == s && accesses_[to].front().step == s && !IsResult(from);
  }

  // Finds where the values of both are needed, unless all such searches have taken too long already.
  bool Walk(uint32_t to, uint32_t from) {
    if (marked_ > kMostMarks * plan_.steps.size()) return false;  // exact: both are sizes of memory
    ++mark_;
    marked_ += flow_.MarkLive(accesses_[to], IsResult(to), mark_, live_of_to_);
    marked_ += flow_.MarkLive(accesses_[from], IsResult(from), mark_, live_of_from_);
    return true;
  }

  // Is neither written while the other is needed? Copies between the two do not count: both are equal after them.
  bool Apart(uint32_t to, uint32_t from) {
    const std::vector<Access>&a = accesses_[to], &b = accesses_[from];
    for (size_t i = 0, j = 0; i < a.size() || j < b.size();) {
      const uint32_t s = std::min(i < a.size() ? a[i].step : ~0u, j < b.size() ? b[j].step : ~0u);
      const bool in_a = i < a.size() && a[i].step == s, in_b = j < b.size() && b[j].step == s;
      const bool writes_a = in_a && a[i].write, writes_b = in_b && b[j].write;
      i += in_a, j += in_b;
      if (in_a && in_b && plan_.steps[s].kind == RICCI_STEP_COPY) continue;
      if (writes_a && live_of_from_[s] == mark_) return false;
      if (writes_b && live_of_to_[s] == mark_) return false;
      if (in_a && in_b && (writes_a || writes_b) && !WritesInPlace(s, to, from)) return false;
    }
    return true;
  }

  // Step `s` accesses both and writes at least one: may they share memory there?
  bool WritesInPlace(uint32_t s, uint32_t to, uint32_t from) {
    const ricci_plan_step& step = plan_.steps[s];
    if (step.kind != RICCI_STEP_KERNEL) return false;
    const kernel::Kernel& k = kernels_[step.index];
    std::vector<uint32_t> positions;  // positions of the two among the arguments
    for (uint32_t i = 0; i < step.n_args; ++i) {
      if (const uint32_t b = Arg(s, i); b == to || b == from) positions.push_back(i);
    }
    const auto written = std::find_if(positions.begin(), positions.end(),
                                      [&](uint32_t i) { return k.buffers[i].access != RICCI_ACCESS_READ; });
    const auto [found, fresh] = uses_.try_emplace(step.index);
    if (fresh) found->second = kernel::BufferUses(k);
    const std::vector<kernel::BufferUse>& uses = found->second;
    return std::all_of(positions.begin(), positions.end(),
                       [&](uint32_t i) { return i == *written || kernel::MayOverwrite(k, uses, i, *written); });
  }

  // Replaces `gone` by `keep`, and drops copies between them.
  void Join(uint32_t keep, uint32_t gone) {
    now_[gone] = keep;
    std::vector<Access> before = std::move(accesses_[keep]), after = std::move(accesses_[gone]);
    accesses_[gone].clear();
    if (!before.empty() && !after.empty() && after.front().step < before.front().step) before.swap(after);
    // The later of the two follows the earlier one; only steps from its beginning on are merged, so that chains stay
    // linear.
    const Access *rest = after.data(), *end = rest + after.size();
    const auto from = std::lower_bound(before.begin(), before.end(), after.empty() ? ~0u : after.front().step,
                                       [](const Access& t, uint32_t step) { return t.step < step; });
    const std::vector<Access> mixed(from, before.end());
    before.erase(from, before.end());
    std::vector<Access>& both = accesses_[keep] = std::move(before);
    for (const Access& t : mixed) {
      for (; rest != end && rest->step < t.step; ++rest) both.push_back(*rest);
      const bool shared = rest != end && rest->step == t.step;
      const Access other = shared ? *rest++ : Access{t.step};
      if (shared && plan_.steps[t.step].kind == RICCI_STEP_COPY) continue;
      both.push_back({t.step, t.read || other.read, t.write || other.write, t.replaced || other.replaced});
    }
    both.insert(both.end(), rest, end);
  }

  kernel::Plan& plan_;
  const std::vector<kernel::Kernel>& kernels_;
  const SplitBuffers split_;  // before everything that reads the steps
  const kernel::MatchedBlocks blocks_;
  const PlanFlow flow_;
  std::vector<std::vector<Access>> accesses_;                     // of buffers that remain
  std::vector<uint32_t> now_;                                     // the buffer that replaces one that is gone
  std::vector<uint32_t> live_of_to_, live_of_from_;               // of the current pair: steps marked with `mark_`
  base::HashMap<uint32_t, std::vector<kernel::BufferUse>> uses_;  // of kernels
  uint32_t mark_ = 0;
  size_t marked_ = 0;
};

}  // namespace

absl::Status CoalesceCopies(const Options&, Lowered& out) {
  Coalescer(out).Run();
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::pass
