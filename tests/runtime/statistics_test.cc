// The statistics of an executable: operations, memory, steps.
#include "support/program_runner.h"

namespace ricci::testing { namespace {

uint64_t Flops(const char* text) {
  ProgramRunner r;
  const Program f = r.Parse(text);
  ricci_executable* x = nullptr;
  if (!Ok(ricci_compile(f.get(), nullptr, &x))) return ~0ull;
  ricci_executable_stats s{};
  s.hdr.size = sizeof s;
  ricci_executable_info(x, &s);
  ricci_executable_release(x);
  return s.flops;
}

TEST(Statistics, ElementwiseOperationsCountPerElement) {
  EXPECT_EQ(Flops("program f(%x: f32[10,3]) { %0: f32[10,3] = sin(%x)  %1: f32[10,3] = mul(%0, %x)  return %1 }"), 60u);
}

TEST(Statistics, IntegersAndMovesCountNothing) {
  EXPECT_EQ(Flops("program f(%x: i32[10]) { %0: i32[10] = mul(%x, %x)  return %0 }"), 0u);
  EXPECT_EQ(Flops("program f(%x: f32[10,3]) { %0: f32[3,10] = transpose(%x) permutation=[1,0]  return %0 }"), 0u);
}

TEST(Statistics, ReductionsAndProductsCountTheirTerms) {
  EXPECT_EQ(Flops("program f(%x: f32[10,7]) { %0: f32[10] = reduce_sum(%x) axes=[1]  return %0 }"), 70u);
  EXPECT_EQ(Flops("program f(%x: f32[200,300], %y: f32[300,400]) { %0: f32[200,400] = dot_general(%x, %y)"
                  " lhs_contract=[1] rhs_contract=[0]  return %0 }"),
            2u * 200 * 300 * 400);
}

TEST(Statistics, LoopsCountTheirTrips) {
  EXPECT_EQ(Flops("program f(%x: f32[]) { %0: f32[] = scan(%x) length=1000 num_consts=0 num_carry=1"
                  " body=program(%c: f32[]) { %s: f32[] = sin(%c)  return %s }  return %0 }"),
            1000u);
  // A body with a large product is a loop of the plan.
  EXPECT_EQ(Flops("program f(%x: f32[200,200]) { %0: f32[200,200] = scan(%x) length=50 num_consts=0 num_carry=1"
                  " body=program(%c: f32[200,200]) { %s: f32[200,200] = dot_general(%c, %c) lhs_contract=[1]"
                  " rhs_contract=[0]  return %s }  return %0 }"),
            50u * 2 * 200 * 200 * 200);
}

TEST(Statistics, CountsStopAtTheirLargestValue) {
  EXPECT_EQ(Flops("program f(%x: f32[]) { %0: f32[] = scan(%x) length=1099511627776 num_consts=0 num_carry=1"
                  " body=program(%c: f32[]) { %s: f32[] = scan(%c) length=1099511627776 num_consts=0 num_carry=1"
                  " body=program(%d: f32[]) { %t: f32[] = sin(%d)  return %t }  return %s }  return %0 }"),
            ~uint64_t{0});
}

}  // namespace
}  // namespace ricci::testing
