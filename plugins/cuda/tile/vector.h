// Vector: how many neighbouring points, or trips of a loop that a team shares, a thread computes at once, so that it
// reads and writes 16 bytes in one access.
//
// The points of a group p, p + 1, ... differ in the last coordinate of the domain only, and p is a multiple of their
// number; so it is with trips. An access is made together if its index is then that of p, plus 0, 1, ... for the
// points, and a multiple of their number: this follows from the constants in the arithmetic on indices. What is the
// same for a group is computed once. If rows of the domain cannot be cut into groups, groups of the points in their
// order are left: then accesses are made together whose index is a point's number. A thread's own loops are left as
// they are: they are work enough for a point, and need the registers.
//
// Groups have 2 to 16 points or trips, where most of their accesses are then of 16 bytes (neighbours.h has the proof).
// Points are in groups only if enough threads are left to fill a GPU. A point must also be little work, without loops
// of its own. Arrays of the backend are aligned to 256 bytes, those that a host binds only to their elements. So the
// kernel tests addresses (vector_text.cc).
//
// Not there yet: a loop that a thread has for itself reads element by element. So does a loop whose reduction over a
// last dimension of 4 or less the core has written out.
#ifndef RICCI_CUDA_VECTOR_H_
#define RICCI_CUDA_VECTOR_H_
#include <cstdint>
#include <string>
#include <vector>

#include "codegen/analysis.h"
#include "cuda/schedule/index_ranges.h"
#include "cuda/schedule/team.h"
#include "cuda/tile/transpose_tile.h"

namespace ricci::cuda {

struct Vector {
  int64_t size = 1;               // of a group; 1: without groups
  bool of_points = false;         // groups of points, else of trips
  bool flat = false;              // groups go on in the next row of the domain: points have coordinates of their own
  int64_t bytes = 0;              // of the widest access: what addresses must be a multiple of
  std::vector<uint8_t> loops;     // by instruction: a shared loop whose trips are in groups
  std::vector<uint8_t> together;  // by instruction: LOAD or STORE for all of a group
  std::vector<uint8_t> once;      // by instruction: computed for the first of a group, before the others
  std::vector<uint8_t> each;      // by instruction: computed for each of a group; some indices are both
  bool pairs = false;             // floats of 16 bits are computed two at a time (device_pairs.cc)
  std::string buffers;            // that are accessed so, for the text
  std::string reason;             // why points or trips are not grouped, for people
};
// Of floats of 16 bits, made for two at a time.
bool IsPairOperation(const ricci_kernel_table& k, uint32_t i);

// What threads compute together, and what each of them at once. Rows are kept if the trips of all loops that keep or
// take their values are spread over threads alike; where only some are in groups, the team is one that keeps nothing.
struct Shares {
  Team team;
  Vector vector;
};
// `tile`: whose points are computed, if there is one.
Shares SharesOf(const ricci_kernel_table& k, const codegen::Blocks& blocks, const IndexRanges& ranges,
                const TransposeTile& tile);

}  // namespace ricci::cuda
#endif
