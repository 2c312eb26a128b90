// MemoryCount: how much memory of one device is in use, the most there was, and the limit that the host has set.
//
// The core counts what it asks for, whatever allocates it (a backend's pool, the host's hooks, the header of a small
// array), so a device needs nothing of its own to have figures and a limit. Any thread.
#ifndef RICCI_RUNTIME_MEMORY_COUNT_H_
#define RICCI_RUNTIME_MEMORY_COUNT_H_
#include <atomic>
#include <cstdint>

#include "ricci/device.h"

namespace ricci { inline namespace v0 { namespace runtime {

class MemoryCount {
 public:
  // Counts an allocation; false, and nothing is counted, if more than the limit would be in use then.
  bool Take(uint64_t bytes) {
    uint64_t before = in_use_.load(std::memory_order_relaxed);
    do {
      const uint64_t limit = limit_.load(std::memory_order_relaxed);
      if (limit != 0 && (before > limit || bytes > limit - before)) return false;
    } while (!in_use_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    return true;
  }
  // An allocation that was counted has been made.
  void Made(uint64_t bytes) {
    Raise(peak_, in_use());
    Raise(largest_, bytes);
    allocations_.fetch_add(1, std::memory_order_relaxed);
  }
  // One that was counted is gone, or was not made.
  void Give(uint64_t bytes) { in_use_.fetch_sub(bytes, std::memory_order_relaxed); }

  uint64_t in_use() const { return in_use_.load(std::memory_order_relaxed); }
  uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(uint64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  // All but bytes_reserved.
  ricci_memory_stats Stats() const {
    ricci_memory_stats s{};
    s.bytes_in_use = in_use();
    s.peak_bytes_in_use = peak_.load(std::memory_order_relaxed);
    s.bytes_limit = limit();
    s.largest_allocation = largest_.load(std::memory_order_relaxed);
    s.n_allocations = allocations_.load(std::memory_order_relaxed);
    return s;
  }

 private:
  static void Raise(std::atomic<uint64_t>& most, uint64_t to) {
    uint64_t before = most.load(std::memory_order_relaxed);
    while (before < to && !most.compare_exchange_weak(before, to, std::memory_order_relaxed)) {
    }
  }

  alignas(64) std::atomic<uint64_t> in_use_{0};  // not beside what runs read: allocating threads write it
  std::atomic<uint64_t> peak_{0}, limit_{0}, largest_{0}, allocations_{0};
};

}}}  // namespace ricci::v0::runtime
#endif
