// The parts of messages, and the site that a status carries.
#include "base/status.h"

#include <gtest/gtest.h>

#include "base/hash.h"

namespace ricci::base { namespace {

TEST(Status, TheInnermostSiteStays) {
  absl::Status s = WithSite(absl::InvalidArgumentError("bad"), {"dot_general", "type", "a.cc", 7});
  s = WithSite(std::move(s), {"call", "jvp", "b.cc", 9});
  const StatusSite site = SiteOf(s);
  EXPECT_EQ(site.primitive, "dot_general");
  EXPECT_EQ(site.rule, "type");
  EXPECT_EQ(site.file, "a.cc");
  EXPECT_EQ(site.line, 7u);
  EXPECT_EQ(s.message(), "bad");
}

TEST(Status, WhatTheInnermostDoesNotKnowIsFilledIn) {
  absl::Status s = WithSite(absl::InvalidArgumentError("bad"), {"sin", "", "", 0});
  s = WithSite(std::move(s), {"call", "jvp", "b.cc", 9});
  EXPECT_EQ(SiteOf(s).primitive, "sin");
  EXPECT_EQ(SiteOf(s).rule, "jvp");
  EXPECT_EQ(SiteOf(s).line, 9u);
  EXPECT_EQ(SiteOf(absl::InternalError("x")).line, 0u);
  EXPECT_TRUE(WithSite(absl::OkStatus(), {"sin", "jvp", "a.cc", 1}).ok());
}

TEST(Status, CountsAreSingularWhereThereIsOne) {
  EXPECT_EQ(Count(1, "operand"), "1 operand");
  EXPECT_EQ(Count(0, "operand"), "0 operands");
  EXPECT_EQ(Count(2, "axis", "axes"), "2 axes");
  EXPECT_EQ(Count(1, "axis", "axes"), "1 axis");
}

TEST(Status, ABrokenInvariantIsOurBugWithItsPlace) {
  EXPECT_TRUE(Invariant(true, "never said").ok());
  const absl::Status s = Invariant(false, "two masks differ");
  EXPECT_EQ(s.code(), absl::StatusCode::kInternal);
  EXPECT_NE(s.message().find("status_test.cc"), absl::string_view::npos);
  EXPECT_NE(s.message().find("two masks differ"), absl::string_view::npos);
}

absl::StatusOr<int> Half(int x) {
  if (x % 2 != 0) return InvalidArgument("half: ", x, " is odd");
  return x / 2;
}
absl::StatusOr<int> Quarter(int x) {
  RICCI_ASSIGN(int half, Half(x));
  RICCI_ASSIGN(int quarter, Half(half));
  return quarter;
}
TEST(Status, AssignPassesTheFirstFailureOn) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status().message(), "half: 3 is odd");
}

// Names of constants in program text and keys of caches: these numbers may never change.
TEST(Hash, IsTheSameForever) {
  EXPECT_EQ(Hasher().Done(), 10894497685933544493u);
  EXPECT_EQ(Hasher().Add(uint64_t{1}).Done(), 9014944735009981923u);
  EXPECT_EQ(Hasher().Add(std::string_view("program")).Done(), 346007751161036160u);
  EXPECT_NE(Hasher().Add(std::string_view("a")).Add(std::string_view("bc")).Done(),
            Hasher().Add(std::string_view("ab")).Add(std::string_view("c")).Done());
}

}  // namespace
}  // namespace ricci::base
