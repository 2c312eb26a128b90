// The stand-in's rules about what hosts do to the driver, and its pools: each is broken once, and kept once. Those
// about captures are in standin_capture_test.cc.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cuda/bare_driver.h"

namespace ricci::testing { namespace {

class StandinHost : public ::testing::Test {
 protected:
  StandinHost() { driver_->cuStreamCreate(&stream_, 1); }
  ~StandinHost() override { driver_->cuStreamDestroy(stream_); }
  uint64_t Attribute(cuda::CuMemPool pool, int which) const {
    uint64_t value = 0;
    EXPECT_EQ(driver_->cuMemPoolGetAttribute(pool, which, &value), 0);
    return value;
  }
  void ExpectComplaint(const std::string& text) { EXPECT_NE(BareDriver::Complaints().find(text), std::string::npos); }

  const BareDriver driver_;
  cuda::CuStream stream_ = nullptr;
};

TEST_F(StandinHost, AForkedProcessMayCallNothing) {
  const pid_t child = fork();
  if (child == 0) {
    const bool is_refused = driver_->cuStreamSynchronize(stream_) != 0;
    _exit(is_refused && BareDriver::Complaints() == "cuStreamSynchronize in a forked process\n" ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(StandinHost, APoolKeepsUpToItsThreshold) {
  cuda::CuPoolProperties properties{};
  properties.allocation_type = properties.location.type = 1;
  cuda::CuMemPool pool = nullptr;
  for (const uint64_t threshold : {0, 100, 5000}) {
    ASSERT_EQ(driver_->cuMemPoolCreate(&pool, &properties), 0);
    uint64_t set = threshold;
    driver_->cuMemPoolSetAttribute(pool, cuda::kCuPoolReleaseThreshold, &set);
    cuda::CuPointer p = 0;
    driver_->cuMemAllocFromPoolAsync(&p, 1000, pool, stream_);
    driver_->cuMemFreeAsync(p, stream_);
    EXPECT_EQ(Attribute(pool, cuda::kCuPoolUsed), 1000u) << "until the stream is there";
    driver_->cuStreamSynchronize(stream_);
    EXPECT_EQ(Attribute(pool, cuda::kCuPoolUsed), 0u);
    EXPECT_EQ(Attribute(pool, cuda::kCuPoolReserved), std::min<uint64_t>(threshold, 1000));
    driver_->cuMemPoolTrimTo(pool, 60);
    EXPECT_EQ(Attribute(pool, cuda::kCuPoolReserved), std::min<uint64_t>(threshold, 60));
    driver_->cuMemPoolDestroy(pool);
  }
  driver_->cuMemPoolTrimTo(pool, 0);
  ExpectComplaint("cuMemPoolTrimTo: no such pool");
}

TEST_F(StandinHost, WhosePointersAre) {
  const cuda::CuPointer p = driver_.Allocate(64, stream_);
  unsigned type = 9;
  cuda::CuPointer first = 9;
  size_t size = 9;
  int which[] = {cuda::kCuPointerMemoryType, cuda::kCuPointerRangeStart, cuda::kCuPointerRangeSize};
  void* values[] = {&type, &first, &size};
  driver_->cuPointerGetAttributes(3, which, values, p + 8);
  EXPECT_EQ(type, unsigned{cuda::kCuMemoryDevice});
  EXPECT_EQ(first, p);
  EXPECT_EQ(size, 64u);
  driver_->cuPointerGetAttributes(3, which, values, 4096);
  EXPECT_EQ(type, 0u);
  EXPECT_EQ(size, 0u);
  driver_->cuMemFreeAsync(p, stream_);
  driver_->cuStreamSynchronize(stream_);
}

// Also executable graphs whose graphs are gone.
TEST(StandinReset, NoGraphIsLeft) {
  auto driver = std::make_unique<BareDriver>();
  cuda::CuGraph graphs[2] = {};
  cuda::CuGraphExec execs[2] = {};
  for (int i = 0; i < 2; ++i) {
    cuda::CuGraphNode node = nullptr;
    ASSERT_EQ((*driver)->cuGraphCreate(&graphs[i], 0), 0);
    ASSERT_EQ((*driver)->cuGraphAddEmptyNode(&node, graphs[i], nullptr, 0), 0);
    ASSERT_EQ((*driver)->cuGraphInstantiateWithFlags(&execs[i], graphs[i], 0), 0);
  }
  ASSERT_EQ((*driver)->cuGraphDestroy(graphs[0]), 0);
  OfStandin<void()>("ricci_standin_reset")();
  EXPECT_EQ(std::string(OfStandin<const char*()>("ricci_standin_report")()), "");
  driver.reset();
  BareDriver::Complaints();
}

TEST(StandinReset, TheFirstCallSaysSoAndTheSecondIsAMistake) {
  cuda::CuStream stream = nullptr;
  auto driver = std::make_unique<BareDriver>();
  (*driver)->cuStreamCreate(&stream, 1);
  OfStandin<void()>("ricci_standin_reset")();
  EXPECT_EQ((*driver)->cuStreamSynchronize(stream), cuda::CuResult{cuda::kCuContextIsDestroyed});
  EXPECT_EQ(BareDriver::Complaints(), "");
  EXPECT_EQ((*driver)->cuStreamDestroy(stream), cuda::CuResult{cuda::kCuContextIsDestroyed});
  EXPECT_EQ(BareDriver::Complaints(), "cuStreamDestroy in a context that is known to be destroyed\n");
  EXPECT_EQ(std::string(OfStandin<const char*()>("ricci_standin_report")()), "") << "nothing is left";
  driver.reset();
  EXPECT_EQ(BareDriver::Complaints(), "cuMemPoolDestroy in a context that is known to be destroyed\n");
}

}}  // namespace ricci::testing
