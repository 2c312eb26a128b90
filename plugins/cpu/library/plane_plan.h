// A convolution by planes (plane_tile.h): what runs go over, and how the work is cut into units.
//
// A run goes over positions of the result, or over elements of the window, whichever are more: the latter is a gradient
// by weights, whose window is an image. A unit copies its images to planes, so that these stay in the second-level
// cache, and is one tile if it is a map; sums are added over tiles of some images each.
#ifndef RICCI_CPU_PLANE_PLAN_H_
#define RICCI_CPU_PLANE_PLAN_H_
#include "cpu/library/convolution_shape.h"
#include "cpu/library/plane_layout.h"

namespace ricci::cpu {

struct PlanePlan {
  bool map = false;
  GemmType lhs_type{}, rhs_type{}, out_type{}, sum{};
  ConvolutionLoop group, features, run, others;  // of a group; `run` and `others` are images
  PlaneLayout layout;
  double work = 0;  // products of one group

  int64_t run_chunk = 1, others_chunk = 1;  // images of a tile
  int64_t units = 1, units_per_task = 1, group_units = 1;

  // From plane to plane: an odd number of groups of 16, or many planes would fall into the same lines of a cache.
  int64_t Distance() const { return ((run_chunk * layout.PlaneElements() + 15) / 16 | 1) * 16; }
  int64_t ImagePlanes() const { return layout.Planes() * Distance(); }  // of one of `others`
  int64_t RunChunks() const { return (run.size + run_chunk - 1) / run_chunk; }
  int64_t OthersChunks() const { return (others.size + others_chunk - 1) / others_chunk; }
};

// False: no convolution that planes can do, or one whose units do not fit the cache.
bool ChoosePlanes(const ConvolutionShape& c, PlanePlan& p);
// Whether a map writes the lines of the result where they belong.
bool IsDirect(const PlanePlan& p, int64_t phase);
// What one thread needs, about, in cycles for a vector of sums.
double PlaneCycles(const PlanePlan& p);

}  // namespace ricci::cpu
#endif
