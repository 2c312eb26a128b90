// TransposeTile: points that the threads of a block compute together, because operands are read along another dimension
// than results are written.
//
// Neighbouring threads write neighbouring elements. Of an operand that is read along another dimension each of them
// then reads a sector of memory for one element. A block therefore takes a rectangle of points: its columns go along
// the dimension in which results are written, its rows along the one in which such operands lie. It brings their
// elements into shared memory in the order of memory, then computes the points in the order of the results.
//
// What is recognised are factors of indices, not an operation. A load is brought only if every point makes it, and if
// nothing but coordinates and constants decide its index: then a block reads exactly what its own points read, all of
// it before any of them writes. So a result may share the memory of an operand, as without tiles.
//
// A tile has 32 or 64 rows and columns. Parts of arrays, reversed operands, several operands and batches need no case
// of their own; short dimensions that go on in the next one count together. Columns in shared memory are an odd number
// of banks apart, and a warp takes as many rows as that needs: no access has bank conflicts. Both parts of a complex
// number are one access. Fewer than 4,096 points, and sides of fewer than 8 elements, get no tiles. Neighbours less
// than 8 elements apart share sectors and need none.
//
// Not there yet: operands are read directly where a point may not read them (padding) or memory decides the index (a
// gather, the start of a slice). So are operands that a team or a loop reads, and those along another dimension than
// most. Rows of results whose begin or size is not a multiple of 32 bytes are written across sectors by each warp.
// Without tiles both parts of a complex number are accessed separately, half of each sector at once.
#ifndef RICCI_CUDA_TRANSPOSE_TILE_H_
#define RICCI_CUDA_TRANSPOSE_TILE_H_
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/analysis.h"
#include "cuda/schedule/index_ranges.h"

namespace ricci::cuda {

struct TransposeSide {
  std::vector<uint32_t> dims;  // of the domain, from the outermost; neighbours of the side differ in the last one
  int64_t extent = 1;          // of all of them together
  int64_t of_tile = 1;

  int64_t tiles() const { return (extent + of_tile - 1) / of_tile; }
  bool IsCut() const { return extent % of_tile != 0; }
};

struct BroughtLoad {
  uint32_t load = 0;
  uint32_t second = 0;             // that reads the element after it, as of complex numbers; 0: there is none
  int64_t at_once = 1;             // rows whose elements are read in one access
  std::vector<uint8_t> for_index;  // by instruction: computed to find the element
};

struct TransposeTile {
  std::vector<BroughtLoad> loads;  // empty: without tiles
  TransposeSide columns, rows, batch;
  int64_t widest = 0;               // bytes that each column keeps free after its rows, in shared memory
  int64_t bytes = 0;                // of the widest access that is made at once, besides those of Vector; 0: none
  std::vector<uint8_t> is_brought;  // by instruction: a load of `loads`
  std::vector<uint8_t> for_points;  // by instruction: computed by points; others are for what is brought only
  // By instruction: of an access the one to the element after it, made together with it; and the other way round.
  std::vector<uint32_t> second_of_pair, first_of_pair;  // 0: there is none
  std::string reason;  // for the text; without tiles why there are none, if any load is read along another dimension

  bool IsUsed() const { return !loads.empty(); }
  int64_t tiles() const { return columns.tiles() * rows.tiles() * batch.extent; }
  // Elements of shared memory from a column to the next. It is an odd multiple of `widest`, so that lanes that access
  // one row of neighbouring columns meet different banks.
  int64_t LengthOf(int64_t element_bytes) const { return rows.of_tile + widest / element_bytes; }
  // Of a warp whose threads have `n` points each, the lanes along the columns: as many as banks allow.
  int64_t LanesAlong(int64_t n) const;
  // Whether threads may take `n` neighbours of the last dimension of a domain of that rank.
  bool MayGroup(uint32_t domain_rank, int64_t n) const;
};
TransposeTile TransposeTileOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const IndexRanges& ranges);

}  // namespace ricci::cuda
#endif
