#include "codegen/flat_reductions.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>

namespace ricci::codegen {
namespace {

constexpr int64_t kCutsToTry = 4;  // times those that are wanted
constexpr int64_t kVector = 16;    // elements that a thread may read at once

// The greatest power of two up to kVector that divides it.
int64_t TwosOf(int64_t n) { return (n | kVector) & -(n | kVector); }

}  // namespace

class FlatReductions::Writer {
 public:
  Writer(const ricci_kernel_table& k, const FlatLimits& limits, FlatReductions& out)
      : k_(k), limits_(limits), out_(out), map_(k.n_insts) {}

  // Whether anything was changed.
  bool Write() {
    const Blocks blocks(k_);
    const std::vector<ReductionNest> nests = ReductionNestsOf(k_, blocks);
    if (nests.empty()) return false;
    auto nest = nests.begin();
    for (uint32_t i = 0; i < k_.n_insts; ++i) {
      const auto first = nest;
      while (nest != nests.end() && nest->head == i) ++nest;
      if (first == nest || !MayBeShared(*first, blocks)) {
        map_[i] = Copy(i);
        continue;
      }
      i = blocks.close[i];
      map_[i] = WriteTerms({first, nest}, blocks);
    }
    return out_.IsChanged();
  }

 private:
  // ---- instructions ----
  uint32_t Emit(const ricci_inst& q) {
    out_.insts_.push_back(q);
    out_.locations_.push_back(location_);
    return static_cast<uint32_t>(out_.insts_.size() - 1);
  }
  uint32_t Copy(uint32_t i) {
    location_ = k_.locations == nullptr ? 0 : k_.locations[i];
    ricci_inst q = k_.insts[i];
    for (uint32_t* const operand : {&q.a, &q.b, &q.c}) *operand = map_[*operand];
    return Emit(q);
  }
  uint32_t Const(int64_t value) { return Emit({RICCI_K_CONST, RICCI_I64, 0, 0, 0, value}); }
  const ricci_inst& At(uint32_t emitted) const { return out_.insts_[emitted]; }
  bool Is(uint32_t emitted, int64_t value) const { return At(emitted).op == RICCI_K_CONST && At(emitted).imm == value; }
  // Arithmetic on indices, which wraps.
  uint32_t Index(uint16_t op, uint32_t a, uint32_t b) {
    if (op == RICCI_S_ADD && Is(a, 0)) return b;
    if ((op == RICCI_S_ADD || op == RICCI_S_SUB) && Is(b, 0)) return a;
    if (op == RICCI_S_MUL && (Is(a, 0) || Is(b, 1))) return a;
    if (op == RICCI_S_MUL && (Is(b, 0) || Is(a, 1))) return b;
    if (At(a).op != RICCI_K_CONST || At(b).op != RICCI_K_CONST) return Emit({op, RICCI_I64, a, b, 0, 0});
    const auto x = static_cast<uint64_t>(At(a).imm), y = static_cast<uint64_t>(At(b).imm);
    return Const(static_cast<int64_t>(op == RICCI_S_ADD ? x + y : op == RICCI_S_SUB ? x - y : x * y));
  }
  uint32_t Times(uint32_t a, int64_t factor) { return Index(RICCI_S_MUL, a, Const(factor)); }

  // Long enough, and in no loop that threads share instead.
  bool MayBeShared(const ReductionNest& nest, const Blocks& blocks) const {
    if (nest.trips < limits_.least_trips) return false;
    for (uint32_t i = blocks.parent[nest.head]; i != 0; i = blocks.parent[i]) {
      const ricci_inst& q = k_.insts[i];
      const bool is_apart = q.op == RICCI_K_REDUCE || q.op == RICCI_K_SCAN || (q.op == RICCI_K_FOR && q.imm == 1);
      if (is_apart && TripsOf(k_, i).value_or(limits_.least_trips) >= limits_.least_trips) return false;
    }
    return true;
  }

  // ---- a nest ----
  // The terms of one reduction, combined.
  uint32_t WriteTerms(std::span<const ReductionNest> nests, const Blocks& blocks) {
    uint32_t all = 0;
    for (const ReductionNest& nest : nests) {
      const uint32_t term = WriteNest(nest, blocks);
      const auto combiner = static_cast<uint16_t>(k_.insts[nest.head].imm);
      all = all == 0 ? term : Emit({combiner, At(term).dtype, all, term, 0, 0});
    }
    return all;
  }
  uint32_t WriteNest(const ReductionNest& nest, const Blocks& blocks) {
    nest_ = &nest;
    blocks_ = &blocks;
    groups_ = nest.groups;
    first_index_.clear();
    position_.clear();
    location_ = k_.locations == nullptr ? 0 : k_.locations[nest.head];
    has_rows_ = groups_.size() > 1 && IsRow(groups_.back());
    if (has_rows_) CutRows();
    FindLevels();
    FindFirstPositions();
    return has_rows_ ? WriteRows() : WriteOneLoop();
  }

  // Neighbours in memory, enough of them for all lanes.
  bool IsRow(const NestGroup& group) const {
    return group.trips >= limits_.least_row &&
           std::any_of(nest_->linear.begin(), nest_->linear.end(), [&](const auto& l) {
             return nest_->needed[l.first] != 0 && nest_->StrideOf(l.first, group) == 1;
           });
  }
  // Rows are cut where there are too few for all parts.
  void CutRows() {
    NestGroup& row = groups_.back();
    const int64_t points = std::max<int64_t>(PointsOf(k_), 1), rows = nest_->trips / row.trips;
    const int64_t parts = std::min(nest_->trips / limits_.least_part, limits_.most_parts / points);
    const int64_t wanted = parts * limits_.rows_at_once;
    if (rows >= wanted || nest_->loops[row.last].is_used) return;
    int64_t cuts = 1;
    const int64_t most = std::min(row.trips / limits_.least_row, kCutsToTry * wanted / rows);
    for (int64_t n = 2; n <= most && rows * cuts < wanted; ++n) {
      if (row.trips % n == 0 && row.trips / n % TwosOf(row.trips) == 0) cuts = n;
    }
    if (cuts == 1) return;
    NestGroup outer = row;
    row.trips /= cuts;
    outer.trips = cuts;
    outer.scale = row.trips;
    groups_.insert(groups_.end() - 1, outer);
  }

  // By instruction: 1 if it must be in the inner one of two loops.
  void FindLevels() {
    levels_.assign(k_.n_insts, 0);
    if (!has_rows_) return;
    for (size_t l = groups_.back().first; l <= groups_.back().last; ++l) levels_[nest_->loops[l].loop] = 1;
    for (uint32_t i = nest_->head + 1; i < blocks_->close[nest_->innermost]; ++i) {
      if (nest_->needed[i] == 0 || IsOfNest(i)) continue;
      const ricci_inst& q = k_.insts[i];
      if (nest_->linear.contains(i)) {
        levels_[i] = nest_->StrideOf(i, groups_.back()) != 0 || !IsDirectlyIn(i) ? 1 : 0;
        continue;
      }
      levels_[i] = !IsPure(q.op) || !IsDirectlyIn(i) ? 1 : 0;
      for (const uint32_t operand : {q.a, q.b, q.c}) levels_[i] |= levels_[operand];
    }
  }
  bool IsOfNest(uint32_t i) const { return nest_->LoopOf(i) != nullptr; }
  bool IsDirectlyIn(uint32_t i) const { return IsOfNest(blocks_->parent[i]); }

  // ---- positions of linear loads ----
  // Where each begins: its position in the first trip.
  void FindFirstPositions() {
    for (const auto& [load, strides] : nest_->linear) {
      const uint32_t index = k_.insts[load].a;
      if (nest_->needed[load] != 0 && !position_.contains(index)) position_[index] = First(index);
    }
  }
  uint32_t First(uint32_t index) {
    if (index < nest_->head) return map_[index];
    if (const auto known = first_index_.find(index); known != first_index_.end()) return known->second;
    uint32_t out = 0;
    ricci_inst q = k_.insts[index];
    if (const NestLoop* loop = nest_->LoopOf(index)) {
      out = Const(loop->first);
    } else {
      for (uint32_t* const operand : {&q.a, &q.b, &q.c}) *operand = *operand == 0 ? 0 : First(*operand);
      const bool is_sum = q.op == RICCI_S_ADD || q.op == RICCI_S_SUB || q.op == RICCI_S_MUL;
      const bool is_index = q.dtype == RICCI_I64;
      if (is_index && q.op == RICCI_S_NEG) {
        out = Index(RICCI_S_SUB, Const(0), q.a);
      } else {
        out = is_index && is_sum ? Index(q.op, q.a, q.b) : Emit(q);
      }
    }
    return first_index_[index] = out;
  }
  // Adds what the trips of these groups add to all positions.
  void AddToPositions(size_t first, size_t last, const std::vector<uint32_t>& trips) {
    std::set<uint32_t> done;
    for (const auto& [load, strides] : nest_->linear) {
      const uint32_t index = k_.insts[load].a;
      if (nest_->needed[load] == 0 || !done.insert(index).second) continue;
      for (size_t g = first; g < last; ++g) {
        const int64_t stride = nest_->StrideOf(load, groups_[g]);
        if (stride != 0) position_[index] = Index(RICCI_S_ADD, position_[index], Times(trips[g], stride));
      }
    }
  }

  // ---- loops ----
  uint32_t OpenReduce(int64_t trips) {
    const uint32_t first = Const(0), last = Const(trips);
    const ricci_inst& head = k_.insts[nest_->head];
    return Emit({RICCI_K_REDUCE, RICCI_I64, first, last, 0, head.imm});
  }
  uint32_t CloseReduce(uint32_t reduce, uint32_t value, int64_t contracted) {
    const ricci_inst& yield = k_.insts[blocks_->close[nest_->head]];
    return Emit({RICCI_K_YIELD, yield.dtype, reduce, value, 0, contracted});
  }
  bool IsWanted(size_t group) const {
    if (nest_->loops[groups_[group].last].is_used) return true;
    return std::any_of(nest_->linear.begin(), nest_->linear.end(), [&](const auto& load) {
      return nest_->needed[load.first] != 0 && nest_->StrideOf(load.first, groups_[group]) != 0;
    });
  }
  // The trips of groups [first, last) in trip `v` of one loop over all of them; then the indices of their loops.
  void OpenGroups(uint32_t v, size_t first, size_t last) {
    std::vector<uint32_t> trips(groups_.size());
    int64_t below = 1;
    for (size_t g = last; g-- > first;) {
      if (IsWanted(g)) {
        trips[g] = below == 1 ? v : Emit({RICCI_S_DIV, RICCI_I64, v, Const(below), 0, 0});
        if (g != first) trips[g] = Emit({RICCI_S_REM, RICCI_I64, trips[g], Const(groups_[g].trips), 0, 0});
      }
      below *= groups_[g].trips;
    }
    AddToPositions(first, last, trips);
    for (size_t g = first; g < last; ++g) {
      const NestLoop& loop = nest_->loops[groups_[g].last];
      if (!loop.is_used) continue;
      map_[loop.loop] = Index(loop.step > 0 ? RICCI_S_ADD : RICCI_S_SUB, Const(loop.first), trips[g]);
    }
  }
  // What is needed in the nest, of that level.
  void WriteBody(uint8_t level) {
    for (uint32_t i = nest_->head + 1; i < blocks_->close[nest_->innermost]; ++i) {
      if (nest_->needed[i] == 0 || levels_[i] != level || IsOfNest(i)) continue;
      if (k_.insts[i].op == RICCI_K_ASSUME_LESS) continue;
      if (nest_->linear.contains(i)) map_[k_.insts[i].a] = position_[k_.insts[i].a];
      map_[i] = Copy(i);
    }
  }

  uint32_t WriteOneLoop() {
    const uint32_t reduce = OpenReduce(nest_->trips);
    OpenGroups(reduce, 0, groups_.size());
    WriteBody(0);
    const ricci_inst& yield = k_.insts[blocks_->close[nest_->innermost]];
    const uint32_t result = CloseReduce(reduce, map_[yield.b], yield.imm);
    Say(std::to_string(nest_->loops.size()) + " reductions within each other are one of " +
        std::to_string(nest_->trips) + " trips" +
        (groups_.size() == 1 ? ", of elements in order" : ", which finds its indices by division"));
    return result;
  }

  uint32_t WriteRows() {
    const int64_t length = groups_.back().trips, rows = nest_->trips / length;
    const uint32_t outer = OpenReduce(rows);
    OpenGroups(outer, 0, groups_.size() - 1);
    WriteBody(0);
    const uint32_t inner = OpenReduce(length);
    OpenGroups(inner, groups_.size() - 1, groups_.size());
    WriteBody(1);
    const ricci_inst& yield = k_.insts[blocks_->close[nest_->innermost]];
    const uint32_t sum = CloseReduce(inner, map_[yield.b], yield.imm);
    const uint32_t result = CloseReduce(outer, sum, 0);
    Say(std::to_string(nest_->loops.size()) + " reductions within each other are one over " + std::to_string(rows) +
        " rows of " + std::to_string(length) + " elements in order");
    return result;
  }
  // Once, however many of them there are.
  void Say(const std::string& reason) {
    std::vector<std::string>& all = out_.reasons_;
    if (std::find(all.begin(), all.end(), reason) == all.end()) all.push_back(reason);
  }

  const ricci_kernel_table& k_;
  const FlatLimits& limits_;
  FlatReductions& out_;
  std::vector<uint32_t> map_;  // by instruction: the one that was written for it
  uint64_t location_ = 0;
  const ReductionNest* nest_ = nullptr;
  const Blocks* blocks_ = nullptr;
  std::vector<NestGroup> groups_;
  bool has_rows_ = false;
  std::vector<uint8_t> levels_;
  std::map<uint32_t, uint32_t> first_index_;  // by instruction: its value in the first trip
  std::map<uint32_t, uint32_t> position_;     // by the index of a linear load: where it is in the loops that are open
};

FlatReductions::FlatReductions(const ricci_kernel_table& k, const FlatLimits& limits) : table_(k) {
  if (!Writer(k, limits, *this).Write()) return;
  table_.insts = insts_.data();
  table_.n_insts = static_cast<uint32_t>(insts_.size());
  table_.locations = k.locations == nullptr ? nullptr : locations_.data();
}

}  // namespace ricci::codegen
