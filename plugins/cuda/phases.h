// Phases: whether long reductions of few points are computed by many blocks, in two launches: in the first each block
// reduces a part of the trips, in the second one block for a point combines what they left. The parts depend on shapes
// alone, so results have the same bits in every run.
#ifndef RICCI_CUDA_PHASES_H_
#define RICCI_CUDA_PHASES_H_
#include <cstdint>
#include <vector>

#include "team.h"

namespace ricci::cuda {

struct Phases {
  int64_t parts = 0;                   // of each reduction; 0: one launch
  std::vector<int64_t> trips;          // by instruction: of a REDUCE in parts, the trips of one part; else 0
  std::vector<uint8_t> first, second;  // by instruction: that launch computes it
  std::vector<uint64_t> place;  // by instruction: of a REDUCE in parts, the byte where its results of all parts begin
  uint64_t bytes = 0;           // of all results of parts
};
Phases PhasesOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const Team& team);

}  // namespace ricci::cuda
#endif
