#include "cuda/tile/vector.h"

#include <algorithm>

#include "cuda/device/device_text.h"
#include "cuda/device/types.h"
#include "cuda/schedule/neighbours.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kMostBytes = 16;           // of an access
constexpr int64_t kEnoughThreads = 1 << 14;  // a warp for each scheduler of a large GPU
constexpr double kMostCostOfPoint = 64;      // beyond it accesses are a small part of the work
// To widen operands and round the result, by instructions or by arithmetic on bits.
constexpr double kCostOf16Bits = 4, kCostOfTiny = 16;
constexpr double kMostCost = 512;  // of a group, so that its code stays small and its values in registers

class Finder {
 public:
  Finder(const ricci_kernel_table& k, const codegen::Blocks& blocks, const IndexRanges& ranges, const Team& team,
         const TransposeTile& tile)
      : k_(k), blocks_(blocks), ranges_(ranges), team_(team), tile_(tile), times_(codegen::TimesOf(k, blocks)) {}

  Vector Find() {
    for (int64_t n = kMostBytes; n > 1; n /= 2) {
      vector_ = Vector{.size = n, .of_points = team_.size == 1};
      for (auto* marks : {&vector_.loops, &vector_.together, &vector_.once, &vector_.each}) marks->resize(k_.n_insts);
      if ((vector_.of_points ? GroupPoints() : GroupTrips()) && vector_.bytes <= kMostBytes) {
        if (!vector_.of_points) ForgetOutside();
        NameBuffers();
        vector_.pairs = !tile_.IsUsed() && ComputesPairs();
        return std::move(vector_);
      }
    }
    return {.reason = std::move(reason_)};
  }

 private:
  bool GroupPoints() {
    if (tile_.IsUsed()) return GroupPointsOfTile();
    if (codegen::PointsOf(k_) / vector_.size < kEnoughThreads || k_.domain_rank == 0) {
      return Refuse("points are few");
    }
    vector_.flat = k_.domain_rank > 1 && k_.domain[k_.domain_rank - 1] % vector_.size != 0;
    return Take(0, 1, k_.n_insts);
  }

  // However few they are, a thread has several points of a tile. Groups stay in its columns.
  bool GroupPointsOfTile() {
    const uint32_t rank = k_.domain_rank;
    if (!tile_.MayGroup(rank, vector_.size) || k_.domain[rank - 1] % vector_.size != 0) {
      return Refuse("columns of the tile cannot be grouped");
    }
    return Take(0, 1, k_.n_insts);
  }
  bool IsBrought(uint32_t load) const { return tile_.IsUsed() && tile_.is_brought[load] != 0; }

  // Those of all loops that can be.
  bool GroupTrips() {
    bool any = false;
    Refuse("loops have no multiple of so many trips");
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if (team_.shared[i] == 0 || k_.insts[i].op == RICCI_K_SCAN) continue;
      const int64_t trips = codegen::TripsOf(k_, i).value_or(0);
      if (trips % vector_.size != 0 || trips / vector_.size < team_.LanesOf(i)) continue;
      if (codegen::ConstantOf(k_, k_.insts[i].a).value_or(1) % vector_.size != 0) continue;
      vector_.loops[i] = Take(i, i + 1, blocks_.close[i]);
      any |= vector_.loops[i] != 0;
    }
    return any;
  }

  // Groups points (loop 0) or trips of `loop`, with instructions [first, last), if most accesses that differ within a
  // group can be made together.
  bool Take(uint32_t loop, uint32_t first, uint32_t last) {
    const Neighbours neighbours(k_, ranges_, loop, vector_.size, vector_.flat);
    const double cost = CostOf(loop, first, last);
    if (!IsPlain(first, last)) return Refuse("loops, updates, or reads of what is written");
    if (cost > kMostCostOfPoint) return Refuse("much work for each");
    if (static_cast<double>(vector_.size) * cost > kMostCost) return false;
    std::vector<uint32_t> together;
    size_t apart = 0;
    for (uint32_t i = first; i < last; ++i) {
      const ricci_inst& q = k_.insts[i];
      if ((q.op != RICCI_K_LOAD && q.op != RICCI_K_STORE) || neighbours.IsSame(q.a) || IsBrought(i)) continue;
      if (blocks_.parent[i] == loop && neighbours.IsInOrder(q.a)) {
        together.push_back(i);
      } else {
        ++apart;
      }
    }
    if (together.empty() || together.size() < apart) return Refuse("most accesses are not to neighbours");
    for (const uint32_t i : together) {
      const uint32_t dtype = k_.insts[i].op == RICCI_K_LOAD ? k_.insts[i].dtype : k_.insts[k_.insts[i].b].dtype;
      vector_.bytes = std::max(vector_.bytes, vector_.size * codegen::SizeOfDType(dtype));
      vector_.together[i] = 1;
    }
    Divide(neighbours, loop, first, last);
    return true;
  }

  bool Refuse(const char* reason) {
    reason_ = reason;
    return false;
  }

  double CostOf(uint32_t loop, uint32_t first, uint32_t last) const {
    double cost = 0;
    const double trips = loop == 0 ? 1 : times_[loop];
    for (uint32_t i = first; i < last; ++i) {
      const ricci_inst& q = k_.insts[i];
      double more = 0;
      if (codegen::IsScalar(q.op) && IsNarrow(q.dtype) && !IsPairOperation(k_, i)) {
        more = codegen::IsTiny(q.dtype) ? kCostOfTiny : kCostOf16Bits;
      }
      cost += times_[blocks_.parent[i]] / trips * (codegen::OpCost(q.op) + more);
    }
    return cost;
  }

  // No loops, and no buffer that is read after it has been written.
  bool IsPlain(uint32_t first, uint32_t last) const {
    std::vector<uint8_t> stored(k_.n_buffers);
    for (uint32_t i = first; i < last; ++i) {
      const ricci_inst& q = k_.insts[i];
      if (q.op == RICCI_K_STORE) stored[RICCI_BUFFER_OF(q.imm)] = 1;
      if (q.op == RICCI_K_LOAD && stored[RICCI_BUFFER_OF(q.imm)] != 0) return false;
      if (q.op == RICCI_K_FOR || q.op == RICCI_K_WHILE || q.op == RICCI_K_REDUCE || q.op == RICCI_K_SCAN ||
          q.op == RICCI_K_COMBINE) {
        return false;
      }
    }
    return true;
  }

  // From the end: what is computed for each of a group, and what once.
  void Divide(const Neighbours& neighbours, uint32_t loop, uint32_t first, uint32_t last) {
    if (loop != 0 && k_.insts[loop].op == RICCI_K_REDUCE) vector_.each[k_.insts[last].b] = 1;  // what it yields
    for (uint32_t i = last; i-- > first;) {
      const ricci_inst& q = k_.insts[i];
      const bool same = blocks_.parent[i] == loop && neighbours.IsSame(q.op == RICCI_K_CHECK ? q.a : i);
      if (codegen::HasEffect(q.op) || q.op == RICCI_K_IF || q.op == RICCI_K_ELSE || q.op == RICCI_K_END) {
        vector_.each[i] = 1;
      }
      if (same && vector_.each[i] != 0) {
        vector_.each[i] = 0;
        vector_.once[i] = 1;
      }
      if (vector_.each[i] != 0) NeedForEach(i);
      if (vector_.once[i] != 0) Need(i, vector_.once);
    }
  }
  void NeedForEach(uint32_t i) {
    const ricci_inst& q = k_.insts[i];
    if (IsBrought(i)) return;
    if (vector_.together[i] == 0) return Need(i, vector_.each);
    vector_.once[q.a] = 1;
    if (q.op == RICCI_K_STORE) vector_.each[q.b] = 1;
  }
  // The operands of an instruction that gives a value or has an effect.
  void Need(uint32_t i, std::vector<uint8_t>& by) const {
    const ricci_inst& q = k_.insts[i];
    if (q.op == RICCI_K_ELSE || q.op == RICCI_K_END) return;
    for (const uint32_t operand : {q.a, q.b, q.c}) {
      if (operand != 0) by[operand] = 1;
    }
  }

  // Operands of loops in groups that are computed before them.
  void ForgetOutside() {
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      uint32_t loop = i;
      while (loop != 0 && vector_.loops[loop] == 0) loop = blocks_.parent[loop];
      if (loop == 0) vector_.each[i] = vector_.once[i] = 0;
    }
  }

  // Some operation is made for two at a time, and all is straight code.
  bool ComputesPairs() const {
    bool any = false;
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      const uint16_t op = k_.insts[i].op;
      if (vector_.each[i] == 0 || op == RICCI_K_REDUCE || op == RICCI_K_FOR) continue;
      if (!codegen::IsScalar(op) && op != RICCI_K_CONST && op != RICCI_K_DOMAIN && op != RICCI_K_LOAD &&
          op != RICCI_K_STORE && op != RICCI_K_CHECK && op != RICCI_K_ASSUME_LESS && op != RICCI_K_NOP) {
        return false;
      }
      any |= IsPairOperation(k_, i);
    }
    return any;
  }

  void NameBuffers() {
    std::vector<uint8_t> named(k_.n_buffers);
    for (uint32_t i = 1; i < k_.n_insts; ++i) {
      if (vector_.together[i] != 0) named[RICCI_BUFFER_OF(k_.insts[i].imm)] = 1;
    }
    vector_.buffers = BufferNames(named);
  }

  const ricci_kernel_table& k_;
  const codegen::Blocks& blocks_;
  const IndexRanges& ranges_;
  const Team& team_;
  const TransposeTile& tile_;
  const std::vector<double> times_;
  Vector vector_;
  std::string reason_;  // of the last refusal
};

}  // namespace

bool IsPairOperation(const ricci_kernel_table& k, uint32_t i) {
  const ricci_inst& q = k.insts[i];
  return codegen::IsScalar(q.op) && HasPairs(q.op, q.dtype) && k.insts[q.a].dtype == q.dtype;
}

namespace {

// Are the trips of all loops that keep or take values spread over threads alike?
bool AreAlike(const KeptRows& rows, const Vector& vector) {
  size_t in_groups = 0, all = 0;
  for (uint32_t i = 0; i < rows.loops.size(); ++i) {
    if (rows.loops[i] == 0) continue;
    ++all;
    in_groups += vector.size > 1 && vector.loops[i] != 0 ? 1 : 0;
  }
  return in_groups == 0 || in_groups == all;
}

}  // namespace

Shares SharesOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const IndexRanges& ranges,
                const TransposeTile& tile) {
  Shares out{.team = TeamOf(k, blocks, /*may_keep_rows=*/true), .vector = {}};
  out.vector = Finder(k, blocks, ranges, out.team, tile).Find();
  if (AreAlike(out.team.rows, out.vector)) return out;
  out.team = TeamOf(k, blocks, /*may_keep_rows=*/false);
  out.team.rows.reason = "only some of its loops read several elements at a time";
  out.vector = Finder(k, blocks, ranges, out.team, tile).Find();
  return out;
}

}  // namespace ricci::cuda
