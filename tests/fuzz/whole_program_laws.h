// Laws on whole random programs: the meaning of a transform, checked numerically on `ref` and a device.
//
// Three kinds. Dot: <u, jvp(v)> = <vjp(u), v>, which holds for every program with a derivative, smooth or not, since
// both sides take the same branches. Loop: vmap and the batching rules against single runs, for the program, its jvp
// and its reverse mode. Difference: jvp against central differences, for the program and for its reverse mode (forward
// over reverse); only for programs drawn smooth, in f64. Each is also drawn for vmap of the program.
#ifndef RICCI_TESTS_FUZZ_WHOLE_PROGRAM_LAWS_H_
#define RICCI_TESTS_FUZZ_WHOLE_PROGRAM_LAWS_H_
#include <map>

#include "fuzz/reference.h"
#include "fuzz/variation.h"

namespace ricci::testing {

struct LawCounts {
  std::map<std::string, int64_t> held;     // by name of the law: programs for which it was checked
  std::map<std::string, int64_t> missing;  // messages of rules that are missing
  int64_t elements = 0, undecided = 0;     // of differences and dot tests: next to a kink, or without digits
  CheckCounts loops;
};

// One case: everything is drawn from the seed, so that a smaller program gets the same checks.
struct LawCase {
  ricci_ctx* ctx;
  Program program;
  uint64_t seed;
  bool special, smooth;
};
Complaint CheckLaws(const LawCase& c, LawCounts& counts);

// ---- one law each; throws the Error of a transform that fails ----
// `f` has floating parameters and results.
Complaint CheckDot(ricci_ctx* ctx, const Program& f, Dice& dice, uint64_t seed, LawCounts& counts);
Complaint CheckLoop(ricci_ctx* ctx, const Program& f, Dice& dice, uint64_t seed, bool special, LawCounts& counts);
Complaint CheckDifference(ricci_ctx* ctx, const Program& f, Dice& dice, uint64_t seed, LawCounts& counts);

}  // namespace ricci::testing
#endif
