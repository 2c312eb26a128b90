// Hostile texts: valid programs in whose text some integers (of attributes, counts, dimensions) are replaced by hostile
// ones, and the stated result types are repaired from what the rules infer, so that reading goes on past the first
// wrong type. A text is refused with a clear error, or it is a program: then it transforms, compiles, and, if it is
// small, runs the same everywhere. Nothing takes long, runs out of memory or is an INTERNAL error. A quarter of the
// trials are files in place of texts (hostile_file.h).
//
// Hostile integers are 0, -1, 2^32+1, 2^62, -2^63 and so on. A trial has 20 s of processor time.
#ifndef RICCI_TESTS_FUZZ_HOSTILE_TEXT_H_
#define RICCI_TESTS_FUZZ_HOSTILE_TEXT_H_
#include "fuzz/seed_trial.h"

namespace ricci::testing {

struct HostileTotals {
  int64_t texts = 0, repaired = 0, accepted = 0;
  int64_t files = 0, files_accepted = 0;
  int64_t transformed = 0, ran = 0, failures = 0;
  double slowest = 0;                      // seconds of processor time for one text
  std::map<std::string, int64_t> changed;  // by name of the attribute, or `type`
};

// Checks one text or file made from `seed`; if a check fails, prints how to repeat it.
void TryHostileText(uint64_t seed, const TrialOptions& options, HostileTotals& totals);
void PrintHostileTotals(const HostileTotals& totals);

}  // namespace ricci::testing
#endif
