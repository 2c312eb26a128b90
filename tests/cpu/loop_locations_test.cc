// Places of loops as bytes of saved code.
#include "cpu/plan/loop_locations.h"

#include <gtest/gtest.h>

namespace ricci::testing { namespace {

TEST(LoopLocations, AreReadAsTheyWereWritten) {
  const std::vector<cpu::LoopLocation> loops = {{0, 3, 9, 12, "f.py"}, {7, 1, 4294967295u, 0, ""}};
  std::string bytes;
  cpu::AppendTo(bytes, loops);
  std::vector<cpu::LoopLocation> read;
  bytes += "code";
  std::string_view rest = bytes;
  ASSERT_TRUE(cpu::TakeFrom(rest, read));
  EXPECT_EQ(rest, "code");
  ASSERT_EQ(read.size(), loops.size());
  for (size_t i = 0; i < loops.size(); ++i) {
    EXPECT_EQ(read[i].kernel, loops[i].kernel);
    EXPECT_EQ(read[i].begin, loops[i].begin);
    EXPECT_EQ(read[i].end, loops[i].end);
    EXPECT_EQ(read[i].line, loops[i].line);
    EXPECT_EQ(read[i].file, loops[i].file);
  }
}

TEST(LoopLocations, ThatAreCutOffAreRefused) {
  std::string bytes;
  cpu::AppendTo(bytes, {{0, 3, 9, 12, "f.py"}});
  for (size_t n = 0; n < bytes.size(); ++n) {
    std::string_view rest = std::string_view(bytes).substr(0, n);
    std::vector<cpu::LoopLocation> read;
    EXPECT_FALSE(cpu::TakeFrom(rest, read)) << n;
  }
}

}  // namespace
}  // namespace ricci::testing
