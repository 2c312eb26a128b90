// Comparison with JAX: drawn programs are written as a case file of tests/jax, and the results that JAX computes for
// them (against_jax.py) are compared with those of `ref`, within the noise of the program.
//
// Without a transform all values of the program are compared, so the first that differs is where the fault is. Else the
// results of jvp, of reverse mode or of vmap: JAX transforms the program too.
//
// About 45 % of the programs are passed over. XLA's compilations take most of the time, about 0.13 s of a processor for
// each program.
#ifndef RICCI_TESTS_FUZZ_JAX_COMPARISON_H_
#define RICCI_TESTS_FUZZ_JAX_COMPARISON_H_
#include "fuzz/seed_trial.h"

namespace ricci::testing {

struct JaxTotals {
  int64_t programs = 0, compared = 0, ended = 0, failures = 0;  // `ended`: on `ref` the run fails
  CheckCounts checks;
};

// Writes programs and inputs of `count` seeds to the file `path`.
void WriteForJax(uint64_t seed, int64_t count, const TrialOptions& options, const std::string& path);

// Compares each case of the file `path`, which has the results of JAX.
JaxTotals CompareWithJax(const std::string& path, const TrialOptions& options);

}  // namespace ricci::testing
#endif
