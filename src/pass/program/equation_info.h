// EquationInfo: what fuse knows of each equation. What an equation is and costs is found once; where it goes is decided
// again in each try.
#ifndef RICCI_PASS_EQUATION_INFO_H_
#define RICCI_PASS_EQUATION_INFO_H_
#include <vector>

#include "ir/factors.h"
#include "pass/program/merge_groups.h"

namespace ricci { inline namespace v0 { namespace pass {

inline constexpr uint32_t kNoGroup = ~0u;

enum class EquationKind : uint8_t {
  kExpression,
  kLoops,
  kCall  // reads only stored values (also loops in the plan, updates and barriers)
};

struct EquationInfo {
  // ---- found once ----
  EquationKind kind = EquationKind::kLoops;
  bool view = false;       // INDEX: moves elements, computes nothing
  int64_t own = 1;         // cost of one element
  ir::FactorsRef factors;  // of a product, where many points run at once

  // ---- decided in each try ----
  bool dead = false;              // nothing reads it: it is left out
  bool often = false;             // a view or factor, computed where it is read, read many times an element
  bool moves = false;             // a root whose parts are stored for it
  int64_t cost = 1;               // `own` with everything pulled in
  double spread = 1;              // how often an element is computed in its group: broadcasts come after it
  double times = 0;               // of what only products read: how often they compute an element of it
  int64_t factor_bytes = 0;       // of an element of the factor that it is part of
  int64_t factor_operations = 0;  // of a group: what its product computes for an element of its factors
};

struct EquationInfos {
  std::vector<EquationInfo> of;              // by equation
  std::vector<std::vector<uint32_t>> users;  // by value: the equations that read it; kNoGroup: it is a result
};
// Before any try. UNIMPLEMENTED, naming the equation, if a primitive has no lowering for the target.
absl::StatusOr<EquationInfos> InfosOf(const ir::Program& f, const Options& options);

// Do many points run at once, as on a GPU? There a thread that has an element of a product goes on with it, and
// reductions beside each other read an element once. A processor has products in libraries, and small ones whose loops
// run in lanes of their own.
bool RunsMany(const Options& options);
// Of an equation with loops.
Joins JoinsOf(const prim::Row& row, const Options& options);
// A view that looks for its element in one of several arrays (concatenate, gather) at each load.
bool JoinsArrays(const ir::Program& f, const ir::Equation& eqn);

}}}  // namespace ricci::v0::pass
#endif
