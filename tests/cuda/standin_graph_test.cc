// What a driver forbids with graphs is a complaint of the stand-in.
#include <gtest/gtest.h>

#include "cuda/simulated_gpu.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class StandinGraphs : public ::testing::Test {
 protected:
  StandinGraphs() {
    std::string error;
    driver_ = cuda::OpenDriver({RICCI_STANDIN}, error);
    ricci_status* failed = nullptr;
    gpu_ = cuda::Gpu::Create(driver_, cuda::OpenCompiler({RICCI_STANDIN}, error), cuda::Settings(), 0, failed);
    EXPECT_TRUE(Ok(failed));
    EXPECT_TRUE(Ok(gpu_->CreateStream(&stream_)));
    EXPECT_TRUE(Ok(gpu_->Alloc(64, nullptr, &memory_)));
    graph_ = NewGraph(&node_);
    other_ = NewGraph(&other_node_);
    const cuda::Current current(*gpu_);
    driver_->cuGraphInstantiateWithFlags(&exec_, graph_, 0);
  }
  ~StandinGraphs() override {
    const cuda::Current current(*gpu_);
    driver_->cuGraphExecDestroy(exec_);
    driver_->cuGraphDestroy(other_);
    driver_->cuGraphDestroy(graph_);
    gpu_->Free(memory_, nullptr);
    driver_->cuStreamDestroy(stream_);
  }
  cuda::CuMemsetNode Work(unsigned value, size_t words = 1) const {
    return {static_cast<cuda::CuPointer>(reinterpret_cast<uintptr_t>(memory_)), 0, value, 4, words, 1};
  }
  cuda::CuGraph NewGraph(cuda::CuGraphNode* node) {
    cuda::CuGraph graph = nullptr;
    driver_->cuGraphCreate(&graph, 0);
    const cuda::CuMemsetNode work = Work(1);
    driver_->cuGraphAddMemsetNode(node, graph, nullptr, 0, &work, gpu_->context());
    return graph;
  }
  static std::string Complaints() { return OfStandin<const char*()>("ricci_standin_complaints")(); }

  std::shared_ptr<const cuda::Driver> driver_;
  std::unique_ptr<cuda::Gpu> gpu_;
  cuda::CuStream stream_ = nullptr;
  void* memory_ = nullptr;
  cuda::CuGraph graph_ = nullptr, other_ = nullptr;
  cuda::CuGraphNode node_ = nullptr, other_node_ = nullptr;
  cuda::CuGraphExec exec_ = nullptr;
};

TEST_F(StandinGraphs, Dependencies) {
  cuda::CuGraphNode made = nullptr;
  EXPECT_NE(driver_->cuGraphAddEmptyNode(&made, graph_, &other_node_, 1), 0);
  EXPECT_EQ(Complaints(), "cuGraphAddEmptyNode: a dependency is not in the graph\n");
  const cuda::CuGraphNode twice[] = {node_, node_};
  EXPECT_NE(driver_->cuGraphAddEmptyNode(&made, graph_, twice, 2), 0);
  EXPECT_EQ(Complaints(), "cuGraphAddEmptyNode: a dependency is named twice\n");
}

TEST_F(StandinGraphs, Updates) {
  const auto update = [&](cuda::CuGraphNode node, const cuda::CuMemsetNode& work) {
    const auto result = driver_->cuGraphExecMemsetNodeSetParams(exec_, node, &work, gpu_->context());
    return Complaints() + (result == 0 ? "taken" : "refused");
  };
  EXPECT_EQ(update(node_, Work(2)), "taken");
  EXPECT_EQ(update(node_, Work(2, 2)), "cuGraphExecMemsetNodeSetParams: the size of a node changes\nrefused");
  EXPECT_EQ(update(other_node_, Work(2)), "cuGraphExecMemsetNodeSetParams: the node is in another graph\nrefused");
  cuda::CuCopyNode copy{};
  copy.src.type = copy.dst.type = cuda::kCuMemoryDevice;
  copy.src.device = copy.dst.device = Work(0).dst;
  copy.width_bytes = 4, copy.height = copy.depth = 1;
  EXPECT_NE(driver_->cuGraphExecMemcpyNodeSetParams(exec_, node_, &copy, gpu_->context()), 0);
  EXPECT_EQ(Complaints(), "cuGraphExecMemcpyNodeSetParams: the node is of another kind\n");
}

TEST_F(StandinGraphs, PitchesOfCopies) {
  const auto is_taken = [&](size_t pitch) {
    cuda::CuCopyNode copy{};
    copy.src.type = copy.dst.type = cuda::kCuMemoryDevice;
    copy.src.device = copy.dst.device = Work(0).dst;
    copy.src.pitch = copy.dst.pitch = pitch;
    copy.width_bytes = 4, copy.height = copy.depth = 1;
    cuda::CuGraphNode made = nullptr;
    return driver_->cuGraphAddMemcpyNode(&made, graph_, nullptr, 0, &copy, gpu_->context()) == 0;
  };
  EXPECT_TRUE(is_taken(0));
  EXPECT_TRUE(is_taken(4));
  EXPECT_FALSE(is_taken(2));
  EXPECT_TRUE(is_taken((size_t{1} << 31) - 1));
  EXPECT_FALSE(is_taken(size_t{1} << 31));
}

// ---- child graphs ----
TEST_F(StandinGraphs, AChildGraphIsACopy) {
  const cuda::Current current(*gpu_);
  cuda::CuGraphNode child = nullptr, node = nullptr;
  cuda::CuGraph whole = nullptr;
  cuda::CuGraphExec exec = nullptr;
  driver_->cuGraphCreate(&whole, 0);
  EXPECT_EQ(driver_->cuGraphAddChildGraphNode(&child, whole, nullptr, 0, other_), 0);
  driver_->cuGraphAddEmptyNode(&node, other_, nullptr, 0);  // of no concern to the copy
  size_t count = 0;
  EXPECT_EQ(driver_->cuGraphGetNodes(other_, nullptr, &count), 0);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(driver_->cuGraphGetNodes(whole, nullptr, &count), 0);
  EXPECT_EQ(count, 1u);
  ASSERT_EQ(driver_->cuGraphInstantiateWithFlags(&exec, whole, 0), 0);
  EXPECT_EQ(driver_->cuGraphExecChildGraphNodeSetParams(exec, child, other_), 910) << "it has one node more";
  const auto launch = [&] {
    unsigned got = 0;
    EXPECT_EQ(driver_->cuGraphLaunch(exec, stream_), 0);
    driver_->cuMemcpyDtoHAsync(&got, Work(0).dst, 4, stream_);
    EXPECT_TRUE(Ok(gpu_->Wait(stream_)));
    return got;
  };
  EXPECT_EQ(launch(), 1u);
  cuda::CuGraph next = nullptr;
  driver_->cuGraphCreate(&next, 0);
  const cuda::CuMemsetNode work = Work(7);
  driver_->cuGraphAddMemsetNode(&node, next, nullptr, 0, &work, gpu_->context());
  EXPECT_EQ(driver_->cuGraphExecChildGraphNodeSetParams(exec, child, next), 0);
  EXPECT_EQ(driver_->cuGraphDestroy(next), 0);
  EXPECT_EQ(launch(), 7u);
  EXPECT_EQ(driver_->cuGraphExecDestroy(exec), 0);
  EXPECT_EQ(driver_->cuGraphDestroy(whole), 0);
  EXPECT_EQ(Complaints(), "");
}

// A child graph of another order is refused; so is one within a graph that is itself.
TEST_F(StandinGraphs, WhatNoChildGraphIs) {
  const cuda::Current current(*gpu_);
  cuda::CuGraphNode node = nullptr, after = nullptr;
  EXPECT_NE(driver_->cuGraphAddChildGraphNode(&node, other_, nullptr, 0, other_), 0);
  EXPECT_EQ(Complaints(), "cuGraphAddChildGraphNode: a graph cannot be in itself\n");
  EXPECT_NE(driver_->cuGraphExecChildGraphNodeSetParams(exec_, node_, other_), 0);
  EXPECT_EQ(Complaints(), "cuGraphExecChildGraphNodeSetParams: the node is of another kind\n");
  EXPECT_NE(driver_->cuGraphExecChildGraphNodeSetParams(exec_, other_node_, other_), 0);
  EXPECT_EQ(Complaints(), "cuGraphExecChildGraphNodeSetParams: the node is in another graph\n");
  cuda::CuGraph whole = nullptr;
  cuda::CuGraphExec exec = nullptr;
  driver_->cuGraphCreate(&whole, 0);
  const cuda::CuMemsetNode work = Work(2);
  driver_->cuGraphAddMemsetNode(&after, other_, &other_node_, 1, &work, gpu_->context());
  EXPECT_EQ(driver_->cuGraphAddChildGraphNode(&node, whole, nullptr, 0, other_), 0);
  ASSERT_EQ(driver_->cuGraphInstantiateWithFlags(&exec, whole, 0), 0);
  cuda::CuGraph beside = nullptr;
  driver_->cuGraphCreate(&beside, 0);
  for (cuda::CuGraphNode* n : {&node_, &after}) {
    driver_->cuGraphAddMemsetNode(n, beside, nullptr, 0, &work, gpu_->context());
  }
  EXPECT_EQ(driver_->cuGraphExecChildGraphNodeSetParams(exec, node, beside), 910);
  for (const cuda::CuGraph g : {beside, whole}) EXPECT_EQ(driver_->cuGraphDestroy(g), 0);
  EXPECT_NE(driver_->cuGraphExecChildGraphNodeSetParams(exec, node, other_), 0);
  EXPECT_EQ(Complaints(), "cuGraphExecChildGraphNodeSetParams: the graph that it was made from is gone\n");
  EXPECT_EQ(driver_->cuGraphExecDestroy(exec), 0);
}

// Its nodes are in order with those around it as it is.
TEST_F(StandinGraphs, OrderOfAChildGraph) {
  const cuda::Current current(*gpu_);
  for (const bool waits : {true, false}) {
    cuda::CuGraph whole = nullptr;
    cuda::CuGraphExec exec = nullptr;
    cuda::CuGraphNode first = nullptr, child = nullptr;
    driver_->cuGraphCreate(&whole, 0);
    const cuda::CuMemsetNode work = Work(3);
    driver_->cuGraphAddMemsetNode(&first, whole, nullptr, 0, &work, gpu_->context());
    EXPECT_EQ(driver_->cuGraphAddChildGraphNode(&child, whole, &first, waits ? 1 : 0, other_), 0);
    ASSERT_EQ(driver_->cuGraphInstantiateWithFlags(&exec, whole, 0), 0);
    EXPECT_EQ(driver_->cuGraphLaunch(exec, stream_), 0);
    EXPECT_TRUE(Ok(gpu_->Wait(stream_)));
    EXPECT_EQ(Complaints().find("not in order: memset") == std::string::npos, waits);
    EXPECT_EQ(driver_->cuGraphExecDestroy(exec), 0);
    EXPECT_EQ(driver_->cuGraphDestroy(whole), 0);
  }
}

TEST_F(StandinGraphs, Launches) {
  EXPECT_NE(driver_->cuGraphLaunch(exec_, stream_), 0);
  EXPECT_EQ(Complaints(), "cuGraphLaunch without a context\n");
  const cuda::Current current(*gpu_);
  EXPECT_EQ(driver_->cuGraphLaunch(exec_, stream_), 0);
  EXPECT_EQ(Complaints(), "");
  EXPECT_EQ(driver_->cuGraphLaunch(exec_, stream_), 0);  // after the first one
  EXPECT_EQ(Complaints(), "");
  cuda::CuStream other = nullptr;
  EXPECT_EQ(driver_->cuStreamCreate(&other, cuda::kCuStreamNonBlocking), 0);
  EXPECT_EQ(driver_->cuGraphLaunch(exec_, other), 0);
  EXPECT_EQ(Complaints(), "cuGraphLaunch: the graph is running in another stream\n");
  EXPECT_TRUE(Ok(gpu_->Wait(other)));
  EXPECT_EQ(driver_->cuStreamDestroy(other), 0);
  EXPECT_TRUE(Ok(gpu_->Wait(stream_)));
  EXPECT_NE(Complaints().find("not in order: memset"), std::string::npos);  // both write the same
  EXPECT_EQ(driver_->cuGraphLaunch(exec_, stream_), 0);
  EXPECT_EQ(Complaints(), "");
  EXPECT_TRUE(Ok(gpu_->Wait(stream_)));
}

// A driver keeps what it needs. The next graph probably has the address of the one that is gone, and is not meant.
TEST_F(StandinGraphs, AnExecutableGraphOutlivesItsGraph) {
  const cuda::Current current(*gpu_);
  cuda::CuGraphNode node = nullptr, next_node = nullptr;
  const cuda::CuGraph gone = NewGraph(&node);
  cuda::CuGraphExec exec = nullptr;
  ASSERT_EQ(driver_->cuGraphInstantiateWithFlags(&exec, gone, 0), 0);
  ASSERT_EQ(driver_->cuGraphDestroy(gone), 0);
  const cuda::CuGraph next = NewGraph(&next_node);
  const cuda::CuMemsetNode work = Work(2);
  EXPECT_NE(driver_->cuGraphExecMemsetNodeSetParams(exec, next_node, &work, gpu_->context()), 0);
  EXPECT_EQ(Complaints(), "cuGraphExecMemsetNodeSetParams: the graph that it was made from is gone\n");
  EXPECT_EQ(driver_->cuGraphLaunch(exec, stream_), 0);
  EXPECT_TRUE(Ok(gpu_->Wait(stream_)));
  EXPECT_EQ(driver_->cuGraphExecDestroy(exec), 0);
  EXPECT_EQ(driver_->cuGraphDestroy(next), 0);
  EXPECT_EQ(Complaints(), "");
}

TEST_F(StandinGraphs, WhatIsLeftAndWhatIsGone) {
  EXPECT_NE(SimulatedGpuReport().find("2 graphs left\n1 executable graphs left\n"), std::string::npos);
  cuda::CuGraph more = nullptr;
  driver_->cuGraphCreate(&more, 0);
  EXPECT_EQ(driver_->cuGraphDestroy(more), 0);
  EXPECT_NE(driver_->cuGraphDestroy(more), 0);
  EXPECT_EQ(Complaints(), "cuGraphDestroy: no such graph\n");
}

}}  // namespace ricci::testing
