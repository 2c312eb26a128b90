#include "engine_drag.h"

#include <mujoco/mujoco.h>

#include <vector>

#include "engine_call.h"

namespace engine {
namespace {

ricci::Value Drag(const ricci::Value& v) { return -kDrag * abs(v) * v; }

// What every instance runs; MuJoCo's callbacks have no argument for it.
const ricci::Executable*& Formula() {
  static const ricci::Executable* formula = nullptr;
  return formula;
}

struct Instance {
  explicit Instance(const mjModel* m, mjData* d) : force(static_cast<size_t>(m->nv)), call(*Formula()) {
    call.Bind(0, {d->qvel, force.size()});
    call.Bind(1, force);
  }
  std::vector<double> force;
  EngineCall call;
};
Instance* InstanceOf(const mjData* d, int instance) { return reinterpret_cast<Instance*>(d->plugin_data[instance]); }

int Init(const mjModel* m, mjData* d, int instance) {
  try {
    d->plugin_data[instance] = reinterpret_cast<uintptr_t>(new Instance(m, d));
    return 0;
  } catch (const std::exception& e) {  // the formula is for another number of degrees of freedom
    mju_warning("ricci.drag: %s", e.what());
    return -1;
  }
}
void Copy(mjData* to, const mjModel* m, const mjData*, int instance) { Init(m, to, instance); }
void Destroy(mjData* d, int instance) {
  delete InstanceOf(d, instance);
  d->plugin_data[instance] = 0;
}
void Compute(const mjModel* m, mjData* d, int instance, int) {
  Instance& i = *InstanceOf(d, instance);
  RunInEngine(i.call);
  for (int k = 0; k < m->nv; ++k) d->qfrc_passive[k] += i.force[static_cast<size_t>(k)];
}

}  // namespace

void RegisterDrag(const ricci::Context& ctx, int64_t nv) {
  const ricci::ShapeDType v{{nv}, ricci::DType::kF64};
  Formula() = new ricci::Executable(ricci::Executable::compile(ricci::make_program(ctx, Drag, v), ctx.device("cpu")));
  mjpPlugin plugin;
  mjp_defaultPlugin(&plugin);
  plugin.name = "ricci.drag";
  plugin.capabilityflags = mjPLUGIN_PASSIVE;
  plugin.nstate = [](const mjModel*, int) { return 0; };
  plugin.init = Init;
  plugin.copy = Copy;
  plugin.destroy = Destroy;
  plugin.reset = [](const mjModel*, mjtNum*, void*, int) {};
  plugin.compute = Compute;
  mjp_registerPlugin(&plugin);
}

}  // namespace engine
