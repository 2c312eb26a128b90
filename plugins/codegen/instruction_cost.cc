// The cost of one instruction: cycles at the width that it runs at, with gathers if addresses are not in order; and the
// latency of its result.
#include <algorithm>
#include <cmath>

#include "codegen/cost_walk.h"

namespace ricci::codegen {
namespace {

constexpr double kLoad = 0.6, kStore = 1, kIndex = 0.25;  // in order or of one value; address arithmetic
constexpr double kGathered = 1.3, kScattered = 1.7;       // per lane
constexpr double kCombined = 8;                           // per lane, in sequence
constexpr double kTurned = 1;                             // lanes in reverse
constexpr double kSorted = 1;                             // two registers of lanes into one
constexpr double kFar = 2;                                // factor for private arrays beyond the nearest cache
// Latencies: of polynomials, and of divisions and roots, times the root of their cycles.
constexpr double kFunctionLatency = 12, kQuotientLatency = 6;
constexpr double kDouble = 2;  // of functions of f64

bool IsFloat(uint16_t dtype) {
  return (dtype >= RICCI_F16 && dtype <= RICCI_F64) || (dtype >= RICCI_F8E4M3FN && dtype <= RICCI_F4E2M1FN);
}

}  // namespace

double CostWalk::CyclesOf(uint64_t op, uint16_t dtype) const {
  const double cycles = op < target_.n_op_cycles ? target_.op_cycles[op] : 1;
  return dtype == RICCI_F64 && cycles > 1 ? kDouble * cycles : cycles;
}

double CostWalk::LatencyOf(uint16_t op, uint16_t dtype) const {
  const double cycles = CyclesOf(op, dtype);
  if (cycles <= 1) return kAddLatency;
  return (op >= RICCI_S_EXP && op != RICCI_S_SQRT ? kFunctionLatency : kQuotientLatency) * std::sqrt(cycles);
}

double CostWalk::Single(uint32_t i) {
  const ricci_inst& inst = k_.insts[i];
  switch (inst.op) {
    case RICCI_K_LOAD:
      if (squares_ != nullptr && std::binary_search(squares_->begin(), squares_->end(), i)) {
        return (kLoad + std::log2(lanes_)) * Registers(inst.dtype);  // and a stage of the transposition each
      }
      if (Varies(inst.a) && IsNear(StrideOf(inst.a))) {
        const auto parts = static_cast<double>(StrideOf(inst.a));
        return (kLoad * parts + kSorted * (parts - 1)) * Registers(inst.dtype);
      }
      return Access(inst.a, inst.dtype, kLoad, kGathered);
    case RICCI_K_STORE:
      if (Varies(inst.a) && StrideOf(inst.a) == 2 && IsInPair(i)) {
        return (kStore + kSorted) * Registers(k_.buffers[inst.imm].dtype);
      }
      return Access(inst.a, k_.buffers[inst.imm].dtype, kStore, kScattered);
    case RICCI_K_COMBINE:
      return Access(inst.a, k_.buffers[RICCI_BUFFER_OF(inst.imm)].dtype, kLoad + kStore + 1, kCombined);
    case RICCI_K_GET:
      return Private(inst.a, inst.b, kLoad, kGathered);
    case RICCI_K_SET:
      return Private(inst.a, inst.b, kStore, kScattered);
    case RICCI_K_CHECK:
      return kBranch;
    default:
      return IsScalar(inst.op) ? Scalar(i) : 0;
  }
}

// 0: not linear.
int64_t CostWalk::StrideOf(uint32_t index) { return spread_->strides.Of(index).value_or(0); }

// Whether STORE i is the first or the second of two that are made together.
bool CostWalk::IsInPair(uint32_t i) const {
  if (NextElementStore(k_, i) != 0) return true;
  uint32_t before = i - 1;
  while (before > 0 && k_.insts[before].op != RICCI_K_STORE) --before;
  return before > 0 && NextElementStore(k_, before) == i;
}

double CostWalk::Scalar(uint32_t i) {
  const ricci_inst& inst = k_.insts[i];
  const uint16_t from = k_.insts[inst.op == RICCI_S_SELECT ? inst.b : inst.a].dtype;
  if (inst.dtype == RICCI_I64 && (!Varies(i) || spread_->strides.Of(i))) return kIndex;
  const double cycles = CyclesOf(inst.op, from);
  // The cost of an operation on one value: a processor does four at a time.
  if (!Varies(i) && cycles == 1 && !IsFloat(inst.dtype)) return kIndex;
  return Varies(i) ? cycles * std::max(Registers(from), Registers(inst.dtype)) : cycles;
}

double CostWalk::Access(uint32_t index, uint32_t dtype, double in_order, double apart) {
  if (!Varies(index)) return in_order;
  if (spread_->strides.InOrder(index)) {
    const double turned = spread_->strides.Of(index) == -1 ? kTurned : 0;
    return (in_order + turned) * Registers(dtype);
  }
  return apart * lanes_;
}

double CostWalk::Private(uint32_t local, uint32_t index, double in_order, double apart) {
  const uint32_t dtype = k_.insts[local].dtype;
  const double distance = far_ ? kFar : 1;
  if (!IsPerLane(local)) return Access(index, dtype, in_order, apart) * distance;
  return (Varies(index) ? apart * lanes_ : in_order * Registers(dtype)) * distance;
}

}  // namespace ricci::codegen
