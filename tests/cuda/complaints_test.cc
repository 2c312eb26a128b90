// After each test of this binary the simulated GPU must have had nothing to complain about: no fault of a kernel, no
// steps out of order, no wrong call. Tests that plant mistakes take what they caused.
#include <gtest/gtest.h>

#include "cuda/bare_driver.h"

namespace ricci::testing { namespace {

class NoComplaints : public ::testing::EmptyTestEventListener {
  void OnTestEnd(const ::testing::TestInfo&) override { EXPECT_EQ(BareDriver::Complaints(), ""); }
};
const bool is_listening = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new NoComplaints);
  return true;
}();

TEST(Complaints, AreListenedTo) { EXPECT_TRUE(is_listening); }

}  // namespace
}  // namespace ricci::testing
