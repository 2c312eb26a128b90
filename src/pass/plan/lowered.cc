#include "pass/plan/lowered.h"

#include "base/foreign_call.h"

namespace ricci { inline namespace v0 { namespace pass {

Lowered::~Lowered() {
  for (const ricci_plan_library& call : plan.libraries) {
    if (call.library->drop_state != nullptr) base::CallQuietly([&] { call.library->drop_state(call.state); });
  }
}

}}}  // namespace ricci::v0::pass
