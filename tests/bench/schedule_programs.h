// Programs that a host maps over a batch, to measure the choice between batched and lanes.
#ifndef RICCI_TESTS_BENCH_SCHEDULE_PROGRAMS_H_
#define RICCI_TESTS_BENCH_SCHEDULE_PROGRAMS_H_
#include <string>
#include <vector>

#include "bench_program.h"

namespace bench {

// One example of a batch, before vmap.
struct Example {
  std::string name;
  std::vector<Param> params;
  std::vector<bool> own;  // whether each element of the batch has its own value of the parameter
  std::function<ricci::Values(const ricci::Values&)> f;
  uint32_t grad = 0;  // if not 0: its derivatives with respect to this many parameters are mapped
};

std::vector<Example> LoopExamples();
std::vector<Example> ArrayExamples();

}  // namespace bench
#endif
