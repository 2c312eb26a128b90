// world_pool: worlds of one model for as many threads as ask at once, and engine calls whose errors are statuses.
//
// mju_error ends the process unless a handler of the whole process jumps out of it. MuJoCo's batches do that for their
// own calls, on the calling thread alone, so a world here is a batch of one simulation and a call is mjb_apply: no
// handler of the host is touched. A batch loads its state before each call, so a call sees nothing of the one before.
#ifndef SAMPLES_MUJOCO_WORLD_POOL_H_
#define SAMPLES_MUJOCO_WORLD_POOL_H_
#include <mujoco/mjbatch.h>
#include <mujoco/mujoco.h>

#include <array>
#include <atomic>
#include <string_view>

#include "ricci/plugin.hpp"

namespace engine {

class WorldPool {
 public:
  explicit WorldPool(const mjModel* m) : model_(m) {}  // which must live longer
  WorldPool(const WorldPool&) = delete;
  ~WorldPool();

  // Calls f(model, data, 0, arg) in a world in its initial state, on this thread. Any number of threads at once; each
  // gets a world of its own, which is made when there is none left. f must not hold objects with destructors while it
  // calls MuJoCo. RESOURCE_EXHAUSTED if no world can be made, FAILED_PRECONDITION `op: ...` with the text of an error
  // of MuJoCo.
  ricci_status* Run(std::string_view op, mjfBatchFunc f, void* arg) noexcept;

 private:
  // A world is taken out of its slot while it is in use, so slots need no lock.
  mjBatch* Take();
  void Give(mjBatch* world);

  const mjModel* const model_;
  std::array<std::atomic<mjBatch*>, 64> idle_{};
};

}  // namespace engine
#endif
