// Phases: whether long reductions or scans of few points are computed by many blocks, in two launches. Of a reduction
// each block reduces a part of the trips in the first, and in the second one block for a point (or for the points of
// columns) combines what they left. Of a scan each block combines a part of the trips in the first; in the second it
// combines what was left of the parts before its own, and scans its part from there on. The parts depend on shapes
// alone, so results have the same bits in every run.
//
// Each block of a scan finds the prefix of its part itself, from 1,024 results at most: one launch less than if another
// one found all prefixes. A part is read twice and written once; scanned in the first launch, it would be written
// twice. To do both in one launch, blocks would wait for each other and take what happens to be there (Merrill and
// Garland, "Single-pass parallel prefix scan with decoupled look-back", 2016): sums would have other bits in every run.
//
// There are up to 1,024 parts. One step of exchange combines the results of 256 parts. Sums are grouped by parts, so
// their bits are those of every run, but not those of one block or of `ref`. Integers and extrema are the same.
#ifndef RICCI_CUDA_PHASES_H_
#define RICCI_CUDA_PHASES_H_
#include <cstdint>
#include <vector>

#include "cuda/schedule/team.h"

namespace ricci::cuda {

inline constexpr int64_t kMostBlocks = 1 << 10;      // that fill a large GPU
inline constexpr int64_t kLeastTrips = kBlock * 16;  // of a part: the longest vector for each thread
// Of a part of columns: 64 for each thread, and a multiple of those that its threads take together.
inline constexpr int64_t kLeastRows = 1 << 9, kRowsTogether = 1 << 7;

struct Phases {
  int64_t parts = 0;                   // of each reduction or scan; 0: one launch
  bool of_scans = false;               // scans are in parts, else reductions
  std::vector<int64_t> trips;          // by instruction: of a REDUCE or SCAN in parts, the trips of one part; else 0
  std::vector<uint8_t> first, second;  // by instruction: that launch computes it
  // By instruction: of a REDUCE, or a LEFT of a SCAN, in parts, the byte where its results of all parts begin.
  std::vector<uint64_t> offset;
  uint64_t bytes = 0;  // of all results of parts
};
// Of a launch that is not in parts.
inline int64_t BlocksOf(const Team& team, int64_t points) {
  return team.columns ? (points + kWarp - 1) / kWarp : points;
}
Phases PhasesOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const Team& team);

}  // namespace ricci::cuda
#endif
