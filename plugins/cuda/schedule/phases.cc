#include "cuda/schedule/phases.h"

#include <algorithm>
#include <array>

#include "codegen/identity.h"

namespace ricci::cuda {
namespace {

constexpr uint64_t kAlignment = 256;

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const codegen::Blocks& blocks, const Team& team)
      : k_(k), blocks_(blocks), team_(team) {}

  Phases Find() {
    if ((team_.size != kBlock && !team_.columns) || team_.rows.IsUsed()) return {};
    phases_.trips.resize(k_.n_insts);
    phases_.first.resize(k_.n_insts);
    phases_.offset.resize(k_.n_insts);
    available_.resize(k_.n_insts);
    for (uint32_t i = 1; i < k_.n_insts; ++i) available_[i] = IsAvailable(i);
    phases_.of_scans = IsOfScans();
    const uint16_t op = phases_.of_scans ? RICCI_K_SCAN : RICCI_K_REDUCE;
    int64_t most = 0;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if (k_.insts[i].op != op || !IsApart(i)) continue;
      loops_.push_back(i);
      most = std::max(most, MostParts(i));
    }
    phases_.parts = std::min(most, kMostBlocks / std::max<int64_t>(BlocksOf(team_, points_), 1));
    if (phases_.parts < 2) return {};
    for (const uint32_t i : loops_) phases_.of_scans ? TakeScan(i) : TakeReduction(i);
    if (!phases_.of_scans) {
      FindSecond();
    } else {
      phases_.second.assign(k_.n_insts, 1);
    }
    return std::move(phases_);
  }

 private:
  // Scans that are apart, checks, and nothing else that has an effect: each block of a point's parts does all of it.
  bool IsOfScans() const {
    bool any = false;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const uint16_t op = k_.insts[i].op;
      if (op != RICCI_K_SCAN && !IsPlain(op) && op != RICCI_K_CHECK) return false;
      if (op != RICCI_K_SCAN) continue;
      if (!IsApart(i)) return false;
      any = true;
      i = blocks_.close[i];
    }
    return any;
  }

  // A reduction or scan of the team in no other block, of plain operations, on nothing that a loop has computed.
  bool IsApart(uint32_t i) const {
    if (team_.shared[i] == 0 || blocks_.parent[i] != 0) return false;
    for (uint32_t at = i + 1; at <= blocks_.close[i]; ++at) {
      const ricci_inst& q = k_.insts[at];
      if (!IsPlain(q.op) && q.op != RICCI_K_CHECK && !IsOfScan(i, q.op) && !IsEndOrRow(i, at)) return false;
      for (const uint32_t operand : Operands(q)) {
        if (operand != 0 && operand < i && available_[operand] == 0) return false;
      }
    }
    return true;
  }
  // The end of the loop, or what begins and ends a row that it is over.
  bool IsEndOrRow(uint32_t loop, uint32_t at) const {
    const uint16_t op = k_.insts[at].op;
    const uint32_t row = op == RICCI_K_REDUCE ? at : op == RICCI_K_YIELD ? k_.insts[at].a : 0;
    return at == blocks_.close[loop] || (row != 0 && team_.OverRows(row) == loop);
  }
  uint32_t RowWithin(uint32_t loop) const {
    for (uint32_t i = loop + 1; i < blocks_.close[loop]; ++i) {
      if (team_.OverRows(i) == loop) return i;
    }
    return 0;
  }
  // A part of rows has one at least.
  int64_t MostParts(uint32_t loop) const {
    const int64_t trips = *codegen::TripsOf(k_, loop);
    const uint32_t row = RowWithin(loop);
    if (team_.columns) return trips / kLeastRows;
    if (row == 0) return trips / kLeastTrips;
    const ricci_exact elements = ricci_exact_of(trips) * *codegen::TripsOf(k_, row);
    return std::min(ricci_exact_clamp(elements, 0, INT64_MAX) / kLeastTrips, trips);
  }
  // What only a scan has within: its parts, and stores of its prefixes.
  bool IsOfScan(uint32_t loop, uint16_t op) const {
    return k_.insts[loop].op == RICCI_K_SCAN && (op == RICCI_K_LEFT || op == RICCI_K_RIGHT || op == RICCI_K_COMBINED ||
                                                 op == RICCI_K_PREFIX || op == RICCI_K_STORE);
  }
  static bool IsPlain(uint16_t op) {
    return codegen::IsScalar(op) || op == RICCI_K_CONST || op == RICCI_K_DOMAIN || op == RICCI_K_LOAD ||
           op == RICCI_K_ASSUME_LESS || op == RICCI_K_NOP;
  }
  static std::array<uint32_t, 3> Operands(const ricci_inst& q) { return {q.a, q.b, q.c}; }
  bool IsAvailable(uint32_t v) const {
    if (blocks_.parent[v] != 0 || !IsPlain(k_.insts[v].op)) return false;
    const std::array<uint32_t, 3> operands = Operands(k_.insts[v]);
    return std::all_of(operands.begin(), operands.end(), [this](uint32_t o) { return o == 0 || available_[o] != 0; });
  }

  // In parts of a multiple of so many trips.
  void CutTrips(uint32_t i, int64_t multiple) {
    const int64_t trips = (*codegen::TripsOf(k_, i) + phases_.parts - 1) / phases_.parts;
    phases_.trips[i] = (trips + multiple - 1) / multiple * multiple;
  }
  // For a result of that dtype of each part.
  uint64_t OffsetFor(uint32_t dtype) {
    const uint64_t offset = phases_.bytes;
    const uint64_t bytes = static_cast<uint64_t>(points_ * phases_.parts) * codegen::SizeOfDType(dtype);
    phases_.bytes += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return offset;
  }
  void TakeReduction(uint32_t i) {
    CutTrips(i, team_.columns ? kRowsTogether : RowWithin(i) != 0 ? 1 : kLeastTrips);
    phases_.offset[i] = OffsetFor(codegen::AccumulatorDType(k_.insts[blocks_.close[i]].dtype));
    NeedAll(i, blocks_.close[i] + 1);
  }
  // The first launch needs no more of the body than the elements.
  void TakeScan(uint32_t i) {
    const codegen::ScanParts parts(k_, blocks_, i);
    CutTrips(i, kBlock);
    for (uint32_t s = parts.left; s < parts.right; ++s) phases_.offset[s] = OffsetFor(k_.insts[s].dtype);
    NeedAll(i, parts.body);
    NeedAll(parts.prefix, parts.prefix + parts.states);
    phases_.first[blocks_.close[i]] = 1;
  }
  void NeedAll(uint32_t first, uint32_t last) {
    for (uint32_t at = last; at-- > first;) {
      phases_.first[at] = 1;
      for (const uint32_t operand : Operands(k_.insts[at])) Need(operand);
    }
  }
  void Need(uint32_t v) {
    if (v == 0 || phases_.first[v] != 0) return;
    phases_.first[v] = 1;
    for (const uint32_t operand : Operands(k_.insts[v])) Need(operand);
  }

  // All effects and blocks but the loops in parts, and what they need.
  void FindSecond() {
    phases_.second.resize(k_.n_insts);
    for (uint32_t i = k_.n_insts; i-- > 1;) {
      const ricci_inst& q = k_.insts[i];
      const bool is_end = q.op == RICCI_K_YIELD && phases_.trips[q.a] != 0;
      if (!is_end && IsInCut(i)) continue;
      if (!IsPlain(q.op)) phases_.second[i] = 1;
      if (phases_.second[i] == 0 || is_end || phases_.trips[i] != 0) continue;
      for (const uint32_t operand : Operands(q)) phases_.second[operand] = 1;
    }
  }

  bool IsInCut(uint32_t i) const {
    uint32_t block = blocks_.parent[i];
    while (block != 0 && phases_.trips[block] == 0) block = blocks_.parent[block];
    return block != 0;
  }

  const ricci_kernel_table& k_;
  const codegen::Blocks& blocks_;
  const Team& team_;
  Phases phases_;
  const int64_t points_ = codegen::PointsOf(k_);
  std::vector<uint32_t> loops_;     // in parts
  std::vector<uint8_t> available_;  // by instruction: a plain value outside of all blocks, from such values
};

}  // namespace

Phases PhasesOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const Team& team) {
  return Finder(k, blocks, team).Find();
}

}  // namespace ricci::cuda
