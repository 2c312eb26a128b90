// Runs a program as a compiling backend would see it: through all passes, fused kernels and the planned arena, but
// interpreted. `ref` itself runs no pass, so this is what checks simplify rules, fusion and buffer planning by numbers.
#ifndef RICCI_TESTS_LAX_OPTIMIZED_RUN_H_
#define RICCI_TESTS_LAX_OPTIMIZED_RUN_H_
#include <vector>

#include "base/status_abi.h"
#include "kernel/kernel.h"
#include "pass/pipeline.h"
#include "ricci/error.hpp"

namespace ricci::testing {

inline absl::Status InterpretOptimized(const ricci_program* p, void* const* inputs, void* const* outputs) {
  pass::Options options;
  RICCI_ASSIGN(const auto lowered, pass::Lower(*ir::FromAbi(p), options));
  const kernel::KernelViews kernels(lowered->kernels);
  RICCI_TRY(kernel::Verify(lowered->plan.View(), kernels.data(), kernels.size()));
  std::vector<std::max_align_t> arena(lowered->plan.arena_bytes / sizeof(std::max_align_t) + 1);
  return kernel::Interpret(lowered->plan.View(), kernels.data(), kernels.size(), inputs, outputs, arena.data());
}

inline void RunOptimized(const ricci_program* p, void* const* inputs, void* const* outputs) {
  Check(base::ToAbi(InterpretOptimized(p, inputs, outputs)));
}

}  // namespace ricci::testing
#endif
