// Plans as graphs: which nodes wait for which, and which use which address.
#include "cuda/run/plan_graph.h"

#include <gtest/gtest.h>

#include "kernel/kernel.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

using Lists = std::vector<std::vector<uint32_t>>;

class PlanGraphs : public ::testing::Test {
 protected:
  uint32_t Buffer(uint32_t kind, uint32_t index, uint64_t offset = 0, uint64_t bytes = 64) {
    static const char data[64] = {};
    plan_.buffers.push_back({kind, index, bytes, offset, kind == RICCI_BUFFER_CONSTANT ? data : nullptr});
    return static_cast<uint32_t>(plan_.buffers.size() - 1);
  }
  void Kernel(uint32_t in, uint32_t out) {
    kernel::Kernel k;
    k.name = "k";
    for (const auto& [buffer, access] : {std::pair(in, RICCI_ACCESS_READ), std::pair(out, RICCI_ACCESS_WRITE)}) {
      k.buffers.push_back({RICCI_U8, static_cast<uint32_t>(access), static_cast<int64_t>(plan_.buffers[buffer].bytes)});
    }
    k.insts.resize(1);  // NOP
    if (has_checks_) k.insts.push_back({.op = RICCI_K_CHECK});
    kernels_.push_back(k);
    plan_.Step(RICCI_STEP_KERNEL, static_cast<uint32_t>(kernels_.size() - 1), {in, out});
  }
  cuda::PlanGraph Make(const std::vector<int32_t>& alias = {}) {
    const kernel::KernelViews views(kernels_);
    ricci_plan p = plan_.View();
    p.output_alias = alias.empty() ? nullptr : alias.data();
    const ricci_compile_args a{{sizeof a, 0, nullptr}, views.data(), views.size(), 1, &p};
    cuda::PlanGraph g;
    const cuda::PlanBlocks blocks(p);
    const cuda::StepRange steps = is_whole_ ? cuda::StepRange{0, p.n_steps} : part_;
    EXPECT_TRUE(Ok(cuda::MakePlanGraph(a, blocks, steps, is_whole_, std::vector<bool>(p.n_steps), cuda::ChecksOf(a),
                                       has_choices_, g)));
    has_choices_in_plan_ = blocks.has_choices();
    return g;
  }
  // A copy, then a choice of three, of which the second one has no steps.
  cuda::PlanGraph MakeCase() {
    plan_.n_inputs = 2;
    plan_.n_outputs = 1;
    const uint32_t in = Buffer(RICCI_BUFFER_INPUT, 0), number = Buffer(RICCI_BUFFER_INPUT, 1, 0, 4);
    const uint32_t out = Buffer(RICCI_BUFFER_OUTPUT, 0);
    plan_.Step(RICCI_STEP_COPY, 0, {out, in});  // step 0
    plan_.Step(RICCI_STEP_CASE, 3, {number});   // step 1
    Kernel(in, out);                            // step 2
    plan_.Step(RICCI_STEP_NEXT, 0, {});
    plan_.Step(RICCI_STEP_NEXT, 0, {});
    plan_.Step(RICCI_STEP_COPY, 0, {out, in});  // step 5
    plan_.Step(RICCI_STEP_END, 0, {});
    return Make();
  }
  // `in graph 0: 0 set, 1 step 0 after 0, 2 read after 1`, with a line for each graph.
  static std::string Text(const cuda::PlanGraph& g) {
    static constexpr const char* kKinds[] = {"set", "read", "step", "decide", "join", "loop", "branch", "choice"};
    std::vector<std::string> lines(g.n_graphs);
    for (uint32_t n = 0; n < g.size(); ++n) {
      const cuda::PlanNode& node = g.nodes[n];
      std::string& line = lines[node.graph];
      line += (line.empty() ? "in graph " + std::to_string(node.graph) + ": " : ", ") + std::to_string(n) + " " +
              kKinds[node.kind];
      if (node.kind == cuda::PlanNode::kStep) line += " " + std::to_string(node.step);
      if (node.body != 0) line += " " + std::to_string(node.body);
      for (size_t i = 0; i < node.bodies.size(); ++i) {
        if (node.bodies[i] != 0) line += " " + std::to_string(node.first + i) + ":" + std::to_string(node.bodies[i]);
      }
      for (const uint32_t w : g.waits[n]) line += (w == g.waits[n][0] ? " after " : " and ") + std::to_string(w);
    }
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }

  bool has_choices_ = false, has_choices_in_plan_ = false;
  bool is_whole_ = true;
  bool has_checks_ = true;  // of all kernels
  cuda::StepRange part_;
  kernel::Plan plan_;
  std::vector<kernel::Kernel> kernels_;
};

TEST_F(PlanGraphs, NoSteps) {
  const cuda::PlanGraph g = Make();
  EXPECT_EQ(g.size(), 0u);
  EXPECT_EQ(g.users, (Lists{{}, {}})) << "the arena, the word of failed checks";
}

// No node sets or reads the word of failed checks.
TEST_F(PlanGraphs, AKernelWithoutChecksIsOneNode) {
  has_checks_ = false;
  plan_.n_inputs = plan_.n_outputs = 1;
  Kernel(Buffer(RICCI_BUFFER_INPUT, 0), Buffer(RICCI_BUFFER_OUTPUT, 0));
  const cuda::PlanGraph g = Make();
  EXPECT_EQ(Text(g), "in graph 0: 0 step 0\n");
  EXPECT_EQ(g.users, (Lists{{0}, {0}, {}, {}})) << "input, output, arena, checks";
  EXPECT_EQ(g.last, std::vector<uint32_t>{0});
  EXPECT_EQ(g.n_before_read(), 1u);
}

// One that has a check is enough; others do not use the word.
TEST_F(PlanGraphs, OnlyKernelsWithChecksUseTheWord) {
  plan_.n_inputs = 1;
  plan_.n_outputs = 2;
  const uint32_t in = Buffer(RICCI_BUFFER_INPUT, 0);
  Kernel(in, Buffer(RICCI_BUFFER_OUTPUT, 0));
  has_checks_ = false;
  Kernel(in, Buffer(RICCI_BUFFER_OUTPUT, 1));
  const cuda::PlanGraph g = Make();
  EXPECT_EQ(Text(g), "in graph 0: 0 set, 1 step 0 after 0, 2 step 1 after 0, 3 read after 1 and 2\n");
  EXPECT_EQ(g.users.back(), (std::vector<uint32_t>{0, 1, 3}));
  EXPECT_EQ(g.last, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(g.n_before_read(), 3u);
}

// A library call uses its state besides its arguments.
TEST_F(PlanGraphs, ALibraryCallIsANode) {
  has_checks_ = false;
  plan_.n_inputs = plan_.n_outputs = 1;
  plan_.arena_bytes = 64;
  const uint32_t in = Buffer(RICCI_BUFFER_INPUT, 0), out = Buffer(RICCI_BUFFER_OUTPUT, 0);
  const uint32_t arena = Buffer(RICCI_BUFFER_ARENA, 0);
  const ricci_library library{{sizeof library, 0, nullptr},
                              nullptr,
                              [](void*, const ricci_launch*) -> ricci_status* { return nullptr; },
                              nullptr};
  for (int i = 0; i < 2; ++i) {
    ricci_plan_library& call = plan_.libraries.emplace_back();
    call.library = &library;
    call.flags = RICCI_CALL_ONLY_ENQUEUES;
    call.n_in = call.n_out = 1;
  }
  plan_.Step(RICCI_STEP_LIBRARY, 1, {in, arena});
  plan_.Step(RICCI_STEP_LIBRARY, 0, {arena, out});
  const cuda::PlanGraph g = Make();
  EXPECT_EQ(Text(g), "in graph 0: 0 step 0, 1 step 1 after 0\n");
  EXPECT_EQ(g.users, (Lists{{0}, {1}, {1}, {0}, {0, 1}, {}})) << "input, output, two states, arena, checks";
  const int states[2] = {};
  void *input = &plan_, *output = &kernels_;
  plan_.libraries[0].state = const_cast<int*>(&states[0]);
  plan_.libraries[1].state = const_cast<int*>(&states[1]);
  ricci_run_args a{};
  a.inputs = &input;
  a.outputs = &output;
  a.libraries = plan_.libraries.data();
  const auto address = [](const void* p) { return static_cast<cuda::CuPointer>(reinterpret_cast<uintptr_t>(p)); };
  EXPECT_EQ(cuda::AddressesOf(plan_.View(), a),
            (cuda::Addresses{address(input), address(output), address(&states[0]), address(&states[1]), 0, 0}));
}

TEST_F(PlanGraphs, StepsWaitForWhatTheyNeed) {
  plan_.n_inputs = plan_.n_constants = 1;
  plan_.n_outputs = 2;
  plan_.arena_bytes = 128;
  const uint32_t in = Buffer(RICCI_BUFFER_INPUT, 0), constant = Buffer(RICCI_BUFFER_CONSTANT, 0);
  const uint32_t first = Buffer(RICCI_BUFFER_OUTPUT, 0), second = Buffer(RICCI_BUFFER_OUTPUT, 1);
  const uint32_t low = Buffer(RICCI_BUFFER_ARENA, 0, 0), middle = Buffer(RICCI_BUFFER_ARENA, 0, 32);
  Kernel(in, low);                               // node 1
  Kernel(constant, second);                      // node 2
  plan_.Step(RICCI_STEP_COPY, 0, {first, low});  // node 3
  Kernel(constant, middle);                      // node 4: its memory is read until then
  const cuda::PlanGraph g = Make();
  EXPECT_EQ(g.waits, (Lists{{}, {0}, {0}, {1}, {3}, {2, 4}}));
  EXPECT_EQ(g.users, (Lists{{1}, {3}, {2}, {2, 4}, {1, 3, 4}, {0, 1, 2, 4, 5}}));
}

TEST_F(PlanGraphs, AnOutputInTheMemoryOfAnInputWaitsForItsReaders) {
  plan_.n_inputs = 1;
  plan_.n_outputs = 2;
  const uint32_t in = Buffer(RICCI_BUFFER_INPUT, 0);
  const uint32_t first = Buffer(RICCI_BUFFER_OUTPUT, 0), second = Buffer(RICCI_BUFFER_OUTPUT, 1);
  Kernel(in, first);
  plan_.Step(RICCI_STEP_COPY, 0, {second, in});
  EXPECT_EQ(Make().waits, (Lists{{}, {0}, {0}, {1, 2}}));
  EXPECT_EQ(Make({-1, 0}).waits, (Lists{{}, {0}, {1}, {2}}));
}

// What asks is before the loop and at the end of its body, after which the loop decides again.
TEST_F(PlanGraphs, ALoopHasItsBodyAndAsksAgain) {
  plan_.n_inputs = plan_.n_outputs = 1;
  plan_.arena_bytes = 128;
  const uint32_t in = Buffer(RICCI_BUFFER_INPUT, 0), out = Buffer(RICCI_BUFFER_OUTPUT, 0);
  const uint32_t low = Buffer(RICCI_BUFFER_ARENA, 0, 0), predicate = Buffer(RICCI_BUFFER_ARENA, 0, 64, 1);
  Kernel(in, low);                               // step 0
  plan_.Step(RICCI_STEP_WHILE, 0, {predicate});  // step 1
  Kernel(low, predicate);                        // step 2
  plan_.Step(RICCI_STEP_COND, 0, {});            // step 3
  Kernel(in, low);                               // step 4
  plan_.Step(RICCI_STEP_END, 0, {});             // step 5
  plan_.Step(RICCI_STEP_COPY, 0, {out, low});    // step 6
  const cuda::PlanGraph g = Make();
  EXPECT_EQ(
      Text(g),
      "in graph 0: 0 set, 1 step 0 after 0, 2 step 2 after 1, 3 decide 0:1 after 2, 4 loop 1 after 3, 8 step 6 after "
      "4, 9 read after 8\n"
      "in graph 1: 5 step 4, 6 step 2 after 5, 7 decide 0:1 after 6\n");
  EXPECT_EQ(g.users, (Lists{{1, 5}, {8}, {1, 2, 3, 5, 6, 7, 8}, {0, 1, 2, 5, 6, 9}})) << "input, output, arena, checks";
}

// All are decided before one runs, since it may write over the number; one without steps gets no node.
TEST_F(PlanGraphs, ABranchBeginsAfterAllAreDecided) {
  const cuda::PlanGraph g = MakeCase();
  EXPECT_EQ(
      Text(g),
      "in graph 0: 0 set, 1 step 0 after 0, 2 decide 0:1 2:2 after 1, 3 branch 1 after 2, 4 branch 2 after 2, 7 read "
      "after 3 and 4\n"
      "in graph 1: 5 step 2\n"
      "in graph 2: 6 step 5\n");
}

// One node reads the number, so no join is needed; a branch without steps holds a node that does nothing.
TEST_F(PlanGraphs, AChoiceHasABodyForEachBranch) {
  has_choices_ = true;
  const cuda::PlanGraph g = MakeCase();
  EXPECT_EQ(Text(g),
            "in graph 0: 0 set, 1 step 0 after 0, 2 decide 0:1 after 1, 3 choice 0:1 1:2 2:3 after 2, 7 read after 3\n"
            "in graph 1: 4 step 2\n"
            "in graph 2: 5 join\n"
            "in graph 3: 6 step 5\n");
  EXPECT_TRUE(has_choices_in_plan_);
  EXPECT_EQ(g.users[1], (std::vector<uint32_t>{2})) << "the number";
}

// With one branch that has steps there is nothing to choose.
TEST_F(PlanGraphs, OneBranchWithStepsIsNoChoice) {
  has_choices_ = true;
  plan_.n_inputs = 2;
  plan_.n_outputs = 1;
  const uint32_t in = Buffer(RICCI_BUFFER_INPUT, 0), number = Buffer(RICCI_BUFFER_INPUT, 1, 0, 4);
  const uint32_t out = Buffer(RICCI_BUFFER_OUTPUT, 0);
  plan_.Step(RICCI_STEP_CASE, 2, {number});
  plan_.Step(RICCI_STEP_NEXT, 0, {});
  plan_.Step(RICCI_STEP_COPY, 0, {out, in});
  plan_.Step(RICCI_STEP_END, 0, {});
  EXPECT_EQ(Text(Make()),
            "in graph 0: 0 decide 1:1, 1 branch 1 after 0\n"
            "in graph 1: 2 step 2\n");
  EXPECT_FALSE(has_choices_in_plan_);
}

// A node decides about eight, and all are decided before one runs.
TEST_F(PlanGraphs, ManyBranches) {
  plan_.n_inputs = 2;
  plan_.n_outputs = 1;
  const uint32_t in = Buffer(RICCI_BUFFER_INPUT, 0), number = Buffer(RICCI_BUFFER_INPUT, 1, 0, 4);
  const uint32_t out = Buffer(RICCI_BUFFER_OUTPUT, 0);
  plan_.Step(RICCI_STEP_CASE, 18, {number});
  for (int branch = 0; branch < 18; ++branch) {
    if (branch != 0) plan_.Step(RICCI_STEP_NEXT, 0, {});
    if (branch == 7 || branch == 17) plan_.Step(RICCI_STEP_COPY, 0, {out, in});
  }
  plan_.Step(RICCI_STEP_END, 0, {});
  const std::string text = Text(Make());
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "in graph 0: 0 decide 7:1, 1 decide 17:2, 2 join after 0 and 1, 3 branch 1 after 2, 4 branch 2 after 2");
}

TEST_F(PlanGraphs, BranchesWithoutSteps) {
  plan_.n_inputs = 1;
  const uint32_t number = Buffer(RICCI_BUFFER_INPUT, 0, 0, 4);
  plan_.Step(RICCI_STEP_CASE, 2, {number});
  plan_.Step(RICCI_STEP_NEXT, 0, {});
  plan_.Step(RICCI_STEP_END, 0, {});
  EXPECT_EQ(Make().size(), 0u);
}

// A part of a plan: its steps alone, in the order that they need, without the word of failed checks.
TEST_F(PlanGraphs, APartHasItsStepsAlone) {
  plan_.n_inputs = plan_.n_outputs = 1;
  plan_.arena_bytes = 256;
  const uint32_t in = Buffer(RICCI_BUFFER_INPUT, 0), out = Buffer(RICCI_BUFFER_OUTPUT, 0);
  const uint32_t first = Buffer(RICCI_BUFFER_ARENA, 0, 0), second = Buffer(RICCI_BUFFER_ARENA, 0, 64);
  const uint32_t third = Buffer(RICCI_BUFFER_ARENA, 0, 128);
  Kernel(in, first);      // step 0
  Kernel(first, second);  // step 1
  Kernel(first, third);   // step 2
  Kernel(second, out);    // step 3
  is_whole_ = false;
  part_ = {1, 4};
  const cuda::PlanGraph g = Make();
  EXPECT_EQ(Text(g), "in graph 0: 0 step 1, 1 step 2, 2 step 3 after 0\n");
  EXPECT_EQ(g.users, (Lists{{}, {2}, {0, 1, 2}, {0, 1, 2}})) << "input, output, arena, checks";
}

}}  // namespace ricci::testing
