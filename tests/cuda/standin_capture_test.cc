// Streams that a host captures, on the simulated driver: what becomes a node, how captures fork and join, and what
// breaks them.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "cuda/bare_driver.h"
#include "cuda/host_capture.h"

namespace ricci::testing { namespace {

constexpr const char* kKernels =
    "extern \"C\" __global__ void adds(unsigned* m) { m[0] += 1; }\n"
    "extern \"C\" __global__ void doubles(unsigned* m) { m[0] *= 2; }\n";

class StandinCapture : public ::testing::Test {
 protected:
  StandinCapture() {
    std::string error;
    module_ = driver_.Load(kKernels, error);
    for (cuda::CuStream* s : {&stream_, &other_}) driver_->cuStreamCreate(s, 1);
    memory_ = driver_.Allocate(64, stream_);
    driver_->cuMemsetD32Async(memory_, 0, 16, stream_);
    driver_->cuStreamSynchronize(stream_);
    for (cuda::CuEvent* e : {&event_, &back_}) driver_->cuEventCreate(e, cuda::kCuEventDisableTiming);
  }
  ~StandinCapture() override {
    for (const cuda::CuEvent e : {event_, back_}) driver_->cuEventDestroy(e);
    driver_->cuMemFreeAsync(memory_, stream_);
    driver_->cuStreamSynchronize(stream_);
    for (const cuda::CuStream s : {stream_, other_}) driver_->cuStreamDestroy(s);
    driver_->cuModuleUnload(module_);
    EXPECT_EQ(BareDriver::Complaints(), "");
  }
  int Kernel(const char* name, cuda::CuStream stream, unsigned word = 0) {
    cuda::CuPointer at = memory_ + 4 * word;
    void* arguments[] = {&at};
    return driver_->cuLaunchKernel(driver_.Find(module_, name), 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
  }
  unsigned Read(unsigned word = 0) {
    unsigned value = 0;
    driver_->cuMemcpyDtoHAsync(&value, memory_ + 4 * word, 4, stream_);
    driver_->cuStreamSynchronize(stream_);
    return value;
  }
  void Fork() {
    driver_->cuEventRecord(event_, stream_);
    driver_->cuStreamWaitEvent(other_, event_, 0);
  }
  void Join() {
    driver_->cuEventRecord(back_, other_);
    driver_->cuStreamWaitEvent(stream_, back_, 0);
  }
  void ExpectComplaint(const std::string& text) { EXPECT_EQ(BareDriver::Complaints(), text + "\n"); }

  const BareDriver driver_;
  cuda::CuModule module_ = nullptr;
  cuda::CuStream stream_ = nullptr, other_ = nullptr;
  cuda::CuEvent event_ = nullptr, back_ = nullptr;
  cuda::CuPointer memory_ = 0;
};

TEST_F(StandinCapture, WorkBecomesNodesInOrder) {
  HostCapture capture(stream_);
  EXPECT_EQ(Kernel("adds", stream_), 0);
  EXPECT_EQ(Kernel("doubles", stream_), 0);
  EXPECT_EQ(driver_->cuMemcpyDtoDAsync(memory_ + 4, memory_, 4, stream_), 0);
  EXPECT_EQ(capture.End(), 0);
  EXPECT_EQ(Read(), 0u) << "nothing has run";
  for (const unsigned want : {2u, 6u, 14u}) {
    EXPECT_EQ(capture.Launch(stream_), 0);
    EXPECT_EQ(Read(1), want);
  }
}

TEST_F(StandinCapture, StreamsJoinByEvents) {
  HostCapture capture(stream_);
  Kernel("adds", stream_);
  Fork();
  Kernel("adds", other_, 1);
  Kernel("adds", stream_, 2);
  Join();
  Kernel("doubles", stream_, 1);
  EXPECT_EQ(capture.Launch(stream_), 0);
  EXPECT_EQ(Read(1), 2u);
  EXPECT_EQ(Kernel("adds", other_, 3), 0) << "it is captured no more";
  driver_->cuStreamSynchronize(other_);
  EXPECT_EQ(Read(3), 1u);
}

TEST_F(StandinCapture, NodesWithoutAnEdgeAreReported) {
  HostCapture capture(stream_);
  Fork();
  Kernel("adds", stream_);
  Kernel("adds", other_);
  Join();
  EXPECT_EQ(capture.Launch(stream_), 0);
  driver_->cuStreamSynchronize(stream_);
  const std::string said = BareDriver::Complaints();
  EXPECT_NE(said.find("not in order: kernel adds (node "), said.npos) << said;
}

// ---- the graph while it is captured ----
TEST_F(StandinCapture, NodesOfTheHostsOwn) {
  HostCapture capture(stream_);
  Kernel("adds", stream_);
  int state = 0;
  unsigned long long id = 0;
  cuda::CuGraph graph = nullptr;
  const cuda::CuGraphNode* last = nullptr;
  size_t n_last = 0;
  ASSERT_EQ(driver_->cuStreamGetCaptureInfo(stream_, &state, &id, &graph, &last, &n_last), 0);
  EXPECT_EQ(state, int{cuda::kCuCaptures});
  ASSERT_EQ(n_last, 1u);
  cuda::CuPointer at = memory_;
  void* arguments[] = {&at};
  const cuda::CuKernelNode node{
      driver_.Find(module_, "doubles"), {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr, nullptr, nullptr};
  cuda::CuGraphNode made = nullptr;
  ASSERT_EQ(driver_->cuGraphAddKernelNode(&made, graph, last, n_last, &node), 0);
  EXPECT_EQ(driver_->cuStreamUpdateCaptureDependencies(stream_, &made, 1, cuda::kCuSetLast), 0);
  Kernel("adds", stream_);
  EXPECT_NE(driver_->cuGraphDestroy(graph), 0);
  ExpectComplaint("cuGraphDestroy: a stream captures into the graph");
  EXPECT_EQ(capture.Launch(stream_), 0);
  EXPECT_EQ(Read(), 3u);
}

// What the stream does not know of runs at any time.
TEST_F(StandinCapture, NodesThatTheStreamDoesNotKnow) {
  HostCapture capture(stream_);
  Kernel("adds", stream_);
  int state = 0;
  cuda::CuGraph graph = nullptr;
  const cuda::CuGraphNode* last = nullptr;
  size_t n_last = 0;
  ASSERT_EQ(driver_->cuStreamGetCaptureInfo(stream_, &state, nullptr, &graph, &last, &n_last), 0);
  const cuda::CuMemsetNode set{memory_, 0, 7, 4, 1, 1};
  cuda::CuGraphNode made = nullptr;
  ASSERT_EQ(driver_->cuGraphAddMemsetNode(&made, graph, last, n_last, &set, driver_.context()), 0);
  Kernel("doubles", stream_);
  EXPECT_EQ(capture.Launch(stream_), 0);
  driver_->cuStreamSynchronize(stream_);
  EXPECT_NE(BareDriver::Complaints().find("not in order: "), std::string::npos);
}

TEST_F(StandinCapture, WrongDependencies) {
  cuda::CuGraph elsewhere = nullptr;
  cuda::CuGraphNode node = nullptr;
  driver_->cuGraphCreate(&elsewhere, 0);
  driver_->cuGraphAddEmptyNode(&node, elsewhere, nullptr, 0);
  EXPECT_NE(driver_->cuStreamUpdateCaptureDependencies(stream_, &node, 1, cuda::kCuSetLast), 0);
  ExpectComplaint("cuStreamUpdateCaptureDependencies: the stream is not captured");
  HostCapture capture(stream_);
  EXPECT_NE(driver_->cuStreamUpdateCaptureDependencies(stream_, &node, 1, cuda::kCuSetLast), 0);
  ExpectComplaint("cuStreamUpdateCaptureDependencies: a node is not in the graph");
  EXPECT_NE(driver_->cuStreamUpdateCaptureDependencies(stream_, &node, 0, 2), 0);
  ExpectComplaint("cuStreamUpdateCaptureDependencies: no such flags");
  EXPECT_EQ(capture.End(), 0);
  driver_->cuGraphDestroy(elsewhere);
}

// ---- what may not be in a capture ----
TEST_F(StandinCapture, WhatIsNoNodeHere) {
  HostCapture capture(stream_);
  EXPECT_EQ(driver_.Allocate(64, stream_), 0u);
  ExpectComplaint("cuMemAllocFromPoolAsync into a stream that the host captures");
  driver_->cuLaunchHostFunc(
      stream_, [](void*) {}, nullptr);
  ExpectComplaint("cuLaunchHostFunc into a stream that the host captures");
  EXPECT_TRUE(capture.IsValid());
}

// Each leaves the capture invalid: nothing is captured any more, and its end gives no graph.
TEST_F(StandinCapture, WhatBreaksIt) {
  driver_->cuEventRecord(back_, other_);
  const std::pair<std::function<int()>, std::string> mistakes[] = {
      {[&] { return driver_->cuStreamSynchronize(stream_); }, "cuStreamSynchronize of a stream that the host captures"},
      {[&] { return driver_->cuStreamWaitEvent(stream_, back_, 0); },
       "cuStreamWaitEvent of a captured stream for what is outside of the capture"},
      {[&] { return driver_->cuEventQuery(event_); }, "cuEventQuery while the host captures a stream"},
      {[&] { return driver_->cuEventSynchronize(event_); }, "cuEventSynchronize of an event in a capture"},
  };
  for (const auto& mistake : mistakes) {
    HostCapture capture(stream_);
    driver_->cuEventRecord(event_, stream_);
    EXPECT_NE(mistake.first(), 0) << mistake.second;
    ExpectComplaint(mistake.second);
    EXPECT_FALSE(capture.IsValid()) << mistake.second;
    EXPECT_EQ(Kernel("adds", stream_), 901);
    EXPECT_EQ(capture.End(), 901) << mistake.second;
    EXPECT_EQ(capture.graph(), nullptr);
  }
  EXPECT_EQ(driver_->cuStreamSynchronize(stream_), 0) << "it is captured no more";
}

TEST_F(StandinCapture, AStreamThatDoesNotComeBack) {
  HostCapture capture(stream_);
  Fork();
  Kernel("adds", other_);
  EXPECT_EQ(capture.End(), 904);
}

TEST_F(StandinCapture, TwoCapturesDoNotJoin) {
  HostCapture first(stream_), second(other_);
  driver_->cuEventRecord(event_, stream_);
  EXPECT_EQ(driver_->cuStreamWaitEvent(other_, event_, 0), 902);
  ExpectComplaint("cuStreamWaitEvent joins two captures");
  EXPECT_EQ(first.End(), 901);
  EXPECT_EQ(second.End(), 901);
}

TEST_F(StandinCapture, EventsOfACaptureThatHasEnded) {
  {
    HostCapture capture(stream_);
    driver_->cuEventRecord(event_, stream_);
  }
  EXPECT_EQ(driver_->cuStreamWaitEvent(other_, event_, 0), 907);
  ExpectComplaint("cuStreamWaitEvent for an event of a capture that has ended");
}

// ---- modes ----
class StandinCaptureModes : public StandinCapture {
 protected:
  // Of a call that might wait for the stream, by a thread in that mode.
  int Allocate(int thread_mode) {
    void* p = nullptr;
    driver_->cuThreadExchangeStreamCaptureMode(&thread_mode);
    const int result = driver_->cuMemHostAlloc(&p, 64, 0);
    if (result == 0) driver_->cuMemFreeHost(p);
    driver_->cuThreadExchangeStreamCaptureMode(&thread_mode);
    return result;
  }
  int AllocateElsewhere(int thread_mode) {
    int result = 0;
    std::thread([&] {
      cuda::CuContext context = driver_.context();
      driver_->cuCtxPushCurrent(context);
      result = Allocate(thread_mode);
      driver_->cuCtxPopCurrent(&context);
    }).join();
    return result;
  }
  // With a capture in that mode.
  std::pair<int, int> HereAndElsewhere(int mode, int thread_mode) {
    std::pair<int, int> out;
    {
      HostCapture capture(stream_, mode);
      out.first = Allocate(thread_mode);
    }
    {
      HostCapture capture(stream_, mode);
      out.second = AllocateElsewhere(thread_mode);
    }
    BareDriver::Complaints();
    return out;
  }
};

TEST_F(StandinCaptureModes, WhoMayMakeCallsThatMightWait) {
  constexpr int kNo = 900;
  using Both = std::pair<int, int>;
  EXPECT_EQ(HereAndElsewhere(cuda::kCuCaptureGlobal, cuda::kCuCaptureGlobal), Both(kNo, kNo));
  EXPECT_EQ(HereAndElsewhere(cuda::kCuCaptureGlobal, cuda::kCuCaptureOfThread), Both(kNo, 0));
  EXPECT_EQ(HereAndElsewhere(cuda::kCuCaptureOfThread, cuda::kCuCaptureGlobal), Both(kNo, 0));
  EXPECT_EQ(HereAndElsewhere(cuda::kCuCaptureRelaxed, cuda::kCuCaptureGlobal), Both(0, 0));
}

TEST_F(StandinCaptureModes, ARelaxedThreadMay) {
  HostCapture capture(stream_);
  int mode = cuda::kCuCaptureRelaxed;
  void* p = nullptr;
  driver_->cuThreadExchangeStreamCaptureMode(&mode);
  EXPECT_EQ(mode, 0) << "the mode before";
  EXPECT_EQ(driver_->cuMemHostAlloc(&p, 64, 0), 0);
  EXPECT_EQ(driver_->cuMemFreeHost(p), 0);
  driver_->cuThreadExchangeStreamCaptureMode(&mode);
  EXPECT_EQ(capture.End(), 0);
}

TEST_F(StandinCaptureModes, WhoMayEndIt) {
  const auto end = OfStandin<int(cuda::CuStream, cuda::CuGraph*)>("ricci_standin_end_capture");
  cuda::CuGraph graph = nullptr;
  int elsewhere = 0;
  HostCapture capture(stream_, cuda::kCuCaptureOfThread);
  Fork();
  EXPECT_EQ(end(other_, &graph), 903) << "it has not begun there";
  std::thread([&] { elsewhere = end(stream_, &graph); }).join();
  EXPECT_EQ(elsewhere, 908);
  EXPECT_EQ(capture.End(), 0);
}

}}  // namespace ricci::testing
