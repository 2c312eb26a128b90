#include "cuda/tile/joined_loops.h"

#include <algorithm>
#include <array>
#include <map>

namespace ricci::cuda {
namespace {

// These bound the time to compile.
constexpr int kMostLeaders = 16;  // reductions of a kernel for which others are looked for
constexpr int kMostTried = 16;    // reductions with the same trips that each of them tries

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const codegen::Blocks& blocks, const Shares& shares, const Phases& phases,
         const std::vector<uint8_t>& taken_in)
      : k_(k), blocks_(blocks), shares_(shares), phases_(phases), taken_in_(taken_in) {}

  JoinedLoops Find() {
    joined_.leader.resize(k_.n_insts), joined_.same.resize(k_.n_insts);
    int leaders = 0;
    for (uint32_t i = 1; i < k_.n_insts && leaders < kMostLeaders; ++i) {
      if (!MayLead(i)) continue;
      Lead(i);
      ++leaders;
    }
    return any_ ? std::move(joined_) : JoinedLoops{};
  }

 private:
  using Key = std::array<int64_t, 6>;

  const ricci_inst& At(uint32_t i) const { return k_.insts[i]; }
  const Vector& vector() const { return shares_.vector; }
  // The row that the reduction is over, or 0.
  uint32_t RowOf(uint32_t reduce) const {
    for (uint32_t i = reduce + 1; i < blocks_.close[reduce]; ++i) {
      if (shares_.team.OverRows(i) == reduce) return i;
    }
    return 0;
  }

  // In no other block, of values that follow from their operands alone.
  bool MayLead(uint32_t i) const {
    if (At(i).op != RICCI_K_REDUCE || blocks_.parent[i] != 0 || joined_.leader[i] != 0) return false;
    if (!codegen::ConstantOf(k_, At(i).a) || !codegen::ConstantOf(k_, At(i).b)) return false;
    const uint32_t row = RowOf(i), end = blocks_.close[i];
    for (uint32_t at = i + 1; at < end; ++at) {
      if (!IsPlain(at) && (row == 0 || (at != row && at != blocks_.close[row]))) return false;
    }
    return row == 0 || blocks_.close[row] + 1 == end;
  }
  bool IsPlain(uint32_t i) const {
    const uint16_t op = At(i).op;
    if (op == RICCI_K_LOAD) return k_.buffers[RICCI_BUFFER_OF(At(i).imm)].access == RICCI_ACCESS_READ;
    return codegen::IsScalar(op) || op == RICCI_K_CONST || op == RICCI_K_DOMAIN || op == RICCI_K_ASSUME_LESS ||
           op == RICCI_K_NOP;
  }

  // Looks for reductions after `leader` that may run in its loop.
  void Lead(uint32_t leader) {
    first_.clear();
    numbers_.assign(k_.n_insts, 0);
    for (uint32_t i = 1; i < leader; ++i) {
      if (blocks_.parent[i] == 0) Number(i);
    }
    for (uint32_t i = leader; i < blocks_.close[leader]; ++i) Number(i);
    int tried = 0;
    for (uint32_t i = blocks_.close[leader] + 1; i < k_.n_insts && tried < kMostTried; ++i) {
      if (!MayLead(i) || !AreAlike(leader, i)) continue;
      Join(leader, i);
      ++tried;
    }
  }

  bool AreAlike(uint32_t a, uint32_t b) const {
    const uint32_t row_of_a = RowOf(a), row_of_b = RowOf(b);
    return HaveSameTrips(a, b) && (row_of_a == 0) == (row_of_b == 0) &&
           (row_of_a == 0 || HaveSameTrips(row_of_a, row_of_b));
  }
  bool HaveSameTrips(uint32_t a, uint32_t b) const {
    const auto are_equal = [&](const auto& of) { return of.empty() || of[a] == of[b]; };
    return codegen::ConstantOf(k_, At(a).a) == codegen::ConstantOf(k_, At(b).a) &&
           codegen::TripsOf(k_, a) == codegen::TripsOf(k_, b) && At(a).dtype == At(b).dtype &&
           are_equal(shares_.team.shared) && are_equal(vector().loops) && are_equal(phases_.trips);
  }

  // An instruction before it that gives the same value in the same trip, under a name that it has too; itself if there
  // is none.
  uint32_t LikeIt(uint32_t i) const {
    const auto known = MayBeLike(i) ? first_.find(KeyOf(i)) : first_.end();
    return known != first_.end() && HasName(known->second, i) ? known->second : i;
  }
  void Number(uint32_t i) {
    numbers_[i] = LikeIt(i);
    if (numbers_[i] == i && MayBeLike(i)) first_.insert_or_assign(KeyOf(i), i);
  }
  bool MayBeLike(uint32_t i) const {
    const bool is_tiny = At(i).op == RICCI_K_LOAD && codegen::SizeOfDType(At(i).dtype) == 1;  // no name (f8_text.cc)
    return IsPlain(i) && !is_tiny;
  }
  Key KeyOf(uint32_t i) const {
    const ricci_inst& q = At(i);
    return {q.op, q.dtype, q.imm, NumberOf(q.a), NumberOf(q.b), NumberOf(q.c)};
  }
  uint32_t NumberOf(uint32_t i) const { return numbers_[i] == 0 ? i : numbers_[i]; }

  // Is the value of `first` there under its name wherever that of `i` is wanted?
  bool HasName(uint32_t first, uint32_t i) const {
    if (taken_in_[first] != 0 || (phases_.parts != 0 && phases_.first[first] == 0)) return false;
    const uint32_t loop = At(first).op == RICCI_K_REDUCE ? first : blocks_.parent[first];
    if (loop == 0 || vector().size == 1 || vector().loops[loop] == 0) return true;
    const auto covers = [&](const std::vector<uint8_t>& of) { return of[first] >= of[i]; };
    return covers(vector().once) && covers(vector().each) && covers(vector().together);
  }

  // What comes between the two is there only after the loop of `leader`, so nothing may be like it.
  void Join(uint32_t leader, uint32_t reduce) {
    const uint32_t row = RowOf(reduce), row_of_leader = RowOf(leader), end = blocks_.close[reduce];
    numbers_[reduce] = HasName(leader, reduce) ? leader : reduce;
    if (row != 0) numbers_[row] = HasName(row_of_leader, row) ? row_of_leader : row;
    for (uint32_t i = blocks_.close[leader] + 1; i < end; ++i) {
      const bool is_between = i < reduce && blocks_.parent[i] == 0;
      if (is_between || (i > reduce && i != row)) numbers_[i] = LikeIt(i);
    }
    if (!ReadsTheSame(reduce) || !IsKnownBefore(leader, reduce)) return;
    any_ = true;
    joined_.leader[reduce] = leader;
    if (row != 0) joined_.leader[row] = row_of_leader;
    for (uint32_t i = blocks_.close[leader] + 1; i < end; ++i) {
      const bool is_there = i >= reduce || IsBefore(leader, i);
      if (is_there && NumberOf(i) != i) joined_.same[i] = NumberOf(i);
      if (i > reduce && i != row && NumberOf(i) == i && MayBeLike(i)) first_.insert_or_assign(KeyOf(i), i);
    }
  }
  // Of what only followers need from outside: its value is there before `leader`, in both launches.
  bool IsBefore(uint32_t leader, uint32_t i) const {
    const uint32_t first = NumberOf(i);
    return blocks_.parent[i] == 0 && first < leader &&
           (phases_.parts == 0 || phases_.second[first] >= phases_.second[i]);
  }

  bool ReadsTheSame(uint32_t reduce) const {
    for (uint32_t i = reduce + 1; i < blocks_.close[reduce]; ++i) {
      if (At(i).op == RICCI_K_LOAD && NumberOf(i) != i) return true;
    }
    return false;
  }

  // What it needs from outside is there before `leader`.
  bool IsKnownBefore(uint32_t leader, uint32_t reduce) const {
    for (uint32_t i = reduce + 1; i <= blocks_.close[reduce]; ++i) {
      if (NumberOf(i) != i) continue;
      for (const uint32_t operand : {At(i).a, At(i).b, At(i).c}) {
        const uint32_t v = NumberOf(operand);
        if (v >= leader && v < reduce && At(v).op != RICCI_K_CONST && !IsInLoopOf(leader, v)) return false;
      }
    }
    return true;
  }
  // In the loop that `leader` has for itself and others.
  bool IsInLoopOf(uint32_t leader, uint32_t v) const {
    uint32_t block = At(v).op == RICCI_K_REDUCE ? v : blocks_.parent[v];
    while (blocks_.parent[block] != 0) block = blocks_.parent[block];
    return block == leader || (block != 0 && joined_.leader[block] == leader);
  }

  const ricci_kernel_table& k_;
  const codegen::Blocks& blocks_;
  const Shares& shares_;
  const Phases& phases_;
  const std::vector<uint8_t>& taken_in_;
  std::map<Key, uint32_t> first_;
  std::vector<uint32_t> numbers_;  // by instruction, of those that `leader` and its followers may use; 0: none
  bool any_ = false;
  JoinedLoops joined_;
};

}  // namespace

std::vector<uint8_t> ProductsTakenIn(const ricci_kernel_table& k) {
  std::vector<uint32_t> readers(k.n_insts, 0);
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    for (const uint32_t v : {k.insts[i].a, k.insts[i].b, k.insts[i].c}) ++readers[v];
  }
  std::vector<uint8_t> taken_in(k.n_insts, 0);
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const ricci_inst& q = k.insts[i];
    if (q.op == RICCI_K_YIELD && q.imm != 0 && readers[q.b] == 1) taken_in[q.b] = 1;
  }
  return taken_in;
}

std::vector<uint32_t> JoinedLoops::Following(uint32_t loop) const {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < leader.size(); ++i) {
    if (leader[i] == loop && loop != 0) out.push_back(i);
  }
  return out;
}

std::vector<uint32_t> JoinedLoops::All(uint32_t loop) const {
  std::vector<uint32_t> all = Following(loop);
  all.insert(all.begin(), loop);
  return all;
}

JoinedLoops JoinedLoopsOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const Shares& shares,
                          const Phases& phases, const std::vector<uint8_t>& taken_in) {
  if (shares.team.rows.IsUsed() || phases.of_scans) return {};
  return Finder(k, blocks, shares, phases, taken_in).Find();
}

}  // namespace ricci::cuda
