// How a kernel will run, decided before any code is made: what is spread over how many lanes, and what is cut into
// pieces, chunks and tasks. A schedule is a value that can be printed; code generation follows it.
//
// A long sequential loop over little private state (a time integration) takes two vectors of lanes at once. This hides
// the latency of its chain.
//
// A short innermost dimension takes as few lanes as it needs. If the dimension before it is short too (small matrices
// in a batch), its rows are computed together, so what they share is loaded once. Lanes over the batch would need a
// gather or a transposition for every operand, and reach the same bound: memory bandwidth.
#ifndef RICCI_CODEGEN_SCHEDULE_H_
#define RICCI_CODEGEN_SCHEDULE_H_
#include <string>

#include "codegen/cost.h"
#include "codegen/facts.h"
#include "codegen/regions.h"
#include "codegen/squares.h"

namespace ricci::codegen {

// What is cut into parts, and their smallest sizes. Tests use smaller numbers, so that small programs show
// what otherwise only large ones would.
struct Cuts {
  PieceLimits pieces;
  int64_t region_code = kRegionCode;  // instructions in the code of one function, about
  int64_t shared_code = kSharedCode;  // and of one for parts of a kernel that are equal, at least
  int64_t chunk = 1 << 16;            // elements of one chunk of a long reduction or scan; a multiple of all lanes
  double copy_cycles = 32;            // of work that make another copy of an element worthwhile
  double task_cycles = 1 << 15;       // of one task; handing it over costs about 5,000
  uint32_t piece_steps = 32;          // of a plan in one function
  uint32_t repeat_steps = 16;         // of a plan without code of their own that make a loop worthwhile
};

struct KernelSchedule {
  unsigned lanes = 1;             // of the level that is spread
  bool over_domain = false;       // that level is the innermost dimension of the domain; else inner loops are
  std::vector<uint32_t> dims;     // the DOMAIN instruction of each dimension, 0 = none
  bool rows_together = false;     // the rows of the dimension before the innermost are computed together
  std::vector<Piece> pieces;      // of the domain, each with code of its own; empty: it is whole
  std::vector<uint32_t> squares;  // loads that are transposed, where points are computed in squares; sorted
  Regions regions;                // functions of their own, and calls of shared ones; empty: the kernel is one function

  // A top-level REDUCE or SCAN that is split over tasks, or 0: chunks of `chunk_length` trips, `chunks` for each row
  // (for a SCAN, for each point: then units are chunks, and the combined elements of each chunk are known before they
  // run).
  uint32_t split = 0;
  int64_t chunks = 0, chunk_length = 0;
  int64_t partial_chunks = 0, partials = 0;  // of all rows; partial results

  // How tasks share updates that points combine into elements. Either chunks of `chunk_length` rows each update a copy
  // of their own of the elements `copied`, and the copies are then combined (units are elements); or tasks share the
  // trips of the loop `shared`, no two of which update one element, and each goes through all points (units are trips).
  std::optional<Interval> copied;
  uint32_t shared = 0;

  int64_t units =
      1;  // points of a one-dimensional domain, rows of a larger one, or blocks of as many as lanes (squares)
  int64_t grain = 1;  // units of one task; fixed by shape, so that results do not depend on threads
  Cost cost;
};

KernelSchedule ScheduleKernel(const ricci_kernel_table& k, const Blocks& blocks, const ricci_target& target,
                              const Cuts& cuts = {});
std::string ToText(const KernelSchedule& s);
// The cost of all points, for comparing plans: the number of threads is not known, but work that threads could share
// counts somewhat less.
Cost CostInPlan(const KernelSchedule& s);

// ricci_backend.estimate for a device like `target`.
void EstimatePlan(const ricci_kernel_table* const* kernels, uint32_t n_kernels, const ricci_plan& plan,
                  const ricci_target& target, ricci_estimate& out);

}  // namespace ricci::codegen
#endif
