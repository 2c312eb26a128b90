// TileLayout: the layout of one step of an operand in shared memory.
//
// Lines of elements, in each of which groups of `mul` elements change places by the line's number, so that lanes that
// access one column of lines meet different banks, without memory in between. Exchanged groups are of 16 bytes or more:
// what is accessed at once stays together. Tensor cores that read shared memory themselves want lines of 128 bytes at
// most: longer ones are cut into panels.
//
// No access of a warp has bank conflicts, but for odd sizes (two at a time), which a test counts.
#ifndef RICCI_CUDA_TILE_LAYOUT_H_
#define RICCI_CUDA_TILE_LAYOUT_H_
#include <cstdint>
#include <string>

namespace ricci::cuda {

struct TileLayout {
  bool lines_of_side = false;  // a line holds the trips of a row (column); else the rows (columns) of a trip
  int64_t lines = 0, length = 0;
  int64_t div = 1, mod = 1, mul = 0;  // mul 0: nothing changes places
  // Every second time so many lines the exchange is another one, so that lanes which write every fourth line meet
  // different banks too; 0: it is not.
  int64_t fold = 0;
  int64_t panel = 0;  // elements of a line; all lines of one panel come before the next one. 0: lines are not cut

  int64_t elements() const { return lines * length; }
  int64_t of_line() const { return panel != 0 ? panel : length; }  // next to each other
  int64_t OffsetOf(int64_t line, int64_t inner) const {
    const int64_t exchange = (line / div ^ (fold == 0 ? 0 : line / fold % 2)) % mod * mul;
    if (panel == 0) return line * length + (inner ^ exchange);
    return inner / panel * lines * panel + line * panel + (inner % panel ^ exchange);
  }
  std::string OffsetText(const std::string& line, const std::string& inner) const;  // the same as text
};

// For threads that read several rows (columns) of a trip at once. `across`: the trips that one access writes, 0 if
// accesses lie along the lines.
TileLayout RegisterLayout(int64_t extent, int64_t step, int64_t across, int64_t bytes);
// For tensor cores, which read 16 bytes of each of 8 lines at once. Lines of elements of 2 bytes are as in memory,
// others along the sum.
TileLayout TensorLayout(int64_t extent, int64_t step, bool along_sum, int64_t bytes = 2);
// For wgmma, which finds the elements by the swizzle of PTX ISA, "shared memory matrix layout": bits 4 to 6 of an
// address exchanged by bits 7 to 9 where lines have 128 bytes, 4 and 5 by 7 and 8 for 64, 4 by 7 for 32. A group of
// warps has `part` of the extent, in panels of its own.
TileLayout WarpgroupLayout(int64_t extent, int64_t step, bool along_sum, int64_t part);

}  // namespace ricci::cuda
#endif
