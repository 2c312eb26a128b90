#include "codegen/reduction_nests.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace ricci::codegen {
namespace {

constexpr double kMostBytes = 128;  // between neighbours: beyond it no two are read at once
constexpr int64_t kMostTrips = int64_t{1} << 62;
constexpr size_t kMostTerms = 8, kMostNests = 64;  // of a sum, of a kernel: which bounds the code

// What each loop of a nest adds to an index in a trip, if that is a constant for all of them.
class NestSteps {
 public:
  using Steps = std::vector<int64_t>;  // by loop; empty: not known

  NestSteps(const ricci_kernel_table& k, const std::vector<NestLoop>& loops, uint32_t last)
      : k_(k), loops_(loops), head_(loops[0].loop) {
    for (uint32_t v = head_; v < last; ++v) steps_.push_back(Find(v));
  }
  Steps Of(uint32_t v) const { return v < head_ ? Steps(loops_.size()) : steps_[v - head_]; }

 private:
  Steps Find(uint32_t v) const {
    const ricci_inst& q = k_.insts[v];
    const Steps none(loops_.size());
    for (size_t l = 0; l < loops_.size(); ++l) {
      if (loops_[l].loop == v) return OfLoop(l);
    }
    if (q.op == RICCI_K_CONST || q.op == RICCI_K_DOMAIN) return none;
    if (!IsScalar(q.op)) return {};
    const Steps a = Of(q.a), b = Of(q.b), c = Of(q.c);
    if (a == none && b == none && c == none) return none;
    if (q.op == RICCI_S_ADD) return Sum(a, b, 1);
    if (q.op == RICCI_S_SUB) return Sum(a, b, -1);
    if (q.op == RICCI_S_NEG) return Sum(none, a, -1);
    if (q.op == RICCI_S_SELECT && a == none && b == c) return b;
    if (q.op != RICCI_S_MUL) return {};
    if (const std::optional<int64_t> factor = ConstantOf(k_, q.b)) return Sum(none, a, *factor);
    const std::optional<int64_t> factor = ConstantOf(k_, q.a);
    return factor ? Sum(none, b, *factor) : Steps();
  }
  Steps OfLoop(size_t loop) const {
    Steps steps(loops_.size());
    steps[loop] = 1;
    return steps;
  }
  // a + b * factor
  static Steps Sum(const Steps& a, const Steps& b, int64_t factor) {
    if (a.empty() || b.empty()) return {};
    Steps sum(a.size());
    for (size_t l = 0; l < sum.size(); ++l) {
      int64_t more;
      if (__builtin_mul_overflow(b[l], factor, &more) || __builtin_add_overflow(a[l], more, &sum[l])) return {};
      if (sum[l] == INT64_MIN) return {};  // has no opposite
    }
    return sum;
  }

  const ricci_kernel_table& k_;
  const std::vector<NestLoop>& loops_;
  const uint32_t head_;
  std::vector<Steps> steps_;  // from the head on
};

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const Blocks& blocks) : k_(k), blocks_(blocks) {}

  std::vector<ReductionNest> Find() {
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if (k_.insts[i].op != RICCI_K_REDUCE) continue;
      const size_t before = nests_.size();
      nest_ = {};
      nest_.head = i;
      if (!TakeLoop(i) || nests_.size() - before > kMostTerms || nests_.back().loops.size() < 2) {
        nests_.resize(before);
      } else {
        i = blocks_.close[i];
      }
    }
    return std::move(nests_);
  }

 private:
  // ---- the loops ----
  // Nests of a loop within those that nest_ has, one for each way to an innermost one.
  bool TakeLoop(uint32_t loop) {
    const std::optional<int64_t> trips = TripsOf(k_, loop);
    if (!trips || *trips == 0 || *trips > kMostTrips / nest_.trips) return false;
    const ReductionNest outer = nest_;
    nest_.trips *= *trips;
    nest_.loops.push_back({.loop = loop, .first = k_.insts[k_.insts[loop].a].imm, .trips = *trips});
    const std::vector<uint32_t> within = ReductionsWithin(k_, blocks_, loop);
    const bool is_taken = within.empty()
                              ? TakeInnermost(loop)
                              : std::all_of(within.begin(), within.end(), [this](uint32_t w) { return TakeLoop(w); });
    nest_ = outer;
    return is_taken;
  }
  bool TakeInnermost(uint32_t loop) {
    if (!HasNoEffect(loop)) return false;
    nest_.innermost = loop;
    FindLinearLoads();
    FindNeeded();
    Order();
    Group();
    nests_.push_back(nest_);
    return nests_.size() <= kMostNests;
  }
  // But checks, and private arrays of its own.
  bool HasNoEffect(uint32_t loop) const {
    for (uint32_t i = loop + 1; i < blocks_.close[loop]; ++i) {
      const ricci_inst& q = k_.insts[i];
      if (q.op == RICCI_K_STORE || q.op == RICCI_K_COMBINE || (q.op == RICCI_K_SET && q.a < loop)) return false;
    }
    return true;
  }

  // ---- what they read ----
  void FindLinearLoads() {
    const uint32_t end = blocks_.close[nest_.innermost];
    const NestSteps steps(k_, nest_.loops, end);
    for (uint32_t i = nest_.head + 1; i < end; ++i) {
      if (k_.insts[i].op != RICCI_K_LOAD || k_.insts[i].a < nest_.head) continue;
      NestSteps::Steps of_load = steps.Of(k_.insts[i].a);
      if (!of_load.empty()) nest_.linear.emplace(i, std::move(of_load));
    }
  }

  // From the result and effects back to what they need.
  void FindNeeded() {
    nest_.needed.resize(k_.n_insts);
    for (uint32_t i = blocks_.close[nest_.innermost]; i > nest_.head; --i) {
      const ricci_inst& q = k_.insts[i];
      if (IsOfNest(i)) continue;
      if (EndsOther(i)) {
        i = q.a;
        continue;
      }
      if (!IsPure(q.op)) nest_.needed[i] = 1;
      if (nest_.needed[i] == 0 || nest_.linear.contains(i)) continue;
      const bool ends_nest = q.op == RICCI_K_YIELD && q.a == nest_.innermost;
      for (const uint32_t operand : {ends_nest ? 0 : q.a, q.b, q.c}) nest_.needed[operand] = 1;
    }
    for (NestLoop& loop : nest_.loops) loop.is_used = nest_.needed[loop.loop] != 0;
  }
  // The end of a reduction of another nest with the same head.
  bool EndsOther(uint32_t i) const {
    const ricci_inst& q = k_.insts[i];
    return q.op == RICCI_K_YIELD && !IsOfNest(q.a) && q.a < nest_.innermost && IsOfNest(blocks_.parent[q.a]);
  }
  bool IsOfNest(uint32_t i) const { return nest_.LoopOf(i) != nullptr; }

  // ---- their order ----
  // How far neighbouring trips of a loop are from each other in memory, over all loads.
  struct Distance {
    double bytes = 0, all_bytes = 0;  // as far as it matters, and without that limit
    bool operator>(const Distance& other) const {
      return bytes != other.bytes ? bytes > other.bytes : all_bytes > other.all_bytes;
    }
  };
  Distance DistanceOf(size_t loop) const {
    Distance sum;
    for (uint32_t i = nest_.head + 1; i < blocks_.close[nest_.innermost]; ++i) {
      if (k_.insts[i].op != RICCI_K_LOAD || nest_.needed[i] == 0) continue;
      const auto linear = nest_.linear.find(i);
      const double bytes = linear == nest_.linear.end()
                               ? kMostBytes
                               : std::abs(static_cast<double>(linear->second[loop])) * SizeOfDType(k_.insts[i].dtype);
      sum.bytes += std::min(bytes, kMostBytes);
      sum.all_bytes += bytes;
    }
    return sum;
  }

  // The loop with the nearest trips innermost; loops that all loads go down in memory with run backwards.
  void Order() {
    std::vector<std::pair<Distance, size_t>> order;
    for (size_t l = 0; l < nest_.loops.size(); ++l) order.emplace_back(DistanceOf(l), l);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<NestLoop> loops;
    for (const auto& [distance, l] : order) loops.push_back(nest_.loops[l]);
    for (auto& [load, strides] : nest_.linear) {
      std::vector<int64_t> ordered;
      for (const auto& [distance, l] : order) ordered.push_back(strides[l]);
      strides = std::move(ordered);
    }
    nest_.loops = std::move(loops);
    for (size_t l = 0; l < nest_.loops.size(); ++l) {
      if (GoesDown(l)) RunBackwards(l);
    }
  }
  bool GoesDown(size_t loop) const {
    bool any = false;
    for (const auto& [load, strides] : nest_.linear) {
      if (nest_.needed[load] != 0 && strides[loop] > 0) return false;
      any |= nest_.needed[load] != 0 && strides[loop] < 0;
    }
    return any;
  }
  void RunBackwards(size_t l) {
    NestLoop& loop = nest_.loops[l];
    loop.first += loop.trips - 1;  // exact: its last index
    loop.step = -1;
    for (auto& [load, strides] : nest_.linear) strides[l] = -strides[l];
  }

  void Group() {
    for (size_t l = nest_.loops.size(); l-- > 0;) {
      if (!nest_.groups.empty() && GoesOn(l)) {
        nest_.groups.back().first = l;
        nest_.groups.back().trips *= nest_.loops[l].trips;
      } else {
        nest_.groups.push_back({.first = l, .last = l, .trips = nest_.loops[l].trips});
      }
    }
    std::reverse(nest_.groups.begin(), nest_.groups.end());
  }
  // Whether every load goes on where the group that begins with the next loop ends.
  bool GoesOn(size_t loop) const {
    const NestGroup& group = nest_.groups.back();
    if (nest_.loops[loop].is_used || nest_.loops[loop + 1].is_used) return false;
    return std::all_of(nest_.linear.begin(), nest_.linear.end(), [&](const auto& load) {
      int64_t end;
      if (nest_.needed[load.first] == 0) return true;
      return !__builtin_mul_overflow(nest_.StrideOf(load.first, group), group.trips, &end) && load.second[loop] == end;
    });
  }

  const ricci_kernel_table& k_;
  const Blocks& blocks_;
  ReductionNest nest_;
  std::vector<ReductionNest> nests_;
};

}  // namespace

std::vector<uint32_t> ReductionsWithin(const ricci_kernel_table& k, const Blocks& blocks, uint32_t loop) {
  const ricci_inst& yield = k.insts[blocks.close[loop]];
  std::vector<uint32_t> within, terms = {yield.b};
  std::vector<uint32_t> uses(blocks.close[loop] - loop);  // of values of the loop, in it
  for (uint32_t i = loop + 1; i < blocks.close[loop]; ++i) {
    for (const uint32_t operand : {k.insts[i].a, k.insts[i].b, k.insts[i].c}) {
      if (operand > loop) ++uses[operand - loop];
    }
  }
  while (!terms.empty()) {
    const uint32_t v = terms.back();
    const ricci_inst& q = k.insts[v];
    terms.pop_back();
    const uint32_t most_uses = v == yield.b ? 0 : 1;
    if (v <= loop || q.dtype != yield.dtype || uses[v - loop] != most_uses) return {};
    if (q.op == k.insts[loop].imm) {
      terms.insert(terms.end(), {q.b, q.a});
    } else if (q.op == RICCI_K_YIELD && blocks.parent[q.a] == loop && k.insts[q.a].imm == k.insts[loop].imm) {
      within.push_back(q.a);
    } else {
      return {};
    }
  }
  for (uint32_t i = loop + 1; i < blocks.close[loop]; ++i) {
    if (std::find(within.begin(), within.end(), i) != within.end()) {
      i = blocks.close[i];
    } else if (!IsPure(k.insts[i].op)) {
      return {};
    }
  }
  return within;
}

const NestLoop* ReductionNest::LoopOf(uint32_t i) const {
  const auto at = std::find_if(loops.begin(), loops.end(), [i](const NestLoop& loop) { return loop.loop == i; });
  return at == loops.end() ? nullptr : &*at;
}

int64_t ReductionNest::StrideOf(uint32_t load, const NestGroup& group) const {
  // Where that wraps, the loop goes out of every array.
  return static_cast<int64_t>(static_cast<uint64_t>(linear.at(load)[group.last]) * static_cast<uint64_t>(group.scale));
}

std::vector<ReductionNest> ReductionNestsOf(const ricci_kernel_table& k, const Blocks& blocks) {
  return Finder(k, blocks).Find();
}

}  // namespace ricci::codegen
