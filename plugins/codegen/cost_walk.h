// CostWalk: walks the instructions of a kernel in the order of code generation and adds up their costs.
//
// Two things make a body slow, its work and its chains: instructions take cycles (instruction_cost.cc), and if trips of
// a loop follow one another, what one leaves in private arrays must be ready before the next can read it
// (cost_walk.cc). The caller adds the domain around it (cost.cc).
#ifndef RICCI_CODEGEN_COST_WALK_H_
#define RICCI_CODEGEN_COST_WALK_H_
#include <algorithm>
#include <utility>
#include <vector>

#include "codegen/cost.h"

namespace ricci::codegen {

// Cycles, measured on processors with AVX-512; only their ratios matter.
inline constexpr double kTrip = 1.5, kBranch = 3;  // of a loop; of a branch
inline constexpr double kAddLatency = 4;           // until a sum can be used

class CostWalk {
 public:
  CostWalk(const ricci_kernel_table& k, const Blocks& blocks, const ricci_target& target, unsigned lanes);

  // These loads are rows of squares that are transposed in registers.
  void Transpose(const std::vector<uint32_t>& squares) { squares_ = &squares; }

  // The cost of [first, last), run for all lanes of `root`; 0: for one point, so that inner loops take the lanes.
  Cost Body(uint32_t root, uint32_t first, uint32_t last, const Facts* facts);

 private:
  struct Spread {
    std::vector<uint8_t> varying;
    Strides strides;
    uint32_t first;  // the first instruction that runs for all lanes
  };
  using Arrivals = std::vector<std::pair<uint32_t, double>>;  // private arrays, and when their contents are ready
  bool Varies(uint32_t v) const { return spread_ != nullptr && spread_->varying[v] != 0; }
  bool IsPerLane(uint32_t local) const { return Varies(local) && local >= spread_->first; }
  bool FromMemory(uint32_t v) const { return from_memory_[v] != 0; }

  // ---- one instruction (instruction_cost.cc) ----

  double CyclesOf(uint64_t op, uint16_t dtype) const;
  double LatencyOf(uint16_t op, uint16_t dtype) const;
  // Registers that one value of all lanes takes.
  double Registers(uint32_t dtype) const {
    return std::max(1.0, static_cast<double>(lanes_ * SizeOfDType(dtype)) / (4.0 * target_.lanes));
  }
  double Single(uint32_t i);
  double Scalar(uint32_t i);
  int64_t StrideOf(uint32_t index);
  bool IsInPair(uint32_t i) const;
  double Access(uint32_t index, uint32_t dtype, double in_order, double apart);
  double Private(uint32_t local, uint32_t index, double in_order, double apart);

  // ---- blocks (cost_walk.cc) ----

  double PrivateBytes(uint32_t first, uint32_t last) const;
  Cost Range(uint32_t first, uint32_t last);
  void FollowChain(uint32_t i);
  // Values from before the loop are ready when its trip begins.
  double Ready(uint32_t v) const { return v < trip_begin_ && k_.insts[v].op != RICCI_K_LOCAL ? 0 : ready_[v]; }
  template <typename Trip>
  Cost Sequential(uint32_t loop, double trips, Trip trip_of);
  double LongestChain(const Arrivals& carried, const Arrivals& read) const;
  Cost Loop(uint32_t i);
  double ChainOfScan(uint32_t scan) const;
  Cost SpreadLoop(uint32_t i, double trips);
  Cost Vectors(uint32_t i, double trips, const Facts* facts);
  Cost CombinersOfVector(uint32_t scan, double vectors);
  Cost While(uint32_t i);
  bool WaitsForAny(uint32_t loop, uint32_t cond) const;
  Cost If(uint32_t i);

  const ricci_kernel_table& k_;
  const Blocks& blocks_;
  const ricci_target& target_;
  const unsigned lanes_;
  const Facts* facts_ = nullptr;
  const std::vector<uint32_t>* squares_ = nullptr;
  Spread* spread_ = nullptr;          // while something is spread over the lanes
  bool masked_ = false;               // some lanes of the last vector are off
  bool far_ = false;                  // private arrays exceed the nearest cache
  std::vector<double> ready_;         // of values and private arrays
  std::vector<uint8_t> from_memory_;  // values computed from what was read
  uint32_t trip_begin_ = 0;           // the enclosing sequential loop
};

}  // namespace ricci::codegen
#endif
