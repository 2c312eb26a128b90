// Kinds: what a program is like where no single row stands for it: deep nesting, loops one after another, arguments
// next to an edge, attributes left out. Counted, so that a run can ask that every kind was drawn.
#ifndef RICCI_TESTS_FUZZ_KINDS_H_
#define RICCI_TESTS_FUZZ_KINDS_H_
#include <set>
#include <string>

#include "fuzz/subject.h"

namespace ricci::testing {

// Those that show in the finished program.
std::set<std::string> KindsOf(const Program& p);

// All kinds that a run of many seeds must have met; those of generators and runs too.
std::vector<std::string> WantedKinds();

}  // namespace ricci::testing
#endif
