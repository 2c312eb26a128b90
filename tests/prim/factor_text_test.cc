// Parsing of factor texts into numbers, and the messages for wrong ones.
#include "prim/factor_text.h"

#include <gtest/gtest.h>

namespace ricci { inline namespace v0 { namespace prim { namespace {

using Dims = std::vector<int64_t>;
using ir::FactorKind;

absl::StatusOr<ir::Factors> Read(std::string_view text, const std::vector<Dims>& in, const std::vector<Dims>& out) {
  const std::vector<std::span<const int64_t>> from(in.begin(), in.end()), to(out.begin(), out.end());
  return ReadFactors(text, from, to);
}

// Kinds and sizes, as `parallel 2, sum 3`.
std::string Listed(const ir::Factors& f) {
  std::string out;
  for (const ir::Factor& one : f.factors) {
    const std::string_view kind = one.kind == FactorKind::kParallel ? "parallel" : NameOf(one.kind);
    out += base::Cat(out.empty() ? "" : ", ", kind, " ", one.size);
  }
  return out;
}

TEST(FactorText, Product) {
  const auto f = Read("m k, k n -> m n; sum k", {{2, 3}, {3, 5}}, {{2, 5}});
  ASSERT_TRUE(f.ok()) << f.status();
  EXPECT_TRUE(f->wrong.ok());
  EXPECT_EQ(f->in, (ir::FactorLists{{0, 1}, {1, 2}}));
  EXPECT_EQ(f->out, (ir::FactorLists{{0, 2}}));
  EXPECT_EQ(Listed(*f), "parallel 2, sum 3, parallel 5");
  EXPECT_EQ(f->About(1), "`m k, k n -> m n; sum k`: factor k");
}

TEST(FactorText, ScalarsAndNoOperands) {
  const auto scalars = Read(", a -> a,", {{}, {4}}, {{4}, {}});
  ASSERT_TRUE(scalars.ok()) << scalars.status();
  EXPECT_EQ(scalars->in, (ir::FactorLists{{}, {0}}));
  EXPECT_EQ(scalars->out, (ir::FactorLists{{0}, {}}));
  const auto made = Read("-> a b; indexed b", {}, {{7, 0}});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->in, ir::FactorLists{});
  EXPECT_EQ(Listed(*made), "parallel 7, indexed 0");
}

TEST(FactorText, EveryKind) {
  const auto f = Read(
      "a b c d e f g h i j k l -> a i j k l;sum b;prod c;max d;min e;and f;or g;xor h;whole i;seq j;"
      "window k;indexed l",
      {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}, {{1, 9, 10, 11, 12}});
  ASSERT_TRUE(f.ok()) << f.status();
  EXPECT_EQ(Listed(*f),
            "parallel 1, sum 2, prod 3, max 4, min 5, and 6, or 7, xor 8, whole 9, seq 10, window 11, indexed 12");
  for (const ir::Factor& one : f->factors) {
    EXPECT_EQ(IsReduced(one.kind), one.size >= 2 && one.size <= 8) << one.size;
    EXPECT_EQ(IsIndependent(one.kind), one.size == 1 || one.size == 12) << one.size;
  }
}

TEST(FactorText, OneKindNamesSeveral) {
  const auto f = Read("a bb c0 -> a; whole bb c0", {{1, 2, 3}}, {{1}});
  ASSERT_TRUE(f.ok()) << f.status();
  EXPECT_EQ(Listed(*f), "parallel 1, whole 2, whole 3");
}

class FactorTextError : public ::testing::Test {
 protected:
  // The message for a text, for an operation from one matrix to another.
  static std::string Of(std::string_view text, const Dims& from = {3, 7}, const Dims& to = {3, 7}) {
    const absl::Status s = Read(text, {from}, {to}).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition) << text;
    const std::string front = base::Cat("`", text, "`: "), message(s.message());
    EXPECT_TRUE(message.starts_with(front)) << message;
    return message.substr(front.size());
  }
};

TEST_F(FactorTextError, Lists) {
  EXPECT_EQ(Of("a b"), "it has no `->`");
  EXPECT_EQ(Of("a b; sum a -> b"), "it has no `->`");
  EXPECT_EQ(Of("a b -> a b -> a"), "it has more than one `->`");
  EXPECT_EQ(Of("a b, c -> a b"), "2 lists for 1 operand");
  EXPECT_EQ(Of("a b -> a b, a, b"), "3 lists for 1 result");
}
TEST_F(FactorTextError, Kinds) {
  EXPECT_EQ(Of("a b -> a b; sum"), "a kind names at least one factor");
  EXPECT_EQ(Of("a b -> a b;; sum b"), "a kind names at least one factor");
  EXPECT_EQ(Of("a b -> a b; mean b"), "mean is not a kind of factor");
  EXPECT_EQ(Of("a b -> a b; parallel b"), "parallel is not a kind of factor");
  EXPECT_EQ(Of("a b -> a b; whole c"), "whole of c, which is not a factor");
  EXPECT_EQ(Of("a b -> a b; whole b; seq b"), "factor b is whole and seq");
}
TEST_F(FactorTextError, Results) {
  EXPECT_EQ(Of("a -> a a"), "factor a is twice in result 0");
  EXPECT_EQ(Of("a b -> a b; sum b"), "factor b is in a result, so it is not combined by sum");
  EXPECT_EQ(Of("a b -> a"), "factor b is in no result, so it needs a kind, such as `sum b` or `whole b`");
}
TEST_F(FactorTextError, Sizes) {
  EXPECT_EQ(Of("a -> a b"), "1 factor for operand 0 of rank 2");
  EXPECT_EQ(Of("a b -> a b c"), "3 factors for result 0 of rank 2");
  EXPECT_EQ(Of("a b -> b a"), "factor b is 7, and 3 in result 0");
  EXPECT_EQ(Of("a a -> a", {3, 4}, {3}), "factor a is 3, and 4 in operand 0");
  EXPECT_EQ(Of("a -> a", {0}, {5}), "factor a is 0, and 5 in result 0");
}

}  // namespace
}}}  // namespace ricci::v0::prim
