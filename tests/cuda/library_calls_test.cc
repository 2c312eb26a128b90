// LIBRARY lowerings of plugins on GPUs: those for every target, which run on the host, and those for `cuda`, which
// enqueue work to the stream of the run.
#include "cuda/library_rows.h"

namespace ricci::testing { namespace {

TEST_F(LibraryCalls, ARowThatOnlyTheHostHas) {
  const Program f = r_.Parse(R"(program f(%x: f32[7]) {
  %a: f32[7] = mul(%x, %x)
  %b: f32[7] = test.parts(%a)
  %c: f32[7] = test.parts(%b)
  %d: f32[7] = neg(%c)
  return %d, %b
})");
  EXPECT_EQ(r_.RunEverywhere(f, {{1, 2, 3, 4, 5, 6, 7}})[0], (Numbers{-3, -6, -11, -18, -27, -38, -51}));
}

constexpr std::string_view kCopied = R"(program f(%x: f32[7]) {
  %a: f32[7] = mul(%x, %x)
  %b: f32[7] = test.copy(%a)
  %d: f32[7] = neg(%b)
  return %d
})";

// Nothing waits for it.
TEST_F(LibraryCalls, ARowOfTheDevice) {
  GpuProgram f(GpuOf(r_.ctx()));
  std::vector<Floats> got;
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), kCopied)) && Ok(f.Give({{1, 2, 3, 4, 5, 6, 7}})));
  OfStandin<const char*()>("ricci_standin_calls")();
  ASSERT_TRUE(Ok(f.Enqueue()));
  const std::string calls = OfStandin<const char*()>("ricci_standin_calls")();
  EXPECT_EQ(calls.find("Synchronize"), calls.npos) << calls;
  ASSERT_TRUE(Ok(f.Read(got)));
  EXPECT_EQ(got[0], (Floats{-1, -4, -9, -16, -25, -36, -49}));
  EXPECT_NE(r_.Dump(r_.Parse(kCopied), "decisions", "cuda").find("individually: the plan has library calls\n"),
            std::string::npos);
}

TEST_F(LibraryCalls, AFailureOfTheDevice) {
  GpuProgram f(GpuOf(r_.ctx()));
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), kCopied)) && Ok(f.Give({{1, 2, 3, 4, 5, 6, 7}})));
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  const auto failed = OfStandin<const char*()>("ricci_standin_failed");
  int refused = 0;
  for (uint64_t n = 1;; ++n) {
    fail(n, 999, 0);
    ricci_status* s = f.Enqueue();
    if (s == nullptr) s = ricci_array_wait(f.out()[0]);
    const std::string call = failed(), why = s == nullptr ? "" : Message(s);
    fail(0, 0, 0);
    if (call.empty()) break;
    const bool in_call = why.find("copy: the driver refuses") != why.npos;
    EXPECT_TRUE(why.empty() || in_call || why.find(call) != why.npos) << why;
    refused += in_call;
  }
  EXPECT_GE(refused, 1) << "how many calls come before depends on what earlier runs have left to give back";
}

TEST_F(LibraryCalls, ARowOfTheDeviceElsewhere) {
  GpuProgram f(ricci_device_find(r_.ctx(), "ref", 3));
  const std::string why = Message(f.Compile(r_.ctx(), kCopied));
  EXPECT_NE(why.find("test.copy"), why.npos) << why;
}

}}  // namespace ricci::testing
