// CountingHost: a host whose allocator counts live blocks and fails where a test wants.
//
// The switch that makes it fail is a class of its own, so that a test binary can use one for its `operator new` too.
#ifndef RICCI_TESTS_SUPPORT_COUNTING_HOST_H_
#define RICCI_TESTS_SUPPORT_COUNTING_HOST_H_
#include <atomic>
#include <cstdlib>
#include <mutex>

#include "support/program_runner.h"

namespace ricci::testing {

// Which allocations fail: the one that brings `left` to 0, and all later ones if `forever`.
struct FailureSwitch {
  std::atomic<int64_t> left{-1};  // -1: none fails
  std::atomic<bool> forever{false};

  bool Fails() {
    if (left.load(std::memory_order_relaxed) < 0) return false;
    const int64_t now = left.fetch_sub(1);
    if (now > 0) return false;
    if (forever) left = 0;
    return true;
  }
  void FailAt(int64_t k, bool ever) {
    forever = ever;
    left = k;
  }
  // Whether the failure happened; no allocation fails from here on.
  bool Disarm() {
    const bool came = forever ? left.exchange(-1) == 0 : left.exchange(-1) < 0;
    forever = false;
    return came;
  }
};

class CountingHost {
 public:
  CountingHost() {
    hooks_.hdr.size = sizeof hooks_;
    hooks_.alloc_self = this;
    hooks_.alloc = [](void* self, size_t size, size_t align) {
      return static_cast<CountingHost*>(self)->Alloc(size, align);
    };
    hooks_.free = [](void* self, void* p, size_t size, size_t) { static_cast<CountingHost*>(self)->Free(p, size); };
    hooks_.log_self = this;
    hooks_.log = [](void* self, uint32_t, const char* msg, size_t len) {
      auto& host = *static_cast<CountingHost*>(self);
      std::lock_guard lock(host.log_mutex_);
      host.log.append(msg, len).append("\n");
    };
  }
  ~CountingHost() {
    EXPECT_EQ(blocks.load(), 0) << "blocks not freed";
    EXPECT_EQ(bytes.load(), 0) << "bytes not freed";
  }

  ricci_status* CreateContext(ricci_ctx** out) {
    ricci_context_opts o{};
    o.hdr.size = sizeof o;
    o.hooks = &hooks_;
    return ricci_context_create(&o, out);
  }

  std::atomic<int64_t> blocks{0}, bytes{0}, allocations{0};
  FailureSwitch failure;
  std::string log;

 private:
  void* Alloc(size_t size, size_t align) {
    if (failure.Fails()) return nullptr;
    align = std::max(align, alignof(std::max_align_t));
    void* p = std::aligned_alloc(align, (size + align - 1) / align * align);
    if (p == nullptr) return nullptr;
    ++blocks;
    ++allocations;
    bytes += static_cast<int64_t>(size);
    return p;
  }
  void Free(void* p, size_t size) {
    --blocks;
    bytes -= static_cast<int64_t>(size);
    std::free(p);
  }

  std::mutex log_mutex_;  // of `log`, to which any thread may write
  ricci_hooks hooks_{};
};

}  // namespace ricci::testing
#endif
