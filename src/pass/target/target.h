// What passes know of the device they compile for: its kind, which chooses lowerings, and limits that follow from its
// numbers (ricci_target). Other passes take machine-dependent limits from here, except the alignment of buffers.
//
// Limits of the time to compile, and the sizes between which schedule_loops estimates, are in the passes.
// tests/cpu/targets_test.cc has a table of schedules for given targets.
#ifndef RICCI_PASS_TARGET_H_
#define RICCI_PASS_TARGET_H_
#include <string>

#include "absl/status/status.h"
#include "ricci/target.h"

namespace ricci { inline namespace v0 { namespace pass {

// Counts are of elements, costs of simple operations on one element.
struct Limits {
  // An array of up to so many elements is written out, one value each, to live in registers: where lanes belong to the
  // points of a batch, and where they do not, so that a loop over the elements would be spread over them.
  int64_t written_in_lanes, written_alone;
  int64_t fewest_points;  // that run side by side: then lanes belong to them

  int64_t cheap_to_repeat;  // what may be computed again rather than stored and read
  int64_t worth_a_kernel;   // work that the device does in the time of a launch
  int64_t read_back;        // what storing and reading costs within a kernel

  int64_t few_rows;  // fewer rows leave the device idle, if one thread computes a row,
  int64_t near_row;  // where rows of up to so many elements stay in the nearest memory of all that may share a row,
  int64_t few_near_rows;  // these many are enough;
  int64_t short_row;      // and shorter ones leave its lanes,
  int64_t small;          // which does not matter for so few elements
  int64_t row_bytes;      // of values that are kept within a row

  int64_t body_elements, body_product;  // of one value of a body that runs within a kernel; the same with products
  // Elements of one value of a body in lanes, stacked loop operands not counted, and of all values with them; used if
  // nothing is estimated.
  int64_t lane_elements, lane_total;
  uint64_t turn_bytes;  // of a carry for which two buffers take turns, so that it need not be copied

  // Where many points run at once, else 0: rows (columns) of a product that share what they read of a factor, and what
  // a kernel may compute of its factors, for each byte of one element.
  int64_t product_tile, factor_operations;
};

struct Target {
  Target(std::string_view kind = "ref");  // NOLINT: a kind is a target, with the numbers of ricci_target_init
  Target(std::string_view kind, const ricci_target& numbers);

  bool contracts() const { return (numbers.hdr.flags & RICCI_TARGET_FMA) != 0; }
  int64_t cycles_of(uint16_t op) const { return op < numbers.n_op_cycles ? numbers.op_cycles[op] : 1; }

  std::string kind;
  ricci_target numbers;
  Limits limits;
  bool sources = false;  // its backend compiles SOURCE lowerings
};

// The numbers that ricci_target_init sets.
ricci_target TypicalTarget();
// INVALID_ARGUMENT for numbers that no device can have.
absl::Status CheckTarget(const ricci_target& t);

}}}  // namespace ricci::v0::pass
#endif
