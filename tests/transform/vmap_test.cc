// vmap: one structural equation, and the same by batching rules: which results are batched, along which axis, and what
// is computed once for all elements.
#include "transform/vmap.h"

#include "transform/transform_fixture.h"

namespace ricci::testing { namespace {

using Axes = std::vector<int32_t>;

class Vmap : public TransformTest {
 protected:
  absl::StatusOr<ir::ProgramRef> Try(std::string_view text, const Axes& in, const Axes& out, int64_t size) {
    return transform::Vmap(*Parse(text), in, out, size, "", transform::Schedule::kAuto);
  }
  ir::ProgramRef Of(std::string_view text, const Axes& in, const Axes& out, int64_t size) {
    return Get(Try(text, in, out, size));
  }
};

constexpr std::string_view kScaled = R"(
program f(%x: f64[3], %a: f64[]) {
  %b: f64[3] = broadcast_in_dim(%a) shape=[3] broadcast_dimensions=[]
  %s: f64[3] = mul(%x, %b)
  return %s
})";

TEST_F(Vmap, IsOneEquation) {
  EXPECT_EQ(Text(Get(transform::Vmap(*Parse(kScaled), Axes{1, -1}, Axes{0}, 2, "i", transform::Schedule::kLanes))), R"(
program f(%0: f64[3,2], %1: f64[]) {
  %2: f64[2,3] = vmap(%0, %1) body=program f(%0: f64[3], %1: f64[]) {
    %2: f64[3] = broadcast_in_dim(%1) shape=[3] broadcast_dimensions=[]
    %3: f64[3] = mul(%0, %2)
    return %3
  } size=2 in_axes=[1,-1] out_axes=[0] axis_name="i" schedule="lanes"
  return %2
})");
}

// Every place of the batch among the dimensions of an operand and of a result.
TEST_F(Vmap, AxesAreThoseOfTheWholeArrays) {
  const Numbers rows = {1, 2, 3, 4, 5, 6}, columns = {1, 4, 2, 5, 3, 6};  // two vectors of three elements
  EXPECT_EQ(Run(Of(kScaled, {0, -1}, {0}, 2), {rows, {10}})[0], (Numbers{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(Run(Of(kScaled, {1, -1}, {0}, 2), {columns, {10}})[0], (Numbers{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(Run(Of(kScaled, {0, -1}, {1}, 2), {rows, {10}})[0], (Numbers{10, 40, 20, 50, 30, 60}));
  EXPECT_EQ(Run(Of(kScaled, {1, 0}, {1}, 2), {columns, {10, 100}})[0], (Numbers{10, 400, 20, 500, 30, 600}));
  EXPECT_EQ(Run(Of(kScaled, {-1, 0}, {0}, 2), {{1, 2, 3}, {10, 100}})[0], (Numbers{10, 20, 30, 100, 200, 300}));
}

constexpr std::string_view kTwo = R"(
program f(%x: f64[], %w: f64[]) {
  %s: f64[] = sin(%w)
  %p: f64[] = mul(%x, %s)
  return %s, %p, %w
})";

TEST_F(Vmap, AResultOutsideOfTheBatchIsComputedOnceOutside) {
  const ir::ProgramRef f = Of(kTwo, {0, -1}, {-1, 0, -1}, 4);
  EXPECT_EQ(Prims(f), "vmap sin");
  EXPECT_EQ(Prims(ir::ProgramRef(Held(f, 0))), "sin mul");
  EXPECT_EQ(f->type(f->results[0]).rank(), 0u);
  EXPECT_EQ(f->type(f->results[1]).rank(), 1u);
  const auto got = Run(f, {{1, 2, 3, 4}, {0.5}});
  const double s = std::sin(0.5);
  ExpectNear(got[0], {s}, 1e-15);
  ExpectNear(got[1], {s, 2 * s, 3 * s, 4 * s}, 1e-15);
  EXPECT_EQ(got[2], Numbers{0.5});
}

TEST_F(Vmap, AnUnbatchedResultMayStillBeGivenAnAxis) {
  EXPECT_EQ(Run(Of(kTwo, {0, -1}, {0, 0, 0}, 2), {{1, 2}, {0}}), (std::vector<Numbers>{{0, 0}, {0, 0}, {0, 0}}));
}

TEST_F(Vmap, WithoutABatchedResultNoEquationIsLeft) {
  EXPECT_EQ(Prims(Of("program f(%x: f64[], %w: f64[]) {\n  return %w\n}", {0, -1}, {-1}, 3)), "");
}

TEST_F(Vmap, OfSizeZero) {
  const ir::ProgramRef f = Of(kScaled, {0, -1}, {0}, 0);
  EXPECT_EQ(Run(f, {{}, {10}})[0], Numbers{});
}

TEST_F(Vmap, RefusesWhatHasNoMeaning) {
  EXPECT_EQ(ErrorOf(Try(kScaled, {0}, {0}, 2)),
            "vmap: program f has 2 parameters and 1 result; 1 in_axes and 1 out_axes are given");
  EXPECT_EQ(ErrorOf(Try(kScaled, {0, -1}, {0, 0}, 2)),
            "vmap: program f has 2 parameters and 1 result; 2 in_axes and 2 out_axes are given");
  EXPECT_EQ(ErrorOf(Try(kScaled, {0, -1}, {0}, -1)), "vmap: size -1 is negative");
  EXPECT_EQ(ErrorOf(Try(kScaled, {2, -1}, {0}, 2)),
            "vmap: in_axes 2 of parameter 0 is out of range for f64[3] with a batch dimension");
  EXPECT_EQ(ErrorOf(Try(kScaled, {-2, -1}, {0}, 2)),
            "vmap: in_axes -2 of parameter 0 is out of range for f64[3] with a batch dimension");
  EXPECT_EQ(
      ErrorOf(Try(kScaled, {0, -1}, {-1}, 2)),
      "vmap: result 0 of program f has out_axes -1, one value for the batch, but depends on parameter 0, which is "
      "batched; give it an axis");
  EXPECT_EQ(
      ErrorOf(Try(kTwo, {0, -1}, {-1, -1, -1}, 2)),
      "vmap: result 1 of program f has out_axes -1, one value for the batch, but depends on parameter 0, which is "
      "batched; give it an axis");
}

class Batch : public TransformTest {
 protected:
  transform::BatchProgram Of(std::string_view text, const Axes& in, const Mask& force = {}, int64_t size = 2) {
    return Get(transform::BatchAt(*Parse(text), in, size, "", force));
  }
};

TEST_F(Batch, WhatDependsOnNoBatchedParameterIsCopied) {
  const auto batch = Of(kTwo, {0, -1});
  EXPECT_EQ(batch.out_batched, (Mask{0, 1, 0}));
  EXPECT_EQ(Text(batch.program), R"(
program f(%0: f64[2], %1: f64[]) {
  %2: f64[] = sin(%1)
  %3: f64[2] = broadcast_in_dim(%2) shape=[2] broadcast_dimensions=[]
  %4: f64[2] = mul(%0, %3)
  return %2, %4, %1
})");
}

TEST_F(Batch, AForcedResultIsRepeated) {
  const auto batch = Of(kTwo, {0, -1}, {0, 0, 1});
  EXPECT_EQ(batch.out_batched, (Mask{0, 1, 1}));
  EXPECT_EQ(Run(batch.program, {{1, 2}, {0}}), (std::vector<Numbers>{{0}, {0, 0}, {0, 0}}));
}

TEST_F(Batch, NothingBatchedIsACopy) {
  const ir::ProgramRef f = Parse(kTwo);
  const auto batch = Get(transform::Batch(*f, Mask{0, 0}, 5, ""));
  EXPECT_EQ(batch.out_batched, (Mask{0, 0, 0}));
  EXPECT_EQ(Text(batch.program), Text(f));
}

// The batch of a parameter may be any axis; in results it is axis 0.
TEST_F(Batch, ResultsHaveTheBatchInFront) {
  const auto batch = Of(kScaled, {1, -1});
  EXPECT_EQ(batch.out_batched, Mask{1});
  EXPECT_EQ(Run(batch.program, {{1, 4, 2, 5, 3, 6}, {10}})[0], (Numbers{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(Text(Of("program f(%x: f64[3]) {\n  return %x\n}", {1}).program), R"(
program f(%0: f64[3,2]) {
  %1: f64[2,3] = transpose(%0) permutation=[1,0]
  return %1
})");
}

// Batched along different axes, and by size 1: the lanes of an elementwise operation still meet.
TEST_F(Batch, OperandsWithDifferentAxesAreAligned) {
  constexpr std::string_view kSub = "program f(%x: f64[3], %y: f64[3]) {\n  %s: f64[3] = sub(%x, %y)\n  return %s\n}";
  EXPECT_EQ(Run(Of(kSub, {0, 1}).program, {{10, 20, 30, 40, 50, 60}, {1, 4, 2, 5, 3, 6}})[0],
            (Numbers{9, 18, 27, 36, 45, 54}));
  EXPECT_EQ(Run(Of(kSub, {-1, 1}).program, {{10, 20, 30}, {1, 4, 2, 5, 3, 6}})[0], (Numbers{9, 18, 27, 6, 15, 24}));
  EXPECT_EQ(Run(Of(kSub, {1, 0}, {}, 1).program, {{10, 20, 30}, {1, 2, 3}})[0], (Numbers{9, 18, 27}));
}

TEST_F(Batch, IsTheSameAsTheVmapEquation) {
  constexpr std::string_view kText = R"(
program f(%w: f64[2,3], %x: f64[3]) {
  %p: f64[2] = dot_general(%w, %x) lhs_contract=[1] rhs_contract=[0]
  %s: f64[2] = sin(%p)
  %r: f64[] = reduce_max(%s) axes=[0]
  return %s, %r
})";
  const Numbers w = {1, -2, 3, 0.5, 4, -1}, xs = {1, 2, 3, -4, 5, 6, 0.1, 0.2, 0.3, 7, -8, 9};
  const ir::ProgramRef f = Parse(kText);
  const auto mapped = Get(transform::Vmap(*f, Axes{-1, 0}, Axes{0, 0}, 4, "", transform::Schedule::kAuto));
  const auto batch = Get(transform::Batch(*f, Mask{0, 1}, 4, ""));
  const auto got = Run(batch.program, {w, xs}), want = Run(mapped, {w, xs});
  ASSERT_EQ(got.size(), 2u);
  for (size_t i = 0; i < 2; ++i) ExpectNear(got[i], want[i], 1e-15);
}

TEST_F(Batch, AProgramHeldTwiceIsBatchedOnce) {
  const ir::ProgramRef held = Parse("program g(%x: f64[]) {\n  %s: f64[] = sin(%x)\n  return %s\n}");
  const uint64_t before = Uses("sin", prim::Rule::kBatch);
  const auto batch = Get(transform::Batch(*Calls(held, 4), Mask{1}, 3, ""));
  EXPECT_EQ(Uses("sin", prim::Rule::kBatch) - before, 1u);
  ASSERT_EQ(batch.program->equations.size(), 4u);
  for (size_t e = 1; e < 4; ++e) EXPECT_EQ(Held(batch.program, e), Held(batch.program, 0));
}

TEST_F(Batch, ALongChainNeedsNoDeepStack) {
  constexpr int kLong = 100'000;
  const auto batch = Get(transform::Batch(*Chain("neg", kLong), Mask{1}, 3, ""));
  EXPECT_EQ(batch.program->equations.size(), size_t{kLong});
}

}  // namespace
}  // namespace ricci::testing
