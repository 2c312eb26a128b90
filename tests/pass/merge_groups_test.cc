// Which kernels are merged, which stay separate, and that their results stay the same.
#include <random>

#include "pass/lowered_program.h"

namespace ricci::testing { namespace {

using MergeGroups = LoweredProgram;

// Rows [rows, width] through `body`, which defines %r from %x.
std::string Rows(int64_t rows, int64_t width, std::string body) {
  const std::string column = std::to_string(rows), shape = column + "," + std::to_string(width);
  for (const auto& [name, text] : {std::pair<std::string, std::string>{"SHAPE", shape}, {"ROWS", column}}) {
    for (size_t at = 0; (at = body.find(name, at)) != std::string::npos;) body.replace(at, name.size(), text);
  }
  return "program f(%x: f32[" + shape + "]) {\n" + body + "\n return %r }";
}

constexpr char kSoftmax[] = R"(
  %m: f32[ROWS] = reduce_max(%x) axes=[1]
  %mb: f32[SHAPE] = broadcast_in_dim(%m) shape=[SHAPE] broadcast_dimensions=[0]
  %s: f32[SHAPE] = sub(%x, %mb)
  %e: f32[SHAPE] = exp(%s)
  %t: f32[ROWS] = reduce_sum(%e) axes=[1]
  %tb: f32[SHAPE] = broadcast_in_dim(%t) shape=[SHAPE] broadcast_dimensions=[0]
  %r: f32[SHAPE] = div(%e, %tb))";

constexpr char kLayerNorm[] = R"(
  %c: f32[ROWS] = constant 0.015625
  %sum: f32[ROWS] = reduce_sum(%x) axes=[1]
  %mean: f32[ROWS] = mul(%sum, %c)
  %mb: f32[SHAPE] = broadcast_in_dim(%mean) shape=[SHAPE] broadcast_dimensions=[0]
  %d: f32[SHAPE] = sub(%x, %mb)
  %dd: f32[SHAPE] = mul(%d, %d)
  %v: f32[ROWS] = reduce_sum(%dd) axes=[1]
  %eps: f32[ROWS] = constant 1.0e-5
  %ve: f32[ROWS] = add(%v, %eps)
  %i: f32[ROWS] = rsqrt(%ve)
  %ib: f32[SHAPE] = broadcast_in_dim(%i) shape=[SHAPE] broadcast_dimensions=[0]
  %r: f32[SHAPE] = mul(%d, %ib))";

TEST_F(MergeGroups, SoftmaxIsOneKernelWithAPrivateRow) {
  const auto l = Lower(Rows(64, 1024, kSoftmax));
  ASSERT_EQ(Kernels(*l), "fusion_reduce_max_exp_reduce_sum[64]");
  EXPECT_EQ(kernel::ToText(l->kernels[0]),
            R"(kernel fusion_reduce_max_exp_reduce_sum(b0: f32[65536] read, b1: f32[65536] write) domain [64] {
  %3: i64 = domain 0
  reduce max %4 in 0..1024 {
    %5: i64 = mul %3, 1024
    %6: i64 = add %5, %4
    %7: f32 = load b0[%6]
  } %8: f32 = yield %7
  %9 = local f32[1024]
  for %10 in 0..1024 parallel {
    %11: i64 = mul %3, 1024
    %12: i64 = add %11, %10
    %13: f32 = load b0[%12]
    %14: f32 = sub %13, %8
    %15: f32 = exp %14
    set %9[%10] = %15
  }
  reduce add %18 in 0..1024 {
    %19: f32 = get %9[%18]
  } %20: f32 = yield %19
  for %21 in 0..1024 parallel {
    %22: f32 = get %9[%21]
    %23: f32 = div %22, %20
    %24: i64 = mul %3, 1024
    %25: i64 = add %24, %21
    store b1[%25] = %23
  }
}
)");
  ExpectSameAsReference(Rows(5, 33, kSoftmax));
}

TEST_F(MergeGroups, LayerNormComputesCheapThingsAgain) {
  const auto l = Lower(Rows(64, 1024, kLayerNorm));
  ASSERT_EQ(Kernels(*l), "fusion_reduce_sum_rsqrt_mul[64]");
  EXPECT_EQ(kernel::ToText(l->kernels[0]).find("local"), std::string::npos);
  ExpectSameAsReference(Rows(5, 33, kLayerNorm));
}

TEST_F(MergeGroups, FewLongRowsStayApart) {
  EXPECT_EQ(Kernels(*Lower(Rows(4, 1 << 20, kSoftmax))).find("reduce_max[4]"), 0u);
  EXPECT_EQ(Kernels(*Lower(Rows(4, 64, kSoftmax))), "fusion_reduce_max_exp_reduce_sum[4]")
      << "small ones do not matter";
}

TEST_F(MergeGroups, ManyShortRowsStayInOrder) {
  EXPECT_EQ(Kernels(*Lower(Rows(1 << 18, 3, kSoftmax))).find("reduce_max["), 0u);
}

TEST_F(MergeGroups, RowsOfSeveralDimensions) {
  constexpr char kText[] = R"(program f(%x: f32[2,3,4,5]) {
  %m: f32[2,3,4] = reduce_max(%x) axes=[3]
  %b: f32[2,3,4,5] = broadcast_in_dim(%m) shape=[2,3,4,5] broadcast_dimensions=[0,1,2]
  %e: f32[2,3,4,5] = sub(%x, %b)
  %s: f32[2,3] = reduce_sum(%e) axes=[2,3]
  return %s, %m })";
  EXPECT_EQ(Kernels(*Lower(kText)), "fusion_reduce_max_sub_reduce_sum[2,3]");
  ExpectSameAsReference(kText);
}

TEST_F(MergeGroups, UpdatesThatReadTheSameArraysAreOneLoop) {
  constexpr char kText[] = R"(program adam(%p: f32[10,20], %m: f32[10,20], %v: f32[10,20], %g: f32[10,20]) {
  %a: f32[10,20] = constant 0.9
  %b: f32[10,20] = constant 0.1
  %m1: f32[10,20] = mul(%m, %a)
  %m2: f32[10,20] = mul(%g, %b)
  %m3: f32[10,20] = add(%m1, %m2)
  %gg: f32[10,20] = mul(%g, %g)
  %v1: f32[10,20] = mul(%v, %a)
  %v2: f32[10,20] = mul(%gg, %b)
  %v3: f32[10,20] = add(%v1, %v2)
  %s: f32[10,20] = sqrt(%v3)
  %s1: f32[10,20] = add(%s, %b)
  %u: f32[10,20] = div(%m3, %s1)
  %p1: f32[10,20] = sub(%p, %u)
  return %p1, %m3, %v3 })";
  const auto l = Lower(kText);
  ASSERT_EQ(Kernels(*l), "fusion_sqrt_div_sub[200]");
  size_t loads = 0;
  for (const ricci_inst& inst : l->kernels[0].insts) loads += inst.op == RICCI_K_LOAD;
  EXPECT_EQ(loads, 4u);
  ExpectSameAsReference(kText);
}

TEST_F(MergeGroups, AReductionAlongColumnsTakesWhatFollowsIt) {
  constexpr char kText[] = R"(program f(%x: f32[30,20], %p: f32[20]) {
  %s: f32[20] = reduce_sum(%x) axes=[0]
  %r: f32[20] = sub(%p, %s)
  return %r })";
  EXPECT_EQ(Kernels(*Lower(kText)), "fusion_reduce_sum_sub[20]");
  ExpectSameAsReference(kText);
}

TEST_F(MergeGroups, OtherRowsAreAnotherKernel) {
  constexpr char kText[] = R"(program f(%x: f32[20,20]) {
  %e: f32[20,20] = exp(%x)
  %t: f32[20,20] = transpose(%e) permutation=[1,0]
  %s: f32[20,20] = add(%e, %t)
  return %s, %e })";
  EXPECT_EQ(Kernels(*Lower(kText)), "exp[400] fusion_transpose_add[20,20]");
  ExpectSameAsReference(kText);
}

TEST_F(MergeGroups, AProductBetweenKeepsThemApart) {
  constexpr char kText[] = R"(program f(%x: f32[20,20]) {
  %e: f32[20,20] = exp(%x)
  %d: f32[20,20] = dot_general(%e, %e) lhs_contract=[1] rhs_contract=[0]
  %s: f32[20,20] = add(%e, %d)
  return %s })";
  EXPECT_EQ(Kernels(*Lower(kText)), "exp[400] dot_general[20,20] add[400]");
  ExpectSameAsReference(kText);
}

// It promises to read once, but its loop runs over columns.
TEST_F(MergeGroups, ALoweringThatDoesNotLoopOverRowsRunsAlone) {
  constexpr auto kType = [](void*, ricci_builder* b, const ricci_op* op) {
    return ricci_builder_set_out_types(b, op->in_types, 1);
  };
  constexpr auto kLoops = [](void*, ricci_kernel_builder* k, const ricci_op*) -> ricci_status* {
    const int64_t extents[] = {3, 4};
    ricci_sval at[2], v = 0;
    if (ricci_status* s = ricci_kernel_parallel(k, extents, 2, at)) return s;
    const ricci_sval index[] = {at[1], at[0]};
    if (ricci_status* s = ricci_kernel_load(k, ricci_kernel_operand(k, 0), index, 2, &v)) return s;
    if (ricci_status* s = ricci_kernel_store(k, ricci_kernel_result(k, 0), index, 2, v)) return s;
    return ricci_kernel_end(k);
  };
  ricci_lowering by_columns{};
  by_columns.hdr.size = sizeof by_columns;
  by_columns.kind = RICCI_LOWER_LOOPS;
  by_columns.target = {"*", 1};
  by_columns.loops = kLoops;
  const ricci_lowering* const lowerings[] = {&by_columns};
  ricci_prim_def d{};
  d.hdr = {sizeof d, RICCI_PRIM_READS_ONCE, nullptr};
  d.name = {"test.columns", 12};
  d.abstract_eval = kType;
  d.factors = {"a b -> a b", 10};
  d.lowerings = lowerings;
  d.n_lowerings = 1;
  ricci_prim id = 0;
  ASSERT_TRUE(Ok(ricci_prim_register(ctx, &d, &id)));
  constexpr char kText[] = R"(program f(%x: f32[4,3]) {
  %c: f32[4,3] = test.columns(%x)
  %s: f32[4] = reduce_sum(%c) axes=[1]
  return %s })";
  EXPECT_EQ(Kernels(*Lower(kText)), "test.columns[3,4] reduce_sum[4]");
  ExpectSameAsReference(kText);
}

TEST_F(MergeGroups, FactorsAreAskedForOncePerEquation) {
  static constexpr std::string_view kName = "test.same", kFactors = "a b -> a b", kTarget = "*";
  int asked = 0;
  ricci_lowering scalar{};
  scalar.hdr.size = sizeof scalar;
  scalar.kind = RICCI_LOWER_SCALAR;
  scalar.target = {kTarget.data(), kTarget.size()};
  scalar.scalar = [](void*, ricci_kernel_builder*, const ricci_op*, const ricci_sval* in, ricci_sval* out) {
    out[0] = in[0];
    return static_cast<ricci_status*>(nullptr);
  };
  const ricci_lowering* const lowerings[] = {&scalar};
  ricci_prim_def d{};
  d.hdr.size = sizeof d;
  d.name = {kName.data(), kName.size()};
  d.self = &asked;
  d.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) {
    return ricci_builder_set_out_types(b, op->in_types, 1);
  };
  d.factors_of = [](void* self, const ricci_op*, void* sink, void (*write)(void*, const char*, size_t)) {
    ++*static_cast<int*>(self);
    write(sink, kFactors.data(), kFactors.size());
    return static_cast<ricci_status*>(nullptr);
  };
  d.lowerings = lowerings;
  d.n_lowerings = 1;
  ASSERT_TRUE(Ok(ricci_prim_register(ctx, &d, nullptr)));
  std::string body = kSoftmax;
  for (size_t at = 0; (at = body.find("%x", at)) != std::string::npos;) body.replace(at, 2, "%c");
  const auto l = Lower(Rows(64, 1024, "%c: f32[SHAPE] = test.same(%x)" + body));
  EXPECT_EQ(Kernels(*l), "fusion_reduce_max_exp_reduce_sum[64]");
  EXPECT_EQ(asked, 1);
}

// ---- random programs over rows ----
class RandomRows {
 public:
  explicit RandomRows(uint32_t seed) : random_(seed) {}

  std::string Text() {
    std::string text = "program f(%a: f32[6,5], %b: f32[6], %c: f32[5], %d: f32[6,5]) {\n";
    values_ = {{"a", "d"}, {"b"}, {"c"}};
    for (int i = 0; i < 24; ++i) text += "  " + Equation("v" + std::to_string(i)) + "\n";
    std::string results;
    for (const auto& list : values_) {
      for (size_t i = 0; i < list.size(); ++i) {
        if (i + 1 == list.size() || Pick(4) == 0) results += (results.empty() ? "%" : ", %") + list[i];
      }
    }
    return text + "  return " + results + "\n}";
  }

 private:
  enum Shape { kBoth, kRow, kColumn };
  static constexpr std::string_view kShapes[] = {"f32[6,5]", "f32[6]", "f32[5]"};

  size_t Pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  std::string Any(Shape s) {
    const auto& list = values_[s];
    return "%" + list[list.size() - 1 - Pick(std::min<size_t>(list.size(), 4))];
  }
  std::string Define(const std::string& name, Shape s, const std::string& what) {
    values_[s].push_back(name);
    return "%" + name + ": " + std::string(kShapes[s]) + " = " + what;
  }
  std::string Equation(const std::string& name) {
    constexpr std::string_view kUnary[] = {"tanh", "neg", "sin", "logistic"}, kBinary[] = {"add", "mul", "sub", "max"},
                               kReduce[] = {"reduce_sum", "reduce_max"};
    const auto s = static_cast<Shape>(Pick(3));
    const auto to = [](std::string_view op, const std::string& args) { return std::string(op) + "(" + args + ")"; };
    switch (Pick(6)) {
      case 0:
        return Define(name, s, to(kUnary[Pick(4)], Any(s)));
      case 1:
      case 2:
        return Define(name, s, to(kBinary[Pick(4)], Any(s) + ", " + Any(s)));
      case 3:
        return Define(name, kRow, to(kReduce[Pick(2)], Any(kBoth)) + " axes=[1]");
      case 4:
        if (Pick(4) == 0) return Define(name, kColumn, to(kReduce[Pick(2)], Any(kBoth)) + " axes=[0]");
        if (Pick(4) == 0) return Define(name, kBoth, to("rev", Any(kBoth)) + " dimensions=[" + (Pick(2) ? "0]" : "1]"));
        return Define(name, kBoth, to("cumsum", Any(kBoth)) + " axis=" + (Pick(2) ? "0" : "1") + " reverse=false");
      default:
        const bool row = Pick(2) != 0;
        return Define(name, kBoth,
                      to("broadcast_in_dim", Any(row ? kRow : kColumn)) + " shape=[6,5] broadcast_dimensions=[" +
                          (row ? "0]" : "1]"));
    }
  }

  std::mt19937 random_;
  std::vector<std::vector<std::string>> values_;
};

// Parts of an array whose dimension of size 1 is dropped by reshape, and their sum: read once, as with squeeze.
TEST_F(MergeGroups, ReshapesThatDropADimensionKeepToTheirRows) {
  constexpr char kText[] = R"(program f(%x: f32[3,500,400]) {
  %s: f32[500,400] = reduce_sum(%x) axes=[0]
  %a: f32[1,500,400] = slice(%x) start_indices=[0,0,0] limit_indices=[1,500,400]
  %b: f32[1,500,400] = slice(%x) start_indices=[2,0,0] limit_indices=[3,500,400]
  %c: f32[500,400] = DROP(%a) SIZES
  %d: f32[500,400] = DROP(%b) SIZES
  %e: f32[500,400] = sub(%c, %d)
  %q: f32[500,400] = div(%e, %s)
  %r: f32[500,400] = mul(%q, %q)
  return %s, %q, %r })";
  for (const auto& [drop, sizes] :
       {std::pair<std::string, std::string>{"reshape", "new_sizes=[500,400]"}, {"squeeze", "dimensions=[0]"}}) {
    std::string text = kText;
    for (size_t at = 0; (at = text.find("DROP")) != std::string::npos;) text.replace(at, 4, drop);
    for (size_t at = 0; (at = text.find("SIZES")) != std::string::npos;) text.replace(at, 5, sizes);
    EXPECT_EQ(Lower(text)->kernels.size(), 1u) << drop;
    ExpectSameAsReference(text, 1e-4);
  }
}

TEST_F(MergeGroups, RandomProgramsKeepTheirValues) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const std::string text = RandomRows(seed).Text();
    ExpectSameAsReference(text, 1e-3);
    ExpectSameAsReference(text, 1e-3, OfManyPoints());
    if (HasFailure()) FAIL() << "seed " << seed;
  }
}

// Few rows, whose elements fit into the registers of all that may share a row.
TEST_F(MergeGroups, RowsOfManyThreads) {
  pass::Options options = OfManyPoints();
  ricci_target numbers = options.target.numbers;
  numbers.lanes = 32;
  numbers.near_bytes = 512;
  numbers.cache_bytes = 32 << 20;
  options.target = pass::Target("ref", numbers);
  const auto kernels = [&](const std::string& rows, const std::string& n) {
    const std::string all = base::Cat("f32[", rows, ",", n, "]");
    return Lower(base::Cat("program f(%x: ", all, ") {\n  %m: f32[", rows, "] = reduce_max(%x) axes=[1]\n  %b: ", all,
                           " = broadcast_in_dim(%m) shape=[", rows, ",", n, "] broadcast_dimensions=[0]\n  %y: ", all,
                           " = sub(%x, %b)\n  return %y }"),
                 options)
        ->kernels.size();
  };
  EXPECT_EQ(kernels("256", "8192"), 1u);
  EXPECT_EQ(kernels("255", "8192"), 2u);
  EXPECT_EQ(kernels("256", "8193"), 2u);
  EXPECT_EQ(kernels("2048", "8193"), 1u);
}

// ---- products ----
constexpr char kLayer[] = R"(program f(%x: f32[64,48], %w: f32[48,32], %b: f32[32]) {
  %z: f32[64,32] = dot_general(%x, %w) lhs_contract=[1] rhs_contract=[0]
  %c: f32[64,32] = broadcast_in_dim(%b) shape=[64,32] broadcast_dimensions=[1]
  %d: f32[64,32] = add(%z, %c)
  %r: f32[64,32] = tanh(%d)
  return %r, %z })";

TEST_F(MergeGroups, WhatFollowsAProductJoinsItWhereManyPointsRun) {
  const auto many = Lower(kLayer, OfManyPoints()), few = Lower(kLayer);
  EXPECT_EQ(Kernels(*many), "fusion_dot_general_add_tanh[64,32]");
  EXPECT_EQ(Kernels(*few), "dot_general[64,32] fusion_broadcast_in_dim_add_tanh[64,32]");
  EXPECT_EQ(Run(*many), Run(*few));
}

TEST_F(MergeGroups, AKernelHasOneProduct) {
  EXPECT_EQ(Kernels(*Lower(R"(program f(%x: f32[64,48], %w: f32[48,32], %v: f32[48,32]) {
  %a: f32[64,32] = dot_general(%x, %w) lhs_contract=[1] rhs_contract=[0]
  %b: f32[64,32] = dot_general(%x, %v) lhs_contract=[1] rhs_contract=[0]
  %r: f32[64,32] = mul(%a, %b)
  return %r })",
                           OfManyPoints())),
            "dot_general[64,32] fusion_dot_general_mul[64,32]");
}

// A reduction of rows would have the product in a loop.
TEST_F(MergeGroups, RowsDoNotJoinAProduct) {
  EXPECT_EQ(Kernels(*Lower(R"(program f(%x: f32[64,48], %w: f32[48,32]) {
  %z: f32[64,32] = dot_general(%x, %w) lhs_contract=[1] rhs_contract=[0]
  %r: f32[64] = reduce_max(%z) axes=[1]
  return %r })",
                           OfManyPoints())),
            "dot_general[64,32] reduce_max[64]");
}

}  // namespace
}  // namespace ricci::testing
