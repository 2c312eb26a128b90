// Structural hash and equality; the verifier finds what is broken.
#include "ir/structural.h"

#include "ir/verify.h"
#include "ir/walk.h"
#include "program_fixture.h"

namespace ricci { inline namespace v0 { namespace testing { namespace {

class StructuralTest : public ProgramTest {
 protected:
  void ExpectSame(std::string_view a, std::string_view b, bool same) {
    const ir::ProgramRef p = Parse(a), q = Parse(b);
    ASSERT_TRUE(p && q);
    EXPECT_EQ(ir::Equal(*p, *q), same) << a << "\n" << b;
    EXPECT_EQ(ir::Hash(*p) == ir::Hash(*q), same) << a << "\n" << b;
  }
};

TEST_F(StructuralTest, NamesNumbersAndUnusedConstantsDoNotCount) {
  ExpectSame("program a(%x: f32[]) { %c: f32[] = constant 1.0 %y: f32[] = mix(%x, %c) return %y }",
             "program b(%u: f32[]) { %d: f32[] = constant 9.0 %e: f32[] = constant 1.0 %v: f32[] = mix(%u, %e) "
             "return %v }",
             true);
}

TEST_F(StructuralTest, WhatIsComputedCounts) {
  const std::string_view base = "program a(%x: f32[2], %z: f32[2]) { %y: f32[2] = mix(%x, %z) axes=[0] return %y }";
  for (std::string_view other : {
           "program a(%x: f32[3], %z: f32[3]) { %y: f32[3] = mix(%x, %z) axes=[0] return %y }",
           "program a(%x: f32[2], %z: f32[2]) { %y: f32[2] = mix(%z, %x) axes=[0] return %y }",
           "program a(%x: f32[2], %z: f32[2]) { %y: f32[2] = mix(%x, %z) axes=[1] return %y }",
           "program a(%x: f32[2], %z: f32[2]) { %y: f32[2] = mix(%x, %z) return %y }",
           "program a(%x: f32[2], %z: f32[2]) { %y: f32[2] = mix(%x, %z) axes=[0] return %x }",
           "program a(%x: f32[2], %z: f32[2]) { %y: f32[2] = mix(%x, %z) axes=[0] return }",
           "program a(%x: f32[2], %z: f32[2]) { %y: f32[2] = mix(%x, %z) n=0 axes=[0] return %y }",
       }) {
    ExpectSame(base, other, false);
  }
}

// Attributes count by name: the same numbers in another attribute, at the same place because others are left out, make
// another program.
TEST_F(StructuralTest, AttributesCountByNameInAnyOrder) {
  const auto text = [](std::string_view attrs) {
    return base::Cat("program a(%x: f32[2]) { %y: f32[2] = mix(%x) ", attrs, " return %y }");
  };
  ExpectSame(text("axes=[] weights=[]"), text("weights=[] axes=[]"), true);
  ExpectSame(text("n=1 flag=true mode=\"a\""), text("mode=\"a\" n=1 flag=true"), true);
  ExpectSame(text("axes=[]"), text("weights=[]"), false);
  ExpectSame(text("axes=[]"), text(""), false);
  ExpectSame(text("n=1"), text("flag=true"), false);
  ExpectSame(text("mode=\"ab\""), text("mode=\"a\""), false);
  const std::string_view body = "program () { return }";
  ExpectSame(text(base::Cat("body=", body)), text(base::Cat("branches=[", body, "]")), false);
}

// Single equations, as cse asks.
TEST_F(StructuralTest, OperationsCountWithoutOperands) {
  const ir::ProgramRef p = Parse(
      "program a(%x: f32[2], %z: f32[2]) { %a: f32[2] = mix(%x) axes=[0] %b: f32[2] = mix(%z) axes=[0]"
      " %c: f32[2] = mix(%x) weights=[0.0] return %a, %b, %c }");
  ir::Structure structure;
  const auto same = [&](size_t i, size_t k) {
    const ir::Equation &a = p->equations[i], &b = p->equations[k];
    EXPECT_EQ(structure.HashOfOperation(*p, a) == structure.HashOfOperation(*p, b),
              structure.SameOperation(*p, a, *p, b));
    return structure.SameOperation(*p, a, *p, b);
  };
  EXPECT_TRUE(same(0, 1));
  EXPECT_FALSE(same(0, 2));
}

// Members that the kind of an attribute does not use are ignored.
TEST_F(StructuralTest, UnusedMembersOfAttributesDoNotCount) {
  const int64_t axes[] = {0, 1};
  const auto made = [&](uint32_t count, int64_t i, double f, const void* data) {
    auto b = *trace::Builder::Create(registry(), "", {});
    const ricci_attr attrs[] = {{{"n", 1}, RICCI_ATTR_INT, count, 7, f, data},
                                {{"eps", 3}, RICCI_ATTR_FLOAT, count, i, 0.5, data},
                                {{"flag", 4}, RICCI_ATTR_BOOL, count, 1 + i, f, data},
                                {{"axes", 4}, RICCI_ATTR_INTS, 2, i, f, axes}};
    EXPECT_TRUE(b->Emit("mix", attrs, {}).ok());
    return *b->Finish({});
  };
  const ir::ProgramRef p = made(1, 0, 0, nullptr), q = made(3, 41, 2.5, axes);
  EXPECT_TRUE(ir::Equal(*p, *q));
  EXPECT_EQ(ir::Hash(*p), ir::Hash(*q));
}

TEST_F(StructuralTest, AttributesThatCannotBeWrittenDownAreRefused) {
  const auto message = [&](const ricci_attr& a) {
    auto b = *trace::Builder::Create(registry(), "", {});
    return std::string(b->Emit("mix", {&a, 1}, {}).status().message());
  };
  EXPECT_EQ(message({{"new_dtype", 9}, RICCI_ATTR_DTYPE, 1, int64_t{1} << 32 | RICCI_F32, 0, nullptr}),
            "mix: attribute new_dtype: 4294967308 is not a dtype");
  EXPECT_EQ(message({{"body", 4}, RICCI_ATTR_PROGRAM, 0, 0, 0, nullptr}),
            "mix: attribute body holds 0 programs, not one");
}

TEST_F(StructuralTest, ConstantsCountByBits) {
  const auto text = [](std::string_view type, std::string_view v) {
    return base::Cat("program a() { %c: ", type, " = constant ", v, " return %c }");
  };
  ExpectSame(text("f32[]", "0.0"), text("f32[]", "-0.0"), false);
  ExpectSame(text("f32[]", "0.0"), text("i32[]", "0"), false);
  ExpectSame(text("f32[]", "nan"), text("f32[]", "nan"), true);
}

TEST_F(StructuralTest, NestedProgramsCount) {
  const auto text = [](std::string_view v) {
    return base::Cat("program a(%x: f32[]) { %y: f32[] = mix(%x) body=program b() { %c: f32[] = constant ", v,
                     " return %c } return %y }");
  };
  ExpectSame(text("1.0"), text("1.0"), true);
  ExpectSame(text("1.0"), text("2.0"), false);
}

// Programs that hold one program twice, 60 levels deep: 2^60 paths, 61 programs.
TEST_F(StructuralTest, SharedNestingTakesLinearTime) {
  const auto tower = [&] {
    ir::ProgramRef inner = Parse("program () { return }");
    for (int i = 0; i < 60; ++i) {
      auto b = *trace::Builder::Create(registry(), "", {});
      ricci_program* twice[] = {ir::Abi(inner.get()), ir::Abi(inner.get())};
      const ricci_attr attrs[] = {{{"branches", 8}, RICCI_ATTR_PROGRAMS, 2, 0, 0, twice}};
      EXPECT_TRUE(b->Emit("mix", attrs, {}).ok());
      inner = *b->Finish({});
    }
    return inner;
  };
  const ir::ProgramRef p = tower(), q = tower();
  EXPECT_EQ(ir::NestedFirst(*p).size(), 61u);
  EXPECT_EQ(ir::Hash(*p), ir::Hash(*q));
  EXPECT_TRUE(ir::Equal(*p, *q));
  EXPECT_TRUE(ir::Verify(*p).ok());
}

TEST_F(StructuralTest, VerifierNamesTheEquation) {
  const ir::ProgramRef p = Parse("program f(%x: f32[2]) { %y: f32[2] = mix(%x) %z: f32[2] = mix(%y) return %z }");
  auto& broken = const_cast<ir::Program&>(*p);
  const ir::ValueId later[] = {2};
  const auto operands = broken.equations[0].operands;
  broken.equations[0].operands = later;
  EXPECT_EQ(ir::Verify(*p).message(), "program f: equation 0 (mix): operand %2 is used before it is defined");
  broken.equations[0].operands = operands;
  broken.result_types[0] = p->type_id(0) + 1;
  EXPECT_EQ(ir::Verify(*p).message(), "program f: result 0 has another type");
  broken.result_types[0] = p->type_id(2);
  broken.values[1].type = 12345;
  EXPECT_EQ(ir::Verify(*p).message(), "program f: %1: type 12345 is not known");
  broken.values[1].type = p->type_id(2);
  EXPECT_TRUE(ir::Verify(*p).ok());
}

}  // namespace
}}}  // namespace ricci::v0::testing
