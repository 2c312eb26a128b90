// The lowering of `sort` for GPUs: CUDA C++ text and its launches (LineSort).
//
// A line is cut into tiles, each sorted by a block in shared memory; then neighbouring runs are merged, twice as long
// in each launch, where every block writes one tile of the result and finds by bisection which elements of the two runs
// that takes (Green, McColl and Bader, "GPU merge path", 2012). Both steps keep equal elements in their order, so the
// sort is stable. Elements are compared by words: unsigned numbers in the order of the keys.
//
// Not there yet: lines that a loop inside of a kernel sorts are one thread's each.
#ifndef RICCI_CUDA_LINE_SORT_H_
#define RICCI_CUDA_LINE_SORT_H_
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/device/device_text.h"
#include "ricci/primitive.h"

namespace ricci::cuda {

struct LineSort {
  std::vector<uint32_t> dtypes;  // of the operands, which have one shape; a complex key is two words, real part first
  size_t keys = 0;               // the first ones, which decide
  // The shape: `outer` x `n` x `inner`, sorted along n.
  int64_t outer = 1, n = 0, inner = 1;

  static constexpr int64_t kItems = 8;  // of a tile, that one thread merges
  int64_t tile = 0;                     // elements
  int64_t merges = 0;                   // launches after the first

  int64_t tiles() const { return (n + tile - 1) / tile; }  // of a line
  int64_t blocks() const { return outer * inner * tiles(); }
  uint64_t OffsetOf(size_t operand) const;  // in the workspace, which holds a copy of all operands
  uint64_t workspace_bytes() const { return merges == 0 ? 0 : OffsetOf(dtypes.size()); }
};

// Finds the size of tiles and the number of merges. False if a block has not the memory for a tile, or a launch has too
// many blocks.
bool CutLines(LineSort& sort);

// Arguments of the functions, and lines that declare from them `operands`, which only tiles read, and `results` and
// `other`: structs of the addresses of the arrays. Tiles may be read from where `results` or `other` is, if that is not
// what their launch writes.
struct LineSortFrame {
  std::string arguments, operands, offsets;
};
// Those of a lowering of `sort`.
LineSortFrame FrameOf(const LineSort& sort);

// Functions `sort_tiles` and, if there are merges, `sort_merge`, after what is in `device`, which is not printed.
std::string PrintLineSort(const LineSort& sort, const LineSortFrame& frame, DeviceText& device);
// Gives their launches; `s` has the text and what else they have in common.
ricci_status* GiveLineSort(const LineSort& sort, ricci_source s, const ricci_source_args& a);

// For the row `sort`, if the context has one.
ricci_status* AddLineSort(ricci_ctx* ctx);

}  // namespace ricci::cuda
#endif
