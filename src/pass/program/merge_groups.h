// Groups of equations that become one kernel each, and merging them.
#ifndef RICCI_PASS_MERGE_GROUPS_H_
#define RICCI_PASS_MERGE_GROUPS_H_
#include <vector>

#include "ir/program.h"
#include "pass/kernel/row_reads.h"
#include "pass/target/pass_options.h"

namespace ricci { inline namespace v0 { namespace pass {

// How an equation may be part of a merged group.
enum class Joins : uint8_t {
  kNever,
  kExpression,  // computed where it is read
  kRows,        // loops that may be run for a single row
  kPoints       // a product: what follows it element by element may be computed with each of its elements
};

struct Group {
  std::vector<uint32_t> roots;    // equations whose results are stored if anything outside reads them
  std::vector<uint32_t> members;  // all equations, in program order; roots too
  uint32_t position = 0;          // where in the program it runs: at this equation
  uint32_t n_rows = 0;            // > 0: runs row by row; a row is one point of this many leading dimensions
  std::vector<uint32_t> views;    // equations after them that only move what roots compute, in program order
};

// Merges groups that pass values of one shape to each other, or read the same values. `joins`: per equation. Groups
// that were merged into another are left empty.
absl::Status MergeGroups(const ir::Program& f, const Options& options, const std::vector<Joins>& joins,
                         const std::vector<int64_t>& costs, std::vector<Group>& groups);

// The name of the kernel that holds these equations (fusion_name.cc). Several kernels may get the same name.
std::string FusionName(const ir::Program& f, const std::vector<Joins>& joins, const std::vector<uint32_t>& members);

// Merges groups whose results are all scalars (merge_scalars.cc).
void MergeScalars(const ir::Program& f, const std::vector<Joins>& joins, std::vector<Group>& groups);

}}}  // namespace ricci::v0::pass
#endif
