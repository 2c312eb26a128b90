// What the simplify rules of the rows make of small programs: the equations left after simplify and dce.
#include <gtest/gtest.h>

#include "ir/print.h"
#include "lax/traced_function.h"
#include "pass/program/pass.h"

namespace ricci::testing { namespace {

// Body and results of the simplified program, one line each; values are numbered, parameters first.
std::string Simplified(const std::string& body, const std::string& params) {
  const Bench bench;
  const std::string text = "program f(" + params + ") {\n" + body + "\n}\n";
  ricci_program* raw = nullptr;
  Check(ricci_program_parse(bench.context(), text.data(), text.size(), "test", 4, &raw));
  const Program f = Own(raw);
  const pass::Options options;
  const auto simple = pass::Simplify(*ir::FromAbi(f.get()), options);
  if (!simple.ok()) return std::string(simple.status().message());
  const auto live = pass::Dce(**simple, options);
  if (!live.ok()) return std::string(live.status().message());
  std::string printed = ir::Print(**live);
  printed.erase(0, printed.find('\n') + 1);
  return printed.substr(0, printed.rfind('}'));
}

struct Simple {
  std::string_view name, body, expected;
  std::string_view params = "%x: f32[2,3], %p: bool[2,3]";
};
void PrintTo(const Simple& c, std::ostream* out) { *out << c.name; }

constexpr Simple kCases[] = {
    {"add_zero", "%z: f32[2,3] = constant 0.0\n%0: f32[2,3] = add(%z, %x)\nreturn %0", "  return %0\n"},
    {"add_negative", "%0: f32[2,3] = neg(%x)\n%1: f32[2,3] = add(%x, %0)\nreturn %1",
     "  %2: f32[2,3] = sub(%0, %0)\n  return %2\n"},
    {"mul_one", "%c: f32[2,3] = constant 1.0\n%0: f32[2,3] = mul(%x, %c)\nreturn %0", "  return %0\n"},
    {"float_times_zero_stays", "%c: f32[2,3] = constant 0.0\n%0: f32[2,3] = mul(%x, %c)\nreturn %0",
     "  %2: f32[2,3] = constant 0.0\n  %3: f32[2,3] = mul(%0, %2)\n  return %3\n"},
    {"div_power_of_two", "%c: f32[2,3] = constant 8.0\n%0: f32[2,3] = div(%x, %c)\nreturn %0",
     "  %2: f32[2,3] = constant 0.125\n  %3: f32[2,3] = mul(%0, %2)\n  return %3\n"},
    {"div_by_three_stays", "%c: f32[2,3] = constant 3.0\n%0: f32[2,3] = div(%x, %c)\nreturn %0",
     "  %2: f32[2,3] = constant 3.0\n  %3: f32[2,3] = div(%0, %2)\n  return %3\n"},
    {"neg_neg", "%0: f32[2,3] = neg(%x)\n%1: f32[2,3] = neg(%0)\nreturn %1", "  return %0\n"},
    {"first_power", "%0: f32[2,3] = integer_pow(%x) y=1\nreturn %0", "  return %0\n"},
    {"select_not", "%0: bool[2,3] = not(%p)\n%1: f32[2,3] = neg(%x)\n%2: f32[2,3] = select_n(%0, %x, %1)\nreturn %2",
     "  %2: f32[2,3] = neg(%0)\n  %3: f32[2,3] = select_n(%1, %2, %0)\n  return %3\n"},
    {"select_same", "%0: f32[2,3] = select_n(%p, %x, %x)\nreturn %0", "  return %0\n"},
    {"and_true", "%c: bool[2,3] = constant true\n%0: bool[2,3] = and(%p, %c)\nreturn %0", "  return %1\n"},
    {"convert_there_and_back",
     "%0: f64[2,3] = convert_element_type(%x) new_dtype=f64\n"
     "%1: f32[2,3] = convert_element_type(%0) new_dtype=f32\nreturn %1",
     "  return %0\n"},
    {"convert_that_loses_stays",
     "%0: f16[2,3] = convert_element_type(%x) new_dtype=f16\n"
     "%1: f32[2,3] = convert_element_type(%0) new_dtype=f32\nreturn %1",
     "  %2: f16[2,3] = convert_element_type(%0) new_dtype=f16\n"
     "  %3: f32[2,3] = convert_element_type(%2) new_dtype=f32\n  return %3\n"},
    {"convert_that_clamps_stays",
     "%0: f64[2,3] = convert_element_type(%x) new_dtype=f64\n"
     "%1: u8[2,3] = convert_element_type(%0) new_dtype=u8\nreturn %1",
     "  %2: f64[2,3] = convert_element_type(%0) new_dtype=f64\n"
     "  %3: u8[2,3] = convert_element_type(%2) new_dtype=u8\n  return %3\n",
     "%x: u32[2,3], %p: bool[2,3]"},
    {"convert_through_a_float",
     "%0: f64[2,3] = convert_element_type(%x) new_dtype=f64\n"
     "%1: i64[2,3] = convert_element_type(%0) new_dtype=i64\nreturn %1",
     "  %2: i64[2,3] = convert_element_type(%0) new_dtype=i64\n  return %2\n", "%x: u32[2,3], %p: bool[2,3]"},
    {"transpose_transpose",
     "%0: f32[3,2] = transpose(%x) permutation=[1,0]\n%1: f32[2,3] = transpose(%0) permutation=[1,0]\nreturn %1",
     "  return %0\n"},
    {"reshape_reshape", "%0: f32[6] = reshape(%x) new_sizes=[6]\n%1: f32[3,2] = reshape(%0) new_sizes=[3,2]\nreturn %1",
     "  %2: f32[3,2] = reshape(%0) new_sizes=[3,2]\n  return %2\n"},
    {"broadcast_broadcast",
     "%0: f32[4,2,3] = broadcast_in_dim(%x) shape=[4,2,3] broadcast_dimensions=[1,2]\n"
     "%1: f32[4,5,2,3] = broadcast_in_dim(%0) shape=[4,5,2,3] broadcast_dimensions=[0,2,3]\nreturn %1",
     "  %2: f32[4,5,2,3] = broadcast_in_dim(%0) shape=[4,5,2,3] broadcast_dimensions=[2,3]\n  return %2\n"},
    {"sum_over_nothing", "%0: f32[2,3] = reduce_sum(%x) axes=[]\nreturn %0", "  return %0\n"},
    {"dot_of_transposed",
     "%0: f32[3,2] = transpose(%x) permutation=[1,0]\n"
     "%1: f32[3,3] = dot_general(%0, %x) lhs_contract=[1] rhs_contract=[0]\nreturn %1",
     "  %2: f32[3,3] = dot_general(%0, %0) lhs_contract=[0] rhs_contract=[0] lhs_batch=[] rhs_batch=[]\n"
     "  return %2\n"},
};

class SimplifyRules : public ::testing::TestWithParam<Simple> {};
TEST_P(SimplifyRules, Simplify) {
  EXPECT_EQ(Simplified(std::string(GetParam().body), std::string(GetParam().params)), GetParam().expected);
}
INSTANTIATE_TEST_SUITE_P(All, SimplifyRules, ::testing::ValuesIn(kCases),
                         [](const ::testing::TestParamInfo<Simple>& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ricci::testing
