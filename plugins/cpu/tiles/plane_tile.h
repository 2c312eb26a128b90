// PlaneTile: a part of a convolution whose operand is copied to planes first, the unit of work of a task.
//
// A plane holds the elements of an image that a window meets at a step of one: of a stride of 2 there are two for each
// dimension. So what one element of the window meets, for all positions of the result, is a run of adjacent elements
// that begins at a shift, whatever the padding, strides, dilations and layout were. Its code is one template
// (plane_kernel.h), compiled once for each instruction set.
//
// A tile of a product packs each element once for each window that holds it. With a stride, a gap or padding that is a
// loop over single elements. A plane is copied once, and multiplies no gaps: padded first, three quarters of the
// products of a gradient of stride 2 were zeros.
//
// Our time relative to JAX's on one thread of a Zen 4, worst of 20 programs of
// tests/bench/real/measure_programs.py: gradients 4.9 -> 0.7, second derivatives 5.1 -> 0.7; in the geometric mean
// 0.65 -> 0.13 and 0.65 -> 0.12. The stride between planes is an odd number of cache lines: 256 planes of 1 KB in four
// sets of the first-level cache took four times as long.
#ifndef RICCI_CPU_PLANE_TILE_H_
#define RICCI_CPU_PLANE_TILE_H_
#include "cpu/tiles/gemm_tile.h"

namespace ricci::cpu {

// `count` elements of an array from `array` on, and their positions, which are adjacent from `plane` on.
struct PlaneLine {
  int64_t array, plane, count;
};
struct PlaneLines {
  const PlaneLine* at;
  int64_t count, step;  // of elements in the array
};

// Positions of a run that meet the planes in the same way: those of one remainder by the dilation.
struct PlanePhase {
  // Of `meetings`: where the run of lhs begins, and if it is a map where its weight is in rhs, else which sum it is.
  const int64_t *from, *other;
  int64_t meetings;
  PlaneLines lines;  // of the result if it is a map, else of rhs
  int64_t length;    // of the run of one image, up to its last place
  bool direct;       // of a map: lines are long and as they are computed, so they are not put together first
};

struct PlaneTile {
  const void *lhs, *rhs;
  void* out;
  GemmType lhs_type, rhs_type, out_type, sum;
  // A map: each element of the window is a weight, and the run is over positions of the result. Else the run is over
  // elements of the window, with which lhs is multiplied and summed: what a gradient by weights is.
  bool map;

  PlaneLines lines;  // of one image of lhs
  // Images beside each other: those that runs go over, and the others (if it is a map the input features, which are
  // summed, else the batch, whose results are apart).
  struct Images {
    int64_t count, lhs, plane;  // and the distances between them
  };
  Images run, others;
  int64_t elements;    // of all planes
  int64_t run_stride;  // of the images of a run, in the result if it is a map, else in rhs

  const PlanePhase* phases;
  int64_t n_phases;
  int64_t features, feature_rhs, feature_out;

  // Of sums, if it is not a map: where they are stored, for one of `others`, and how far those are apart.
  const int64_t* sums_out;
  int64_t n_sums, others_out;
  bool first, last;  // of the tiles that are added
};

// Memory for a tile, aligned to 64, in elements of the type of the sums. Runs are read and written in whole blocks, so
// kPlaneSlack elements follow each array.
struct PlaneScratch {
  void *planes, *rhs, *mask, *sums;
};
inline constexpr int64_t kPlaneSlack = 128;
inline constexpr int64_t kDirectLine = 32;  // elements of a line that is `direct`, at least; no less than a vector has
inline constexpr int64_t kPlaneRows = 8;    // features that a map sums at once, at most

using PlaneTileFn = void (*)(const PlaneTile& tile, const PlaneScratch& scratch);
void PlaneTileAvx512(const PlaneTile& tile, const PlaneScratch& scratch);
void PlaneTileAvx2(const PlaneTile& tile, const PlaneScratch& scratch);
void PlaneTileSse2(const PlaneTile& tile, const PlaneScratch& scratch);

}  // namespace ricci::cpu
#endif
