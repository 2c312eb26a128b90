// Conditional nodes of the simulated driver: what they do, and what a driver forbids is a complaint.
#include <gtest/gtest.h>

#include "cuda/bare_conditions.h"

namespace ricci::testing { namespace {

using StandinConditions = BareConditions;

// ---- what they do ----
TEST_F(StandinConditions, ALoopRunsWhileItsValueIsNotZero) {
  const cuda::CuCondition c = NewCondition(graph_);
  const cuda::CuGraphNode first = Kernel(graph_, "counts", {c, memory_});
  const cuda::CuGraph body = Body(graph_, cuda::kCuConditionWhile, c, {first});
  const cuda::CuGraphNode adds = Kernel(body, "adds", {memory_});
  Kernel(body, "counts", {c, memory_}, {adds});
  Kernel(graph_, "reads", {memory_}, {conditional_});
  for (const unsigned n : {5u, 1u, 3u}) {
    Write(0, n);
    Write(1, 0);
    EXPECT_EQ(Launch(), "");
    EXPECT_EQ(Read(1), n - 1);
  }
}

TEST_F(StandinConditions, ABranchRunsOnce) {
  for (const cuda::CuPointer value : {0, 1, 7}) {
    const cuda::CuCondition c = NewCondition(graph_);
    const cuda::CuGraphNode sets = Kernel(graph_, "sets", {c, value});
    Kernel(Body(graph_, cuda::kCuConditionIf, c, {sets}), "adds", {memory_ + 8 * value});
  }
  EXPECT_EQ(Launch(), "");
  EXPECT_EQ(Read(1), 0u);
  EXPECT_EQ(Read(3), 1u);
  EXPECT_EQ(Read(15), 1u);
}

TEST_F(StandinConditions, FirstValues) {
  const cuda::CuCondition c = NewCondition(graph_, /*first=*/1, /*flags=*/1);
  Kernel(Body(graph_, cuda::kCuConditionIf, c), "adds", {memory_});
  EXPECT_EQ(Launch(), "");
  EXPECT_EQ(Launch(), "");
  EXPECT_EQ(Read(1), 2u);
}

// A loop in a loop: the inner one is decided again in each trip.
TEST_F(StandinConditions, Nested) {
  const cuda::CuCondition outer = NewCondition(graph_);
  const cuda::CuGraphNode first = Kernel(graph_, "sets", {outer, 1});
  const cuda::CuGraph body = Body(graph_, cuda::kCuConditionWhile, outer, {first});
  const cuda::CuCondition inner = NewCondition(body);
  const cuda::CuGraphNode sets = Kernel(body, "sets", {inner, 1});
  const cuda::CuGraph branch = Body(body, cuda::kCuConditionIf, inner, {sets});
  Kernel(branch, "adds", {memory_});
  Kernel(body, "counts", {outer, memory_}, {conditional_});
  Write(0, 4);
  EXPECT_EQ(Launch(), "");
  EXPECT_EQ(Read(1), 4u);
}

// ---- orders ----
TEST_F(StandinConditions, ANodeThatDoesNotWaitForItsKernel) {
  const cuda::CuCondition c = NewCondition(graph_, 0, 1);
  Kernel(graph_, "sets", {c, 0});
  Body(graph_, cuda::kCuConditionIf, c);
  const std::string said = Launch();
  EXPECT_NE(said.find("not in order: "), said.npos) << said;
  EXPECT_NE(said.find("branch (node 1)"), said.npos) << said;
  EXPECT_NE(said.find("kernel sets (node 0)"), said.npos) << said;
}

TEST_F(StandinConditions, NodesOfABodyWithoutEdge) {
  const cuda::CuCondition c = NewCondition(graph_);
  const cuda::CuGraphNode first = Kernel(graph_, "sets", {c, 1});
  const cuda::CuGraph body = Body(graph_, cuda::kCuConditionWhile, c, {first});
  Kernel(body, "adds", {memory_});
  Kernel(body, "counts", {c, memory_});
  Kernel(body, "reads", {memory_});
  Write(0, 2);
  const std::string said = Launch();
  EXPECT_NE(said.find("not in order: "), said.npos) << said;
  EXPECT_NE(said.find("kernel adds (node 1.0)"), said.npos) << said;
  EXPECT_NE(said.find("kernel reads (node 1.2)"), said.npos) << said;
}

TEST_F(StandinConditions, WhatDoesNotWaitForALoop) {
  const cuda::CuCondition c = NewCondition(graph_);
  const cuda::CuGraphNode first = Kernel(graph_, "sets", {c, 1});
  const cuda::CuGraph body = Body(graph_, cuda::kCuConditionWhile, c, {first});
  const cuda::CuGraphNode adds = Kernel(body, "adds", {memory_});
  Kernel(body, "counts", {c, memory_}, {adds});
  Kernel(graph_, "reads", {memory_}, {first});
  Write(0, 3);
  const std::string said = Launch();
  EXPECT_NE(said.find("not in order: "), said.npos) << said;
}

// ---- values ----
TEST_F(StandinConditions, NeverSet) {
  Body(graph_, cuda::kCuConditionWhile, NewCondition(graph_));
  EXPECT_NE(Launch().find("its condition was never set"), std::string::npos);
}

TEST_F(StandinConditions, SetByTwoThreads) {
  const cuda::CuCondition c = NewCondition(graph_);
  Body(graph_, cuda::kCuConditionIf, c, {Kernel(graph_, "sets", {c, 0}, {}, /*threads=*/2)});
  EXPECT_NE(Launch().find("sets a condition twice"), std::string::npos);
}

TEST_F(StandinConditions, SetOutsideOfTheGraph) {
  const cuda::CuCondition c = NewCondition(graph_);
  cuda::CuPointer condition = c, value = 1;
  void* arguments[] = {&condition, &value};
  driver_->cuLaunchKernel(driver_.Find(module_, "sets"), 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr);
  driver_->cuStreamSynchronize(stream_);
  EXPECT_NE(BareDriver::Complaints().find("sets a condition that is not of its graph"), std::string::npos);
}

TEST_F(StandinConditions, ALoopWithoutEnd) {
  const cuda::CuCondition c = NewCondition(graph_);
  Body(graph_, cuda::kCuConditionWhile, c, {Kernel(graph_, "sets", {c, 1})});
  EXPECT_NE(Launch().find("does not end"), std::string::npos);
}

// ---- what may not be made ----
TEST_F(StandinConditions, Nodes) {
  cuda::CuGraph other = nullptr;
  driver_->cuGraphCreate(&other, 0);
  const cuda::CuCondition c = NewCondition(graph_);
  EXPECT_EQ(Refused(other, NodeOf(cuda::kCuConditionIf, c)), "cuGraphAddNode: the condition is of another graph\n");
  EXPECT_EQ(Refused(graph_, NodeOf(cuda::kCuConditionIf, 0)), "cuGraphAddNode: no such condition\n");
  EXPECT_EQ(Refused(graph_, NodeOf(3, c)), "cuGraphAddNode: no such kind of conditional node\n");
  cuda::CuNode node = NodeOf(cuda::kCuConditionIf, c);
  node.reserved1[28] = 1;
  EXPECT_EQ(Refused(graph_, node), "cuGraphAddNode: reserved bytes are not zero\n");
  node = NodeOf(cuda::kCuConditionIf, c);
  node.conditional.context = nullptr;
  EXPECT_EQ(Refused(graph_, node), "cuGraphAddNode: the context is not that of the condition\n");
  const cuda::CuGraph body = Body(graph_, cuda::kCuConditionIf, c);
  EXPECT_EQ(Refused(graph_, NodeOf(cuda::kCuConditionIf, c)), "cuGraphAddNode: the condition has a node already\n");
  const cuda::CuCondition inner = NewCondition(body);
  EXPECT_EQ(Refused(graph_, NodeOf(cuda::kCuConditionIf, inner)), "cuGraphAddNode: the condition is of another graph\n")
      << "a body's is not that of what is around it";
  driver_->cuGraphDestroy(other);
}

TEST_F(StandinConditions, Graphs) {
  const cuda::CuCondition c = NewCondition(graph_);
  EXPECT_EQ(NotInstantiated(graph_), "cuGraphInstantiateWithFlags: a condition has no node\n");
  const cuda::CuGraph body = Body(graph_, cuda::kCuConditionIf, c, {Kernel(graph_, "sets", {c, 0})});
  EXPECT_EQ(NotInstantiated(body), "cuGraphInstantiateWithFlags: the graph is a body\n");
  EXPECT_NE(driver_->cuGraphDestroy(body), 0);
  EXPECT_EQ(BareDriver::Complaints(), "cuGraphDestroy: a body goes with its node\n");
  EXPECT_EQ(Launch(), "");
  EXPECT_EQ(NotInstantiated(graph_),
            "cuGraphInstantiateWithFlags: a graph with conditional nodes has an executable graph already\n");
}

TEST_F(StandinConditions, CopiesInABody) {
  const cuda::CuCondition c = NewCondition(graph_, 1, 1);
  const cuda::CuGraph body = Body(graph_, cuda::kCuConditionIf, c);
  void* pinned = nullptr;
  driver_->cuMemHostAlloc(&pinned, 64, 0);
  unsigned local = 0;
  cuda::CuCopyNode copy{};
  copy.src.type = cuda::kCuMemoryDevice;
  copy.src.device = memory_;
  copy.dst.type = cuda::kCuMemoryHost;
  copy.dst.host = &local;
  copy.width_bytes = 4, copy.height = copy.depth = 1;
  cuda::CuGraphNode made = nullptr;
  EXPECT_NE(driver_->cuGraphAddMemcpyNode(&made, body, nullptr, 0, &copy, driver_.context()), 0);
  EXPECT_EQ(BareDriver::Complaints(),
            "cuGraphAddMemcpyNode: a copy in a body uses memory of the host that is not pinned\n");
  copy.dst.host = pinned;
  EXPECT_EQ(driver_->cuGraphAddMemcpyNode(&made, body, nullptr, 0, &copy, driver_.context()), 0);
  EXPECT_EQ(Launch(), "");
  driver_->cuMemFreeHost(pinned);
}

TEST_F(StandinConditions, Updates) {
  const cuda::CuCondition c = NewCondition(graph_, 1, 1);
  const cuda::CuGraph body = Body(graph_, cuda::kCuConditionIf, c);
  const cuda::CuGraphNode adds = Kernel(body, "adds", {memory_});
  EXPECT_EQ(Launch(), "");
  std::vector<cuda::CuPointer> arguments{memory_ + 8};
  cuda::CuKernelNode node = KernelNode("adds", arguments);
  EXPECT_EQ(driver_->cuGraphExecKernelNodeSetParams(exec_, adds, &node), 0);
  EXPECT_EQ(Launch(), "");
  EXPECT_EQ(Read(1), 1u);
  EXPECT_EQ(Read(3), 1u);
  EXPECT_NE(driver_->cuGraphExecKernelNodeSetParams(exec_, conditional_, &node), 0);
  EXPECT_EQ(BareDriver::Complaints(), "cuGraphExecKernelNodeSetParams: the node is of another kind\n");
  const cuda::CuGraphNode later = Kernel(body, "adds", {memory_});
  EXPECT_NE(driver_->cuGraphExecKernelNodeSetParams(exec_, later, &node), 0);
  EXPECT_EQ(BareDriver::Complaints(), "cuGraphExecKernelNodeSetParams: the node is in another graph\n");
}

// ---- modules ----
TEST_F(StandinConditions, CodeForARealGpuIsNotLoaded) {
  cuda::CuModule module = nullptr;
  EXPECT_EQ(driver_->cuModuleLoadData(&module, "\177ELF\2\1\1A\10 and what NVRTC makes"), cuda::kCuInvalidImage);
}

TEST_F(StandinConditions, WhatIsNotLinkedIsNotLoaded) {
  cuda::CuModule module = nullptr;
  EXPECT_EQ(driver_->cuModuleLoadData(&module, code_.data()), cuda::kCuInvalidImage);
  SetDriver(12040);
  EXPECT_EQ(driver_->cuModuleLoadData(&module, ptx_.c_str()), cuda::kCuUnsupportedPtx);
  std::string error;
  EXPECT_EQ(cuda::OpenCompiler({RICCI_STANDIN}, error)->Compile(kConditionKernels, {.architecture = "sm_90"}, error),
            "");
  EXPECT_NE(error.find("Unresolved extern function 'cudaGraphSetConditional'"), error.npos) << error;
}

}}  // namespace ricci::testing
