// TextFor: what the backend `cuda` makes of a program for an architecture.
#ifndef RICCI_TESTS_CUDA_TEXT_FOR_H_
#define RICCI_TESTS_CUDA_TEXT_FOR_H_
#include <string>

#include "ricci/ricci.h"
#include "support/cached_host.h"
#include "support/program_runner.h"

namespace ricci::testing {

inline std::string TextFor(const std::string& architecture, const std::string& program) {
  ProgramRunner runner;
  SetOption(runner.ctx(), "cuda.arch", architecture.c_str());
  SetOption(runner.ctx(), "cuda.compiler", RICCI_NVRTC);
  EXPECT_TRUE(Ok(ricci_context_add_plugin(runner.ctx(), ricci_plugin_query_cuda)));
  return runner.Dump(runner.Parse(program), "native", "cuda");
}

}  // namespace ricci::testing
#endif
