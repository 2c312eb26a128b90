#include "cuda/schedule/kept_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace ricci::cuda {
namespace {

constexpr int64_t kMostValues = 32;       // of 32 bits for a thread, so that the rest of its work has registers too
constexpr double kMostOperations = 2048;  // of all loops that are written out

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const codegen::Blocks& blocks, const std::vector<uint8_t>& shared, int64_t size)
      : k_(k), blocks_(blocks), shared_(shared), size_(size), extents_(k.n_insts), numbers_(k.n_insts) {}

  KeptRows Find() {
    FindLoops();
    for (uint32_t i = 1; i < k_.n_insts; ++i) numbers_[i] = NumberOf(i);
    for (const bool only_loads : {false, true}) {
      Take(only_loads);
      if (kept_.empty()) return {};
      const int64_t values = MostValues();
      const bool are_many = values > kMostValues;
      if (are_many && !only_loads) continue;
      if (are_many) return Refuse("a thread would hold " + std::to_string(values) + " values of its row");
      if (Operations() > kMostOperations) return Refuse("the loops are much work for each thread");
      rows_.values = values;
      return std::move(rows_);
    }
    return {};
  }

 private:
  struct Kept {
    uint32_t first, last;  // the loop that keeps it, and the last one that takes it
  };
  using Key = std::array<int64_t, 6>;

  const ricci_inst& At(uint32_t i) const { return k_.insts[i]; }
  static std::array<uint32_t, 3> Operands(const ricci_inst& q) { return {q.a, q.b, q.c}; }

  // Loops of the team in no other block, without loops of their own, by their begin and trips.
  void FindLoops() {
    std::map<std::pair<int64_t, int64_t>, uint32_t> extents;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const bool is_plain = shared_[i] != 0 && blocks_.parent[i] == 0 && At(i).op != RICCI_K_SCAN;
      const std::optional<int64_t> begin = is_plain ? codegen::ConstantOf(k_, At(i).a) : std::nullopt;
      if (!begin || HasLoops(i)) continue;
      const uint32_t next = static_cast<uint32_t>(extents.size()) + 1;
      extents_[i] = extents.emplace(std::pair(*begin, *codegen::TripsOf(k_, i)), next).first->second;
      loops_.push_back(i);
    }
  }
  bool HasLoops(uint32_t loop) const {
    return std::any_of(k_.insts + loop + 1, k_.insts + blocks_.close[loop], [](const ricci_inst& q) {
      return q.op == RICCI_K_FOR || q.op == RICCI_K_WHILE || q.op == RICCI_K_REDUCE || q.op == RICCI_K_SCAN;
    });
  }
  // 0: the instruction is in none.
  uint32_t LoopOf(uint32_t i) const { return extents_[blocks_.parent[i]] != 0 ? blocks_.parent[i] : 0; }

  // A value that follows from its operands alone.
  bool IsPlain(uint32_t i) const {
    const ricci_inst& q = At(i);
    if (blocks_.parent[i] != 0 && LoopOf(i) == 0) return false;
    if (q.op == RICCI_K_LOAD) return k_.buffers[RICCI_BUFFER_OF(q.imm)].access == RICCI_ACCESS_READ;
    return codegen::IsScalar(q.op) || q.op == RICCI_K_CONST || q.op == RICCI_K_DOMAIN;
  }

  // The first instruction that gives the same value, or does in the same trip of a loop of the same extent.
  uint32_t NumberOf(uint32_t i) {
    const ricci_inst& q = At(i);
    if (extents_[i] != 0) return first_.emplace(Key{-1, 0, extents_[i], 0, 0, 0}, i).first->second;
    if (!IsPlain(i)) return i;
    return first_.emplace(Key{q.op, q.dtype, q.imm, numbers_[q.a], numbers_[q.b], numbers_[q.c]}, i).first->second;
  }

  // What differs between trips and has read an element: indices alone cost less than registers.
  bool IsOfRow(uint32_t i, std::vector<uint8_t>& varies, std::vector<uint8_t>& reads) const {
    varies[i] = extents_[i] != 0;
    if (LoopOf(i) == 0 || !IsPlain(i)) return false;
    reads[i] = At(i).op == RICCI_K_LOAD;
    for (const uint32_t operand : Operands(At(i))) {
      varies[i] |= varies[operand];
      reads[i] |= reads[operand];
    }
    return varies[i] != 0 && reads[i] != 0;
  }

  // From the end of each loop: what it needs, and of that what an earlier one has.
  void Take(bool only_loads) {
    rows_ = {};
    rows_.loops.resize(k_.n_insts), rows_.keeps.resize(k_.n_insts);
    rows_.of.resize(k_.n_insts), rows_.unused.resize(k_.n_insts), rows_.bare.resize(k_.n_insts);
    kept_.clear();
    std::vector<uint8_t> varies(k_.n_insts), reads(k_.n_insts), may(k_.n_insts);
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      may[i] = IsOfRow(i, varies, reads) && (!only_loads || At(i).op == RICCI_K_LOAD);
    }
    for (const uint32_t loop : loops_) TakeIn(loop, may);
  }

  void TakeIn(uint32_t loop, const std::vector<uint8_t>& may) {
    const uint32_t end = blocks_.close[loop];
    std::vector<uint8_t> needed(k_.n_insts), unused(k_.n_insts);
    if (At(end).op == RICCI_K_YIELD) needed[At(end).b] = 1;
    for (uint32_t i = end; --i > loop;) {
      unused[i] = static_cast<uint8_t>(IsPlain(i) && needed[i] == 0);
      const uint32_t first = numbers_[i];
      if (unused[i] != 0) continue;
      if (may[i] != 0 && LoopOf(first) != loop && rows_.unused[first] == 0) {
        kept_.try_emplace(first, Kept{LoopOf(first), loop}).first->second.last = loop;
        rows_.of[i] = first;
        rows_.keeps[first] = rows_.loops[loop] = rows_.loops[LoopOf(first)] = 1;
        continue;
      }
      for (const uint32_t operand : Operands(At(i))) needed[operand] = 1;
    }
    rows_.bare[loop] = static_cast<uint8_t>(needed[loop] == 0);
    if (rows_.loops[loop] != 0) {
      std::transform(unused.begin(), unused.end(), rows_.unused.begin(), rows_.unused.begin(),
                     [](uint8_t a, uint8_t b) { return a | b; });
    }
  }

  int64_t TripsOfThread(uint32_t loop) const { return (*codegen::TripsOf(k_, loop) + size_ - 1) / size_; }

  // Registers between one loop and the next.
  int64_t MostValues() const {
    int64_t most = 0;
    for (const uint32_t loop : loops_) {
      int64_t values = 0;
      for (const auto& [i, kept] : kept_) {
        const int64_t words = (int64_t{codegen::SizeOfDType(At(i).dtype)} + 3) / 4;
        if (kept.first <= loop && loop < kept.last) values += words * TripsOfThread(kept.first);
      }
      most = std::max(most, values);
    }
    return most;
  }
  double Operations() const {
    double operations = 0;
    for (const uint32_t loop : loops_) {
      if (rows_.loops[loop] == 0) continue;
      double of_trip = 0;
      for (uint32_t i = loop + 1; i < blocks_.close[loop]; ++i) {
        if (rows_.of[i] == 0 && rows_.unused[i] == 0) of_trip += codegen::OpCost(At(i).op);
      }
      operations += of_trip * static_cast<double>(TripsOfThread(loop));
    }
    return operations;
  }
  static KeptRows Refuse(std::string reason) {
    KeptRows none;
    none.reason = std::move(reason);
    return none;
  }

  const ricci_kernel_table& k_;
  const codegen::Blocks& blocks_;
  const std::vector<uint8_t>& shared_;
  const int64_t size_;
  std::vector<uint32_t> loops_;
  std::vector<uint32_t> extents_;  // by instruction: of a loop, a number for its begin and trips; 0: it is none of them
  std::vector<uint32_t> numbers_;  // by instruction
  std::map<Key, uint32_t> first_;
  std::map<uint32_t, Kept> kept_;
  KeptRows rows_;
};

}  // namespace

KeptRows KeptRowsOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const std::vector<uint8_t>& shared,
                    int64_t size) {
  return Finder(k, blocks, shared, size).Find();
}

}  // namespace ricci::cuda
