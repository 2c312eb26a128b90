// The law of one rounding: what elementwise work gives has the same bits however it is compiled.
//
// A value may be computed in several kernels, in lanes or on whole batches, in a vector loop or in its tail. If its
// bits depended on that, comparisons of it with something computed from it would be wrong (`eq(d, max(d, eps))`, a mask
// of a derivative). So results that no sum of terms in an order of the schedule's goes into are compared bit by bit
// between ways to compile: schedules of vmap, levels, code of short functions, passes that are left out after products
// were contracted. A batch of the same inputs must give each element what the program gives alone. It is a judge of
// every pass that computes a value again or elsewhere.
//
// It holds of every program and of what a transform makes of it, on a simulated GPU too. `--ways N` ways are drawn for
// each program. With contraction left to LLVM, one program in 300 breaks the law.
#ifndef RICCI_TESTS_FUZZ_ONE_ROUNDING_LAW_H_
#define RICCI_TESTS_FUZZ_ONE_ROUNDING_LAW_H_
#include "fuzz/seed_trial.h"

namespace ricci::testing {

// Per result: does nothing go into it whose bits depend on an order of operations that a schedule chooses?
std::vector<uint8_t> HaveOneRounding(const Program& p);

// Compares `p`, compiled for `cpu` with schedule `vmap`, with other ways that are drawn from the seed (`ways` of
// them), or with what `cuda` gives. `compared` counts the results.
Complaint CheckOneRounding(ricci_ctx* ctx, const Program& p, const std::vector<Bytes>& inputs, std::string_view vmap,
                           uint64_t seed, const TrialOptions& options, int64_t& compared);

}  // namespace ricci::testing
#endif
