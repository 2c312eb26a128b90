// Whole executables in a cache: a host that finds one computes what the host did that made it.
#ifndef RICCI_TESTS_FUZZ_KEPT_CHECK_H_
#define RICCI_TESTS_FUZZ_KEPT_CHECK_H_
#include "fuzz/seed_trial.h"

namespace ricci::testing {

// Two hosts with one folder compile and run the text of `p` on `cpu`: the same bits, errors and calls of the host, and
// the second one finds what the first one has kept.
Complaint CheckKept(std::string_view vmap, bool small_code, const Program& p, const std::vector<Bytes>& inputs,
                    DonateMask donate);

}  // namespace ricci::testing
#endif
