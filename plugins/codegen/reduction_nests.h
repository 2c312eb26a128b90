// Reduction nests: reductions within each other by one operation, of which each only passes on what the next one inside
// gives. They are one reduction over all of their trips, which may be taken in any order.
//
// A nest is described as it should run where neighbouring trips are taken at once: the loop along which most elements
// are neighbours in memory is the innermost one, a loop that goes down in memory runs backwards, and loops that go on
// in memory where the next one inside ends are a group, which runs as one loop.
#ifndef RICCI_CODEGEN_REDUCTION_NESTS_H_
#define RICCI_CODEGEN_REDUCTION_NESTS_H_
#include <cstdint>
#include <map>
#include <vector>

#include "codegen/analysis.h"

namespace ricci::codegen {

struct NestLoop {
  uint32_t loop;         // the REDUCE
  int64_t first, trips;  // its index in the first trip, as it should run
  int64_t step = 1;      // -1: it runs backwards
  bool is_used = false;  // its index is needed for more than the positions of linear loads
};

// Loops [first, last] of a nest.
struct NestGroup {
  size_t first, last;
  int64_t trips;      // of all of them together
  int64_t scale = 1;  // what a trip counts, in trips of the last loop
};

struct ReductionNest {
  uint32_t head = 0, innermost = 0;  // as written
  std::vector<NestLoop> loops;       // outermost first, as they should run
  std::vector<NestGroup> groups;     // outermost first
  int64_t trips = 1;
  // Of each LOAD whose position is a sum of the indices, each times a constant, and of what the nest does not change:
  // those constants, by loop, as it should run.
  std::map<uint32_t, std::vector<int64_t>> linear;
  std::vector<uint8_t> needed;  // by instruction: the result, or an effect, needs it, positions of linear loads apart

  // Its loop that this instruction opens, or null.
  const NestLoop* LoopOf(uint32_t i) const;
  int64_t StrideOf(uint32_t load, const NestGroup& group) const;
};

// The reductions whose results are all that reduction `loop` combines, by the same operation: one, or several where a
// loop between them was written out. None: there is something else.
std::vector<uint32_t> ReductionsWithin(const ricci_kernel_table& k, const Blocks& blocks, uint32_t loop);

// The outermost ones, of two loops or more, in order; each loop with a number of trips that is known and not 0, and no
// effect within but checks. Those with one head are terms of one reduction, in the order in which it combines them.
std::vector<ReductionNest> ReductionNestsOf(const ricci_kernel_table& k, const Blocks& blocks);

// Whether an instruction only computes a value, from its operands and memory.
inline bool IsPure(uint16_t op) {
  return IsScalar(op) || op == RICCI_K_CONST || op == RICCI_K_DOMAIN || op == RICCI_K_LOAD ||
         op == RICCI_K_ASSUME_LESS || op == RICCI_K_NOP;
}

}  // namespace ricci::codegen
#endif
