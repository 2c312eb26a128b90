// Objects of a context: released in any order, shared, donated, cached, and freed to the last byte.
#include <algorithm>

#include "support/small_program.h"

namespace ricci::testing { namespace {

class LifeCycle : public SmallProgram {};

// Every order in which the handles of one compiled program can be released.
TEST_F(LifeCycle, AnyOrderOfRelease) {
  std::vector<int> order = {0, 1, 2, 3, 4};
  do {
    Another own = NewContext();
    Swap(own);
    ricci_program* f = Parse(kAddText);
    ricci_executable* x = Compile(f);
    ricci_array* a = Floats({1, 2, 3, 4});
    ricci_call* call = nullptr;
    ASSERT_TRUE(Ok(ricci_call_create(x, &call)));
    Swap(own);
    for (int what : order) {
      if (what == 0) ricci_context_release(own.ctx);
      if (what == 1) ricci_program_release(f);
      if (what == 2) ricci_executable_release(x);
      if (what == 3) ricci_array_release(a);
      if (what == 4) ricci_call_release(call);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(LifeCycle, ObjectsWorkAfterTheContextIsReleased) {
  Another own = NewContext();
  Swap(own);
  ricci_program* f = Parse(kAddText);
  ricci_executable* x = Compile(f);
  ricci_array *a = Floats({1, 2, 3, 4}), *out = nullptr;
  Swap(own);
  ricci_context_release(own.ctx);
  ricci_array* in[2] = {a, a};
  ASSERT_TRUE(Ok(ricci_executable_run(x, in, 2, &out, 1, nullptr)));
  EXPECT_EQ(Read(out), (std::vector<float>{2, 4, 6, 8}));
  ricci_executable* again = CompileOn(own.device, f);  // the cache is gone, but not the context
  ricci_executable_release(again);
  for (ricci_array* i : {a, out}) ricci_array_release(i);
  ricci_executable_release(x);
  ricci_program_release(f);
}

TEST_F(LifeCycle, EqualProgramsCompileOnce) {
  const auto hit = [](ricci_executable* x) {
    ricci_executable_stats s{};
    s.hdr.size = sizeof s;
    ricci_executable_info(x, &s);
    ricci_executable_release(x);
    return s.cache_hit != 0;
  };
  EXPECT_FALSE(hit(CompileText(kAddText)));
  EXPECT_TRUE(hit(CompileText(kAddText))) << "even when the first is not held any more";
  EXPECT_FALSE(hit(CompileText(kAddText, {1, 0}))) << "donation makes other code";
  std::string other(kAddText);
  other.replace(other.find("add(%x, %y)"), 11, "add(%x, %x)");
  EXPECT_FALSE(hit(CompileText(other)));
  ASSERT_TRUE(Ok(ricci_context_config(ctx, "log_compiles", 12, "1", 1)));
  EXPECT_TRUE(hit(CompileText(kAddText)));
  EXPECT_EQ(host.log.substr(0, 24), "compile plus at t:3 key=") << host.log;
  EXPECT_NE(host.log.find(" device=" + DeviceName() + " hit\n"), host.log.npos) << host.log;
}

TEST_F(LifeCycle, WrappedMemoryIsDroppedOnce) {
  if (!OnHost()) GTEST_SKIP() << "the host's memory (Devices.WrapsMemoryOfADevice)";
  static int drops;
  drops = 0;
  float data[4] = {1, 2, 3, 4};
  ricci_array* a = nullptr;
  const auto drop = [](void* arg) { drops += *static_cast<int*>(arg); };
  int one = 1;
  ASSERT_TRUE(Ok(ricci_array_wrap(device, Type(RICCI_F32, {4}), data, drop, &one, nullptr, &a)));
  EXPECT_EQ(ricci_array_data(a), data);
  ricci_array_retain(a);
  ricci_array_release(a);
  EXPECT_EQ(drops, 0);
  ricci_array_release(a);
  EXPECT_EQ(drops, 1);
}

// Large enough for memory of its own, which donation can move.
constexpr std::string_view kNegateText = R"(
program negate(%x: f32[4096]) {
  %y: f32[4096] = neg(%x)
  return %y
})";

TEST_F(LifeCycle, DonatedArgumentsLoseTheirData) {
  ricci_executable* x = CompileText(kNegateText, {1});
  ricci_array *a = Floats(std::vector<float>(4096, 1.5f)), *out = nullptr;
  ASSERT_TRUE(Ok(ricci_executable_run(x, &a, 1, &out, 1, nullptr)));
  EXPECT_EQ(Read(out), std::vector<float>(4096, -1.5f));
  EXPECT_EQ(ricci_array_data(a), nullptr);
  EXPECT_EQ(ricci_array_device_data(a), nullptr);
  float buffer[4096];
  EXPECT_EQ(ErrorOf(ricci_array_copy_to_host(a, buffer, sizeof buffer), RICCI_FAILED_PRECONDITION),
            "ricci_array_copy_to_host: the array was donated to a run and has no data");
  ricci_array* second = nullptr;
  EXPECT_EQ(ErrorOf(ricci_executable_run(x, &a, 1, &second, 1, nullptr), RICCI_FAILED_PRECONDITION),
            "argument 0 of program negate was donated to an earlier run and has no data any more");
  for (ricci_array* i : {a, out}) ricci_array_release(i);
  ricci_executable_release(x);
}

TEST_F(LifeCycle, DonationOfASharedArrayCopies) {
  ricci_executable* x = CompileText(kNegateText, {1});
  ricci_array *a = Floats(std::vector<float>(4096, 2.0f)), *out = nullptr;
  ricci_array_retain(a);
  ASSERT_TRUE(Ok(ricci_executable_run(x, &a, 1, &out, 1, nullptr)));
  EXPECT_EQ(Read(a), std::vector<float>(4096, 2.0f));
  EXPECT_EQ(Read(out), std::vector<float>(4096, -2.0f));
  for (ricci_array* i : {a, a, out}) ricci_array_release(i);
  ricci_executable_release(x);
}

TEST_F(LifeCycle, OneArrayForTwoParametersIsNotTaken) {
  ricci_executable* x = CompileText(kAddText, {1, 0});
  ricci_array *a = Floats({1, 2, 3, 4}), *out = nullptr;
  ricci_array* in[2] = {a, a};
  ASSERT_TRUE(Ok(ricci_executable_run(x, in, 2, &out, 1, nullptr)));
  EXPECT_EQ(Read(out), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_NE(ricci_array_device_data(a), nullptr);
  for (ricci_array* i : {a, out}) ricci_array_release(i);
  ricci_executable_release(x);
}

TEST_F(LifeCycle, BoundCalls) {
  if (!OnHost()) GTEST_SKIP() << "the host's memory (Devices.BoundCalls)";
  ricci_executable* x = CompileText(kAddText, {}, RICCI_COMPILE_CHECKED);
  ricci_call* call = nullptr;
  ASSERT_TRUE(Ok(ricci_call_create(x, &call)));
  ricci_executable_release(x);
  float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8}, out[8] = {};
  EXPECT_EQ(ErrorOf(ricci_call_run(call), RICCI_FAILED_PRECONDITION),
            "call: slot 0 (argument 0 of program plus) is not bound");
  EXPECT_EQ(ErrorOf(ricci_call_bind(call, 3, a, 16)), "call: slot 3 of program plus, which has 3");
  EXPECT_EQ(ErrorOf(ricci_call_bind(call, 1, a, 12)),
            "call: slot 1 (argument 1 of program plus) is f32[4] of 16 bytes, not 12");
  EXPECT_EQ(ErrorOf(ricci_call_bind(call, 2, reinterpret_cast<char*>(out) + 1, 16)),
            "call: slot 2 (result 0 of program plus) is not aligned to 4 bytes");
  EXPECT_EQ(ErrorOf(ricci_call_bind(call, 0, nullptr, 16)),
            "call: slot 0 (argument 0 of program plus) is bound to NULL");
  ASSERT_TRUE(Ok(ricci_call_bind(call, 0, a, 16)));
  ASSERT_TRUE(Ok(ricci_call_bind(call, 1, b, 16)));
  ASSERT_TRUE(Ok(ricci_call_bind(call, 2, b, 16)));
  EXPECT_EQ(
      ErrorOf(ricci_call_run(call)),
      "call: slot 1 (argument 1 of program plus) and slot 2 (result 0 of program plus) overlap; this result shares "
      "memory with no argument");
  ASSERT_TRUE(Ok(ricci_call_bind(call, 2, out, 16)));
  void* slots[] = {b, b, out};
  EXPECT_EQ(ErrorOf(ricci_call_run_at(call, slots, 2, -1)), "call: 2 pointers for program plus, which has 3 slots");
  slots[1] = nullptr;
  EXPECT_EQ(ErrorOf(ricci_call_run_at(call, slots, 3, -1)),
            "call: slot 1 (argument 1 of program plus) is bound to NULL");
  const int64_t before = host.allocations;
  slots[1] = b;
  ASSERT_TRUE(Ok(ricci_call_run_at(call, slots, 3, -1)));
  EXPECT_EQ(std::vector<float>(out, out + 4), (std::vector<float>{10, 12, 14, 16}));
  struct Object {
    int kind;
    void* elements;
  } objects[] = {{1, a}, {2, b}, {3, out}};
  void* held[] = {&objects[0], &objects[1], &objects[2]};
  ASSERT_TRUE(Ok(ricci_call_run_at(call, held, 3, offsetof(Object, elements))));
  EXPECT_EQ(std::vector<float>(out, out + 4), (std::vector<float>{6, 8, 10, 12}));
  slots[0] = a;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Ok(ricci_call_run_at(call, slots, 3, -1)));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(Ok(ricci_call_run(call)));
  EXPECT_EQ(host.allocations, before) << "a bound call allocates nothing";
  EXPECT_EQ(std::vector<float>(out, out + 4), (std::vector<float>{6, 8, 10, 12}));
  ricci_call_release(call);
}

TEST_F(LifeCycle, ARunAllocatesItsResultsOnly) {
  if (!OnHost()) GTEST_SKIP() << "runs that are complete when they return";
  ricci_executable* x = CompileText(kAddText);
  ricci_array* a = Floats({1, 2, 3, 4});
  ricci_array* in[2] = {a, a};
  int64_t before = 0;
  for (int i = 0; i < 3; ++i) {
    ricci_array* out = nullptr;
    before = host.allocations;
    ASSERT_TRUE(Ok(ricci_executable_run(x, in, 2, &out, 1, nullptr)));
    ricci_array_release(out);
  }
  EXPECT_EQ(host.allocations - before, 1);
  ricci_array_release(a);
  ricci_executable_release(x);
}

TEST_F(LifeCycle, EmptyArraysAndPrograms) {
  ricci_executable* x = CompileText("program e(%x: f32[0,3]) {\n %y: f32[0,3] = neg(%x)\n return %y, %x\n}");
  ricci_array *a = nullptr, *out[2] = {};
  ASSERT_TRUE(Ok(ricci_array_from_host(device, Type(RICCI_F32, {0, 3}), nullptr, nullptr, &a)));
  ASSERT_TRUE(Ok(ricci_executable_run(x, &a, 1, out, 2, nullptr)));
  for (ricci_array* i : {a, out[0], out[1]}) ricci_array_release(i);
  ricci_executable_release(x);
  x = CompileText("program nothing() {\n return \n}");
  ASSERT_TRUE(Ok(ricci_executable_run(x, nullptr, 0, nullptr, 0, nullptr)));
  ricci_executable_release(x);
}

}  // namespace
}  // namespace ricci::testing
