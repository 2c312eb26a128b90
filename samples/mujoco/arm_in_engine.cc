#include "arm_in_engine.h"

#include <barrier>
#include <cmath>
#include <deque>
#include <thread>

#include "allocation_count.h"
#include "engine_control.h"
#include "mjcf_model.h"

namespace engine {
namespace {

using ricci::Array;

// A world and the network bound to its memory: it reads the angles and speeds where MuJoCo has them, and writes the
// controls where MuJoCo reads them.
class DrivenWorld {
 public:
  DrivenWorld(const mjModel* m, const ricci::Executable& policy, const Weights<Array>& weights, const Point& target)
      : model_(m), target_(target), data_(mj_makeData(m)), call_(policy) {
    if (data_ == nullptr) ricci::Fail("arm: MuJoCo makes no mjData");
    data_->qpos[0] = kHanging;
    uint32_t slot = 0;
    for (const Array& w : weights) call_.BindShared(slot++, w);
    call_.Bind(slot++, target_);
    call_.Bind(slot++, {data_->qpos, kJoints});
    call_.Bind(slot++, {data_->qvel, kJoints});
    call_.Bind(slot++, {data_->ctrl, kMotors});
  }
  DrivenWorld(const DrivenWorld&) = delete;
  ~DrivenWorld() { mj_deleteData(data_); }

  const mjData* data() const { return data_; }
  EngineCall* call() { return &call_; }
  void Run(std::vector<double>& angles) const {
    for (size_t i = 0; i < angles.size(); i += kJoints) {
      mj_step(model_, data_);
      std::copy(data_->qpos, data_->qpos + kJoints, &angles[i]);
    }
  }
  void WantNoWarning() const {
    for (int i = 0; i < mjNWARNING; ++i) {
      const mjWarningStat& w = data_->warning[i];
      if (w.number != 0) ricci::Fail("arm: MuJoCo warns: ", mju_warningText(i, static_cast<size_t>(w.lastinfo)));
    }
  }

 private:
  const mjModel* const model_;
  Point target_;
  mjData* const data_;
  EngineCall call_;
};

// The controller reads and writes the engine's memory within its callback, so it is compiled for the CPU, wherever the
// network was trained.
Weights<Array> OnCpu(const Weights<Array>& weights) {
  const ricci::Device cpu = ricci::Context(weights[0].context()).device("cpu");
  Weights<Array> out;
  for (const Array& w : weights) out.push_back(ricci::device_put(w, cpu));
  return out;
}
ricci::Executable CompiledPolicy(const Weights<Array>& on_cpu) {
  const ricci::Context ctx(on_cpu[0].context());
  const Array two(ctx, std::vector<double>(2, 0.0));
  return ricci::jit(Policy).lower(on_cpu, two, two, two).executable;
}

}  // namespace

double ArmRun::distance() const {
  const Point tip = TipOf(last());
  return std::hypot(tip[0] - target[0], tip[1] - target[1]);
}

EngineRuns DriveArms(const Weights<Array>& trained, const std::vector<Point>& targets, int64_t steps, int64_t threads) {
  const MjcfModel model("arm", kArmModel);
  const Weights<Array> weights = OnCpu(trained);
  const ricci::Executable policy = CompiledPolicy(weights);
  EngineRuns out{{}, 0};
  std::deque<DrivenWorld> worlds;
  std::map<const mjData*, EngineCall*> calls;
  for (const Point& target : targets) {
    out.arms.push_back({target, std::vector<double>(static_cast<size_t>(steps * kJoints))});
    DrivenWorld& world = worlds.emplace_back(model.get(), policy, weights, target);
    calls[world.data()] = world.call();
  }

  // From here to the second barrier nothing takes memory from the heap.
  const EngineControl control(std::move(calls));
  std::barrier barrier(threads + 1);
  std::vector<std::thread> running;
  for (int64_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      barrier.arrive_and_wait();
      for (size_t i = static_cast<size_t>(t); i < worlds.size(); i += static_cast<size_t>(threads)) {
        worlds[i].Run(out.arms[i].angles);
      }
      barrier.arrive_and_wait();
    });
  }
  const int64_t before = AllocationCount();
  barrier.arrive_and_wait();
  barrier.arrive_and_wait();
  out.allocations = AllocationCount() - before;
  for (std::thread& t : running) t.join();
  for (const DrivenWorld& world : worlds) world.WantNoWarning();
  return out;
}

}  // namespace engine
