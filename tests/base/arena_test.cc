// Arena: alignment, sizes, what it takes from the host and gives back, and its state when the host refuses.
#include "base/arena.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ricci::base { namespace {

struct Host {
  HostMemory memory{this, Alloc, Free};
  size_t out = 0, calls = 0, limit = SIZE_MAX;

  static void* Alloc(void* self, size_t size, size_t align) {
    Host& h = *static_cast<Host*>(self);
    if (h.out + size > h.limit) return nullptr;
    h.out += size;
    ++h.calls;
    return ::operator new(size, std::align_val_t(align), std::nothrow);
  }
  static void Free(void* self, void* p, size_t size, size_t align) {
    static_cast<Host*>(self)->out -= size;
    ::operator delete(p, std::align_val_t(align));
  }
};

TEST(Arena, PiecesAreAlignedAndApart) {
  Host host;
  {
    Arena arena(&host.memory);
    for (int round = 0; round < 200; ++round) {
      char* c = arena.Array<char>(3);
      auto* d = arena.Array<double>(5);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(d) % alignof(double), 0u);
      std::memset(c, 1, 3);
      std::fill(d, d + 5, 2.0);
      EXPECT_EQ(c[2], 1);
    }
    EXPECT_EQ(arena.Array<int>(0), nullptr);
  }
  EXPECT_EQ(host.out, 0u);
}

TEST(Arena, LargePiecesFitAndCopiesHoldTheirBytes) {
  Host host;
  Arena arena(&host.memory);
  const std::vector<int> numbers(100000, 7);
  const auto copy = arena.Copy(std::span<const int>(numbers));
  EXPECT_TRUE(std::equal(copy.begin(), copy.end(), numbers.begin(), numbers.end()));
  EXPECT_EQ(arena.Copy(std::string_view("lane")), "lane");
  EXPECT_TRUE(arena.Copy(std::string_view()).empty());
}

TEST(Arena, AsksTheHostSeldom) {
  Host host;
  Arena arena(&host.memory);
  for (int i = 0; i < 1000000; ++i) arena.Array<uint32_t>(4);
  EXPECT_LT(host.calls, 400u);  // 16 MB
}

TEST(Arena, MovedFromIsEmptyAndUsable) {
  Host host;
  {
    Arena a(&host.memory);
    const std::string_view text = a.Copy(std::string_view("kept"));
    Arena b(std::move(a));
    EXPECT_EQ(text, "kept");
  }
  EXPECT_EQ(host.out, 0u);
}

TEST(Arena, ARefusalLeavesItUsable) {
  Host host;
  {
    Arena arena(&host.memory);
    const std::string_view text = arena.Copy(std::string_view("kept"));
    host.limit = host.out;
    EXPECT_THROW(arena.Array<char>(1 << 20), std::bad_alloc);
    EXPECT_EQ(text, "kept");
    host.limit = SIZE_MAX;
    EXPECT_NE(arena.Array<char>(1 << 20), nullptr);
  }
  EXPECT_EQ(host.out, 0u);
}

}  // namespace
}  // namespace ricci::base
