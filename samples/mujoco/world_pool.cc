#include "world_pool.h"

#include <string>

namespace engine {

WorldPool::~WorldPool() {
  for (std::atomic<mjBatch*>& slot : idle_) {
    if (mjBatch* world = slot.load()) mjb_deleteBatch(world);
  }
}

mjBatch* WorldPool::Take() {
  for (std::atomic<mjBatch*>& slot : idle_) {
    if (slot.load(std::memory_order_relaxed) == nullptr) continue;
    if (mjBatch* world = slot.exchange(nullptr)) return world;
  }
  mjBatchConfig config;
  mjb_defaultConfig(&config);
  config.nthread = 1;
  char error[1024] = "";
  mjBatch* const made = mjb_makeBatch(model_, 1, &config, error, sizeof error);
  if (made == nullptr) throw ricci::Error(RICCI_RESOURCE_EXHAUSTED, ricci::Text("MuJoCo makes no world: ", error));
  return made;
}

void WorldPool::Give(mjBatch* world) {
  for (std::atomic<mjBatch*>& slot : idle_) {
    mjBatch* empty = nullptr;
    if (slot.compare_exchange_strong(empty, world)) return;
  }
  mjb_deleteBatch(world);
}

ricci_status* WorldPool::Run(std::string_view op, mjfBatchFunc f, void* arg) noexcept {
  return ricci::Guard([&] {
    mjBatch* const world = Take();
    const bool failed = mjb_apply(world, nullptr, 0, f, arg, /*save=*/0) != 0;
    const std::string why = failed ? mjb_error(world, 0) : "";
    Give(world);
    if (failed) throw ricci::Error(RICCI_FAILED_PRECONDITION, ricci::Text(op, ": MuJoCo: ", why));
  });
}

}  // namespace engine
