// Conditional nodes with several bodies of the simulated driver: which body runs for which value, and what the driver
// takes.
#include <gtest/gtest.h>

#include "cuda/bare_conditions.h"

namespace ricci::testing { namespace {

class StandinBranches : public BareConditions {
 protected:
  // A node with `n` bodies, of which body i counts in word 2 i + 1; its condition is set to `value`.
  std::vector<cuda::CuGraph> Counting(int type, unsigned n, cuda::CuPointer value) {
    const cuda::CuCondition c = NewCondition(graph_);
    sets_ = Kernel(graph_, "sets", {c, value});
    std::vector<cuda::CuGraph> bodies = Bodies(graph_, type, n, c, {sets_});
    for (unsigned i = 0; i < n; ++i) Kernel(bodies[i], "adds", {memory_ + 8 * i});
    return bodies;
  }
  std::vector<unsigned> Counts(unsigned n) {
    std::vector<unsigned> out;
    for (unsigned i = 0; i < n; ++i) out.push_back(Read(2 * i + 1));
    return out;
  }
  // That of the node whose condition was set by this node.
  void Set(cuda::CuCondition c, cuda::CuPointer value) {
    std::vector<cuda::CuPointer> arguments{c, value};
    const cuda::CuKernelNode node = KernelNode("sets", arguments);
    EXPECT_EQ(driver_->cuGraphExecKernelNodeSetParams(exec_, sets_, &node), 0);
  }

  cuda::CuGraphNode sets_ = nullptr;
};

TEST_F(StandinBranches, TheSecondBodyOfAnIfIsForZero) {
  const cuda::CuCondition c = NewCondition(graph_);
  sets_ = Kernel(graph_, "sets", {c, 0});
  const std::vector<cuda::CuGraph> bodies = Bodies(graph_, cuda::kCuConditionIf, 2, c, {sets_});
  for (unsigned i = 0; i < 2; ++i) Kernel(bodies[i], "adds", {memory_ + 8 * i});
  EXPECT_EQ(Launch(), "");
  EXPECT_EQ(Counts(2), (std::vector<unsigned>{0, 1}));
  for (const cuda::CuPointer value : {1, 9, 0}) {
    Set(c, value);
    EXPECT_EQ(Launch(), "");
  }
  EXPECT_EQ(Counts(2), (std::vector<unsigned>{2, 2}));
}

// A value that is too large runs nothing.
TEST_F(StandinBranches, ASwitchRunsTheBodyOfItsValue) {
  const cuda::CuCondition c = NewCondition(graph_);
  sets_ = Kernel(graph_, "sets", {c, 0});
  const std::vector<cuda::CuGraph> bodies = Bodies(graph_, cuda::kCuConditionSwitch, 3, c, {sets_});
  for (unsigned i = 0; i < 3; ++i) Kernel(bodies[i], "adds", {memory_ + 8 * i});
  EXPECT_EQ(Launch(), "");
  EXPECT_EQ(Counts(3), (std::vector<unsigned>{1, 0, 0}));
  for (const cuda::CuPointer value : {2, 3, 1, 1000, 2}) {
    Set(c, value);
    EXPECT_EQ(Launch(), "");
  }
  EXPECT_EQ(Counts(3), (std::vector<unsigned>{1, 1, 2}));
}

TEST_F(StandinBranches, OneBodyIsASwitchToo) {
  Counting(cuda::kCuConditionSwitch, 1, 0);
  EXPECT_EQ(Launch(), "");
  EXPECT_EQ(Read(1), 1u);
}

// A body may be empty, and one may hold another such node.
TEST_F(StandinBranches, Nested) {
  const std::vector<cuda::CuGraph> outer = Counting(cuda::kCuConditionSwitch, 3, 2);
  const cuda::CuCondition inner = NewCondition(outer[2]);
  const cuda::CuGraphNode sets = Kernel(outer[2], "sets", {inner, 0});
  const std::vector<cuda::CuGraph> bodies = Bodies(outer[2], cuda::kCuConditionIf, 2, inner, {sets});
  Kernel(bodies[1], "adds", {memory_ + 32});
  EXPECT_EQ(Launch(), "");
  EXPECT_EQ(Counts(5), (std::vector<unsigned>{0, 0, 1, 0, 1}));
}

TEST_F(StandinBranches, NodesOfEachBodyChange) {
  const cuda::CuCondition c = NewCondition(graph_);
  sets_ = Kernel(graph_, "sets", {c, 1});
  const std::vector<cuda::CuGraph> bodies = Bodies(graph_, cuda::kCuConditionSwitch, 2, c, {sets_});
  Kernel(bodies[0], "adds", {memory_});
  const cuda::CuGraphNode second = Kernel(bodies[1], "adds", {memory_ + 8});
  EXPECT_EQ(Launch(), "");
  std::vector<cuda::CuPointer> arguments{memory_ + 16};
  const cuda::CuKernelNode node = KernelNode("adds", arguments);
  EXPECT_EQ(driver_->cuGraphExecKernelNodeSetParams(exec_, second, &node), 0);
  EXPECT_EQ(Launch(), "");
  EXPECT_EQ(Counts(3), (std::vector<unsigned>{0, 1, 1}));
}

TEST_F(StandinBranches, WhatComesAfterWaitsForTheBodyThatRan) {
  const std::vector<cuda::CuGraph> bodies = Counting(cuda::kCuConditionSwitch, 2, 1);
  Kernel(graph_, "reads", {memory_ + 8}, {sets_});
  const std::string said = Launch();
  EXPECT_NE(said.find("not in order: "), said.npos) << said;
}

TEST_F(StandinBranches, NodesAreNamedByTheirBodies) {
  const std::vector<cuda::CuGraph> bodies = Counting(cuda::kCuConditionSwitch, 2, 1);
  Kernel(bodies[1], "reads", {memory_ + 8});
  const std::string said = Launch();
  EXPECT_NE(said.find("kernel adds (node 1:1.0)"), said.npos) << said;
  EXPECT_NE(said.find("kernel reads (node 1:1.1)"), said.npos) << said;
}

TEST_F(StandinBranches, Sizes) {
  const cuda::CuCondition c = NewCondition(graph_);
  EXPECT_EQ(Refused(graph_, NodeOf(cuda::kCuConditionWhile, c, 2)), "cuGraphAddNode: a WHILE has one body\n");
  for (const unsigned n : {0u, 3u}) {
    EXPECT_EQ(Refused(graph_, NodeOf(cuda::kCuConditionIf, c, n)), "cuGraphAddNode: an IF has one or two bodies\n");
  }
  EXPECT_EQ(Refused(graph_, NodeOf(cuda::kCuConditionSwitch, c, 0)), "cuGraphAddNode: a SWITCH has bodies\n");
}

TEST_F(StandinBranches, OlderDrivers) {
  SetDriver(12060);
  const cuda::CuCondition c = NewCondition(graph_, 1, 1);
  EXPECT_EQ(Refused(graph_, NodeOf(cuda::kCuConditionIf, c, 2)),
            "cuGraphAddNode: the driver is older than CUDA 12.8\n");
  EXPECT_EQ(Refused(graph_, NodeOf(cuda::kCuConditionSwitch, c, 1)),
            "cuGraphAddNode: the driver is older than CUDA 12.8\n");
  int version = 0;
  EXPECT_EQ(driver_->cuDriverGetVersion(&version), 0);
  EXPECT_EQ(version, 12060);
  Kernel(Body(graph_, cuda::kCuConditionIf, c), "adds", {memory_});
  EXPECT_EQ(Launch(), "");
  EXPECT_EQ(Read(1), 1u);
}

}}  // namespace ricci::testing
