// Team: how many threads compute a point of a kernel together, and which of its loops they share.
//
// The threads of a team do the same work, but for the loops that they share: thread `lane` takes iterations lane, lane
// + size, ... of these, and what a reduction leaves in each is combined so that all get the same result. Which threads
// take what depends on shapes alone, so results have the same bits in every run.
//
// Where neighbours in memory belong to neighbouring points (sums of columns), a block has the teams of 32 points: rows
// of 32 threads read neighbours, and the threads below each other are a team.
//
// A warp computes a point that has long reductions or parallel loops that read elements in order. It does so too where
// points are too few to fill a GPU. A block computes points that are very few and very long. Of columns a thread takes
// 16 rows at a time, whose loads share one address. That needs a number of rows that is a multiple of 128, and little
// work for a row.
//
// Not there yet: loops whose trips depend on each other are one thread's.
#ifndef RICCI_CUDA_TEAM_H_
#define RICCI_CUDA_TEAM_H_
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/analysis.h"
#include "cuda/schedule/kept_rows.h"

namespace ricci::cuda {

inline constexpr int64_t kWarp = 32, kBlock = 256;
inline constexpr int64_t kLeastRow =
    kWarp * 16;  // elements that are worth a loop of a warp: four vectors for each lane

// Of the private arrays of a thread. The hardware has 512 KB, but the driver keeps them for all threads that can be
// resident, whatever is launched, and for as long as the context lives: 4 KB are 1.1 GB of an H100 (80 GB, 2,048
// threads on each of 132 processors). GPUs have 100 to 300 KB of memory for each such thread, so this is up to 4 % of
// any.
inline constexpr int64_t kMostLocalBytes = 4 << 10, kResidentThreads = 2048;
int64_t LocalBytes(const ricci_kernel_table& k);

struct Team {
  int64_t size = 1;             // 1, kWarp or kBlock; kBlock / kWarp if `columns`
  bool columns = false;         // the block has the teams of kWarp points, a thread of each in a row
  std::vector<uint8_t> shared;  // by instruction: a loop that the team shares
  std::vector<uint8_t> inside;  // by instruction: it is in such a loop
  // By instruction: of a reduction along a row, the one over rows around it (codegen/flat_reductions.h). The warps of a
  // team share rows, the lanes of each the elements of one; each thread has one sum of all its elements.
  std::vector<uint32_t> over_rows;
  KeptRows rows;       // what these loops keep in registers
  std::string reason;  // also why it is one thread, for people

  uint32_t OverRows(uint32_t row) const { return over_rows.empty() ? 0 : over_rows[row]; }  // 0: not a row
  // Threads that share the trips of a loop.
  int64_t LanesOf(uint32_t loop) const { return OverRows(loop) != 0 ? kWarp : size; }

  static Team Alone(const ricci_kernel_table& k, std::string reason);
};
// `may_keep_rows`: its loops may keep what they have read.
Team TeamOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, bool may_keep_rows);

}  // namespace ricci::cuda
#endif
