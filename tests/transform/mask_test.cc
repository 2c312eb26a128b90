// Masks: counting, choosing and giving back by flags.
#include "transform/mask.h"

#include <gtest/gtest.h>

namespace ricci::testing { namespace {

using trace::kNone;
using trace::kZero;
using transform::Mask;

TEST(Mask, CountsAndNegatesWhatIsNotZero) {
  const Mask mask = {0, 1, 7, 0};  // any value but 0 is a flag
  EXPECT_EQ(transform::Count(mask), 2u);
  EXPECT_EQ(transform::Not(mask), (Mask{1, 0, 0, 1}));
  EXPECT_EQ(transform::Not(transform::Not(mask)), (Mask{0, 1, 1, 0}));
  EXPECT_EQ(transform::Count(Mask{}), 0u);
  EXPECT_EQ(transform::Not(Mask{}), Mask{});
}

TEST(Mask, NonZeroIsWhatIsNotTheSymbolicZero) {
  const trace::Vals vals = {kZero, 3, kNone, kZero};
  EXPECT_EQ(transform::NonZero(vals), (Mask{0, 1, 1, 0}));
}

TEST(Mask, MergeAddsFlagsAndSaysWhetherAnyIsNew) {
  Mask flags = {1, 0, 0};
  EXPECT_FALSE(transform::Merge(flags, Mask{0, 0, 0}));
  EXPECT_FALSE(transform::Merge(flags, Mask{1, 0, 0}));
  EXPECT_EQ(flags, (Mask{1, 0, 0}));
  EXPECT_TRUE(transform::Merge(flags, Mask{0, 0, 1}));
  EXPECT_EQ(flags, (Mask{1, 0, 1})) << "none is taken away";
  EXPECT_FALSE(transform::Merge(flags, Mask{0, 0, 1})) << "a fixpoint ends";
}

TEST(Mask, WhereChoosesInOrder) {
  const std::vector<std::string> words = {"a", "b", "c", "d"};
  EXPECT_EQ(transform::Where(std::span<const std::string>(words), Mask{0, 1, 0, 1}),
            (std::vector<std::string>{"b", "d"}));
  const trace::Vals vals = {10, 11, 12};
  EXPECT_EQ(transform::Where(vals, Mask{1, 0, 1}), (trace::Vals{10, 12}));
  EXPECT_EQ(transform::Where(vals, Mask{0, 0, 0}), trace::Vals{});
}

TEST(Mask, ScatterIsTheInverseAndLeavesTheRest) {
  const Mask mask = {0, 1, 0, 1};
  const trace::Vals vals = {10, 11, 12, 13};
  trace::Vals to = {kZero, kZero, kZero, kZero};
  transform::Scatter(mask, transform::Where(vals, mask), to.data());
  EXPECT_EQ(to, (trace::Vals{kZero, 11, kZero, 13}));
  transform::Scatter(transform::Not(mask), transform::Where(vals, transform::Not(mask)), to.data());
  EXPECT_EQ(to, vals);
}

TEST(Mask, ScatterTakesNoMoreThanItsFlags) {
  const std::vector<int> from = {1, 2, 3};
  std::vector<int> to = {0, 0, 0};
  transform::Scatter(Mask{0, 0, 1}, std::span<const int>(from), to.data());
  EXPECT_EQ(to, (std::vector<int>{0, 0, 1}));
}

}  // namespace
}  // namespace ricci::testing
