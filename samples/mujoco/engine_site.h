// engine_site.h: how an operation on worlds becomes a library call of the engine, one task for each world.
//
// The model is compiled when a program that uses it is compiled, so building, loading and transforming programs run
// nothing of the engine. Tasks run on all threads of the device; each takes a world of the pool.
#ifndef SAMPLES_MUJOCO_ENGINE_SITE_H_
#define SAMPLES_MUJOCO_ENGINE_SITE_H_
#include "world_pool.h"
#include "world_state.h"

namespace engine {

// One operation of a compiled program. `Op` derives from it and has
//   Op(const Eqn&)                       which calls the constructor here and may refuse the model
//   RunWorld(const ricci_launch&) const  the world l.task; throws what is wrong
//   scratch_bytes() const                of each thread, for RunWorld
//   engine_steps() const                 about how many steps of the engine a world takes
class EngineSite {
 public:
  const MjcfModel& model() const { return model_; }
  std::string_view op() const { return op_; }
  int64_t worlds() const { return worlds_; }
  // Runs `f`, which takes an mjModel, an mjData and nothing that must be destroyed, in a world in the state `state`;
  // errors and warnings of the engine are thrown.
  template <typename F>
  void InWorld(const ricci_launch& l, const WorldState& state, const F& f) const {
    struct Call {
      const WorldState& state;
      const F& f;
      int warning = -1, info = 0;
    } call{state, f};
    state.WantFinite(op_, model_.get(), l.task);
    const mjfBatchFunc run = [](const mjModel* m, mjData* d, int, void* arg) {
      Call& c = *static_cast<Call*>(arg);
      c.state.CopyTo(m, d);
      const Warnings before(d);
      c.f(m, d);
      c.warning = before.Since(d);
      if (c.warning >= 0) c.info = d->warning[c.warning].lastinfo;
    };
    ricci::Check(pool_.Run(ricci::Text(op_, ": world ", l.task), run, &call));
    if (call.warning >= 0) FailOnWarning(op_, l.task, call.warning, call.info);
  }

 protected:
  explicit EngineSite(const ricci::Eqn& e) : op_(e.name()), model_(op_, e.str("model")), worlds_(WorldCount(e)) {
    CheckSizes(e, model_);
  }

 private:
  const std::string op_;
  const MjcfModel model_;
  const int64_t worlds_;
  mutable WorldPool pool_{model_.get()};
};

template <typename Op>
struct EngineLibrary {
  static ricci_status* Plan(void*, const ricci_op* op, ricci_library_plan* out) noexcept {
    return ricci::Guard([&] {
      auto site = std::make_unique<Op>(ricci::Eqn(op, nullptr));
      out->tasks = site->worlds();
      out->scratch_bytes = site->scratch_bytes();
      // A step factors and solves a few systems of nv unknowns; only estimates depend on this.
      const auto nv = static_cast<uint64_t>(site->model()->nv), worlds = static_cast<uint64_t>(site->worlds());
      out->flops = worlds * site->engine_steps() * (1000 + nv * nv * nv);
      out->state = site.release();
    });
  }
  static ricci_status* Launch(void* state, const ricci_launch* l) noexcept {
    const Op& site = *static_cast<const Op*>(state);
    if (site.worlds() == 0) return nullptr;  // the one task of an operation without tasks
    return ricci::Guard([&] { site.RunWorld(*l); });
  }
  static void DropState(void* state) { delete static_cast<Op*>(state); }
  static constexpr ricci_library kLibrary = {{sizeof(ricci_library), 0, nullptr}, Plan, Launch, DropState};
  static constexpr ricci::Lowering kLowerings[] = {{.library = &kLibrary}};
};

inline constexpr ricci::AttrSpec kModelAttr[] = {{"model", ricci::AttrKind::kString}};

}  // namespace engine
#endif
