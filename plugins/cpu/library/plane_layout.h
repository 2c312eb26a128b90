// The positions of an array's elements in planes, and what meets them: the geometry of a convolution as runs of
// adjacent elements.
//
// Along one dimension a run goes over the positions of one side (of the result, or of the window), and the other side
// is all that they meet. Element e of the array meets position i of the run and position j of the other side where e
// dilation = i step + j other_step - low. Positions i of one phase (the remainder by dilation / gcd(step, dilation))
// meet elements that are `stride` = step / gcd apart, or none: gaps of a dilation are never multiplied. Element e is in
// the plane of its remainder by `stride`, at its quotient, so those elements are adjacent.
#ifndef RICCI_CPU_PLANE_LAYOUT_H_
#define RICCI_CPU_PLANE_LAYOUT_H_
#include <vector>

#include "cpu/library/library_op.h"
#include "cpu/tiles/plane_tile.h"

namespace ricci::cpu {

// What sets the geometry of one dimension: sizes, and the numbers above. Strides are those of the arrays.
struct PlaneWindow {
  int64_t elements, run, others;
  int64_t step, other_step, low, dilation;
  int64_t element_stride, run_stride, other_stride;
};

// One dimension.
struct PlaneDimension {
  explicit PlaneDimension(const PlaneWindow& w);

  struct Meeting {
    int64_t other, plane, shift;  // shift: from the position in the run to that in the plane
  };
  PlaneWindow window;
  int64_t phases = 1, stride = 1;
  std::vector<std::vector<Meeting>> meetings;  // of each phase; none that only padding meets
  Ints remainders;                             // of the planes that something meets
  int64_t first = 0;                           // the quotient of the first element in a plane; negative: padding
  int64_t reach = 0;                           // elements of a plane beyond the positions of a run

  int64_t Positions(int64_t phase) const { return (window.run - phase + phases - 1) / phases; }
  int64_t MostPositions() const { return Positions(0); }
};

// All dimensions. The first is cut into chunks of `chunk` positions, each with planes of its own.
struct PlaneLayout {
  std::vector<PlaneDimension> dims;
  int64_t chunk = 1, chunks = 1;

  void Cut(int64_t positions);
  int64_t Extent(size_t d) const;  // of a plane
  int64_t PlaneElements() const;
  int64_t Planes() const;
  int64_t Phases() const;
  Ints PhaseNumbers(int64_t number) const;  // of each dimension

  // Elements of the array in the planes of a chunk; planes are `distance` apart.
  std::vector<PlaneLine> ArrayLines(int64_t chunk_number, int64_t distance) const;

  // Of one phase of all dimensions:
  struct Phase {
    Ints from, other;  // of each meeting: a shift into the planes, the position in the other array
    std::vector<std::vector<PlaneLine>> lines;  // of each chunk: the positions of the run in its array
    Ints lengths;                               // of each chunk, up to the last place
  };
  Phase PhaseOf(int64_t number, int64_t distance) const;
};

}  // namespace ricci::cpu
#endif
