// Broken plans: each violation is found, and reported with buffer and step.
#include <gtest/gtest.h>

#include "kernel/kernel.h"
#include "kernel/writer.h"

namespace ricci::kernel { namespace {

constexpr int64_t kShape[] = {4};
constexpr types::ArrayType kFloats{RICCI_F32, kShape, 4, 16};

Kernel Must(Writer& w) {
  auto k = w.Finish();
  EXPECT_TRUE(k.ok()) << k.status();
  return k.ok() ? *std::move(k) : Kernel();
}

// b1[i] = b0[i] + b0[i], or b0[3 - i] twice.
Kernel Twice(uint32_t dtype, bool mirrored) {
  Writer w(mirrored ? "mirror" : "twice");
  const int64_t n = 4;
  const uint32_t x = w.Buffer(dtype, n, RICCI_ACCESS_READ), y = w.Buffer(dtype, n, RICCI_ACCESS_READ_WRITE);
  Val i = 0;
  w.Parallel({&n, 1}, &i);
  const Val v = w.Load(x, mirrored ? w.Sub(w.Index(3), i) : i);
  w.Store(y, i, w.Add(v, v));
  w.End();
  return Must(w);
}
// Writes one number everywhere; as an update it requires earlier contents.
Kernel Fill(uint32_t dtype, int64_t n, bool updates = false) {
  Writer w("fill");
  const uint32_t y = w.Buffer(dtype, n, RICCI_ACCESS_READ_WRITE);
  Val i = 0;
  w.Parallel({&n, 1}, &i);
  w.Store(y, i, w.Const(dtype, 0));
  w.End();
  Kernel k = Must(w);
  if (updates) k.updates = 0;
  return k;
}

enum : uint32_t { kTwice, kMirror, kTwiceInts, kFill, kUpdate, kFillBool, kFillIndex };

// A plan with input 0, output 1 and arena buffers 2, 3, ... of 16 bytes.
struct Broken {
  Plan plan;
  std::vector<Kernel> kernels;
  std::vector<uint8_t> donate{0};
  std::vector<int32_t> alias;
  bool has_offsets = true;

  explicit Broken(uint32_t arena_buffers = 2) {
    kernels.push_back(Twice(RICCI_F32, false));
    kernels.push_back(Twice(RICCI_F32, true));
    kernels.push_back(Twice(RICCI_I32, false));
    kernels.push_back(Fill(RICCI_F32, 4));
    kernels.push_back(Fill(RICCI_F32, 4, /*updates=*/true));
    kernels.push_back(Fill(RICCI_BOOL, 1));
    kernels.push_back(Fill(RICCI_I32, 1));
    plan.n_inputs = plan.n_outputs = 1;
    plan.buffers.push_back({RICCI_BUFFER_INPUT, 0, 16, 0, nullptr});
    plan.buffers.push_back({RICCI_BUFFER_OUTPUT, 0, 16, 0, nullptr});
    for (uint32_t i = 0; i < arena_buffers; ++i) {
      plan.buffers.push_back({RICCI_BUFFER_ARENA, 0, 16, plan.arena_bytes, nullptr});
      plan.arena_bytes += 64;
    }
  }
  void Run(uint32_t kernel, std::initializer_list<uint32_t> buffers) { plan.Step(RICCI_STEP_KERNEL, kernel, buffers); }
  void Copy(uint32_t to, uint32_t from) { plan.Step(RICCI_STEP_COPY, 0, {to, from}); }
  void Mark(uint32_t kind, uint32_t index = 0) { plan.Step(kind, index, std::initializer_list<uint32_t>{}); }
  // Another buffer, of one bool or i32, in the arena.
  uint32_t Scalar() {
    plan.buffers.push_back({RICCI_BUFFER_ARENA, 0, 4, plan.arena_bytes, nullptr});
    plan.arena_bytes += 64;
    return static_cast<uint32_t>(plan.buffers.size() - 1);
  }
  std::string Check() const {
    PlanFacts facts;
    facts.inputs = {kFloats};
    facts.outputs = {kFloats};
    facts.donate = donate;
    facts.output_alias = alias;
    facts.has_offsets = has_offsets;
    return std::string(VerifyPlan(plan, kernels, facts).message());
  }
};

// ---- what must pass ----
TEST(VerifyPlan, ChainsAndLoopsAndBranchesAreFine) {
  Broken p(2);
  const uint32_t flag = p.Scalar(), which = p.Scalar();
  p.Run(kTwice, {0, 2});
  p.plan.Step(RICCI_STEP_WHILE, 0, {flag});
  p.Run(kFillBool, {flag});
  p.Mark(RICCI_STEP_COND);
  p.Run(kTwice, {2, 3});
  p.Copy(2, 3);
  p.Mark(RICCI_STEP_END);
  p.Run(kFillIndex, {which});
  p.plan.Step(RICCI_STEP_CASE, 2, {which});
  p.Run(kTwice, {2, 1});
  p.Mark(RICCI_STEP_NEXT);
  p.Run(kMirror, {2, 1});
  p.Mark(RICCI_STEP_END);
  EXPECT_EQ(p.Check(), "");
}

TEST(VerifyPlan, ALoopKnownToRunWritesWhatItWrites) {
  Broken p(0);
  const uint32_t flag = p.Scalar();
  p.plan.Step(RICCI_STEP_WHILE, 3, {flag});
  p.Run(kFillBool, {flag});
  p.Mark(RICCI_STEP_COND);
  p.Run(kFill, {1});
  p.Mark(RICCI_STEP_END);
  EXPECT_EQ(p.Check(), "");
}

TEST(VerifyPlan, BuffersWhoseLivesAreApartShareMemory) {
  Broken p(3);
  p.Run(kTwice, {0, 2});
  p.Run(kTwice, {2, 3});
  p.Run(kTwice, {3, 4});
  p.Copy(1, 4);
  p.plan.buffers[4].offset = p.plan.buffers[2].offset;
  EXPECT_EQ(p.Check(), "");
}

// ---- values ----
TEST(VerifyPlan, ReadBeforeWritten) {
  Broken p;
  p.Run(kTwice, {2, 1});
  EXPECT_EQ(p.Check(), "plan: step 0: buffer 2 is read but not written on every path to here");
}

TEST(VerifyPlan, CopiedBeforeWritten) {
  Broken p;
  p.Copy(1, 2);
  EXPECT_EQ(p.Check(), "plan: step 0: buffer 2 is read but not written on every path to here");
}

TEST(VerifyPlan, AResultIsNeverWritten) {
  Broken p;
  p.Run(kTwice, {0, 2});
  EXPECT_EQ(p.Check(), "plan: end: buffer 1 is read but not written on every path to here");
}

TEST(VerifyPlan, AnUpdateNeedsWhatItUpdates) {
  Broken p;
  p.Run(kUpdate, {1});
  EXPECT_EQ(p.Check(), "plan: step 0: buffer 1 is read but not written on every path to here");
  Broken fine;
  fine.Copy(1, 0);
  fine.Run(kUpdate, {1});
  EXPECT_EQ(fine.Check(), "");
}

TEST(VerifyPlan, ALoopMayRunNoTrip) {
  Broken p;
  const uint32_t flag = p.Scalar();
  p.plan.Step(RICCI_STEP_WHILE, 0, {flag});
  p.Run(kFillBool, {flag});
  p.Mark(RICCI_STEP_COND);
  p.Run(kFill, {1});
  p.Mark(RICCI_STEP_END);
  EXPECT_EQ(p.Check(), "plan: end: buffer 1 is read but not written on every path to here");
}

TEST(VerifyPlan, TheFirstTripReadsWhatOnlyLaterOnesFind) {
  Broken p;
  const uint32_t flag = p.Scalar();
  p.plan.Step(RICCI_STEP_WHILE, 3, {flag});
  p.Run(kFillBool, {flag});
  p.Mark(RICCI_STEP_COND);
  p.Run(kTwice, {2, 3});
  p.Copy(2, 3);
  p.Mark(RICCI_STEP_END);
  EXPECT_EQ(p.Check(), "plan: step 3: buffer 2 is read but not written on every path to here");
}

TEST(VerifyPlan, ThePredicateIsWrittenByTheCondition) {
  Broken p;
  const uint32_t flag = p.Scalar();
  p.plan.Step(RICCI_STEP_WHILE, 0, {flag});
  p.Mark(RICCI_STEP_COND);
  p.Mark(RICCI_STEP_END);
  EXPECT_EQ(p.Check(), "plan: step 1: buffer 4 is read but not written on every path to here");
}

TEST(VerifyPlan, OneBranchDoesNotWrite) {
  Broken p;
  const uint32_t which = p.Scalar();
  p.Run(kFillIndex, {which});
  p.plan.Step(RICCI_STEP_CASE, 3, {which});
  p.Run(kTwice, {0, 1});
  p.Mark(RICCI_STEP_NEXT);
  p.Run(kFill, {2});
  p.Mark(RICCI_STEP_NEXT);
  p.Run(kTwice, {0, 1});
  p.Mark(RICCI_STEP_END);
  EXPECT_EQ(p.Check(), "plan: end: buffer 1 is read but not written on every path to here");
}

TEST(VerifyPlan, ABranchReadsWhatAnotherWrites) {
  Broken p;
  const uint32_t which = p.Scalar();
  p.Run(kFillIndex, {which});
  p.plan.Step(RICCI_STEP_CASE, 2, {which});
  p.Run(kTwice, {0, 2});
  p.Copy(1, 2);
  p.Mark(RICCI_STEP_NEXT);
  p.Copy(1, 2);
  p.Mark(RICCI_STEP_END);
  EXPECT_EQ(p.Check(), "plan: step 5: buffer 2 is read but not written on every path to here");
}

TEST(VerifyPlan, ElementsOfAnotherType) {
  Broken p;
  p.Run(kTwice, {0, 2});
  p.Run(kTwiceInts, {2, 3});
  EXPECT_EQ(p.Check(), "plan: step 1: buffer 2 holds f32 but is read as i32");
  Broken input;
  input.Run(kTwiceInts, {0, 1});
  EXPECT_EQ(input.Check(), "plan: step 0: buffer 0 holds f32 but is read as i32");
}

TEST(VerifyPlan, AResultOfAnotherType) {
  Broken p;
  p.kernels[kFill] = Fill(RICCI_I32, 4);
  p.Run(kFill, {1});
  EXPECT_EQ(p.Check(), "plan: end: buffer 1 holds i32 but is read as f32");
}

TEST(VerifyPlan, AParameterOfAnotherSize) {
  Broken p;
  p.plan.buffers[0].bytes = 12;
  EXPECT_EQ(p.Check(), "plan: buffer 0 has 12 bytes, but parameter 0 is f32[4] of 16");
}

TEST(VerifyPlan, AResultWithoutABuffer) {
  Broken p;
  p.plan.buffers[1] = {RICCI_BUFFER_ARENA, 0, 16, 0, nullptr};
  EXPECT_EQ(p.Check(), "plan: result 0 has no buffer");
  p.plan.n_outputs = 2;
  EXPECT_EQ(p.Check(), "plan: takes 1 and gives 2 arrays, the program 1 and 1");
}

// ---- memory ----
TEST(VerifyPlan, BuffersThatLiveAtOnceOverlap) {
  Broken p(3);
  p.Run(kTwice, {0, 2});
  p.Run(kTwice, {0, 3});
  p.Run(kTwice, {2, 4});
  p.Run(kTwice, {3, 1});
  p.plan.buffers[3].offset = p.plan.buffers[2].offset + 8;
  EXPECT_EQ(p.Check(), "plan: buffers 2 and 3 overlap in the arena at byte 8, but live in steps 0 to 2 and 1 to 3");
}

TEST(VerifyPlan, AnOperandAndAResultAreLiveInTheirCommonStep) {
  Broken p(2);
  p.Run(kTwice, {0, 2});
  p.Run(kTwice, {2, 3});
  p.Copy(1, 3);
  p.plan.buffers[3].offset = p.plan.buffers[2].offset;
  EXPECT_EQ(p.Check(), "plan: buffers 3 and 2 overlap in the arena at byte 0, but live in steps 1 to 2 and 0 to 1");
}

// What a loop reads from before it must live to its end, though its last use is before the other buffer's first.
TEST(VerifyPlan, ALoopKeepsWhatItReadsFromOutside) {
  Broken p(3);
  const uint32_t flag = p.Scalar();
  p.Run(kTwice, {0, 2});
  p.plan.Step(RICCI_STEP_WHILE, 3, {flag});
  p.Run(kFillBool, {flag});
  p.Mark(RICCI_STEP_COND);
  p.Run(kTwice, {2, 3});
  p.Run(kTwice, {3, 4});
  p.Run(kTwice, {4, 1});
  p.Mark(RICCI_STEP_END);
  p.plan.buffers[4].offset = p.plan.buffers[2].offset;
  EXPECT_EQ(p.Check(), "plan: buffers 4 and 2 overlap in the arena at byte 0, but live in steps 5 to 6 and 0 to 7");
  p.plan.buffers[4].offset = 128;
  EXPECT_EQ(p.Check(), "");
}

// All trips write slices of a stack, so nothing else may lie there meanwhile.
TEST(VerifyPlan, ALoopKeepsWhatIsReadAfterIt) {
  Broken p(3);
  const uint32_t flag = p.Scalar();
  p.plan.Step(RICCI_STEP_WHILE, 3, {flag});
  p.Run(kFillBool, {flag});
  p.Mark(RICCI_STEP_COND);
  p.Run(kTwice, {0, 2});
  p.Run(kTwice, {2, 3});
  p.Run(kTwice, {3, 4});
  p.Mark(RICCI_STEP_END);
  p.Copy(1, 4);
  p.plan.buffers[4].offset = p.plan.buffers[2].offset;
  EXPECT_EQ(p.Check(), "plan: buffers 2 and 4 overlap in the arena at byte 0, but live in steps 3 to 4 and 0 to 7");
}

TEST(VerifyPlan, ABufferLeavesTheArena) {
  Broken p;
  p.plan.buffers[3].offset = 120;
  EXPECT_EQ(p.Check(), "plan: buffer 3 leaves the arena");
  p.has_offsets = false;
  p.Copy(1, 0);
  EXPECT_EQ(p.Check(), "") << "it has no place yet";
}

TEST(VerifyPlan, AKernelWritesOverWhatItHasYetToRead) {
  Broken p;
  p.Run(kTwice, {0, 2});
  p.Run(kTwice, {2, 2});
  p.Copy(1, 2);
  EXPECT_EQ(p.Check(), "") << "in place";
  p.plan.steps[1].index = kMirror;
  EXPECT_EQ(p.Check(), "plan: step 1: kernel mirror writes buffer 2 at places other than where it reads it");
}

TEST(VerifyPlan, DonatedMemory) {
  Broken p;
  p.Run(kTwice, {0, 1});
  p.alias = {0};
  EXPECT_EQ(p.Check(), "plan: result 0 takes the memory of parameter 0, which is not donated");
  p.donate = {1};
  EXPECT_EQ(p.Check(), "");
  p.plan.steps[0].index = kMirror;
  EXPECT_EQ(p.Check(), "plan: result 0 takes the memory of parameter 0, which is read after the result is written");
  p.plan.steps[0].index = kTwice;
  p.Run(kTwice, {0, 2});
  EXPECT_EQ(p.Check(), "plan: result 0 takes the memory of parameter 0, which is read after the result is written");
  p.alias = {3};
  EXPECT_EQ(p.Check(), "plan: result 0 takes the memory of parameter 3, which is not there");
}

// ---- form ----
TEST(VerifyPlan, Form) {
  Broken p;
  p.Run(kTwice, {0, 9});
  EXPECT_EQ(p.Check(), "plan: step 0: an argument is not a buffer");
  p.plan.args[1] = 0;
  EXPECT_EQ(p.Check(), "plan: step 0: argument 1 is written but must not be");
  p.plan.steps[0].kind = 77;
  EXPECT_EQ(p.Check(), "plan: step 0: there is no step of kind 77");
  p.plan.buffers[2].kind = 9;
  EXPECT_EQ(p.Check(), "plan: buffer 2 is of no kind");
  p.plan.buffers[0].index = 1;
  EXPECT_EQ(p.Check(), "plan: buffer 0 is not an input");
}

}  // namespace
}  // namespace ricci::kernel
