// What the machine can do at most, measured in the same run as the cases: bytes read and written per second by a copy
// of 256 MB with streaming stores, and multiply-adds (two operations each) of f32, on all cores.
#ifndef RICCI_TESTS_BENCH_PEERS_MACHINE_LIMITS_H_
#define RICCI_TESTS_BENCH_PEERS_MACHINE_LIMITS_H_
#include "../bench_loop.h"

namespace bench {

std::vector<Case> MachineLimits();

}  // namespace bench
#endif
