// FusionWriter: the program of grouped equations, with a fusion equation for each group.
#ifndef RICCI_PASS_FUSION_WRITER_H_
#define RICCI_PASS_FUSION_WRITER_H_
#include <vector>

#include "base/hash_map.h"
#include "pass/program/merge_groups.h"

namespace ricci { inline namespace v0 { namespace pass {

// What `fuse` has decided.
struct Grouping {
  std::vector<Joins> joins;   // by equation
  std::vector<Group> groups;  // merged ones; empty where a group is part of another
  // By equation: the groups that it was part of before they were merged, by their roots.
  base::HashMap<uint32_t, std::vector<uint32_t>> joined;
};

// `users`: the equations that read a value.
absl::StatusOr<ir::ProgramRef> WriteFusions(const ir::Program& f, const Options& options,
                                            const std::vector<std::vector<uint32_t>>& users, const Grouping& grouping);

}}}  // namespace ricci::v0::pass
#endif
