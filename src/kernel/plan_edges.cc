// Which steps of a plan must wait for which: one walk that remembers which steps accessed each piece of memory last.
//
// Memory is divided into segments that are cut where accesses begin and end. Each keeps its last writer and the readers
// since: a reader waits for the writer, a writer for the readers, or for the writer if there are none. A write joins
// all that it covers into one segment, so there are few segments where memory is reused.
//
// Library calls with an effect all write one segment of a space of their own, so they keep their order.
//
// After n readers of the same memory, n writers of its pieces need n * n pairs, unless steps are ordered that need no
// order. So a read counts as a write, for which later readers wait, once kMostReaders have read the same before it, or
// if it covers more than kMostSegments. Each access then adds a bounded number of pairs.
#include <algorithm>
#include <map>

#include "kernel/kernel.h"
#include "kernel/matched_blocks.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

constexpr uint32_t kNone = ~0u;
constexpr size_t kMostReaders = 32, kMostSegments = 32;
constexpr size_t kMostScanned = 32;  // waits of a step, and of each of those, searched for pairs to drop

// Bytes [begin, end) of a space: the arena is a space, and so is each input, output and constant.
struct Range {
  uint64_t space, begin, end;
};
constexpr Range kEffects = {~uint64_t{0}, 0, 1};  // no memory: what library calls with an effect write

// ---- what steps access ----
struct Use {
  uint32_t buffer, access;
};

class StepUses {
 public:
  StepUses(const ricci_plan& p, const ricci_kernel_table* const* kernels) : p_(p), kernels_(kernels) {}

  // The uses of the outermost step at `begin` with all steps within it: each buffer once.
  const std::vector<Use>& Of(uint32_t begin, uint32_t end) {
    uses_.clear();
    for (uint32_t s = begin; s < end; ++s) Add(p_.steps[s]);
    std::sort(uses_.begin(), uses_.end(), [](const Use& a, const Use& b) { return a.buffer < b.buffer; });
    size_t kept = 0;
    for (const Use& u : uses_) {
      if (kept != 0 && uses_[kept - 1].buffer == u.buffer) {
        uses_[kept - 1].access |= u.access;
      } else {
        uses_[kept++] = u;
      }
    }
    uses_.resize(kept);
    return uses_;
  }

 private:
  void Add(const ricci_plan_step& s) {
    for (uint32_t i = 0; i < s.n_args; ++i) uses_.push_back({p_.args[s.args + i], StepAccess(p_, kernels_, s, i)});
  }

  const ricci_plan& p_;
  const ricci_kernel_table* const* kernels_;
  std::vector<Use> uses_;
};

// ---- which steps accessed which memory ----
class TouchedMemory {
 public:
  // Adds to `waits` the steps that `step` must wait for, if it reads or writes `r`.
  void Read(const Range& r, uint32_t step, std::vector<uint32_t>& waits) {
    const auto [first, last] = Cut(r);
    if (CountsAsWrite(first, last, step)) return Write(r, step, waits);
    for (auto s = first; s != last; ++s) {
      Segment& segment = s->second;
      AddTo(waits, segment.writer, step);
      if (segment.readers.empty() || segment.readers.back() != step) segment.readers.push_back(step);
    }
  }
  void Write(const Range& r, uint32_t step, std::vector<uint32_t>& waits) {
    const auto [first, last] = Cut(r);
    for (auto s = first; s != last; ++s) {
      if (s->second.readers.empty()) AddTo(waits, s->second.writer, step);
      for (uint32_t reader : s->second.readers) AddTo(waits, reader, step);
    }
    first->second = {step, {}};
    segments_.erase(std::next(first), last);
  }

 private:
  struct Segment {
    uint32_t writer = kNone;
    std::vector<uint32_t> readers = {};  // since that write; all wait for the writer
  };
  using Segments = std::map<std::pair<uint64_t, uint64_t>, Segment>;  // by space and begin; ends where the next begins

  static void AddTo(std::vector<uint32_t>& waits, uint32_t earlier, uint32_t step) {
    if (earlier != kNone && earlier != step) waits.push_back(earlier);
  }
  static bool CountsAsWrite(Segments::iterator first, Segments::iterator last, uint32_t step) {
    size_t n = 0;
    for (auto s = first; s != last; ++s) {
      const std::vector<uint32_t>& readers = s->second.readers;
      if (++n > kMostSegments || (readers.size() >= kMostReaders && readers.back() != step)) return true;
    }
    return false;
  }

  // The segments that make up `r`, cut to fit.
  std::pair<Segments::iterator, Segments::iterator> Cut(const Range& r) {
    segments_.try_emplace({r.space, 0});
    const auto first = CutAt(r.space, r.begin);
    return {first, CutAt(r.space, r.end)};
  }
  // The segment that begins at `at`.
  Segments::iterator CutAt(uint64_t space, uint64_t at) {
    const auto next = segments_.lower_bound({space, at});
    if (next != segments_.end() && next->first == std::pair{space, at}) return next;
    return segments_.emplace_hint(next, std::pair{space, at}, std::prev(next)->second);
  }

  Segments segments_;  // all segments of each space that was accessed
};

// ---- the walk ----
class EdgeFinder {
 public:
  EdgeFinder(const ricci_plan& p, const ricci_kernel_table* const* kernels)
      : p_(p),
        blocks_(std::span(p.steps, p.n_steps)),
        uses_(p, kernels),
        begin_(p.n_steps + size_t{1}),
        covered_(p.n_steps, kNone) {}

  std::vector<PlanEdge> Run() {
    for (uint32_t s = 0, end = 0; s < p_.n_steps; s = end) {
      end = blocks_[s].end + 1;
      FindWaits(s, end, uses_.Of(s, end));
      begin_[s] = edges_.size();
      for (uint32_t earlier : waits_) edges_.push_back({earlier, s});
      std::fill(begin_.begin() + s + 1, begin_.begin() + end + 1, edges_.size());
    }
    return std::move(edges_);
  }

 private:
  // Does any of the steps [begin, end) have an effect?
  bool HasEffect(uint32_t begin, uint32_t end) const {
    return std::any_of(p_.steps + begin, p_.steps + end, [&](const ricci_plan_step& s) {
      return s.kind == RICCI_STEP_LIBRARY && (p_.libraries[s.index].flags & RICCI_CALL_EFFECT) != 0;
    });
  }

  Range RangeOf(const ricci_plan_buffer& b) const {
    const uint64_t outputs = 1 + uint64_t{p_.n_inputs}, constants = outputs + p_.n_outputs;
    switch (b.kind) {
      case RICCI_BUFFER_ARENA:
        return {0, b.offset, b.offset + b.bytes};
      case RICCI_BUFFER_INPUT:
        return {1 + uint64_t{b.index}, 0, 1};
      case RICCI_BUFFER_OUTPUT: {
        const int32_t alias = p_.output_alias == nullptr ? -1 : p_.output_alias[b.index];
        return {alias < 0 ? outputs + b.index : 1 + static_cast<uint64_t>(alias), 0, 1};
      }
      default:
        return {constants + b.index, 0, 1};
    }
  }

  // Reads come first, so that a step that reads and writes the same memory is not its own predecessor.
  void FindWaits(uint32_t step, uint32_t end, const std::vector<Use>& uses) {
    waits_.clear();
    for (const uint32_t access : {RICCI_ACCESS_READ, RICCI_ACCESS_WRITE}) {
      for (const Use& u : uses) {
        const ricci_plan_buffer& b = p_.buffers[u.buffer];
        if ((u.access & access) == 0 || b.bytes == 0) continue;
        if (access == RICCI_ACCESS_READ) memory_.Read(RangeOf(b), step, waits_);
        if (access == RICCI_ACCESS_WRITE) memory_.Write(RangeOf(b), step, waits_);
      }
    }
    if (HasEffect(step, end)) memory_.Write(kEffects, step, waits_);
    std::sort(waits_.begin(), waits_.end());
    waits_.erase(std::unique(waits_.begin(), waits_.end()), waits_.end());
    DropCovered(step);
  }

  // Drops waits that another step, for which `step` waits, has itself.
  void DropCovered(uint32_t step) {
    for (size_t i = waits_.size() - std::min(waits_.size(), kMostScanned); i < waits_.size(); ++i) {
      const size_t from = begin_[waits_[i]], to = std::min(begin_[waits_[i] + 1], from + kMostScanned);
      for (size_t e = from; e < to; ++e) covered_[edges_[e].earlier] = step;
    }
    std::erase_if(waits_, [&](uint32_t earlier) { return covered_[earlier] == step; });
  }

  const ricci_plan& p_;
  const MatchedBlocks blocks_;
  StepUses uses_;
  TouchedMemory memory_;
  std::vector<PlanEdge> edges_;
  std::vector<size_t> begin_;      // of a step's pairs in edges_
  std::vector<uint32_t> waits_;    // of the current step
  std::vector<uint32_t> covered_;  // by step: the later step that need not wait for it directly
};

}  // namespace

std::vector<PlanEdge> PlanEdges(const ricci_plan& p, const ricci_kernel_table* const* kernels) {
  return EdgeFinder(p, kernels).Run();
}

}}}  // namespace ricci::v0::kernel
