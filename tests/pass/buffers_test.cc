// Places in the arena: buffers that live at the same time do not overlap, and little is wasted.
#include <gtest/gtest.h>

#include <random>

#include "pass/plan/lower_plan.h"

namespace ricci::testing { namespace {

struct Random {
  explicit Random(uint32_t n_buffers, uint32_t seed) : rng(seed) {
    for (uint32_t b = 0; b < n_buffers; ++b) {
      const uint64_t bytes = b % 7 == 0 ? 0 : 1 + rng() % (b % 5 == 0 ? 100000 : 300);
      out.plan.buffers.push_back({RICCI_BUFFER_ARENA, 0, bytes, 0, nullptr});
    }
    // Buffer s is written by step s and read by later ones, most of them soon.
    first.assign(n_buffers, 0), last.assign(n_buffers, 0);
    for (uint32_t s = 0; s < n_buffers; ++s) {
      first[s] = last[s] = s;
      std::vector<uint32_t> args{s};
      for (int k = 0; k < 3 && s > 0; ++k) {
        const auto back = static_cast<uint32_t>(rng() % (rng() % 10 == 0 ? s : std::min(s, 20u)) + 1);
        args.push_back(s - std::min(s, back));
        last[args.back()] = s;
      }
      out.plan.Step(RICCI_STEP_KERNEL, 0, args);
    }
  }
  static uint64_t Size(const ricci_plan_buffer& b) { return (std::max<uint64_t>(b.bytes, 1) + 63) / 64 * 64; }
  uint64_t MostAtOnce() const {
    uint64_t most = 0;
    for (uint32_t s = 0; s < first.size(); ++s) {
      uint64_t now = 0;
      for (uint32_t b = 0; b < first.size(); ++b) now += first[b] <= s && s <= last[b] ? Size(out.plan.buffers[b]) : 0;
      most = std::max(most, now);
    }
    return most;
  }

  std::mt19937 rng;
  pass::Lowered out;
  std::vector<uint32_t> first, last;
};

void ExpectPlaced(uint32_t n_buffers, uint32_t seed) {
  Random r(n_buffers, seed);
  ASSERT_EQ(pass::PlanBuffers(pass::Options(), r.out), absl::OkStatus());
  const auto& buffers = r.out.plan.buffers;
  for (uint32_t a = 0; a < n_buffers; ++a) {
    ASSERT_EQ(buffers[a].offset % 64, 0u);
    ASSERT_LE(buffers[a].offset + buffers[a].bytes, r.out.plan.arena_bytes);
    for (uint32_t b = 0; b < a; ++b) {
      const bool meet = r.first[a] <= r.last[b] && r.first[b] <= r.last[a];
      const bool overlap = buffers[a].offset < buffers[b].offset + buffers[b].bytes &&
                           buffers[b].offset < buffers[a].offset + buffers[a].bytes;
      ASSERT_FALSE(meet && overlap) << "buffers " << a << " and " << b << ", seed " << seed;
    }
  }
  // No order of placement always reaches the lower bound; random lifetimes are harder than those of programs.
  EXPECT_LE(static_cast<double>(r.out.plan.arena_bytes), 1.4 * static_cast<double>(r.MostAtOnce())) << seed;
}

TEST(Buffers, FewArePlacedBySize) {
  for (uint32_t seed = 0; seed < 50; ++seed) ExpectPlaced(1 + seed * 3, seed);
}

TEST(Buffers, VeryManyArePlacedByTimeToo) {
  for (uint32_t seed = 0; seed < 3; ++seed) ExpectPlaced(4000, seed);
}

// ---- loops: what a trip makes, and nothing outside of the loop accesses, lives in that trip only ----
class Trips {
 public:
  Trips() { out.plan.Step(RICCI_STEP_WHILE, 0, std::vector<uint32_t>{Buffer(1)}); }

  uint32_t Buffer(uint64_t bytes) {
    out.plan.buffers.push_back({RICCI_BUFFER_ARENA, 0, bytes, 0, nullptr});
    return static_cast<uint32_t>(out.plan.buffers.size() - 1);
  }
  void Kernel(const std::vector<uint32_t>& args) { out.plan.Step(RICCI_STEP_KERNEL, 0, args); }
  // Each is made from the one before it.
  void Chain(uint32_t from, int n) {
    for (int i = 0; i < n; ++i) {
      const uint32_t to = Buffer(1024);
      Kernel({from, to});
      from = to;
    }
  }
  uint64_t Placed() {
    EXPECT_EQ(pass::PlanBuffers(pass::Options(), out), absl::OkStatus());
    return out.plan.arena_bytes;
  }

  pass::Lowered out;
};
TEST(Buffers, OfATripAreReused) {
  Trips t;
  t.Kernel({0});
  t.out.plan.Step(RICCI_STEP_COND, 0, std::vector<uint32_t>{});
  t.Chain(t.Buffer(1024), 20);
  t.out.plan.Step(RICCI_STEP_END, 0, std::vector<uint32_t>{});
  EXPECT_EQ(t.Placed(), 2 * 1024u);
}
TEST(Buffers, OfInnerLoopsAreReused) {
  Trips t;
  t.Kernel({0});
  t.out.plan.Step(RICCI_STEP_COND, 0, std::vector<uint32_t>{});
  const uint32_t outer = t.Buffer(1024);
  t.Kernel({outer});
  t.out.plan.Step(RICCI_STEP_WHILE, 0, std::vector<uint32_t>{t.Buffer(1)});
  t.Kernel({static_cast<uint32_t>(t.out.plan.buffers.size() - 1)});
  t.out.plan.Step(RICCI_STEP_COND, 0, std::vector<uint32_t>{});
  t.Chain(outer, 20);
  t.out.plan.Step(RICCI_STEP_END, 0, std::vector<uint32_t>{});
  t.Kernel({t.Buffer(512)});
  t.out.plan.Step(RICCI_STEP_END, 0, std::vector<uint32_t>{});
  EXPECT_EQ(t.Placed(), 3 * 1024u);  // what the inner loop reads in each of its trips lives in all of them
}
TEST(Buffers, ThatGoFromTripToTripLiveInAll) {
  Trips t;
  const uint32_t carry = t.Buffer(1024);
  t.Kernel({0});
  t.out.plan.Step(RICCI_STEP_COND, 0, std::vector<uint32_t>{});
  t.Chain(carry, 20);
  t.out.plan.Step(RICCI_STEP_END, 0, std::vector<uint32_t>{});
  t.Kernel({carry});
  EXPECT_EQ(t.Placed(), 3 * 1024u);
}

}  // namespace
}  // namespace ricci::testing
