// Walking a program and the programs nested in it.
//
// Nested programs may be shared, so each distinct one is visited once: a plain recursion could take exponential time.
#ifndef RICCI_IR_WALK_H_
#define RICCI_IR_WALK_H_
#include <vector>

#include "ir/program.h"

namespace ricci { inline namespace v0 { namespace ir {

// Every distinct program in `p`, each after those nested in it; `p` is the last.
std::vector<const Program*> NestedFirst(const Program& p);

// A constant or an equation of a program.
struct Statement {
  const Constant* constant;  // NULL: the equation
  const Equation* equation;
};
// Constants and equations in the order in which they were added.
std::vector<Statement> Statements(const Program& p);

}}}  // namespace ricci::v0::ir
#endif
