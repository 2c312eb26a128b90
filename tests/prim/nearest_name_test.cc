// What misspelt names may have been meant for.
#include "prim/nearest_name.h"

#include <gtest/gtest.h>

#include <string>

namespace ricci { inline namespace v0 { namespace prim { namespace {

constexpr std::string_view kKnown[] = {"sinh",       "sin",         "atan2",     "sub",      "reduce_sum",
                                       "cumsum",     "dot_general", "transpose", "select_n", "select_and_scatter_add",
                                       "concatenate"};

TEST(NearestName, WordsThenLettersThenBeginnings) {
  const std::pair<std::string_view, std::string_view> cases[] = {{"sine", "sin"},
                                                                 {"Sin", "sin"},
                                                                 {"sihn", "sin"},
                                                                 {"sinhh", "sinh"},
                                                                 {"arctan2", "atan2"},
                                                                 {"sum", "reduce_sum"},
                                                                 {"dot", "dot_general"},
                                                                 {"Transpoze", "transpose"},
                                                                 {"select", "select_n"},
                                                                 {"concat", "concatenate"},
                                                                 {"co", ""},
                                                                 {"frobnicate", ""},
                                                                 {"", ""},
                                                                 {"s", ""},
                                                                 {"_", ""}};
  for (const auto& [name, nearest] : cases) EXPECT_EQ(NearestName(name, kKnown), nearest) << name;
  EXPECT_EQ(NearestName("sine", {}), "");
}

TEST(NearestName, LongNamesCostNothing) {
  const std::string far(1 << 20, 's');
  const std::string_view known[] = {far, "sin"};
  EXPECT_EQ(NearestName(far, known), "");
  EXPECT_EQ(NearestName("sun", known), "sin");
}

}  // namespace
}}}  // namespace ricci::v0::prim
