// A library call that fails ends the plan at once, on every backend: nothing after it runs, loops around it end, and
// the status is that of the lowest task that failed.
#include <atomic>

#include "library_row.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

// Adds 1; a task whose number plus the operand's first element reaches `limit` fails.
struct Counter {
  std::atomic<int> launches{0};
  float limit = 0;
  int64_t tasks = 1;
};

ricci_status* Plan(void* self, const ricci_op*, ricci_library_plan* out) {
  out->state = self;
  out->tasks = static_cast<Counter*>(self)->tasks;
  return nullptr;
}
ricci_status* Launch(void* state, const ricci_launch* l) {
  auto& counter = *static_cast<Counter*>(state);
  counter.launches.fetch_add(1);
  const float x = *static_cast<const float*>(l->in[0]);
  if (x + static_cast<float>(l->task) >= counter.limit) {
    const std::string text = "task " + std::to_string(l->task) + " fails";
    return ricci_status_make(RICCI_FAILED_PRECONDITION, text.data(), text.size());
  }
  if (l->task == 0) *static_cast<float*>(l->out[0]) = x + 1;
  return nullptr;
}
constexpr ricci_library kLibrary = {{sizeof(ricci_library), 0, nullptr}, Plan, Launch, [](void*) {}};

class LibraryFailure : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(Ok(RegisterLibraryRow(r_.ctx(), "test.count", kLibrary, &counter_))); }
  // The message of the status with which a program of one f32[] fails on the CPU.
  std::string ErrorOnCpu(const Program& f) {
    ricci_compile_opts o{};
    o.hdr.size = sizeof o;
    ricci_device* const on = ricci_device_find(r_.ctx(), "cpu", 3);
    o.devices = &on;
    o.n_devices = 1;
    ricci_executable* x = nullptr;
    ricci_call* call = nullptr;
    if (!Ok(ricci_compile(f.get(), &o, &x)) || !Ok(ricci_call_create(x, &call))) return "";
    float in = 0, out = 0;
    EXPECT_TRUE(Ok(ricci_call_bind(call, 0, &in, sizeof in)));
    EXPECT_TRUE(Ok(ricci_call_bind(call, 1, &out, sizeof out)));
    ricci_status* s = ricci_call_run(call);
    ricci_call_release(call);
    ricci_executable_release(x);
    return s == nullptr ? "" : Message(s);
  }

  Counter counter_;
  ProgramRunner r_;
};

// The reference backend lowers a loop to one kernel, in which no library call can be.
TEST_F(LibraryFailure, EndsALoop) {
  counter_.limit = 5;
  const Program f = r_.Parse(
      "program f(%x: f32[]) { %y: f32[] = while(%x) cond_nconsts=0 body_nconsts=0 cond=program(%a: f32[]) {"
      " %l: f32[] = constant 1000.0 %p: bool[] = lt(%a, %l) return %p } body=program(%a: f32[]) {"
      " %b: f32[] = test.count(%a) return %b } return %y }");
  EXPECT_NE(ErrorOnCpu(f).find("task 0 fails"), std::string::npos);
  EXPECT_EQ(counter_.launches.load(), 6);
}

// Long sequences are cut into functions.
TEST_F(LibraryFailure, EndsASequence) {
  counter_.limit = 3;
  std::string text = "program f(%x0: f32[]) {\n";
  for (int i = 0; i < 100; ++i) {
    text += " %x" + std::to_string(i + 1) + ": f32[] = test.count(%x" + std::to_string(i) + ")\n";
  }
  EXPECT_NE(r_.RunError(r_.Parse(text + " return %x100 }"), {{0}}).find("task 0 fails"), std::string::npos);
  EXPECT_EQ(counter_.launches.load(), 4 * static_cast<int>(r_.Devices().size()));
}

TEST_F(LibraryFailure, TheLowestTaskThatFailedIsReported) {
  counter_.limit = 40;
  counter_.tasks = 1000;
  const Program f = r_.Parse("program f(%x: f32[]) { %y: f32[] = test.count(%x) return %y }");
  for (int i = 0; i < 20; ++i) EXPECT_NE(r_.RunError(f, {{0}}).find("task 40 fails"), std::string::npos);
}

}  // namespace
}  // namespace ricci::testing
