// The key by which the CPU backend's executables of a program are kept, and the programs with what they call.
#ifndef RICCI_TESTS_CPU_KEPT_KEY_H_
#define RICCI_TESTS_CPU_KEPT_KEY_H_
#include "cpu/kept_programs.h"
#include "cpu/source_rows.h"
#include "runtime/compile/executable_key.h"
#include "runtime/context/context.h"

namespace ricci::testing {

// Of device 0, with the default options.
inline runtime::CompileKey KeyOf(const ir::Program& f, std::vector<uint8_t> donate = {}) {
  runtime::Context& context = *runtime::ContextOf(*f.vocabulary());
  return runtime::CompileKey::Make(ir::ProgramRef(&f), {context.device(0)}, 2, transform::Schedule::kAuto,
                                   pass::kAllStages, std::move(donate), false);
}

// Once for each runner.
inline Program ParseKept(ProgramRunner& runner, const KeptProgram& e) {
  const ricci_callback twice = TwiceCallback();
  EXPECT_TRUE(Ok(ricci_context_add_plugin(runner.ctx(), query_source_row_in_c)));
  EXPECT_TRUE(Ok(ricci_context_add_callback(runner.ctx(), "twice", 5, &twice)));
  return runner.Parse(e.text);
}

}  // namespace ricci::testing
#endif
