// `operator new` of this test binary, which fails where a test wants and counts what lives.
#include "failing_new.h"

#include <cstddef>
#include <cstdlib>
#include <new>

ricci::testing::FailureSwitch ricci::testing::g_new_failure;
std::atomic<int64_t> ricci::testing::g_new_blocks{0};

namespace {

using ricci::testing::g_new_blocks;
using ricci::testing::g_new_failure;

void* AllocateOrThrow(size_t size, size_t align) {
  if (g_new_failure.Fails()) throw std::bad_alloc();
  void* p = align > alignof(std::max_align_t) ? std::aligned_alloc(align, (size + align - 1) / align * align)
                                              : std::malloc(size == 0 ? 1 : size);
  if (p == nullptr) throw std::bad_alloc();
  g_new_blocks.fetch_add(1, std::memory_order_relaxed);
  return p;
}
// std::stable_sort allocates this way, and manages without the memory.
void* AllocateOrNull(size_t size) noexcept {
  try {
    return AllocateOrThrow(size, 0);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void Free(void* p) {
  if (p != nullptr) g_new_blocks.fetch_sub(1, std::memory_order_relaxed);
  std::free(p);
}

}  // namespace

void* operator new(size_t size) { return AllocateOrThrow(size, 0); }
void* operator new[](size_t size) { return AllocateOrThrow(size, 0); }
void* operator new(size_t size, std::align_val_t a) { return AllocateOrThrow(size, static_cast<size_t>(a)); }
void* operator new[](size_t size, std::align_val_t a) { return AllocateOrThrow(size, static_cast<size_t>(a)); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return AllocateOrNull(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return AllocateOrNull(size); }
void operator delete(void* p, const std::nothrow_t&) noexcept { Free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { Free(p); }
void operator delete(void* p) noexcept { Free(p); }
void operator delete[](void* p) noexcept { Free(p); }
void operator delete(void* p, size_t) noexcept { Free(p); }
void operator delete[](void* p, size_t) noexcept { Free(p); }
void operator delete(void* p, std::align_val_t) noexcept { Free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { Free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { Free(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { Free(p); }
