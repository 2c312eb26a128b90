#include "codegen/alike.h"

#include <algorithm>
#include <unordered_map>

namespace ricci::codegen {
namespace {

constexpr size_t kTried = 4;  // of the parts found last, for each loop that one may be built around

bool Opens(uint16_t op) {
  return op == RICCI_K_FOR || op == RICCI_K_WHILE || op == RICCI_K_IF || op == RICCI_K_REDUCE || op == RICCI_K_SCAN;
}
bool IsLoop(uint16_t op) { return Opens(op) && op != RICCI_K_IF; }

// Two parts while they grow, [a, a_end) and [b, b_end) of equal length.
//
// Operands of equal instructions are the same constant, or at the same distance, or both from outside, one to one, so
// that any of several equal parts may be the one that code is made for. What is outside is known when the parts are
// complete: where distances differ, neither part may grow to that operand any more.
class Pair {
 public:
  Pair(const ricci_kernel_table& k, uint32_t a, uint32_t b) : k_(k), a_(a), b_(b), a_end_(a), b_end_(b) {}

  // Adds `n` instructions that form whole items, if they are equal; else nothing changes.
  bool Append(uint32_t n) { return Add(a_end_, b_end_, n) && (a_end_ += n, b_end_ += n, true); }
  bool Prepend(uint32_t n) {
    if (a_ - n <= last_outside_a_ || b_ - n <= last_outside_b_ || !Add(a_ - n, b_ - n, n)) return false;
    a_ -= n, b_ -= n;
    return true;
  }

  uint32_t a() const { return a_; }
  uint32_t b() const { return b_; }
  uint32_t a_end() const { return a_end_; }
  uint32_t b_end() const { return b_end_; }

 private:
  bool Add(uint32_t a, uint32_t b, uint32_t n) {
    const size_t known = added_.size();
    const uint32_t outside_a = last_outside_a_, outside_b = last_outside_b_;
    for (uint32_t i = 0; i < n; ++i) {
      if (IsEqual(a + i, b + i, std::min(a_, a), std::min(b_, b))) continue;
      for (; added_.size() > known; added_.pop_back()) {
        in_a_.erase(in_b_[added_.back()]);
        in_b_.erase(added_.back());
      }
      last_outside_a_ = outside_a, last_outside_b_ = outside_b;
      return false;
    }
    return true;
  }

  // Of instructions i and j, where parts begin at `a` and `b`.
  bool IsEqual(uint32_t i, uint32_t j, uint32_t a, uint32_t b) {
    const ricci_inst &x = k_.insts[i], &y = k_.insts[j];
    if (x.op != y.op || x.dtype != y.dtype || x.imm != y.imm) return false;
    if (x.op == RICCI_K_STORE && PairedWith(i) != PairedWith(j)) return false;
    return IsEqualOperand(x.a, y.a, a, b) && IsEqualOperand(x.b, y.b, a, b) && IsEqualOperand(x.c, y.c, a, b);
  }
  // How far away the store is that code makes together with this one; 0: none.
  uint32_t PairedWith(uint32_t store) const {
    const uint32_t next = NextElementStore(k_, store);
    return next == 0 ? 0 : next - store;
  }

  bool IsEqualOperand(uint32_t p, uint32_t q, uint32_t a, uint32_t b) {
    const ricci_inst &x = k_.insts[p], &y = k_.insts[q];
    if (p == 0 || q == 0 || x.op == RICCI_K_CONST || y.op == RICCI_K_CONST) return p == q;
    const auto known = in_b_.find(p);
    if (known != in_b_.end()) return known->second == q;
    if (!in_a_.try_emplace(q, p).second) return false;
    in_b_[p] = q;
    added_.push_back(p);
    if (q - p == b_ - a_) return true;
    last_outside_a_ = std::max(last_outside_a_, p), last_outside_b_ = std::max(last_outside_b_, q);
    return p < a && q < b && x.dtype == y.dtype && (x.op == RICCI_K_LOCAL) == (y.op == RICCI_K_LOCAL);
  }

  const ricci_kernel_table& k_;
  uint32_t a_, b_, a_end_, b_end_;
  uint32_t last_outside_a_ = 0, last_outside_b_ = 0;
  std::unordered_map<uint32_t, uint32_t> in_b_, in_a_;  // what an operand of one is in the other
  std::vector<uint32_t> added_;
};

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const Blocks& blocks, std::span<const int64_t> code, const PartBounds& bounds)
      : k_(k), blocks_(blocks), code_(code), bounds_(bounds) {}

  std::vector<Part> Run(uint32_t first, uint32_t last) {
    FindItems(first, last);
    free_from_ = first;
    for (size_t loop = 0; loop < loops_.size(); ++loop) {
      if (loops_[loop].first >= free_from_ && !JoinFound(loops_[loop])) FindNew(loop);
    }
    std::unordered_map<uint32_t, uint32_t> times;
    for (const Part& p : parts_) ++times[p.same];
    std::erase_if(parts_, [&](const Part& p) { return times[p.same] == 1; });
    return std::move(parts_);
  }

 private:
  struct Loop {
    uint32_t first;
    uint64_t hash;
    size_t item, next;  // its number; the next loop with this hash, or none
  };
  struct Found {
    uint32_t first, length, before;  // instructions before its loop
  };

  void FindItems(uint32_t first, uint32_t last) {
    for (uint32_t i = first; i < last; i = After(i)) {
      if (HoldsLoop(i)) loops_.push_back({i, HashOf(i), items_.size(), 0});
      items_.push_back(i);
    }
    items_.push_back(last);
    std::unordered_map<uint64_t, size_t> next;
    for (size_t n = loops_.size(); n-- > 0;) {
      const auto [at, fresh] = next.try_emplace(loops_[n].hash, loops_.size());
      loops_[n].next = std::exchange(at->second, n);
    }
  }
  uint32_t After(uint32_t i) const { return Opens(k_.insts[i].op) ? blocks_.close[i] + 1 : i + 1; }
  bool HoldsLoop(uint32_t item) const {
    for (uint32_t i = item; i < After(item); ++i) {
      if (IsLoop(k_.insts[i].op) && (k_.insts[i].op == RICCI_K_WHILE || !Unrolls(k_, blocks_, i))) return true;
    }
    return false;
  }
  // Of the instructions alone; which operands they have is compared later.
  uint64_t HashOf(uint32_t item) const {
    uint64_t hash = 0;
    for (uint32_t i = item; i < After(item); ++i) {
      const ricci_inst& inst = k_.insts[i];
      for (const uint64_t part : {uint64_t{inst.op}, uint64_t{inst.dtype}, static_cast<uint64_t>(inst.imm)})
        hash = (hash ^ part) * 0x9e3779b97f4a7c15 + (hash >> 29);
    }
    return hash;
  }

  // Whether a part that was found is here again, with this loop in its place.
  bool JoinFound(const Loop& loop) {
    const std::vector<Found>& found = found_[loop.hash];
    for (size_t n = found.size(), tried = 0; n-- > 0 && tried < kTried; ++tried) {
      const Found& f = found[n];
      if (loop.first - free_from_ < f.before || items_.back() - (loop.first - f.before) < f.length) continue;
      const uint32_t first = loop.first - f.before;
      Pair pair(k_, f.first, first);
      if (!pair.Append(f.length)) continue;
      Take({first, first + f.length, f.first});
      return true;
    }
    return false;
  }

  // The largest parts around this loop and the next one like it.
  void FindNew(size_t number) {
    const Loop& loop = loops_[number];
    if (loop.next == loops_.size()) return;
    const Loop& other = loops_[loop.next];
    Pair pair(k_, loop.first, other.first);
    int64_t code = 0;
    size_t a = loop.item, b = other.item;
    const auto add = [&](size_t of_a, size_t of_b, bool append) {
      const uint32_t n = items_[of_a + 1] - items_[of_a];
      if (items_[of_b + 1] - items_[of_b] != n || code + code_[items_[of_a]] > bounds_.most) return false;
      if (!(append ? pair.Append(n) : pair.Prepend(n))) return false;
      code += code_[items_[of_a]];
      return true;
    };
    // First the loop, then backwards: what prepares a loop stays with it, private arrays too.
    if (!add(a, b, /*append=*/true)) return;
    for (; a > 0 && items_[a - 1] >= free_from_ && pair.b() > pair.a_end(); --a, --b) {
      if (!add(a - 1, b - 1, /*append=*/false)) break;
    }
    for (a = loop.item + 1, b = other.item + 1; b + 1 < items_.size() && pair.a_end() < pair.b(); ++a, ++b) {
      if (!add(a, b, /*append=*/true)) break;
    }
    if (code < bounds_.least) return;
    found_[loop.hash].push_back({pair.a(), pair.a_end() - pair.a(), loop.first - pair.a()});
    Take({pair.a(), pair.a_end(), pair.a()});
  }

  void Take(const Part& part) {
    parts_.push_back(part);
    free_from_ = part.last;
  }

  const ricci_kernel_table& k_;
  const Blocks& blocks_;
  const std::span<const int64_t> code_;
  const PartBounds bounds_;
  std::vector<uint32_t> items_;  // the first instruction of each, and the end
  std::vector<Loop> loops_;
  std::unordered_map<uint64_t, std::vector<Found>> found_;  // by the hash of the loop
  uint32_t free_from_ = 0;                                  // where no part is
  std::vector<Part> parts_;
};

}  // namespace

std::vector<Part> FindAlikeParts(const ricci_kernel_table& k, const Blocks& blocks, std::span<const int64_t> code,
                                 uint32_t first, uint32_t last, const PartBounds& bounds) {
  return Finder(k, blocks, code, bounds).Run(first, last);
}

std::vector<std::pair<uint32_t, uint32_t>> ValuesFromOutside(const ricci_kernel_table& k, uint32_t a, uint32_t b,
                                                             uint32_t n) {
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  std::unordered_map<uint32_t, uint32_t> seen;
  for (uint32_t i = 0; i < n; ++i) {
    const ricci_inst &x = k.insts[a + i], &y = k.insts[b + i];
    for (const auto& [p, q] : {std::pair(x.a, y.a), std::pair(x.b, y.b), std::pair(x.c, y.c)}) {
      if (p == 0 || p >= a || k.insts[p].op == RICCI_K_CONST || !seen.try_emplace(p, q).second) continue;
      pairs.emplace_back(p, q);
    }
  }
  return pairs;
}

}  // namespace ricci::codegen
