// HostMemory: the host's allocator hooks; Vec<T>: a vector in that memory; Arena: small immutable pieces freed all at
// once.
//
// What lives long and may be large (programs, constants, kernels, arrays, working memory) is allocated here, so that an
// embedding host can see and limit it. Exhaustion is std::bad_alloc, which api/ turns into RESOURCE_EXHAUSTED.
#ifndef RICCI_BASE_ARENA_H_
#define RICCI_BASE_ARENA_H_
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <string_view>
#include <vector>

namespace ricci { inline namespace v0 { namespace base {

struct HostMemory {
  void* self;
  void* (*alloc)(void* self, size_t size, size_t align);
  void (*free)(void* self, void* p, size_t size, size_t align);

  void* Allocate(size_t size, size_t align) const {
    void* p = alloc(self, size, align);
    if (p == nullptr) throw std::bad_alloc();
    return p;
  }
  void Free(void* p, size_t size, size_t align) const { free(self, p, size, align); }
};

// Standard allocator over HostMemory; containers that use it keep a pointer to the hooks, which outlive them.
template <typename T>
class HostAllocator {
 public:
  using value_type = T;
  explicit HostAllocator(const HostMemory* memory) : memory_(memory) {}
  template <typename U>
  HostAllocator(const HostAllocator<U>& o) : memory_(o.memory()) {}
  T* allocate(size_t n) { return static_cast<T*>(memory_->Allocate(n * sizeof(T), alignof(T))); }
  void deallocate(T* p, size_t n) { memory_->Free(p, n * sizeof(T), alignof(T)); }
  const HostMemory* memory() const { return memory_; }
  bool operator==(const HostAllocator& o) const { return memory_ == o.memory_; }

 private:
  const HostMemory* memory_;
};

template <typename T>
using Vec = std::vector<T, HostAllocator<T>>;

class Arena {
 public:
  explicit Arena(const HostMemory* memory) : memory_(memory), blocks_(HostAllocator<Block>(memory)) {}
  Arena(const Arena&) = delete;
  Arena(Arena&& o) noexcept : memory_(o.memory_), blocks_(std::move(o.blocks_)), used_(o.used_), end_(o.end_) {
    o.blocks_.clear();
    o.used_ = o.end_ = nullptr;
  }
  ~Arena() {
    for (const Block& b : blocks_) memory_->Free(b.p, b.size, kAlign);
  }

  // Room for n objects of T, uninitialised; NULL for n = 0.
  template <typename T>
  T* Array(size_t n) {
    return n == 0 ? nullptr : static_cast<T*>(Allocate(n * sizeof(T), alignof(T)));
  }
  template <typename T>
  std::span<const T> Copy(std::span<const T> from) {
    T* to = Array<T>(from.size());
    if (!from.empty()) std::memcpy(static_cast<void*>(to), from.data(), from.size_bytes());
    return {to, from.size()};
  }
  std::string_view Copy(std::string_view text) {
    const auto copy = Copy(std::span<const char>(text.data(), text.size()));
    return {copy.data(), copy.size()};
  }

 private:
  struct Block {
    void* p;
    size_t size;
  };
  static constexpr size_t kAlign = 16, kLargestBlock = 64 << 10;

  void* Allocate(size_t size, size_t align) {
    auto aligned = reinterpret_cast<char*>((reinterpret_cast<size_t>(used_) + align - 1) & ~(align - 1));
    if (used_ == nullptr || aligned + size > end_) {
      // Both the list and the blocks grow by a factor, so that a program of any length takes linear time.
      if (blocks_.size() == blocks_.capacity()) blocks_.reserve(blocks_.capacity() * 2 + 1);
      const size_t bytes = std::max(size, next_block_);
      aligned = static_cast<char*>(memory_->Allocate(bytes, kAlign));
      blocks_.push_back({aligned, bytes});
      end_ = aligned + bytes;
      next_block_ = std::min(next_block_ * 2, kLargestBlock);
    }
    used_ = aligned + size;
    return aligned;
  }

  const HostMemory* memory_;
  Vec<Block> blocks_;
  char* used_ = nullptr;
  char* end_ = nullptr;
  size_t next_block_ = 512;
};

}}}  // namespace ricci::v0::base
#endif
