// What a kernel or a plan will cost, estimated from its tables before any code is made: the walk of code generation,
// with numbers in place of instructions. Schedules are chosen by comparing such estimates.
#ifndef RICCI_CODEGEN_COST_H_
#define RICCI_CODEGEN_COST_H_
#include "codegen/facts.h"

namespace ricci::codegen {

// Whether more points run at once than an instruction computes (a GPU): they hide latency, and each has a lane.
inline bool RunsMany(const ricci_target& t) { return t.points_wanted > t.lanes; }

struct Cost {
  double cycles = 0;  // of one thread
  double code = 0;    // operations in the code; compile time grows with them

  Cost& operator+=(const Cost& o) {
    cycles += o.cycles;
    code += o.code;
    return *this;
  }
};

// Where a kernel's lanes are, and how its domain is cut.
struct Spreading {
  unsigned lanes = 1;
  uint32_t root = 0;                     // the DOMAIN instruction that is spread over the lanes; 0: inner loops are
  bool rows_together = false;            // the rows of the dimension before, in one piece of code
  const std::vector<Piece>& pieces;      // empty: the whole domain at once
  const std::vector<uint32_t>& squares;  // loads that are transposed, a square of points at once
};
// The cost of all points.
Cost CostOfKernel(const ricci_kernel_table& k, const Blocks& blocks, const ricci_target& target, const Spreading& how);

}  // namespace ricci::codegen
#endif
