// ricci/attr.h and ricci/writer.h as a plugin in C uses them (writer_in_c.c): the rows compute, the first error is the
// one returned, and nothing is done after it.
#include <gtest/gtest.h>

#include "api/writer_in_c.h"
#include "ricci/attr.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class WrittenInC : public ::testing::Test {
 protected:
  WrittenInC() { EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), query_written_in_c))); }
  ProgramRunner runner_;
};

TEST_F(WrittenInC, LoopsCompute) {
  const Program f = runner_.Parse(R"(
program f(%x: f64[3,4], %limit: f64[]) {
  %n: i32[3] = test.count_above(%x, %limit)
  return %n
})");
  const auto out = runner_.Run(f, {{1, 2, 3, 4, 5, 6, 7, 8, 0, 9, 0, 9}, {2.5}});
  EXPECT_EQ(out.at(0), (Numbers{2, 4, 2}));
  EXPECT_EQ(runner_.RunError(f, {{1, 2, 3, 4, 5, 6, 7, 8, 0, 9, 0, 9}, {std::nan("")}}),
            "test:3: test.count_above: the limit is not a number");
}
TEST_F(WrittenInC, NumbersHaveTheDtypeOfTheOperand) {
  for (const char* dtype : {"f16", "bf16", "f32", "f64"}) {
    const std::string t = std::string(dtype) + "[2]";
    const Program f = runner_.Parse(
        "program f(%x: f64[2]) { %c: " + t + " = convert_element_type(%x) new_dtype=" + dtype + " %n: " + t +
        " = test.narrow(%c) %y: f64[2] = convert_element_type(%n) new_dtype=f64 return %y }");
    EXPECT_EQ(runner_.Run(f, {{3, -8}}).at(0), (Numbers{3.5, -2})) << dtype;
  }
}
TEST_F(WrittenInC, WhatIsNotGivenIsEmpty) {
  const ricci_attr_spec spec = ricci_attr_spec_of("eps", RICCI_ATTR_FLOAT, RICCI_ATTR_OPTIONAL);
  EXPECT_EQ(spec.absent.ptr, nullptr);
  EXPECT_EQ(spec.absent.len, 0u);
  EXPECT_EQ(ricci_prim_def_of("test.op").doc.len, 0u);
}
TEST_F(WrittenInC, TheFirstErrorIsReturned) {
  const Program f = runner_.Parse("program f(%x: f64[2]) { %y: f64[2] = test.broken(%x) return %y }");
  ricci_executable* x = nullptr;
  ricci_status* s = ricci_compile(f.get(), nullptr, &x);
  ASSERT_NE(s, nullptr);
  const std::string message = Message(s);
  EXPECT_NE(message.find("add"), std::string::npos) << message;
}
TEST_F(WrittenInC, RequirementsNameThePrimitive) {
  EXPECT_EQ(runner_.ParseError("program f(%x: f64[2]) { %y: f64[2] = test.narrow(%x, %x) return %y }"),
            "test:1: test.narrow: takes one operand");
  EXPECT_EQ(
      runner_.ParseError("program f(%x: f64[2,2], %l: f32[]) { %y: i32[2] = test.count_above(%x, %l) return %y }"),
      "test:1: test.count_above: the limit must be f64");
}

TEST_F(WrittenInC, Programs) {
  ricci_program* f = nullptr;
  ASSERT_TRUE(Ok(program_in_c(runner_.ctx(), 0, &f)));
  EXPECT_EQ(runner_.Run(Program(f), {{1, 2, 0.5}}).at(0), (Numbers{2, 3, 1.5}));
  ricci_status* s = program_in_c(runner_.ctx(), 1, &f);
  ASSERT_NE(s, nullptr);
  EXPECT_NE(Message(s).find("no_such_primitive"), std::string::npos);
}

TEST_F(WrittenInC, AttributesOfEachKind) {
  ricci_attr a[9];
  attributes_in_c(a);
  const char* const names[] = {"int", "float", "bool", "dtype", "string", "ints", "floats", "program", "programs"};
  for (uint32_t i = 0; i < 9; ++i) {
    EXPECT_EQ(a[i].kind, i + 1);
    EXPECT_EQ(std::string(a[i].name.ptr, a[i].name.len), names[i]);
  }
  EXPECT_EQ(a[0].i, -7);
  EXPECT_EQ(a[1].f, 0.25);
  EXPECT_EQ(a[2].i, 1);
  EXPECT_EQ(a[3].i, static_cast<int64_t>(RICCI_BF16));
  EXPECT_EQ(std::string(static_cast<const char*>(a[4].data), a[4].count), "clip");
  EXPECT_EQ(static_cast<const int64_t*>(a[5].data)[1], -4);
  EXPECT_EQ(a[6].count, 3u);
  EXPECT_EQ(a[7].count, 1u);
  EXPECT_EQ(a[8].count, 2u);
  ricci_op op{};
  op.attrs = a;
  op.n_attrs = 9;
  EXPECT_EQ(ricci_op_attr(&op, "ints"), &a[5]);
  EXPECT_EQ(ricci_op_attr(&op, "in"), nullptr);
  EXPECT_EQ(ricci_op_int(&op, "int", 3), -7);
  EXPECT_EQ(ricci_op_int(&op, "other", 3), 3);
  EXPECT_EQ(ricci_op_float(&op, "float", 3), 0.25);
}

TEST_F(WrittenInC, NumbersAsElements) {
  const auto bytes = [](uint32_t dtype, double v) {
    char text[17];
    element_in_c(dtype, v, text);
    return std::string(text);
  };
  EXPECT_EQ(bytes(RICCI_BOOL, 0.5), "01");
  EXPECT_EQ(bytes(RICCI_I8, -1), "ff");
  EXPECT_EQ(bytes(RICCI_I8, 1000), "7f");
  EXPECT_EQ(bytes(RICCI_I16, -1e9), "0080");
  EXPECT_EQ(bytes(RICCI_I32, 258.9), "02010000");
  EXPECT_EQ(bytes(RICCI_I64, 1e300), "ffffffffffffff7f");
  EXPECT_EQ(bytes(RICCI_I64, -1e300), "0000000000000080");
  EXPECT_EQ(bytes(RICCI_I64, std::nan("")), "0000000000000000");
  EXPECT_EQ(bytes(RICCI_U8, -3), "00");
  EXPECT_EQ(bytes(RICCI_U16, 65535), "ffff");
  EXPECT_EQ(bytes(RICCI_U64, 1e300), "ffffffffffffffff");
  EXPECT_EQ(bytes(RICCI_F32, 1), "0000803f");
  EXPECT_EQ(bytes(RICCI_F64, 1), "000000000000f03f");
  EXPECT_EQ(bytes(RICCI_F16, 1), "");
}

}  // namespace
}  // namespace ricci::testing
