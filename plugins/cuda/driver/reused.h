// Reused: handles and memory that the driver made and that are not in use, for the next request. Thread-safe.
#ifndef RICCI_CUDA_REUSED_H_
#define RICCI_CUDA_REUSED_H_
#include <cstddef>
#include <mutex>
#include <vector>

#include "ricci/api_table.h"

namespace ricci::cuda {

template <typename Handle>
class Reused {
 public:
  // One that was returned, else one that `make(out)` makes; that gives a status.
  template <typename Make>
  ricci_status* Take(Handle& out, Make make) {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        out = free_.back();
        free_.pop_back();
        return nullptr;
      }
      free_.reserve(++n_made_);
    }
    ricci_status* const failed = make(out);
    if (failed != nullptr) Lose();
    return failed;
  }
  // Cannot fail: there is room for all that were made.
  void Return(Handle handle) {
    const std::lock_guard lock(mutex_);
    free_.push_back(handle);
  }
  // One that was taken does not come back.
  void Lose() {
    const std::lock_guard lock(mutex_);
    --n_made_;
  }
  // drop(handle) of each; all have been returned.
  template <typename Drop>
  void Clear(Drop drop) {
    for (const Handle handle : free_) drop(handle);
    free_.clear();
    n_made_ = 0;
  }

 private:
  std::mutex mutex_;
  std::vector<Handle> free_;  // with room for all
  size_t n_made_ = 0;
};

}  // namespace ricci::cuda
#endif
