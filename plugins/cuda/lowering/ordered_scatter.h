// The lowerings of `scatter`, `scatter-add` and its kin for GPUs, where many updates may be of one element: CUDA C++
// text and its launches (Scatter).
//
// Whatever order their threads run in, updates of an element must be made in the order of the updates, so that results
// have the same bits in every run, those of `ref`. A kernel does that by a thread that goes through all updates that
// may meet, of a scatter of single numbers into one array through all there are. Here each update gets the number of
// the element that it is for; a stable sort (line_sort.h) by this number brings the updates of an element next to each
// other, in their order; then a thread for each element that has updates combines these with it. Dimensions of windows
// that always begin at 0 are columns: their elements are apart, so the sort knows nothing of them.
//
// With the option cuda.scatter=atomics, sums of f32 and f64 are made by atomic additions in any order, without a sort,
// but with other bits in every run.
//
// Few updates stay a kernel, which is one launch, may update its operand in place and fuses what gives the updates.
// Integers of 32 and 64 bits whose order does not matter are updated atomically by that kernel too.
//
// The sort is for 256 positions or more, with an operand of at most 65,536 elements for each of them. It takes 3
// launches, and one more for each doubling from 2,048 positions of a batch on. Working memory is 16 bytes for each
// position (32 for arrays of 2^31 elements).
//
// A kernel updates floats in the order of the points. It has a thread for each group of points that never meet, and for
// each of their elements that are apart (columns of rows).
//
// Not there yet: all updates of one element are one thread's. Those of complex numbers by products and extrema, and of
// few positions, are one thread's altogether.
#ifndef RICCI_CUDA_ORDERED_SCATTER_H_
#define RICCI_CUDA_ORDERED_SCATTER_H_
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/lowering/line_sort.h"
#include "ricci/primitive.h"

namespace ricci::cuda {

// What the option cuda.scatter asks for.
enum class ScatterWay : uint8_t {
  kOrdered,  // in order, by a sort where there are many updates
  kSorted,   // in order, by a sort however few there are, which tests use
  kAtomics   // sums of f32 and f64 in any order, else as kOrdered
};

struct Scatter {
  // Numbers in arrays count elements, of complex numbers their parts.
  struct Dim {
    int64_t extent;
    int64_t index = 0, to = 0, from = 0;  // from one to the next: in the index array, the operand, the updates
  };
  // An entry of a position: windows begin at 0 to `last`, and are `to` apart in the operand.
  struct Start {
    int64_t last, to;
  };

  std::string name;          // of the primitive
  uint32_t dtype = 0;        // of a number
  uint32_t index_dtype = 0;  // of the index array
  uint32_t combiner = 0;     // RICCI_S_*; 0: the last update remains
  bool negates = false;      // the updates are combined with the other sign
  bool clips = false;        // positions are clamped; otherwise windows that do not lie inside are dropped
  // Updates are numbered by the coordinates in `lines` (batches, whose updates never meet), in `points` of the index
  // array, and in `moves`, dimensions of windows that begin anywhere; each has a number in every column.
  std::vector<Dim> lines, points, moves, columns;
  std::vector<Start> starts;
  int64_t n_operand = 0;  // numbers of the operand
  LineSort sort;          // of (element, number of the update)

  static constexpr int64_t kThreads = 256;  // of a block
  int64_t n_updates() const { return sort.outer * sort.n; }
  int64_t n_columns() const { return ExtentOf(columns); }
  // Numbers of elements and updates fit into 32 bits.
  bool IsShort() const { return sort.dtypes[0] == RICCI_U32; }
  uint64_t workspace_bytes() const { return 2 * sort.OffsetOf(sort.dtypes.size()); }
  static int64_t ExtentOf(const std::vector<Dim>& dims);
};

// The whole text: functions `scatter_begin`, `sort_tiles`, `sort_merge` and `scatter_combine`; or `scatter_begin` and
// `scatter_add`.
std::string PrintScatter(const Scatter& scatter, ScatterWay way);

// For the rows of scatters that the context has.
ricci_status* AddScatters(ricci_ctx* ctx, ScatterWay way);

}  // namespace ricci::cuda
#endif
