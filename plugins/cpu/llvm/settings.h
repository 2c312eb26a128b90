// Settings: the parameters of a backend. Hosts get the defaults; tests lower a bound or ask for another processor's
// code, so that small programs show what otherwise only large ones or other machines would.
#ifndef RICCI_CPU_SETTINGS_H_
#define RICCI_CPU_SETTINGS_H_
#include <sched.h>

#include <cstdint>
#include <optional>

#include "codegen/schedule.h"
#include "cpu/llvm/code_view.h"
#include "ricci/context.h"

namespace ricci::cpu {

struct Settings {
  uint64_t stack_local = 16384;  // bytes of one private array on the stack; larger ones are in scratch
  codegen::Cuts cuts;
  const char* processor = nullptr;      // LLVM's name, such as `x86-64-v2`; NULL: this one
  const char* features = "";            // additional ones of that processor, in LLVM's form: `+avx512f,+avx512vl`
  Viewers viewers;                      // who is shown the code
  std::optional<cpu_set_t> processors;  // that the pool's threads run on; none: any
  const char* triple = nullptr;         // the target, in LLVM's form; NULL: this machine
};

// Registers a backend without the library lowerings; call from a plugin's attach.
ricci_status* AttachBackend(ricci_ctx* ctx, const Settings& settings);

}  // namespace ricci::cpu
#endif
