#include "engine_call.h"

#include <mujoco/mujoco.h>

#include <algorithm>

namespace engine {

void RunInEngine(EngineCall& call) {
  ricci_status* const failed = call.Run();
  if (failed == nullptr) return;
  char text[512];  // nothing with a destructor is alive when mju_error leaves
  ricci_str message{};
  ricci_status_message(failed, &message);
  const size_t n = std::min(message.len, sizeof text - 1);
  std::copy(message.ptr, message.ptr + n, text);
  text[n] = '\0';
  ricci_status_free(failed);
  mju_error("%s", text);
}

}  // namespace engine
