// Compilation: from a program and a device to an executable, through the passes, the backend and the cache.
#ifndef RICCI_RUNTIME_COMPILE_H_
#define RICCI_RUNTIME_COMPILE_H_
#include "runtime/run/executable.h"

namespace ricci { inline namespace v0 { namespace runtime {

struct CompileOptions {
  std::vector<Device*> devices;     // empty = device 0; one today
  std::span<const uint8_t> donate;  // empty, or one per parameter
  uint32_t opt_level = 0;
  pass::StageSet stages = pass::kAllStages;
  bool checked = false;
  bool profiled = false;  // RICCI_COMPILE_PROFILED
  Progress progress;      // false cancels; may be empty. One call at a time, not all on this thread
};

absl::StatusOr<base::Ref<Executable>> Compile(const ir::Program& f, const CompileOptions& options);

}}}  // namespace ricci::v0::runtime
#endif
