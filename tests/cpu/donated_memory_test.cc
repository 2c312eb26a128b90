// Which pointers of a bound call may be equal: ricci_executable_alias says it, and CHECKED enforces it.
#include "support/program_runner.h"

namespace ricci::testing { namespace {

struct DonatedMemory : ::testing::Test {
  // Result 0 is made in the memory of argument 1, which is donated; argument 0 is not.
  ricci_executable* Compile(uint32_t flags) {
    const Program f = r.Parse(
        "program step(%g: f32[64], %x: f32[64]) { %y: f32[64] = add(%x, %g)  %z: f32[] = reduce_sum(%g) axes=[0]"
        "  return %y, %z }");
    const uint8_t donate[] = {0, 1};
    ricci_compile_opts o{};
    o.hdr = {sizeof o, flags, nullptr};
    ricci_device* const on = ricci_device_find(r.ctx(), "cpu", 3);
    o.devices = &on;
    o.n_devices = 1;
    o.donate = donate;
    o.n_donate = 2;
    ricci_executable* x = nullptr;
    EXPECT_TRUE(Ok(ricci_compile(f.get(), &o, &x)));
    return x;
  }
  // Runs with these pointers for x and y.
  ricci_status* Run(ricci_executable* x, float* in, float* out) {
    ricci_call* call = nullptr;
    EXPECT_TRUE(Ok(ricci_call_create(x, &call)));
    float sum = 0;
    float* const slots[] = {g, in, out, &sum};
    for (uint32_t i = 0; i < 4; ++i) EXPECT_TRUE(Ok(ricci_call_bind(call, i, slots[i], i == 3 ? 4 : 256)));
    ricci_status* s = ricci_call_run(call);
    ricci_call_release(call);
    return s;
  }
  ProgramRunner r;
  float g[64] = {}, a[128] = {}, b[64] = {};
};

TEST_F(DonatedMemory, ThePairThatMayShare) {
  for (uint32_t flags : {0u, uint32_t{RICCI_COMPILE_CHECKED}}) {
    ricci_executable* x = Compile(flags);
    EXPECT_EQ(ricci_executable_alias(x, 0), 1);
    EXPECT_EQ(ricci_executable_alias(x, 1), -1);
    EXPECT_EQ(ricci_executable_alias(x, 2), -1);
    std::fill(a, a + 64, 2.0f), std::fill(g, g + 64, 0.5f);
    EXPECT_TRUE(Ok(Run(x, a, a)));
    EXPECT_EQ(a[63], 2.5f);
    EXPECT_TRUE(Ok(Run(x, a, b)));
    EXPECT_EQ(b[63], 3.0f);
    ricci_executable_release(x);
  }
}

TEST_F(DonatedMemory, OtherPairsAreErrorsWhereChecked) {
  ricci_executable* x = Compile(RICCI_COMPILE_CHECKED);
  EXPECT_EQ(
      Message(Run(x, a, g)),
      "call: slot 0 (argument 0 of program step) and slot 2 (result 0 of program step) overlap; this result may be "
      "bound to the pointer of argument 1, and only to that");
  EXPECT_EQ(
      Message(Run(x, a, a + 1)),
      "call: slot 1 (argument 1 of program step) and slot 2 (result 0 of program step) overlap; this result may be "
      "bound to the pointer of argument 1, and only to that");
  EXPECT_TRUE(Ok(Run(x, g, b))) << "arguments may be one";
  ricci_executable_release(x);
}

}  // namespace
}  // namespace ricci::testing
