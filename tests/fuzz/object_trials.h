// The seeds of `ricci_fuzz --objects TOOL`: drawn programs compiled ahead of time, many in one host.
#ifndef RICCI_TESTS_FUZZ_OBJECT_TRIALS_H_
#define RICCI_TESTS_FUZZ_OBJECT_TRIALS_H_
#include "fuzz/object_check.h"
#include "fuzz/seed_trial.h"

namespace ricci::testing {

struct ObjectTotals {
  Totals trials;
  ObjectCounts counts;
};

// Tries `count` seeds from `seed` on, until there are `most_failures` or `stop` says so.
void TryObjects(uint64_t seed, int64_t count, int64_t most_failures, const TrialOptions& options,
                const std::function<bool()>& stop, ObjectTotals& totals);
void PrintObjectTotals(const ObjectTotals& totals, double seconds);

}  // namespace ricci::testing
#endif
