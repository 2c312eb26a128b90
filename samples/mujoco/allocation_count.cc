#include "allocation_count.h"

#include <mujoco/mujoco.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace engine {
namespace {

std::atomic<int64_t> count{0};

void* Take(size_t size, size_t align) {
  ++count;
  align = std::max(align, alignof(std::max_align_t));
  return std::aligned_alloc(align, (std::max<size_t>(size, 1) + align - 1) / align * align);
}
void* TakeOrThrow(size_t size, size_t align) {
  void* const p = Take(size, align);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

int64_t AllocationCount() { return count.load(); }

const ricci_context_opts& CountingOptions() {
  static const ricci_hooks hooks = [] {
    ricci_hooks h{};
    h.hdr.size = sizeof h;
    h.alloc = [](void*, size_t size, size_t align) { return Take(size, align); };
    h.free = [](void*, void* p, size_t, size_t) { std::free(p); };
    return h;
  }();
  static const ricci_context_opts opts = {{sizeof(ricci_context_opts), 0, nullptr}, &hooks};
  mju_user_malloc = [](size_t size) { return Take(size, 64); };
  mju_user_free = [](void* p) { std::free(p); };
  return opts;
}

}  // namespace engine

// All other forms of new and delete call these.
void* operator new(size_t size) { return engine::TakeOrThrow(size, 1); }
void* operator new(size_t size, std::align_val_t align) {
  return engine::TakeOrThrow(size, static_cast<size_t>(align));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
