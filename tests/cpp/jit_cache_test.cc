// The cache of jit is bounded: which entries go, that their memory goes too, and calls from threads while they go.
#include <thread>

#include "binding_fixture.h"
#include "support/counting_host.h"

namespace ricci::testing { namespace {

// How often each kind of call was traced; a kind is a static number.
struct CountedTraces {
  explicit CountedTraces(Context ctx, size_t max_entries)
      : f(jit(Times{&traced}, {.device = ctx.device("ref"), .max_entries = max_entries})) {}
  struct Times {
    std::map<int, int>* traced;
    Value operator()(Value x, Static<int> n) const {
      ++(*traced)[n.value];
      return x * n.value;
    }
  };
  std::map<int, int> traced;
  Jit<Times> f;
};

using JitCacheTest = BindingTest;

TEST_F(JitCacheTest, HoldsNoMoreThanItsBound) {
  for (size_t bound : {1, 2, 3, 4, 7}) {
    CountedTraces c(ctx, bound);
    for (int n = 0; n < 20; ++n) {
      ExpectClose(c.f(Vec({1, 2}), Static<int>{n}), {1.0f * static_cast<float>(n), 2.0f * static_cast<float>(n)});
      EXPECT_EQ(c.f.cache_size(), std::min(bound, static_cast<size_t>(n) + 1));
    }
    for (const auto& [n, times] : c.traced) EXPECT_EQ(times, 1) << n;
  }
}

TEST_F(JitCacheTest, TheFirstHalfStaysAndTheLeastRecentlyUsedGoes) {
  CountedTraces c(ctx, 4);
  const auto call = [&](int n) { c.f(Vec({1}), Static<int>{n}); };
  for (int n : {1, 2, 3, 4, 3, 5, 3, 1, 2}) call(n);  // 5 takes the place of 4, which was used before 3
  EXPECT_EQ(c.traced, (std::map<int, int>{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}}));
  call(4);  // in the place of 5
  call(3);
  EXPECT_EQ(c.traced, (std::map<int, int>{{1, 1}, {2, 1}, {3, 1}, {4, 2}, {5, 1}}));
  for (int n = 6; n < 20; ++n) call(n);
  for (int n : {1, 2, 3}) call(n);
  EXPECT_EQ(c.traced[1], 1);
  EXPECT_EQ(c.traced[2], 1);
  EXPECT_EQ(c.traced[3], 2);
}

TEST_F(JitCacheTest, ManyKindsAreFoundAgain) {
  CountedTraces c(ctx, 300);
  for (int round = 0; round < 2; ++round) {
    for (int n = 0; n < 300; ++n) c.f(Vec({1}), Static<int>{n});
  }
  EXPECT_EQ(c.f.cache_size(), 300u);
  for (const auto& [n, times] : c.traced) EXPECT_EQ(times, 1) << n;
}

// Every entry keeps an array of 64 KiB, which its function captured, and the memory that its runs need.
TEST(JitCacheMemory, GoesWithTheEntry) {
  constexpr int64_t kBytes = 65536;
  CountingHost host;
  ricci_ctx* handle = nullptr;
  Check(host.CreateContext(&handle));
  const Context ctx(handle);
  ricci_context_release(handle);
  Context(ctx).add_plugin(ricci_plugin_query_lax);
  const auto f =
      jit([&](Value x, Static<int> n) { return sum(x * n.value + Array(ctx, Floats(kBytes / sizeof(float), 1))); },
          {.max_entries = 6});
  const Array x(ctx, 1.0f);
  for (int n = 0; n < 150; ++n) f(x, Static<int>{n});  // the context keeps code too, of 128 programs
  const int64_t full = host.bytes;
  EXPECT_GT(full, 6 * kBytes);
  for (int n = 150; n < 300; ++n) f(x, Static<int>{n});
  EXPECT_LT(host.bytes, full + kBytes);
}

TEST_F(JitCacheTest, TakesOneEntryAtLeast) {
  EXPECT_ERROR_HERE(jit([](Value x) { return x; }, {.max_entries = 0}), "jit: max_entries is 0; it must be at least 1");
}

TEST_F(JitCacheTest, WhatWasLoweredOutlivesItsEntry) {
  CountedTraces c(ctx, 1);
  const Lowered first = c.f.lower(Vec({1}), Static<int>{1});
  const std::string text = first.text();
  for (int n = 2; n < 5; ++n) c.f(Vec({1}), Static<int>{n});
  EXPECT_EQ(first.text(), text);
}

TEST_F(JitCacheTest, ThreadsCallWhileEntriesGo) {
  // Captured by every entry, so that one freed too early shows.
  const Array captured = Vec({1, 2, 3});
  const auto f = jit([captured](Value x, Static<int> n) { return std::pair(x * n.value + captured, x); },
                     {.device = ctx.device("ref"), .max_entries = 4});
  const Array x = Vec({1, 1, 1});
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 200; ++i) {
        const int n = static_cast<int>((i * (2 * t + 1) / 3 + t) % 9);
        const auto [y, same] = f(x, Static<int>{n});
        const float k = static_cast<float>(n);
        ExpectClose(y, {k + 1, k + 2, k + 3});
        ExpectClose(same, {1, 1, 1});
        EXPECT_LE(f.cache_size(), 4u);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}

}  // namespace
}  // namespace ricci::testing
