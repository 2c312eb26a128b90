// The structural primitives: the core's own rows. All but check and the callbacks have attributes that hold programs.
#ifndef RICCI_CONTROL_CONTROL_H_
#define RICCI_CONTROL_CONTROL_H_
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace control {

// Adds call, cond, while, scan, vmap, check, checkpoint, custom_jvp, custom_vjp, custom_linear, custom_linear_solve,
// linear_call and the callbacks to a new registry.
absl::Status RegisterAll(prim::Registry& registry);

// The functions that `p` calls when it runs, by their names in the context, each once: inner programs first.
std::vector<std::string> CallbacksOf(const ir::Program& p);

}}}  // namespace ricci::v0::control
#endif
