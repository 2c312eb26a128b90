// Kinds: properties of a program that no single row has: deep nesting, loops one after another, arguments next to an
// edge, attributes left out. They are counted, so that a run can require that every kind was drawn.
#ifndef RICCI_TESTS_FUZZ_KINDS_H_
#define RICCI_TESTS_FUZZ_KINDS_H_
#include <set>
#include <string>

#include "fuzz/subject.h"

namespace ricci::testing {

// The kinds that can be seen in the finished program.
std::set<std::string> KindsOf(const Program& p);

// All kinds that a run of many seeds must draw, including those that generators and runs count.
std::vector<std::string> WantedKinds();

}  // namespace ricci::testing
#endif
