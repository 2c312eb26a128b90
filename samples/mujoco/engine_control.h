// engine_control: mjcb_control as compiled programs: the controls of each mjData by a call that is bound to its memory.
//
// MuJoCo calls mjcb_control within mj_step, for every model of the process and without an argument of ours. So there is
// one table of the process, made before the threads begin, and a world that is not in it is left alone.
#ifndef SAMPLES_MUJOCO_ENGINE_CONTROL_H_
#define SAMPLES_MUJOCO_ENGINE_CONTROL_H_
#include <mujoco/mujoco.h>

#include <map>

#include "engine_call.h"

namespace engine {

// While it lives it is the control callback of the process; one at a time.
class EngineControl {
 public:
  explicit EngineControl(std::map<const mjData*, EngineCall*> calls);
  EngineControl(const EngineControl&) = delete;
  ~EngineControl();
};

}  // namespace engine
#endif
