// mjcf_model: a MuJoCo model made from the MJCF text that an operation carries.
//
// A program holds the text itself and no name of something that the process has registered, so it saves, loads, hashes
// and means the same everywhere. Text that names files would not, and is refused. So is a model whose state has parts
// that are not operands of mujoco.step (plugin state, history of delays, plastic deformation, sleeping): the step would
// not be a function of its operands.
#ifndef SAMPLES_MUJOCO_MJCF_MODEL_H_
#define SAMPLES_MUJOCO_MJCF_MODEL_H_
#include <mujoco/mujoco.h>

#include <memory>
#include <string_view>

#include "ricci/plugin.hpp"

namespace engine {

class MjcfModel {
 public:
  // Throws INVALID_ARGUMENT `op: ...` with what the compiler of MuJoCo says, or with the part that is refused.
  MjcfModel(std::string_view op, std::string_view mjcf);

  const mjModel* get() const { return model_.get(); }
  const mjModel* operator->() const { return model_.get(); }
  std::string_view name() const { return model_->names; }  // the first of all names is that of the model

 private:
  struct Delete {
    void operator()(mjModel* m) const { mj_deleteModel(m); }
  };
  std::unique_ptr<mjModel, Delete> model_;
};

}  // namespace engine
#endif
