// Loops and branches of a list of steps: by hand, random ones against how they were made, and malformed lists.
#include "kernel/matched_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>

namespace ricci::kernel { namespace {

using Steps = std::vector<ricci_plan_step>;

// k is a kernel; [ : ] a WHILE with its predicate and body, { , } a CASE with its branches: both close with END.
Steps StepsOf(std::string_view text) {
  static const std::map<char, uint32_t> kinds = {
      {'k', RICCI_STEP_KERNEL}, {'[', RICCI_STEP_WHILE}, {':', RICCI_STEP_COND}, {']', RICCI_STEP_END},
      {'{', RICCI_STEP_CASE},   {',', RICCI_STEP_NEXT},  {'}', RICCI_STEP_END}};
  Steps steps;
  for (const char c : text) steps.push_back({kinds.at(c), 0, 0, 0, 0});
  return steps;
}

std::string Number(uint32_t s) { return s == kNoStep ? "-" : std::to_string(s); }

// `around/next/end` of each step.
std::string Text(std::string_view steps) {
  const Steps all = StepsOf(steps);
  const MatchedBlocks blocks(all);
  std::string text;
  for (uint32_t s = 0; s < all.size(); ++s) {
    const ricci_step_block& b = blocks[s];
    text += (s == 0 ? "" : " ") + Number(b.around) + "/" + Number(b.next) + "/" + Number(b.end);
  }
  return text;
}

TEST(MatchedBlocks, ByHand) {
  EXPECT_EQ(Text(""), "");
  EXPECT_EQ(Text("kk"), "-/-/0 -/-/1");
  EXPECT_EQ(Text("[k:k]k"), "-/2/4 0/-/1 0/4/4 0/-/3 0/-/4 -/-/5");
  EXPECT_EQ(Text("{}"), "-/1/1 0/-/1");
  EXPECT_EQ(Text("k{k,,k}"), "-/-/0 -/3/6 1/-/2 1/4/6 1/6/6 1/-/5 1/-/6");
  EXPECT_EQ(Text("[:{[:],}]"), "-/1/8 0/8/8 0/6/7 2/4/5 3/5/5 3/-/5 2/7/7 2/-/7 0/-/8");
}

// ---- random plans ----
// A random plan, with what each step must be told.
class RandomPlan {
 public:
  explicit RandomPlan(uint64_t seed) : random_(seed) { List(kNoStep, 0); }

  Steps steps;
  std::vector<ricci_step_block> blocks;
  std::vector<StepInterval> lists;  // from the step before a list to the one after it, for those with one before

 private:
  uint32_t Draw(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  uint32_t Add(uint32_t kind, uint32_t around) {
    const auto s = static_cast<uint32_t>(steps.size());
    steps.push_back({kind, 0, 0, 0, 0});
    blocks.push_back({around, kNoStep, s});
    return s;
  }
  void List(uint32_t around, int depth) {
    for (uint32_t n = Draw(depth == 0 ? 6 : 4); n > 0; --n) {
      const uint32_t kind = depth < 5 ? Draw(3) : 0;
      if (kind == 0) Add(RICCI_STEP_KERNEL, around);
      if (kind == 1) Block(RICCI_STEP_WHILE, RICCI_STEP_COND, 2, around, depth);
      if (kind == 2) Block(RICCI_STEP_CASE, RICCI_STEP_NEXT, 1 + Draw(3), around, depth);
    }
  }
  void Block(uint32_t opens, uint32_t divides, uint32_t n_lists, uint32_t around, int depth) {
    std::vector<uint32_t> heads = {Add(opens, around)};
    while (true) {
      List(heads[0], depth + 1);
      const bool is_last = heads.size() == n_lists;
      const uint32_t s = Add(is_last ? uint32_t{RICCI_STEP_END} : divides, heads[0]);
      blocks[heads.back()].next = s;
      lists.push_back({heads.back(), s});
      if (!is_last) {
        heads.push_back(s);
        continue;
      }
      for (const uint32_t head : heads) blocks[head].end = s;
      return;
    }
  }

  std::mt19937_64 random_;
};

bool Same(const ricci_step_block& a, const ricci_step_block& b) {
  return a.around == b.around && a.next == b.next && a.end == b.end;
}

TEST(MatchedBlocks, OfRandomPlans) {
  size_t nested = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const RandomPlan plan(seed);
    const MatchedBlocks blocks(plan.steps);
    for (uint32_t s = 0; s < plan.steps.size(); ++s) {
      ASSERT_TRUE(Same(blocks[s], plan.blocks[s])) << "seed " << seed << ", step " << s;
      ASSERT_EQ(blocks.Outermost(s), plan.blocks[s].around == kNoStep);
      nested += plan.steps[s].kind == RICCI_STEP_WHILE && !blocks.Outermost(s);
    }
  }
  EXPECT_GT(nested, 1000u);
}

// So a backend may ask about a body, and a pass may move it.
TEST(MatchedBlocks, AListWithinIsAPlanByItself) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const RandomPlan plan(seed);
    for (const auto& [before, after] : plan.lists) {
      const uint32_t first = before + 1;
      const MatchedBlocks blocks(std::span(plan.steps).subspan(first, after - first));
      const auto moved = [=](uint32_t s) { return s == kNoStep || s < first ? kNoStep : s - first; };
      for (uint32_t s = first; s < after; ++s) {
        const ricci_step_block& was = plan.blocks[s];
        ASSERT_TRUE(Same(blocks[s - first], {moved(was.around), moved(was.next), moved(was.end)}))
            << "seed " << seed << ", step " << s;
      }
    }
  }
}

// By the definition: a loop that holds one end, but not the other, counts as a whole.
StepInterval Widened(const RandomPlan& plan, StepInterval steps) {
  while (true) {
    const StepInterval before = steps;
    for (uint32_t s = 0; s < plan.steps.size(); ++s) {
      if (plan.steps[s].kind != RICCI_STEP_WHILE) continue;
      const uint32_t end = plan.blocks[s].end;
      const bool first = s <= steps.first && steps.first <= end, last = s <= steps.last && steps.last <= end;
      if (first == last) continue;
      (first ? steps.first : steps.last) = first ? s : end;
    }
    if (steps.first == before.first && steps.last == before.last) return steps;
  }
}

TEST(MatchedBlocks, OverLoops) {
  size_t wider = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const RandomPlan plan(seed);
    const MatchedBlocks blocks(plan.steps);
    const auto n = static_cast<uint32_t>(std::min<size_t>(plan.steps.size(), 60));
    for (uint32_t first = 0; first < n; ++first) {
      for (uint32_t last = first; last < n; ++last) {
        const StepInterval want = Widened(plan, {first, last}), got = blocks.OverLoops({first, last});
        ASSERT_EQ(std::pair(got.first, got.last), std::pair(want.first, want.last))
            << "seed " << seed << ", steps " << first << " to " << last;
        wider += want.first != first || want.last != last;
      }
    }
  }
  EXPECT_GT(wider, 1000u);
}

// ---- malformed lists ----
// The walk ends for any kinds, and the numbers are those of steps.
TEST(MatchedBlocks, OfAnyKindsAreNumbersOfSteps) {
  constexpr uint32_t kKinds[] = {
      RICCI_STEP_KERNEL, RICCI_STEP_WHILE, RICCI_STEP_COND, RICCI_STEP_CASE, RICCI_STEP_NEXT, RICCI_STEP_END, 77};
  constexpr uint32_t kMost = 6;
  for (uint32_t n = 0; n <= kMost; ++n) {
    uint32_t count = 1;
    for (uint32_t i = 0; i < n; ++i) count *= std::size(kKinds);
    for (uint32_t number = 0; number < count; ++number) {
      Steps steps;
      steps.reserve(n);
      for (uint32_t i = 0, rest = number; i < n; ++i, rest /= std::size(kKinds)) {
        steps.push_back({kKinds[rest % std::size(kKinds)], 0, 0, 0, 0});
      }
      const MatchedBlocks blocks(steps);
      for (uint32_t s = 0; s < n; ++s) {
        ASSERT_TRUE(blocks[s].around == kNoStep || blocks[s].around < s) << number;
        ASSERT_TRUE(blocks[s].next == kNoStep || (s < blocks[s].next && blocks[s].next < n)) << number;
        ASSERT_TRUE(s <= blocks[s].end && blocks[s].end < n) << number;
      }
    }
  }
}

}}  // namespace ricci::kernel
