// The `doc` of a row: names and a line.
#include "prim/doc.h"

#include <gtest/gtest.h>

namespace ricci { inline namespace v0 { namespace prim { namespace {

TEST(Doc, NamesAndSummary) {
  const auto doc = ParseDoc("v.op", "y, i = v.op(x, rest...): the sum (of x): and more");
  ASSERT_TRUE(doc.ok()) << doc.status();
  EXPECT_EQ(doc->summary, "the sum (of x): and more");
  EXPECT_EQ(doc->results.names, 2u);
  EXPECT_FALSE(doc->results.open);
  EXPECT_EQ(doc->operands.names, 2u);
  EXPECT_TRUE(doc->operands.open);
  EXPECT_FALSE(doc->operands.Takes(0));
  EXPECT_TRUE(doc->operands.Takes(1));
  EXPECT_TRUE(doc->operands.Takes(7));
  EXPECT_FALSE(doc->results.Takes(3));
  EXPECT_EQ(Describe(doc->operands, "operand"), "at least 1 operand (x, rest...)");
  EXPECT_EQ(Describe(doc->results, "result"), "2 results (y, i)");
}

TEST(Doc, NoOperandsAndNoText) {
  const auto none = ParseDoc("iota", "y = iota(): numbers");
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_TRUE(none->operands.Takes(0));
  EXPECT_EQ(Describe(none->operands, "operand"), "0 operands");
  EXPECT_TRUE(ParseDoc("iota", "")->summary.empty());
  const auto effect = ParseDoc("v.print", "v.print(x): shows x");
  ASSERT_TRUE(effect.ok()) << effect.status();
  EXPECT_EQ(Describe(effect->results, "result"), "0 results");
}

TEST(Doc, WhatIsWrongIsAnError) {
  for (const char* text :
       {"op", "y = op(x)", "y = op(x): ", "y = other(x): z", "y = op(x,z): z", "y = op(x..., z): z", "1 = op(x): z",
        "y = op(x, ): z", "y = op(x: z", "yop(x): z", " = op(x): z", "y = op(x): z\nz"}) {
    const auto doc = ParseDoc("op", text);
    ASSERT_FALSE(doc.ok()) << text;
    EXPECT_EQ(doc.status().message(),
              "op: doc is `" + std::string(text) + "`; it must be one line like `z = op(x, y): what it computes`");
  }
}

}  // namespace
}}}  // namespace ricci::v0::prim
