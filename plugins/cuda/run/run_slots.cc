#include "cuda/run/run_slots.h"

#include <algorithm>
#include <utility>

namespace ricci::cuda {

bool RunSlot::IsBoundTo(const Addresses& addresses) const {
  return std::any_of(graphs.begin(), graphs.end(), [&](const Graph& g) { return g.IsBoundTo(addresses); });
}

void RunSlots::Clear() {
  for (const auto& slot : all_) device_.ReturnPinned(slot->host);
  free_with_graphs_.clear();
  free_.clear();
  all_.clear();
  n_made_ = 0;
}

ricci_status* RunSlots::Take(const Addresses& addresses, ricci_done_fn done, void* arg, RunSlot*& out) {
  std::unique_lock lock(mutex_);
  if (free_with_graphs_.empty() && (free_.empty() || n_made_ < most_with_graphs_)) {
    if (ricci_status* failed = Make(lock)) return failed;
  }
  std::vector<RunSlot*>& from = free_with_graphs_.empty() ? free_ : free_with_graphs_;
  const auto bound = std::find_if(from.begin(), from.end(), [&](RunSlot* s) { return s->IsBoundTo(addresses); });
  if (bound != from.end()) std::swap(*bound, from.back());
  out = from.back();
  from.pop_back();
  out->done = done;
  out->arg = arg;
  out->host->failed_check = RICCI_NO_CHECK;
  return nullptr;
}

// A new slot, free. The driver is asked without the lock: other threads report ends meanwhile.
ricci_status* RunSlots::Make(std::unique_lock<std::mutex>& lock) {
  auto slot = std::make_unique<RunSlot>(*this, device_, n_made_ < most_with_graphs_ ? n_graphs_ : 0);
  for (auto* list : {&free_with_graphs_, &free_}) list->reserve(n_made_ + 1);
  all_.reserve(n_made_ + 1);
  ++n_made_;
  void* pinned = nullptr;
  lock.unlock();
  ricci_status* const failed = device_.TakePinned(&pinned);
  lock.lock();
  if (failed != nullptr) return --n_made_, failed;
  slot->host = static_cast<RunSlot::Host*>(pinned);
  (slot->has_graphs() ? free_with_graphs_ : free_).push_back(slot.get());
  all_.push_back(std::move(slot));
  return nullptr;
}

void RunSlots::Return(RunSlot& slot) {
  const std::lock_guard lock(mutex_);
  (slot.has_graphs() ? free_with_graphs_ : free_).push_back(&slot);
}

void RunSlots::Drop(RunSlot& slot) {
  ricci_status_free(std::exchange(slot.status, nullptr));
  Return(slot);
}

// Once `done` has been called, the code may go, and the slots with it.
void RunSlots::Finish(void* p) {
  RunSlot& slot = *static_cast<RunSlot*>(p);
  const ricci_done_fn done = slot.done;
  void* const arg = slot.arg;
  ricci_status* const status = std::exchange(slot.status, nullptr);
  const uint32_t failed_check = status == nullptr ? slot.host->failed_check : RICCI_NO_CHECK;
  slot.home.Return(slot);
  done(arg, status, failed_check);
}

}  // namespace ricci::cuda
