// Views after a kernel that only move its results: the kernel stores where they go. Other views stay separate.
#include <array>

#include "pass/lowered_program.h"

namespace ricci::testing { namespace {

class StoredViews : public LoweredProgram {
 protected:
  void ExpectKernels(size_t n, const std::string& text) {
    const auto l = Lower(text);
    EXPECT_EQ(l->kernels.size(), n) << Kernels(*l) << "\n" << text;
    ExpectSameAsReference(text);
  }
};

// %a and %b are computed point by point; `moved` makes the results from them.
std::string Program(std::string_view moved, std::string_view results = "%r") {
  return base::Cat(R"(program f(%x: f32[2,5,6]) {
  %s: f32[5,6] = reduce_sum(%x) axes=[0]
  %e: f32[5,6] = sin(%s)
  %l: f32[5,6] = tanh(%s)
  %a: f32[5,6] = add(%e, %l)
  %b: f32[5,6] = mul(%e, %l)
)",
                   moved, "\n  return ", results, " }");
}
constexpr char kRolled[] = R"(
  %b1: f32[5,2] = slice(%b) start_indices=[0,4] limit_indices=[5,6]
  %b2: f32[5,4] = slice(%b) start_indices=[0,0] limit_indices=[5,4]
  %bm: f32[5,6] = concatenate(%b1, %b2) dimension=1
  %r: f32[2,5,6] = stack(%a, %bm) axis=0)";

TEST_F(StoredViews, WhatIsMovedIsStoredWhereItGoes) {
  const auto l = Lower(Program(kRolled));
  ASSERT_EQ(l->kernels.size(), 1u) << Kernels(*l);
  const std::string text = kernel::ToText(l->kernels[0]);
  const std::string stores = text.substr(text.find("  %18"));
  EXPECT_EQ(stores, R"(  %18: i64 = add %9, 32
  %19: bool = le 4, %7
  %20: i64 = add %9, 26
  %21: i64 = select %19, %20, %18
  store b1[%21] = %17
  store b1[%9] = %16
}
)");
  ExpectSameAsReference(Program(kRolled));
}

TEST_F(StoredViews, ByAllViewsWithMaps) {
  for (const char* moved : {
           "%r: f32[10,6] = concatenate(%b, %a) dimension=0",
           "%a1: f32[1,5,1,6] = reshape(%a) new_sizes=[1,5,1,6]\n"
           "%b1: f32[1,5,1,6] = expand_dims(%b) dimensions=[0,2]\n"
           "%c: f32[2,5,1,6] = concatenate(%b1, %a1) dimension=0\n"
           "%r: f32[2,5,6] = squeeze(%c) dimensions=[2]",
           "%s1: f32[5,2,6] = stack(%a, %b) axis=1\n"
           "%r: f32[2,5,6] = transpose(%s1) permutation=[1,0,2]",
           // rolled along both
           "%a1: f32[2,6] = slice(%a) start_indices=[3,0] limit_indices=[5,6]\n"
           "%a2: f32[3,6] = slice(%a) start_indices=[0,0] limit_indices=[3,6] strides=[1,1]\n"
           "%a3: f32[5,6] = concatenate(%a1, %a2) dimension=0\n"
           "%a4: f32[5,1] = slice(%a3) start_indices=[0,0] limit_indices=[5,1]\n"
           "%a5: f32[5,5] = slice(%a3) start_indices=[0,1] limit_indices=[5,6]\n"
           "%r: f32[5,12] = concatenate(%a5, %b, %a4) dimension=1",
       }) {
    ExpectKernels(1, Program(moved));
  }
}

TEST_F(StoredViews, WhatIsReadElsewhereTooIsStoredTwice) {
  const std::string text = Program(kRolled, "%r, %a, %b");
  ExpectKernels(1, text);
}

TEST_F(StoredViews, SeveralArraysOfOneKernel) {
  const std::string text = Program(base::Cat(kRolled, "\n  %t: f32[10,6] = concatenate(%b, %a) dimension=0"), "%r, %t");
  ExpectKernels(1, text);
}

TEST_F(StoredViews, TheRestStaysApart) {
  for (const char* moved : {
           // an element that goes to two places,
           "%a1: f32[2,6] = slice(%a) start_indices=[0,0] limit_indices=[2,6]\n"
           "%r: f32[12,6] = concatenate(%a, %b, %a1) dimension=0",
           // or to none,
           "%a1: f32[2,6] = slice(%a) start_indices=[0,0] limit_indices=[2,6]\n"
           "%r: f32[7,6] = concatenate(%b, %a1) dimension=0",
           // elements that are not computed there,
           "%y: f32[1,5,6] = slice(%x) start_indices=[0,0,0] limit_indices=[1,5,6]\n"
           "%z: f32[5,6] = squeeze(%y) dimensions=[0]\n"
           "%r: f32[15,6] = concatenate(%a, %z, %b) dimension=0",
           "%z: f32[5,6] = constant 0.0\n"
           "%r: f32[15,6] = concatenate(%a, %z, %b) dimension=0",
           // elements that would not be contiguous,
           "%t: f32[10,6] = concatenate(%a, %b) dimension=0\n"
           "%r: f32[6,10] = transpose(%t) permutation=[1,0]",
           // and views whose rule view_map gives nothing.
           "%t: f32[10,6] = concatenate(%a, %b) dimension=0\n"
           "%r: f32[60] = reshape(%t) new_sizes=[60]",
       }) {
    ExpectKernels(2, Program(moved));
  }
}

// Where many points run, a point computes all parts of a result, however cheap they are, if it can.
TEST_F(StoredViews, CheapPartsWhereManyPointsRun) {
  const std::string parts = R"(program f(%x: f32[40,64]) {
  %s: f32[40,64] = mul(%x, %x)
  %a: f32[40,64] = add(%s, %x)
  %b: f32[40,64] = sub(%s, %x)
  %r: f32[80,64] = concatenate(%b, %a) dimension=0
  return %r })";
  const auto many = Lower(parts, OfManyPoints());
  ASSERT_EQ(many->kernels.size(), 1u) << Kernels(*many);
  const std::string text = kernel::ToText(many->kernels[0]);
  EXPECT_EQ(text.find("select"), text.npos) << text;
  EXPECT_NE(text.find("store"), text.rfind("store")) << text;
  EXPECT_EQ(Run(*many), Run(*Lower(parts)));
}
// Parts that no kernel computes together are computed where they are put together.
TEST_F(StoredViews, PartsOfOtherArraysArePulledIn) {
  for (const char* rows : {"30", "40"}) {
    const std::string both = std::to_string(40 + std::atoi(rows));
    const std::string text = base::Cat(
        "program f(%x: f32[40,64], %y: f32[", rows, ",64]) {\n  %a: f32[40,64] = mul(%x, %x)\n  %b: f32[", rows,
        ",64] = add(%y, %y)\n  %r: f32[", both, ",64] = concatenate(%a, %b) dimension=0\n  return %r }");
    EXPECT_EQ(Kernels(*Lower(text, OfManyPoints())), base::Cat("fusion_mul_add_concatenate[", both, ",64]"));
  }
}

// One loop over all elements fills the lanes; one over short rows does not.
TEST_F(StoredViews, APlainLoopStaysOneWhereRowsAreShort) {
  const auto text = [](std::string_view n) {
    return base::Cat("program f(%x: f32[9,", n, "]) {\n  %e: f32[9,", n, "] = digamma(%x)\n  %1: f32[8,", n,
                     "] = slice(%e) start_indices=[1,0] limit_indices=[9,", n, "]\n  %2: f32[1,", n,
                     "] = slice(%e) start_indices=[0,0] limit_indices=[1,", n, "]\n  %r: f32[9,", n,
                     "] = concatenate(%1, %2) dimension=0\n  return %r }");
  };
  EXPECT_EQ(Kernels(*Lower(text("16"))), "fusion_digamma[9,16]");
  EXPECT_EQ(Kernels(*Lower(text("130"))), "fusion_digamma[9,130]");
  EXPECT_EQ(Kernels(*Lower(text("11"))), "digamma[99] fusion_slice_concatenate[9,11]");
  for (const char* n : {"16", "130", "11"}) ExpectSameAsReference(text(n));
}

// The result of a rule view_map is checked before anything is stored by it.
TEST_F(StoredViews, MapsThatAreNone) {
  static int64_t first, limit, from, shift;
  static ricci_status* (*fails)();
  ricci_lowering copied{};
  copied.hdr.size = sizeof copied;
  copied.kind = RICCI_LOWER_INDEX;
  copied.target = {"*", 1};
  copied.index = [](void*, ricci_kernel_builder* k, const ricci_op*, uint32_t, const ricci_sval* at, ricci_sval* out) {
    return ricci_kernel_load(k, ricci_kernel_operand(k, 0), at, 1, out);
  };
  const ricci_lowering* const lowerings[] = {&copied};
  ricci_prim_def d{};
  d.hdr.size = sizeof d;
  d.name = {"test.copy", 9};
  d.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) {
    return ricci_builder_set_out_types(b, op->in_types, 1);
  };
  d.lowerings = lowerings;
  d.n_lowerings = 1;
  d.view_map = [](void*, const ricci_op*, uint32_t, ricci_view_map* out) -> ricci_status* {
    out->known = 1;
    out->first[0] = first, out->limit[0] = limit, out->from[0] = from, out->shift[0] = shift;
    return fails == nullptr ? nullptr : fails();
  };
  ricci_prim id = 0;
  ASSERT_TRUE(Ok(ricci_prim_register(ctx, &d, &id)));
  ricci_program* f =
      Parse("program f(%x: f32[16]) { %e: f32[16] = tanh(%x) %y: f32[16] = test.copy(%e) return %y, %e }");
  const auto told = [&](std::array<int64_t, 4> map) {
    std::tie(first, limit, from, shift) = std::tie(map[0], map[1], map[2], map[3]);
    const auto lowered = pass::Lower(*ir::FromAbi(f), {});
    return lowered.ok() ? "" : std::string(lowered.status().message());
  };
  EXPECT_EQ(told({0, 16, 0, 0}), "");
  for (const std::array<int64_t, 4>& map :
       std::initializer_list<std::array<int64_t, 4>>{{0, 17, 0, 0},
                                                     {-1, 16, 0, 0},
                                                     {5, 4, 0, 0},
                                                     {0, 16, 0, 1},
                                                     {0, 16, 0, INT64_MAX},
                                                     {0, 16, 1, 0},
                                                     {0, 16, INT64_MIN, 0},
                                                     {0, 16, -1, 0},
                                                     {0, 16, -1, 16},
                                                     {INT64_MIN, INT64_MAX, 0, INT64_MIN}}) {
    EXPECT_EQ(
        told(map),
        "test.copy: rule view_map of the host: gives an impossible map for elements of operand 0, f32[16], in f32[16]");
  }
  fails = [] { return ricci_status_make(RICCI_FAILED_PRECONDITION, "no licence", 10); };
  EXPECT_EQ(told({0, 16, 0, 0}), "test.copy: rule view_map of the host: no licence");
  fails = nullptr;
  ricci_program_release(f);
}

// A loop's next carry uses the buffer of the loop's result: the kernel reads one buffer and writes the other.
TEST_F(StoredViews, InALoop) {
  std::string body = Program(kRolled);
  const std::string text = base::Cat("program g(%x: f32[2,5,6]) {\n  %y: f32[2,5,6] = scan(%x) body=", body,
                                     " length=5 reverse=false num_consts=0 num_carry=1 run_in=\"plan\"\n  return %y }");
  ExpectSameAsReference(text);
}

}  // namespace
}  // namespace ricci::testing
