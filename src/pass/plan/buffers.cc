// buffers: gives each intermediate value its offset in the arena.
//
// A value lives from the step that writes it to the last that reads it. If something outside a loop accesses it too, it
// lives in all steps of the loop; what only steps within it access is made again in each trip. Buffers get their
// offsets largest first, each at the lowest offset where it overlaps no other that lives at the same time: within a few
// percent of the best on real programs, and always the same for the same plan. That is quadratic, so of very many
// buffers only the largest get theirs so; the small ones after them, in the order of time.
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "base/status.h"
#include "kernel/matched_blocks.h"
#include "pass/plan/lower_plan.h"
#include "ricci/exact.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr size_t kChosen = 1024;  // buffers that get their offsets by size

struct Life {
  uint32_t buffer;
  uint32_t first = ~0u, last = 0;  // steps
};

std::vector<Life> Lives(const kernel::Plan& plan) {
  std::vector<Life> lives(plan.buffers.size());
  const kernel::MatchedBlocks blocks(plan.steps);
  for (uint32_t b = 0; b < lives.size(); ++b) lives[b].buffer = b;
  for (uint32_t s = 0; s < plan.steps.size(); ++s) {
    const ricci_plan_step& step = plan.steps[s];
    const uint32_t at = step.kind == RICCI_STEP_WHILE ? blocks[s].next : s;  // a loop reads its predicate at its COND
    for (uint32_t i = step.args; i < step.args + step.n_args; ++i) {
      Life& life = lives[plan.args[i]];
      life.first = std::min(life.first, at);
      life.last = std::max(life.last, at);
    }
  }
  for (Life& life : lives) {
    if (life.first == ~0u) continue;
    const kernel::StepInterval all = blocks.OverLoops({life.first, life.last});
    life.first = all.first, life.last = all.last;
  }
  return lives;
}

// The bytes that a buffer takes, rounded up to the alignment of the device's memory.
struct Sizes {
  uint64_t alignment;
  uint64_t operator()(const ricci_plan_buffer& b) const {
    return (std::max<uint64_t>(b.bytes, 1) + alignment - 1) / alignment * alignment;
  }
};

// Offsets below are sums of sizes: none exceeds the sum of all.
absl::Status CheckSum(const kernel::Plan& plan, std::span<const Life> lives, Sizes bytes_of) {
  constexpr uint64_t kMost = uint64_t{1} << 62;
  uint64_t sum = 0;
  for (const Life& l : lives) {
    sum += bytes_of(plan.buffers[l.buffer]);  // each is at most 2^62 and a bit
    if (sum > kMost) {
      return absl::ResourceExhaustedError("plan: the intermediate values take more than 2^62 bytes of working memory");
    }
  }
  return absl::OkStatus();
}

// Each at the lowest offset where it overlaps no other, in the order of `lives`. Quadratic.
uint64_t AssignInOrder(kernel::Plan& plan, std::span<const Life> lives, Sizes bytes_of) {
  uint64_t end = 0;
  std::vector<Life> assigned;  // by offset
  for (const Life& life : lives) {
    ricci_plan_buffer& buffer = plan.buffers[life.buffer];
    const uint64_t bytes = bytes_of(buffer);
    uint64_t offset = 0;
    for (const Life& before : assigned) {
      const ricci_plan_buffer& other = plan.buffers[before.buffer];
      if (before.first > life.last || life.first > before.last) continue;
      if (other.offset >= offset + bytes) break;
      offset = std::max(offset, other.offset + bytes_of(other));
    }
    buffer.offset = offset;
    end = std::max(end, offset + bytes);
    auto next = std::upper_bound(assigned.begin(), assigned.end(), offset,
                                 [&](uint64_t o, const Life& l) { return o < plan.buffers[l.buffer].offset; });
    assigned.insert(next, life);
  }
  return end;
}

// Free ranges of memory, joined with their neighbours when they are freed.
class FreeList {
 public:
  explicit FreeList(uint64_t begin) : end_(begin) {}
  uint64_t end() const { return end_; }

  // The smallest range that is large enough, or new memory.
  uint64_t Take(uint64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, 0});
    if (fit == by_size_.end()) return (end_ += bytes) - bytes;
    const auto [size, offset] = *fit;
    Remove(offset, size);
    if (size > bytes) Add(offset + bytes, size - bytes);
    return offset;
  }
  void Give(uint64_t offset, uint64_t bytes) {
    const auto after = by_offset_.lower_bound(offset);
    if (after != by_offset_.end() && after->first == offset + bytes) {
      const uint64_t size = after->second;
      Remove(offset + bytes, size);
      bytes += size;
    }
    const auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin() && std::prev(next)->first + std::prev(next)->second == offset) {
      const auto [before, size] = *std::prev(next);
      Remove(before, size);
      offset = before;
      bytes += size;
    }
    Add(offset, bytes);
  }

 private:
  void Add(uint64_t offset, uint64_t bytes) {
    by_offset_[offset] = bytes;
    by_size_.insert({bytes, offset});
  }
  void Remove(uint64_t offset, uint64_t bytes) {
    by_offset_.erase(offset);
    by_size_.erase({bytes, offset});
  }
  uint64_t end_;
  std::map<uint64_t, uint64_t> by_offset_;
  std::set<std::pair<uint64_t, uint64_t>> by_size_;
};

// In the order of time, from `begin` on, reusing the memory of buffers that have died. Log-linear.
uint64_t AssignByTime(kernel::Plan& plan, std::vector<Life> lives, uint64_t begin, Sizes bytes_of) {
  std::stable_sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) { return a.first < b.first; });
  std::multimap<uint32_t, uint32_t> living;  // last step -> buffer
  FreeList free(begin);
  for (const Life& life : lives) {
    while (!living.empty() && living.begin()->first < life.first) {
      const ricci_plan_buffer& dead = plan.buffers[living.begin()->second];
      free.Give(dead.offset, bytes_of(dead));
      living.erase(living.begin());
    }
    ricci_plan_buffer& buffer = plan.buffers[life.buffer];
    buffer.offset = free.Take(bytes_of(buffer));
    living.insert({life.last, life.buffer});
  }
  return free.end();
}

// If the sum of all sizes does not wrap, no offset can wrap, and the code after this needs no checks.
absl::Status CheckSizes(const kernel::Plan& plan, Sizes bytes_of) {
  ricci_exact sum = ricci_exact_of(0);
  for (const ricci_plan_buffer& b : plan.buffers) {
    const bool fits = b.bytes <= uint64_t{RICCI_MAX_DIM};
    if (fits && b.kind == RICCI_BUFFER_ARENA) sum = sum + static_cast<int64_t>(bytes_of(b));
    int64_t total = 0;
    if (!fits || ricci_exact_narrow(sum, 0, RICCI_MAX_DIM, &total) == 0) {
      return absl::ResourceExhaustedError("buffers: the intermediate values take more than 2^62 bytes");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status PlanBuffers(const Options& options, Lowered& out) {
  kernel::Plan& plan = out.plan;
  const Sizes bytes_of{options.alignment};
  RICCI_TRY(CheckSizes(plan, bytes_of));
  std::vector<Life> lives = Lives(plan);
  std::erase_if(lives, [&](const Life& l) { return plan.buffers[l.buffer].kind != RICCI_BUFFER_ARENA; });
  // Buffers that no step accesses (an operand that folded away) take no room.
  for (const Life& l : lives) {
    if (l.first == ~0u) plan.buffers[l.buffer].bytes = 0;
  }
  std::erase_if(lives, [](const Life& l) { return l.first == ~0u; });
  RICCI_TRY(CheckSum(plan, lives, bytes_of));
  std::stable_sort(lives.begin(), lives.end(), [&](const Life& a, const Life& b) {
    return plan.buffers[a.buffer].bytes > plan.buffers[b.buffer].bytes;
  });
  const size_t large = std::min(lives.size(), kChosen);
  const uint64_t end = AssignInOrder(plan, std::span(lives).first(large), bytes_of);
  plan.arena_bytes = AssignByTime(plan, {lives.begin() + static_cast<ptrdiff_t>(large), lives.end()}, end, bytes_of);
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::pass
