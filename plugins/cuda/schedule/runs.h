// Runs: what a point has to itself of a buffer, such as a small matrix of each example, is accessed 16 bytes at once.
//
// In straight code each access is one element, and threads are far apart. The indices of a point are then its number
// times a factor, plus constants: accesses with the same factors whose constants follow each other are a run. A run of
// loads is one access before the first of them, a run of stores one after the last of them. Only what every point does
// counts, and stores only if nothing else writes the buffer. Such a kernel is written twice, since hosts may bind any
// address, so accesses must be a good part of its work.
#ifndef RICCI_CUDA_RUNS_H_
#define RICCI_CUDA_RUNS_H_
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/analysis.h"

namespace ricci::cuda {

struct Run {
  uint32_t first = 0, last = 0;  // its instructions, in the order of the kernel
  int64_t size = 0;              // elements
};

struct Runs {
  std::vector<Run> runs;         // empty: there are none
  std::vector<uint32_t> of;      // by instruction: 1 + the run that it is in; 0: none
  std::vector<int64_t> number;   // by instruction: which element of the run it is
  std::vector<uint8_t> unused;   // by instruction: an index that only accesses in runs had
  int64_t bytes = 0;             // of the widest access
  std::vector<uint8_t> buffers;  // that are accessed so

  bool Has(uint32_t i) const { return !runs.empty() && of[i] != 0; }
  const Run& Of(uint32_t i) const { return runs[of[i] - 1]; }
  bool IsUnused(uint32_t i) const { return !runs.empty() && unused[i] != 0; }
};
Runs RunsOf(const ricci_kernel_table& k, const codegen::Blocks& blocks);

}  // namespace ricci::cuda
#endif
